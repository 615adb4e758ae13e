//! `consolidationPolicy: Balanced`: what is saved of a pool's cost is at least half of what is disturbed of it.
//!
//! Karpenter's measure: VMs by the list, one for each node and for each pod on it, more or less by priority and deletion
//! cost. It is asked of each step by itself, and a plan does not say its steps. So it is judged where a plan can only come of
//! one: nothing waits, and one node that carries pods goes, for what that saves.

use super::case::Case;
use super::price;
use crate::model::{ConsolidationPolicy, DisruptionReason, Node, NodeName, Pod, PodPlace};

/// A pod, in units of the smallest part that deletion costs count.
const POD: i128 = 1 << 27;
/// How much a unit of priority counts.
const PRIORITY: i128 = 4;
/// The most that one pod counts, in pods.
const PODS_MAX: i128 = 10;
/// The solver may round in this part of what it weighs.
const ROUNDING: i128 = 10_000;

/// Returns the node whose pool asks for more than what its going saves.
pub(super) fn too_little(case: &Case<'_>) -> Option<NodeName> {
    let node = only_step(case)?;
    let pool = case.pool(node.pool.as_ref()?)?;
    if pool.disruption.policy != ConsolidationPolicy::Balanced {
        return None;
    }
    let made = case.made.iter().map(|made| case.bought(made)?.2.price.known().map(|price| price.0));
    let saved = price::vm_price(case, node)?.0 - made.sum::<Option<i64>>()?;
    // Empty nodes may have gone before.
    let is_worth_it = [true, false].into_iter().any(|counts_empty| {
        let counts = |other: &&Node| {
            let is_own = other.pool == node.pool && !other.is_deleting;
            is_own && (counts_empty || !case.removed.contains_key(&other.name) || other.name == node.name)
        };
        let whole: Vec<&Node> = case.snapshot.nodes.iter().filter(counts).collect();
        let price: Option<i64> = whole.iter().map(|other| Some(price::vm_price(case, other)?.0)).sum();
        let disturbed: i128 = whole.iter().map(|other| disturbance(case, other)).sum();
        // What is not known is not held against a plan that the solver knew more of.
        price.is_none_or(|price| {
            let gained = i128::from(saved) * disturbed * 2;
            gained + gained / ROUNDING >= disturbance(case, node) * i128::from(price)
        })
    });
    (!is_worth_it).then(|| node.name.clone())
}

/// Returns the node that goes though it carries pods, where it is the only one and nothing else comes or moves.
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

/// Returns what it takes to disturb a node.
fn disturbance(case: &Case<'_>, node: &Node) -> i128 {
    let of_pod = |pod: &&Pod| {
        let cost = POD + i128::from(pod.state.deletion_cost) + PRIORITY * i128::from(pod.spec.priority);
        cost.clamp(0, PODS_MAX * POD)
    };
    let pods = case.running_on(&node.name).iter().filter(|pod| !pod.is_daemon);
    POD + pods.map(of_pod).sum::<i128>()
}
