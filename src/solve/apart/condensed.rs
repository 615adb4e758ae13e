//! Condenses a world for pods that only join it: folds bound pods that no rule mentions into their node's used
//! resources.
//!
//! Pods with a role in a rule between pods are kept, as are pods with volumes or host ports, and DaemonSet pods. Of the
//! others, one is kept on each node, so that no node looks unused; the requests of the rest are subtracted from the
//! node's allocatable resources. Never moves pods.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Namespace, NodeName, Pod, PodPlace, PodSpec, Resources};
use crate::snapshot::Snapshot;
use crate::solve::topology::group::Group;

/// Returns a world that looks the same to joining pods that these rules bind.
pub(super) fn condensed(mut world: Snapshot, rules: &BTreeSet<Group>) -> Snapshot {
    let mut asked: BTreeMap<(usize, Namespace), bool> = BTreeMap::new();
    let mut taken: BTreeMap<NodeName, Option<Resources>> = BTreeMap::new();
    world.pods.retain(|pod| {
        let PodPlace::Bound(node) = &pod.place else { return true };
        let content = ((&raw const *pod.spec).addr(), pod.key.namespace.clone());
        let is_looked_at = asked.entry(content).or_insert_with(|| is_looked_at(pod, rules));
        if *is_looked_at || pod.is_daemon || pod.is_terminating {
            return true;
        }
        match taken.get_mut(node) {
            None => {
                taken.insert(node.clone(), None);
                true
            }
            Some(taken) => {
                taken.get_or_insert_with(Resources::none).add(&pod.spec.requests);
                false
            }
        }
    });
    for node in &mut world.nodes {
        if let Some(Some(taken)) = taken.get(&node.name) {
            node.allocatable = node.allocatable.minus(taken);
        }
    }
    world
}

/// Removes nodes being deleted, unless they are the only evidence of NodeClaims: without limits nothing counts them.
pub(super) fn without_leaving(world: &mut Snapshot) {
    let has_claims = |is_deleting: bool| {
        world.nodes.iter().any(|node| node.is_deleting == is_deleting && node.claim.is_some())
    };
    if has_claims(true) && !has_claims(false) {
        return;
    }
    let leaving: BTreeSet<NodeName> =
        world.nodes.iter().filter(|node| node.is_deleting).map(|node| node.name.clone()).collect();
    world.nodes.retain(|node| !node.is_deleting);
    world.pods.retain(|pod| !matches!(&pod.place, PodPlace::Bound(node) if leaving.contains(node)));
}

/// Returns whether anything beside its requests matters of a pod that is not moved.
fn is_looked_at(pod: &Pod, rules: &BTreeSet<Group>) -> bool {
    let PodSpec { volumes, anti_affinity, host_ports, .. } = &*pod.spec;
    !(volumes.is_empty() && anti_affinity.is_empty() && host_ports.is_empty())
        || rules.iter().any(|rule| rule.means(&pod.spec, &pod.key.namespace))
}
