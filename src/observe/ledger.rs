//! The cluster's NodePlans: what plans before have left for the next.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::Observation;
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind};
use crate::ledger::{self, Ledger};
use crate::snapshot::azure::LedgerFacts;
use crate::snapshot::{Gap, GapKind};

/// Where NodePlans are.
const PATH: &str = "/apis/nodeform.dev/v1alpha1/nodeplans";

/// Lists the plans, without their texts. Where the kind is not installed there are none yet.
pub(super) async fn read(cluster: &Cluster, at: Timestamp, seen: &mut Observation) -> Option<LedgerFacts> {
    let (ledger, plans) = match listed(cluster).await {
        Ok(listed) => listed,
        Err(failure) => {
            seen.gaps.push(Gap {
                kind: GapKind::Unread,
                what: "nodeplans of the cluster".to_owned(),
                consequence: "what Azure refused to earlier plans is not known".to_owned(),
            });
            seen.warnings.push(format!("nodeplans could not be listed: {failure}"));
            return None;
        }
    };
    seen.warnings.extend(ledger.faults.iter().map(|fault| format!("{fault}; {}", fault.hint())));
    let mut unfinished: Vec<_> = ledger.unfinished().map(|plan| plan.digest).collect();
    unfinished.sort();
    Some(LedgerFacts {
        parent: ledger.last().map(|plan| plan.digest),
        unfinished,
        plans,
        refusals: ledger.refusals_at(at),
    })
}

/// The ledger, and the names of all plans, also of those that cannot be read. Where the kind is not installed, whoever
/// took it away may have left what its plans have begun: which there are is not known.
async fn listed(cluster: &Cluster) -> Result<(Ledger, Option<BTreeSet<Arc<str>>>), ClusterFailure> {
    let pages = match cluster.list(PATH, ledger::PLANS_ONLY).await {
        Ok(listed) => listed.pages,
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => return Ok(<_>::default()),
        Err(failure) => return Err(failure),
    };
    let mut plans: Vec<Value> = Vec::new();
    for page in &pages {
        // `list` has read each page as a list already; items of another form are told by `ledger`.
        let page: Value = serde_json::from_slice(page).unwrap_or_default();
        plans.extend(page["items"].as_array().cloned().unwrap_or_default());
    }
    let names = plans.iter().filter_map(|plan| plan["metadata"]["name"].as_str().map(Arc::from)).collect();
    Ok((ledger::read(&plans), Some(names)))
}
