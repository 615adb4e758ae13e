//! The imagined world in which a set of nodes is removed and their replacements exist.
//!
//! Used only by the solver, to check whether anything would be left to do; never shown, and never applied.

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

/// Returns the world once the target is reached. Removed nodes remain, marked as being deleted: they count against
/// limits while nodes are created. An empty node that may not be removed now remains unmarked, because its removal
/// cannot be relied on.
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

/// Returns whether budgets or the fleet allow no node of its pool to be removed as empty now.
fn is_held(scene: &Scene<'_>, snapshot: &Snapshot, removal: &Removal) -> bool {
    if removal.reason != DisruptionReason::Empty {
        return false;
    }
    let node = snapshot.nodes.iter().find(|node| node.name == removal.node);
    let pool = node.and_then(|node| scene.policy.pools.get(node.pool.as_ref()?));
    pool.is_some_and(|pool| candidate::at_once(snapshot, scene.policy, pool, removal.reason) == 0)
}

/// Returns the name of an imagined node. It is unique because real names contain no blank.
pub(in crate::solve) fn name(number: usize) -> NodeName {
    NodeName::new(&*format!("{NEW}{number}"))
}

/// Returns whether a node exists only in an imagined world.
pub(super) fn is_new(node: &NodeName) -> bool {
    node.as_str().starts_with(NEW)
}

/// Prefix of the names of imagined nodes.
const NEW: &str = "new ";

/// Returns a node to be created as if it had joined under a unique name.
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
