//! Requests for single nodes: a node is released, or replaced without a reason of its own, only if the plan says that
//! this was requested. A node to be released is not removed.

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::NodeName;
use crate::plan::Change;

/// Returns changes that were not requested, or were requested differently.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let wishes = &case.plan.spec.wishes;
    let mut found = Vec::new();
    if *wishes != case.snapshot.supposed.wishes {
        let why = "asks for something else than what it was made for";
        found.push(Finding::new(Rule::Supposed, "plan", why));
    }
    let mut object = |node: &NodeName, why: &str| {
        found.push(Finding::new(Rule::Supposed, format!("node `{node}`"), why));
    };
    for planned in case.plan.spec.changes.values() {
        if let Change::Forget(forget) = &planned.change
            && !wishes.forget.contains(&forget.target.node)
        {
            object(&forget.target.node, "is no longer managed, and nobody asks for that");
        }
    }
    for node in case.removed.keys().filter(|node| wishes.forget.contains(**node)) {
        object(node, "is removed, and was to be let go as it runs");
    }
    for node in &case.snapshot.nodes {
        let is_asked = node.claimed.drift.as_ref().is_some_and(crate::model::Drift::is_asked);
        if is_asked && !wishes.replace.contains(&node.name) {
            object(&node.name, "is taken to be replaced on request, and nobody asks for that");
        }
    }
    for node in wishes.replace.iter().chain(&wishes.forget).filter(|node| !case.nodes.contains_key(node)) {
        object(node, "is asked for and does not exist");
    }
    found
}
