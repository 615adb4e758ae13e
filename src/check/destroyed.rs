//! Destroying: a destroy plan creates and updates nothing, and either removes each managed node or says why it is kept.
//! No other plan removes nodes for this reason.
//!
//! Pods protect their nodes as they protect drifted ones. A missing place for its pods is no reason to keep a node.

use std::collections::BTreeSet;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::underutilized;
use crate::model::{DisruptionReason, Node, NodeName, Pod, Target};
use crate::plan::Change;

/// Returns why a node may not be removed for this reason.
pub(super) fn faults(case: &Case<'_>, node: &Node) -> Vec<String> {
    let mut faults = Vec::new();
    if !case.plan.spec.wishes.destroy {
        faults.push("is destroyed, and nobody asks for that".to_owned());
    }
    if node.claimed.termination_grace_period.is_some() {
        return faults;
    }
    let pods: Vec<&Pod> = case.running_on(&node.name).iter().copied().filter(|pod| !pod.is_daemon).collect();
    let kept = pods.into_iter().filter_map(|pod| Some((pod, underutilized::kept(case, pod)?)));
    faults.extend(kept.map(|(pod, why)| format!("is destroyed, but pod `{}` {why}", pod.key)));
    faults
}

/// Returns the other changes of a destroy plan, and the nodes that it does not mention.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    if !case.plan.spec.wishes.destroy {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (id, planned) in &case.plan.spec.changes {
        let is_removal = match &planned.change {
            Change::Delete(delete) => {
                let is_left_over = case.nodes.get(&delete.target.node).is_some_and(|node| node.is_deleting);
                delete.reason == DisruptionReason::Destroyed || is_left_over
            }
            Change::NoOp(_) => true,
            Change::Create(_) | Change::Update(_) | Change::Adopt(_) | Change::Forget(_) => false,
        };
        if !is_removal {
            let why = "is made by a plan that is to destroy and do nothing else";
            found.push(Finding::new(Rule::Supposed, format!("change `{id}`"), why));
        }
    }
    let evidence = &case.plan.evidence;
    let held = evidence.held.iter().map(|held| &held.node);
    let staying: BTreeSet<&NodeName> =
        held.chain(evidence.report.staying.iter().map(|(node, _)| node)).collect();
    for node in case.snapshot.nodes.iter().filter(|node| !node.is_deleting && is_meant(case, node)) {
        if case.removed.contains_key(&node.name) == staying.contains(&node.name) {
            let why = match staying.contains(&node.name) {
                true => "is destroyed, and said to stay",
                false => "is not destroyed, and nothing says why",
            };
            found.push(Finding::new(Rule::Supposed, format!("node `{}`", node.name), why));
        }
    }
    found
}

/// Returns whether the plan is about a node: it has a pool, and is a target if there are any.
fn is_meant(case: &Case<'_>, node: &Node) -> bool {
    let Some(pool) = &node.pool else { return false };
    let targets = &case.plan.spec.targets;
    let is_target = |target: &Target| match target {
        Target::NodePool(name) => name == pool,
        Target::Node(name) => *name == node.name,
    };
    targets.is_empty() || targets.iter().any(is_target)
}
