//! The cluster's NodePlans: what earlier plans left for the next one.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::{Observation, Unread};
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind};
use crate::ledger::{self, Ledger};
use crate::snapshot::azure::LedgerFacts;
use crate::snapshot::{Gap, GapKind};

/// Lists the plans, without their texts. If the kind is not installed, there are none yet.
pub(super) async fn read(cluster: &Cluster, at: Timestamp, seen: &mut Observation) -> Option<LedgerFacts> {
    let (ledger, plans) = match listed(cluster).await {
        Ok(listed) => listed,
        Err(failure) => {
            seen.gaps.push(Gap {
                kind: GapKind::Unread,
                what: "nodeplans of the cluster".to_owned(),
                consequence: "what Azure refused to earlier plans is not known".to_owned(),
            });
            let is_forbidden = failure.kind == ClusterFailureKind::Forbidden;
            let said = (failure.what.as_str(), failure.hint.as_str());
            seen.unread.push(Unread::of_kind("nodeplans.nodeform.dev", is_forbidden, said));
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

/// Returns the ledger and the names of all plans that are not over, including unreadable ones. If the kind is not
/// installed, the names are unknown: its CRD may have been deleted while plans were in progress.
async fn listed(cluster: &Cluster) -> Result<(Ledger, Option<BTreeSet<Arc<str>>>), ClusterFailure> {
    // `ledger` reports items that it cannot read.
    let plans = match cluster.list(ledger::PLANS, "").await {
        Ok(listed) => listed.items(),
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => return Ok(<_>::default()),
        Err(failure) => return Err(failure),
    };
    let ledger = ledger::read(&plans);
    let names = carried_on(&plans, &ledger);
    Ok((ledger, Some(names)))
}

/// Returns the names of all plans that are not over.
fn carried_on(plans: &[Value], ledger: &Ledger) -> BTreeSet<Arc<str>> {
    let over: BTreeSet<&str> =
        ledger.plans.iter().filter(|plan| plan.is_over()).map(|plan| &*plan.name).collect();
    let names = plans.iter().filter_map(|plan| plan["metadata"]["name"].as_str());
    names.filter(|name| !over.contains(name)).map(Arc::from).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ledger::{Changes, Entry, objects};
    use crate::model::Digest;

    fn recorded(number: i64, status: Value) -> Value {
        let entry = Entry {
            digest: Digest::of_json(&json!(number)).unwrap(),
            parent: None,
            cluster: None,
            class: None,
            monthly_delta: None,
            expires_at: None,
            folder: None,
            needs_approval: false,
            is_automatic: false,
            changes: Changes::default(),
            text: json!(number).to_string(),
        };
        let mut object = objects(&entry).unwrap().pop().unwrap().object;
        object["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        object["status"] = status;
        object
    }

    #[test]
    fn what_a_plan_has_begun_counts_until_it_is_over() {
        let outcome = |outcome: &str| json!({"a": {"outcome": outcome}});
        let plans = [
            recorded(0, json!({"phase": "Applying", "outcomes": outcome("failed")})),
            recorded(1, json!({"phase": "Partial", "outcomes": outcome("failed")})),
            recorded(2, json!({"phase": "Withdrawn", "outcomes": outcome("waiting")})),
            recorded(3, Value::Null),
            json!({"metadata": {"name": "unreadable"}, "spec": {"digest": 3}}),
        ];
        let ledger = ledger::read(&plans);
        assert_eq!(ledger.faults.len(), 1, "{:?}", ledger.faults);
        let carried_on = carried_on(&plans, &ledger);
        let name = |number: usize| plans[number]["metadata"]["name"].as_str().unwrap();
        let left: Vec<bool> = (0..plans.len()).map(|number| carried_on.contains(name(number))).collect();
        assert_eq!(left, [true, false, true, true, true]);
    }
}
