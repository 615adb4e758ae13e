//! Underutilized nodes: their pool allows the removal, each of their pods may be evicted and has a safe place, and the
//! fleet costs less without them.

use super::case::Case;
use super::evictions;
use crate::model::{ConsolidationPolicy, Node, NodeName, NodeStage, Pod, PodKey};

/// Returns why a node may not be removed as underutilized.
pub(super) fn faults(case: &Case<'_>, node: &Node) -> Vec<String> {
    let mut faults = Vec::new();
    let policy = node.pool.as_ref().and_then(|name| case.pool(name)).map(|pool| pool.disruption.policy);
    if policy == Some(ConsolidationPolicy::WhenEmpty) {
        faults.push("is removed as underutilized, but its pool lets only empty nodes go".to_owned());
    }
    if node.stage != NodeStage::Initialized {
        faults.push("is removed as underutilized, but never carried pods".to_owned());
    }
    let pods: Vec<&Pod> = case.running_on(&node.name).iter().copied().filter(|pod| !pod.is_daemon).collect();
    if pods.is_empty() {
        faults.push("is removed as underutilized, but is empty".to_owned());
    }
    for pod in pods {
        faults.extend(
            kept(case, pod)
                .or_else(|| on_its_way(case, &pod.key))
                .map(|why| format!("is removed as underutilized, but pod `{}` {why}", pod.key)),
        );
    }
    faults
}

/// Returns whether the removals save nothing, although no other pod needs the new nodes.
pub(super) fn saves_nothing(case: &Case<'_>) -> bool {
    let report = &case.plan.evidence.report;
    let (before, after) = (&report.cost_before, &report.cost_after);
    let waits = case.snapshot.pods.iter().any(|pod| is_new(case, pod));
    let saved = before.effective.0 - (after.effective.0 - of_fixed(case));
    !waits && after.unpriced_nodes == before.unpriced_nodes && saved <= 0
}

/// Returns the cost of the new nodes of fixed pools, which are created regardless of removals.
fn of_fixed(case: &Case<'_>) -> i64 {
    let placements = case.plan.evidence.placements.values();
    let fixed = placements.filter(|placement| placement.opened_for.is_none());
    fixed.filter_map(|placement| placement.effective_price.known()).map(|price| price.0).sum()
}

/// Returns whether a pod is pending, or on a node that is removed regardless of cost.
fn is_new(case: &Case<'_>, pod: &Pod) -> bool {
    use crate::model::PodPlace::{Bound, Waiting};
    let is_due = |node: &NodeName| case.removed.get(node).is_some_and(|reason| reason.is_due());
    match &pod.place {
        Waiting => true,
        Bound(node) => case.nodes.get(node).is_none_or(|node| node.is_deleting) || is_due(node),
    }
}

/// Returns why a pod may not be evicted now.
pub(super) fn kept(case: &Case<'_>, pod: &Pod) -> Option<String> {
    if pod.is_protected(case.snapshot.at) {
        return Some("asks not to be disrupted".to_owned());
    }
    if pod.promised().is_some() {
        return Some("is about to come there, by its `status.nominatedNodeName`".to_owned());
    }
    evictions::kept(case, pod)
}

/// Returns why a running pod may not be moved to its node: the node may still fail to come up.
pub(super) fn on_its_way(case: &Case<'_>, pod: &PodKey) -> Option<String> {
    let node = case.coming_up.get(pod)?;
    Some(format!("is to move to node `{node}`, which has not come up yet"))
}
