//! Decisions about a plan that is reviewed in the cluster: reads approvers, rejections and excluded nodes from
//! NodePlanApprovals.
//!
//! Never ignores an object that it cannot parse: it may be a rejection.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Recorded;
use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::node_plan::PLAN_LABEL;
use crate::api::node_plan_approval::{ApprovalDecision, NodePlanApproval, NodePlanApprovalSpec};
use crate::api::{Kind, KindFacts};
use crate::model::Digest;

/// Number of base32 characters that distinguish the decisions of several people about one plan.
const PERSON_LENGTH: usize = 10;

/// The decisions about a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Approvers, each with the name of their NodePlanApproval.
    pub approved_by: BTreeMap<String, String>,
    /// The earliest rejection.
    pub rejected: Option<Rejection>,
    /// Nodes to keep although the plan removes them.
    pub keep: BTreeSet<String>,
    /// Why some decisions are invalid, one line each: while there are any, the plan is not approved.
    pub faults: Vec<String>,
}

/// The rejection of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// Time of the rejection.
    pub at: Option<Timestamp>,
    /// The person who rejected it.
    pub by: String,
    /// Reason, if given.
    pub reason: Option<String>,
}

impl Decisions {
    /// Returns whether the plan is approved, with no rejection and no invalid decision.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        !self.approved_by.is_empty() && self.rejected.is_none() && self.faults.is_empty()
    }
}

/// Reads the decisions about a plan; `objects` are NodePlanApprovals of any plans.
#[must_use]
pub fn decisions<'a>(plan: &Recorded, objects: impl IntoIterator<Item = &'a Value>) -> Decisions {
    let mut decisions = Decisions::default();
    for object in objects.into_iter().filter(|object| object["spec"]["plan"] == *plan.name) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let spec: NodePlanApprovalSpec = match serde_json::from_value(object["spec"].clone()) {
            Ok(spec) => spec,
            Err(error) => {
                decisions.faults.push(format!("NodePlanApproval `{name}` cannot be read: {error}"));
                continue;
            }
        };
        if spec.digest != plan.digest.to_string() {
            let fault = format!("NodePlanApproval `{name}` has the digest of another plan: {}", spec.digest);
            decisions.faults.push(fault);
            continue;
        }
        match spec.decision {
            ApprovalDecision::Approve => {
                decisions.approved_by.insert(spec.approver, name.to_owned());
                decisions.keep.extend(spec.keep.into_iter().flatten());
            }
            ApprovalDecision::Reject => {
                let at = object["metadata"]["creationTimestamp"].as_str();
                let at = at.and_then(|at| at.parse().ok());
                let rejection = Rejection { at, by: spec.approver, reason: spec.reason };
                let first = decisions.rejected.take().into_iter().chain([rejection]).min();
                decisions.rejected = first;
            }
        }
    }
    decisions
}

/// Returns the object that records a person's decision. It is deleted with its NodePlan, which has this UID.
#[must_use]
pub fn decision(spec: NodePlanApprovalSpec, uid: &str) -> Value {
    let KindFacts { group, version, kind, .. } = Kind::NodePlanApproval.facts();
    let decided = match spec.decision {
        ApprovalDecision::Approve => "approve",
        ApprovalDecision::Reject => "reject",
    };
    let person = Digest::of_bytes(spec.approver.as_bytes()).base32(PERSON_LENGTH);
    json!(NodePlanApproval {
        api_version: format!("{group}/{version}"),
        kind: (*kind).to_owned(),
        metadata: ObjectMeta {
            name: Some(format!("{}-{decided}-{person}", spec.plan)),
            owner_references: Some(vec![owner(&spec.plan, uid)]),
            labels: Some([(PLAN_LABEL.to_owned(), spec.plan.clone())].into()),
            ..ObjectMeta::default()
        },
        spec,
    })
}

fn owner(plan: &str, uid: &str) -> OwnerReference {
    let KindFacts { group, version, kind, .. } = Kind::NodePlan.facts();
    OwnerReference {
        api_version: format!("{group}/{version}"),
        kind: (*kind).to_owned(),
        name: plan.to_owned(),
        uid: uid.to_owned(),
        controller: None,
        block_owner_deletion: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::read;

    fn waiting() -> Recorded {
        let digest = Digest::of_bytes(b"a plan");
        let name = crate::ledger::name(&digest);
        let spec = json!({"digest": digest.to_string(), "chunks": 1, "needsApproval": true});
        let object = json!({"metadata": {"name": name}, "spec": spec});
        read([&object]).proposed.remove(0)
    }

    fn of(who: &str, decision: ApprovalDecision, at: &str) -> Value {
        let plan = waiting();
        let spec = NodePlanApprovalSpec {
            plan: plan.name.clone(),
            digest: plan.digest.to_string(),
            decision,
            approver: who.to_owned(),
            reason: None,
            keep: (who == "ann").then(|| vec!["node-1".to_owned()]),
        };
        let mut object = super::decision(spec, "uid");
        object["metadata"]["creationTimestamp"] = json!(at);
        object
    }

    const NINE: &str = "2026-01-01T09:00:00Z";
    const TEN: &str = "2026-01-01T10:00:00Z";

    #[test]
    fn one_approval_is_enough_and_one_rejection_stops_whoever_approved() {
        let (ann, bob) =
            (of("ann", ApprovalDecision::Approve, NINE), of("bob", ApprovalDecision::Reject, TEN));
        let approved = decisions(&waiting(), [&ann]);
        assert!(approved.is_approved());
        assert_eq!(approved.keep, ["node-1".to_owned()].into());
        let both = decisions(&waiting(), [&bob, &ann]);
        assert!(!both.is_approved());
        assert_eq!(both.rejected.map(|rejection| rejection.by).as_deref(), Some("bob"));
        assert!(!decisions(&waiting(), []).is_approved());
    }

    #[test]
    fn of_several_rejections_the_first_is_told() {
        let (late, early) =
            (of("ann", ApprovalDecision::Reject, TEN), of("bob", ApprovalDecision::Reject, NINE));
        let rejected = decisions(&waiting(), [&late, &early]).rejected.expect("it is rejected");
        assert_eq!((rejected.by.as_str(), rejected.at), ("bob", NINE.parse().ok()));
    }

    #[test]
    fn a_decision_that_cannot_be_read_or_is_of_another_plan_lets_nothing_be_approved() {
        let approval = of("ann", ApprovalDecision::Approve, NINE);
        let mut strange = of("bob", ApprovalDecision::Approve, NINE);
        strange["spec"]["decision"] = json!("Perhaps");
        let mut other = of("bob", ApprovalDecision::Approve, NINE);
        other["spec"]["digest"] = json!(Digest::of_bytes(b"another").to_string());
        for odd in [strange, other] {
            let found = decisions(&waiting(), [&approval, &odd]);
            assert!(!found.is_approved() && found.faults.len() == 1, "{found:?}");
        }
        let mut elsewhere = of("bob", ApprovalDecision::Reject, NINE);
        elsewhere["spec"]["plan"] = json!("zzzzzzzzzz");
        assert!(decisions(&waiting(), [&approval, &elsewhere]).is_approved());
    }
}
