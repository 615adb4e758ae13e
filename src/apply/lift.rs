//! What a removal left whose plan is gone or over: the taint of its node and the mark of its NodeClaim are taken away.
//!
//! `snapshot` says which those are, of a list that may be old by now: each is looked at once more. Must never touch what a
//! plan has begun that somebody goes on with, or that cannot be read.

use serde_json::Value;

use super::book::NotBegun;
use crate::cluster::{Cluster, Writer};
use crate::ledger::{self, PLANS, Recorded};
use crate::model::label;
use crate::rollout::action::patch::{ANNOTATIONS, LABELS, Operations};
use crate::snapshot::Abandoned;

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const NODES: &str = "/api/v1/nodes";

/// Takes the marks of such removals off, and the taints. The mark goes last: what is interrupted is found again by it.
///
/// # Errors
/// The API server refuses, or does not answer: those that are left are lifted another time.
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

/// Whether there is a plan of this name that is not over. What can be no object's name is none.
async fn is_carried_on(cluster: &Cluster, plan: &str) -> Result<bool, NotBegun> {
    let can_be = !plan.is_empty() && plan.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !can_be {
        return Ok(false);
    }
    let Some(object) = cluster.get_optional(&format!("{PLANS}/{plan}")).await? else { return Ok(false) };
    Ok(!ledger::read([&object]).plans.iter().any(Recorded::is_over))
}

/// Lets pods and load balancers come to the node again.
async fn free(writer: &Writer, removal: &Abandoned) -> Result<(), NotBegun> {
    let path = format!("{NODES}/{}", removal.node);
    let Some(node) = writer.cluster().get_optional(&path).await? else { return Ok(()) };
    if node["metadata"]["deletionTimestamp"].is_string() {
        return Ok(());
    }
    let mut freed = Operations::of(text(&node, "uid"));
    // Karpenter's value: somebody else's stays.
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
