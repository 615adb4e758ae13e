//! The world as it will be when a set of nodes is gone and what replaces them is there.
//!
//! Only the solver looks at it, to see whether anything would be left to do; it is never shown and never carried out.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{DisruptionReason, LabelKey, Node, NodeName, PodKey, PodPlace, label};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::came_off::labels_of;
use crate::solve::fit::slots;
use crate::solve::solution::{NewNode, Removal, Target};
use crate::solve::supply::Supply;

use super::candidate;
use super::trial::{Scene, marked};

/// Returns the world when the target is reached. What goes is there still, as being deleted: it counts for limits while
/// nodes are made. An empty node that nothing lets go now is there for longer, and nothing may count on its end.
pub(in crate::solve) fn after(scene: &Scene<'_>, snapshot: &Snapshot, target: &Target) -> Snapshot {
    let leaves = |removal: &&Removal| !is_held(scene, snapshot, removal);
    let gone = target.removed.iter().filter(leaves).map(|removal| removal.node.clone()).collect();
    let mut after = marked(snapshot, &gone).into_owned();
    let mut places: BTreeMap<&PodKey, NodeName> = BTreeMap::new();
    for kept in &target.kept {
        places.extend(kept.pods.iter().map(|pod| (pod, kept.node.clone())));
    }
    for (number, new) in target.new.iter().enumerate() {
        let node = joined((scene.policy, scene.supply), name(number), new, snapshot.at);
        places.extend(new.pods.iter().map(|pod| (pod, node.name.clone())));
        let slots = scene.market.slots.of_size(&new.size);
        if !slots.is_empty() {
            after.storage.drivers.insert(node.name.clone(), slots::drivers(&slots));
        }
        after.nodes.push(node);
    }
    after.nodes.sort_by(|one, other| one.name.cmp(&other.name));
    for pod in &mut after.pods {
        if let Some(node) = places.get(&pod.key) {
            pod.place = PodPlace::Bound(node.clone());
        }
    }
    after
}

/// Whether budgets or the fleet let no node of its pool go for being empty now.
fn is_held(scene: &Scene<'_>, snapshot: &Snapshot, removal: &Removal) -> bool {
    if removal.reason != DisruptionReason::Empty {
        return false;
    }
    let node = snapshot.nodes.iter().find(|node| node.name == removal.node);
    let pool = node.and_then(|node| scene.policy.pools.get(node.pool.as_ref()?));
    pool.is_some_and(|pool| candidate::at_once(snapshot, scene.policy, pool, removal.reason) == 0)
}

/// Returns the name of an imagined node: no real one has it, since a name has no blank.
pub(in crate::solve) fn name(number: usize) -> NodeName {
    NodeName::new(&*format!("{NEW}{number}"))
}

/// Returns whether a node is one that only an imagined world has.
pub(super) fn is_new(node: &NodeName) -> bool {
    node.as_str().starts_with(NEW)
}

/// What the names of imagined nodes begin with.
const NEW: &str = "new ";

/// Returns a node to make as if it had joined under a name that no other has.
pub(in crate::solve) fn joined(
    (policy, supply): (&Policy, &Supply<'_>),
    name: NodeName,
    new: &NewNode,
    at: Option<Timestamp>,
) -> Node {
    let mut labels = labels_of(supply, new);
    labels.insert(LabelKey::new(label::HOSTNAME), Arc::from(name.as_str()));
    Node::joined(&policy.pools[&new.pool], name, labels, (&new.capacity, &new.allocatable), at)
}
