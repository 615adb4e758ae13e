//! Disruption cost of a node, as Karpenter computes it, and the price of the node.
//!
//! A pod counts 1, more or less by its deletion cost and priority; a node counts 1 for itself. Karpenter uses binary
//! fractions: here the unit is the smallest of them, so integers are exact.

use crate::model::{InstanceType, MicroUsdPerHour, Node, Pod, label};

/// One pod, in units: deletion costs count 2^-27 each, priorities 2^-25.
pub(super) const POD: i64 = 1 << 27;
/// Number of units per unit of priority.
const PRIORITY: i64 = 4;
/// Maximum that one pod counts, positive or negative, in pods.
const PODS_MAX: i64 = 10;

/// Returns the cost of evicting a pod, in units; negative for a pod that should be evicted first.
fn eviction(pod: &Pod) -> i64 {
    let cost = POD + i64::from(pod.state.deletion_cost) + PRIORITY * i64::from(pod.spec.priority);
    cost.clamp(-PODS_MAX * POD, PODS_MAX * POD)
}

/// Returns the cost of disrupting a node with these pods, in units; pods with a negative eviction cost count as zero.
pub(super) fn of_node<'p>(pods: impl Iterator<Item = &'p Pod>) -> i64 {
    pods.fold(POD, |cost, pod| cost.saturating_add(eviction(pod).max(0)))
}

/// Returns the list price of a node's VM in its zone and capacity type; `None` if unknown.
pub(super) fn price(node: &Node, kind: &InstanceType) -> Option<MicroUsdPerHour> {
    let (zone, bought) = (node.labels.get(label::ZONE)?, node.labels.get(label::CAPACITY_TYPE)?);
    let mut offerings = kind.offerings.iter();
    let own = offerings
        .find(|offering| offering.zone.as_str() == &**zone && offering.capacity_type.as_str() == &**bought);
    own?.price.known()
}
