//! Cleans up after removals whose plan was deleted or is over: the node's taint and the NodeClaim's mark.
//!
//! `snapshot` finds them in a list that may be stale, so each is read again. Must never touch a removal whose plan is
//! in progress or cannot be read.

use serde_json::Value;

use super::book::NotBegun;
use crate::cluster::{Cluster, Writer};
use crate::ledger::{self, PLANS, Recorded};
use crate::model::label;
use crate::rollout::action::patch::{ANNOTATIONS, LABELS, Operations};
use crate::snapshot::Abandoned;

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const NODES: &str = "/api/v1/nodes";

/// Removes the taints and marks of such removals. The mark is removed last, so an interrupted cleanup is found again.
///
/// # Errors
/// The API server refuses, or does not answer: the remaining ones are cleaned up later.
pub async fn lift(writer: &Writer, abandoned: &[Abandoned]) -> Result<(), NotBegun> {
    for removal in abandoned {
        let path = format!("{CLAIMS}/{}", removal.claim);
        let Some(claim) = writer.cluster().get_optional(&path).await? else { continue };
        let Some(mark) = claim["metadata"]["annotations"][label::REMOVAL].as_str() else { continue };
        if mark.split('/').next() != Some(&*removal.plan)
            || is_carried_on(writer.cluster(), &removal.plan).await?
        {
            continue;
        }
        if !removal.is_leaving {
            free(writer, removal).await?;
        }
        let unmarked = Operations::of(text(&claim, "uid")).without_entry(ANNOTATIONS, (label::REMOVAL, mark));
        writer.json_patch(&path, unmarked.as_slice()).await?;
    }
    Ok(())
}

/// Returns whether a plan of this name exists that is not over. An invalid object name means no.
async fn is_carried_on(cluster: &Cluster, plan: &str) -> Result<bool, NotBegun> {
    let can_be = !plan.is_empty() && plan.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !can_be {
        return Ok(false);
    }
    let Some(object) = cluster.get_optional(&format!("{PLANS}/{plan}")).await? else { return Ok(false) };
    Ok(!ledger::read([&object]).plans.iter().any(Recorded::is_over))
}

/// Makes the node available to pods and load balancers again.
async fn free(writer: &Writer, removal: &Abandoned) -> Result<(), NotBegun> {
    let path = format!("{NODES}/{}", removal.node);
    let Some(node) = writer.cluster().get_optional(&path).await? else { return Ok(()) };
    if node["metadata"]["deletionTimestamp"].is_string() {
        return Ok(());
    }
    let mut freed = Operations::of(text(&node, "uid"));
    // Only Karpenter's value is removed.
    if node["metadata"]["labels"][label::NOT_BALANCED] == "karpenter" {
        freed = freed.without_entry(LABELS, (label::NOT_BALANCED, "karpenter"));
    }
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let keys: Vec<&str> = taints.map(|taint| taint["key"].as_str().unwrap_or_default()).collect();
    let freed = freed.without_taint(&keys, label::DISRUPTED);
    writer.json_patch(&path, freed.as_slice()).await?;
    Ok(())
}

fn text<'o>(object: &'o Value, field: &str) -> &'o str {
    object["metadata"][field].as_str().unwrap_or_default()
}
