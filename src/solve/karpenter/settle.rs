//! Claims of earlier passes as the nodes that they become: the cheapest way to have them.
//!
//! Nothing is placed here.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{
    CapacityType, HostPort, LabelKey, NodeName, PodKey, PoolName, Requirement, Requirements, Resources,
    SkuName, Taint, Zone, label,
};
use crate::solve::fit::labels::some_value;

/// A node that a claim becomes, as it is bought.
#[derive(Clone, Debug)]
pub(super) struct Bought {
    /// Its pool.
    pub(super) pool: PoolName,
    /// The size.
    pub(super) size: SkuName,
    /// The zone.
    pub(super) zone: Zone,
    /// How it is bought.
    pub(super) capacity_type: CapacityType,
    /// What was asked of its labels before anything was chosen.
    pub(super) asked: Requirements,
    /// The sizes that hold its first pods, the cheapest first.
    pub(super) sizes: Vec<SkuName>,
    /// The pod for which it was opened.
    pub(super) opened_for: PodKey,
    /// The pods that are placed there, in their order.
    pub(super) pods: Vec<PodKey>,
    /// Whether pods are there that were not thought of when its sizes were listed.
    pub(super) has_more: bool,
}

/// A claim of an earlier pass as a node.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// A name that is made up; it sorts in the order of making.
    pub(super) name: NodeName,
    /// How it is bought.
    pub(super) bought: Bought,
    /// What its labels are.
    pub(super) labels: Requirements,
    /// Its taints.
    pub(super) taints: Vec<Taint>,
    /// What pods may use beside daemonsets.
    pub(super) room: Resources,
    /// What daemonsets take of its ports.
    pub(super) ports: BTreeSet<HostPort>,
    /// What it has in all.
    pub(super) capacity: Resources,
}

/// Returns the labels of a node of this size and offering of which so much was asked: one value each, those
/// that may be absent left out.
pub(super) fn labels(asked: &Requirements, name: &NodeName, bought: [&Requirements; 2]) -> Requirements {
    let mut open = asked.clone();
    bought.into_iter().for_each(|requirements| open.add_all(requirements));
    let mut labels = Requirements::none();
    for (key, requirement) in open.iter().filter(|(_, requirement)| !requirement.accepts_absence()) {
        // A label that only has to be there, or that the pool does not list, has no value before it is chosen.
        let value: Option<Arc<str>> = requirement.single().cloned().or_else(|| some_value(requirement));
        if let Some(value) = value {
            labels.add(key.clone(), Requirement::one(&value));
        }
    }
    labels.set(LabelKey::new(label::HOSTNAME), Requirement::one(name.as_str()));
    labels
}
