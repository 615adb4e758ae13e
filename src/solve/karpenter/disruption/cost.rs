//! What it costs to disrupt a node, in Karpenter's measure, and what the node costs.
//!
//! A pod counts 1, more or less by its deletion cost and priority; a node 1 for itself. Karpenter counts in binary
//! fractions: here the unit is the smallest of them, so that whole numbers say the same.

use crate::model::{InstanceType, MicroUsdPerHour, Node, Pod, label};

/// One pod, in units: deletion costs count 2^-27 each, priorities 2^-25.
pub(super) const POD: i64 = 1 << 27;
/// How much a unit of priority counts.
const PRIORITY: i64 = 4;
/// The most and the least that one pod counts, in pods.
const PODS_MAX: i64 = 10;

/// Returns what it costs to evict a pod, in units; negative for one that would rather go.
fn eviction(pod: &Pod) -> i64 {
    let cost = POD + i64::from(pod.state.deletion_cost) + PRIORITY * i64::from(pod.spec.priority);
    cost.clamp(-PODS_MAX * POD, PODS_MAX * POD)
}

/// Returns what it costs to disrupt a node with these pods, in units; pods that would rather go cost nothing.
pub(super) fn of_node<'p>(pods: impl Iterator<Item = &'p Pod>) -> i64 {
    pods.fold(POD, |cost, pod| cost.saturating_add(eviction(pod).max(0)))
}

/// Returns what a node's VM costs by the list as it was bought; `None` where that is not known.
pub(super) fn price(node: &Node, kind: &InstanceType) -> Option<MicroUsdPerHour> {
    let (zone, bought) = (node.labels.get(label::ZONE)?, node.labels.get(label::CAPACITY_TYPE)?);
    let mut offerings = kind.offerings.iter();
    let own = offerings
        .find(|offering| offering.zone.as_str() == &**zone && offering.capacity_type.as_str() == &**bought);
    own?.price.known()
}
