//! `consolidationPolicy: Balanced`: the share of the pool's cost that is saved is at least half the share of its
//! disruption cost.
//!
//! Karpenter's measure: list prices of VMs; one for each node and for each pod on it, adjusted by priority and deletion
//! cost. Karpenter evaluates each step, and a plan does not list its steps. So this is checked only if the plan can be
//! just one step: nothing is pending, and a single node with pods is removed to save money.

use super::case::Case;
use super::price;
use crate::model::{ConsolidationPolicy, DisruptionReason, Node, NodeName, Pod, PodPlace};

/// Disruption cost of a pod, in the smallest unit of deletion costs.
const POD: i128 = 1 << 27;
/// Disruption cost of a unit of priority.
const PRIORITY: i128 = 4;
/// Maximum disruption cost of a pod, in pods.
const PODS_MAX: i128 = 10;
/// Tolerance for the solver's rounding: one part in this many.
const ROUNDING: i128 = 10_000;

/// Returns the node whose removal saves less than its pool requires.
pub(super) fn too_little(case: &Case<'_>) -> Option<NodeName> {
    let node = only_step(case)?;
    let pool = case.pool(node.pool.as_ref()?)?;
    if pool.disruption.policy != ConsolidationPolicy::Balanced {
        return None;
    }
    let made = case.made.iter().map(|made| case.bought(made)?.2.price.known().map(|price| price.0));
    let saved = price::vm_price(case, node)?.0 - made.sum::<Option<i64>>()?;
    // Empty nodes may have been removed before.
    let is_worth_it = [true, false].into_iter().any(|counts_empty| {
        let counts = |other: &&Node| {
            let is_own = other.pool == node.pool && !other.is_deleting;
            is_own && (counts_empty || !case.removed.contains_key(&other.name) || other.name == node.name)
        };
        let whole: Vec<&Node> = case.snapshot.nodes.iter().filter(counts).collect();
        let price: Option<i64> = whole.iter().map(|other| Some(price::vm_price(case, other)?.0)).sum();
        let disturbed: i128 = whole.iter().map(|other| disturbance(case, other)).sum();
        // An unknown price is not a finding: the solver may have known it.
        price.is_none_or(|price| {
            let gained = i128::from(saved) * disturbed * 2;
            gained + gained / ROUNDING >= disturbance(case, node) * i128::from(price)
        })
    });
    (!is_worth_it).then(|| node.name.clone())
}

/// Returns the removed node that carries pods, if it is the only one and nothing else is created or moved.
fn only_step<'a>(case: &Case<'a>) -> Option<&'a Node> {
    let is_busy = |node: &NodeName| case.running_on(node).iter().any(|pod| !pod.is_daemon);
    let needs_place = |pod: &Pod| match &pod.place {
        PodPlace::Waiting => true,
        PodPlace::Bound(node) => case.nodes.get(node).is_none_or(|node| node.is_deleting),
    };
    let is_quiet = !case.snapshot.pods.iter().any(needs_place)
        && case
            .removed
            .values()
            .all(|reason| matches!(reason, DisruptionReason::Empty | DisruptionReason::Underutilized));
    let fills_empty =
        || case.plan.evidence.kept.iter().any(|(node, pods)| !pods.is_empty() && !is_busy(node));
    let is_fixed = || case.made.iter().any(|made| made.placement.opened_for.is_none());
    let mut going = case.removed.iter().filter(|(_, reason)| **reason == DisruptionReason::Underutilized);
    let (node, _) = going.next()?;
    let is_only = going.next().is_none() && is_quiet && !fills_empty() && !is_fixed();
    is_only.then(|| case.nodes.get(node).copied())?
}

/// Returns the disruption cost of a node.
fn disturbance(case: &Case<'_>, node: &Node) -> i128 {
    let of_pod = |pod: &&Pod| {
        let cost = POD + i128::from(pod.state.deletion_cost) + PRIORITY * i128::from(pod.spec.priority);
        cost.clamp(0, PODS_MAX * POD)
    };
    let pods = case.running_on(&node.name).iter().filter(|pod| !pod.is_daemon);
    POD + pods.map(of_pod).sum::<i128>()
}
