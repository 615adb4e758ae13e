//! Converts claims of earlier passes into the nodes that they become: their cheapest offering.
//!
//! Never places a pod.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{
    CapacityType, HostPort, LabelKey, NodeName, PodKey, PoolName, Requirement, Requirements, Resources,
    SkuName, Taint, Zone, label,
};
use crate::solve::fit::labels::some_value;

/// A node that a claim becomes, as bought.
#[derive(Clone, Debug)]
pub(super) struct Bought {
    /// Its pool.
    pub(super) pool: PoolName,
    /// The size.
    pub(super) size: SkuName,
    /// The zone.
    pub(super) zone: Zone,
    /// The capacity type.
    pub(super) capacity_type: CapacityType,
    /// Requirements on its labels before anything was chosen.
    pub(super) asked: Requirements,
    /// Sizes that hold its first pods, the cheapest first.
    pub(super) sizes: Vec<SkuName>,
    /// Pod that it was opened for.
    pub(super) opened_for: PodKey,
    /// Pods that are placed there, in their order.
    pub(super) pods: Vec<PodKey>,
    /// Whether it has pods that were not considered when its sizes were listed.
    pub(super) has_more: bool,
}

/// A claim of an earlier pass as a node.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// A generated name; it sorts in the order of creation.
    pub(super) name: NodeName,
    /// The node as bought.
    pub(super) bought: Bought,
    /// Its labels.
    pub(super) labels: Requirements,
    /// Its taints.
    pub(super) taints: Vec<Taint>,
    /// Capacity for pods, beside DaemonSets.
    pub(super) room: Resources,
    /// Host ports that DaemonSets use.
    pub(super) ports: BTreeSet<HostPort>,
    /// Its total capacity.
    pub(super) capacity: Resources,
}

/// Returns the labels of a node of this size and offering with these requirements: one value each, without those that
/// may be absent.
pub(super) fn labels(asked: &Requirements, name: &NodeName, bought: [&Requirements; 2]) -> Requirements {
    let mut open = asked.clone();
    bought.into_iter().for_each(|requirements| open.add_all(requirements));
    let mut labels = Requirements::none();
    for (key, requirement) in open.iter().filter(|(_, requirement)| !requirement.accepts_absence()) {
        // A label that only has to exist, or that the pool does not list, has no value before one is chosen.
        let value: Option<Arc<str>> = requirement.single().cloned().or_else(|| some_value(requirement));
        if let Some(value) = value {
            labels.add(key.clone(), Requirement::one(&value));
        }
    }
    labels.set(LabelKey::new(label::HOSTNAME), Requirement::one(name.as_str()));
    labels
}
