//! Evicts pods from nodes with NoExecute taints that they do not tolerate.

use std::collections::BTreeSet;

use super::Scene;
use super::index::Index;
use super::pod::tolerates;
use crate::sim::cluster::{Grace, KindId, Name, PODS};
use crate::sim::json::list;

/// Deletes the pods that a taint repels, among changed pods and the pods of changed nodes. `tolerationSeconds` is
/// ignored: nodes of this world are repaired or removed sooner.
pub(crate) fn evict(index: &Index, scene: &mut Scene<'_>, dirty: &BTreeSet<(KindId, Name)>) {
    let of_nodes = index.touched.iter().flat_map(|node| index.on_node(node).map(|(name, _)| name));
    let of_pods = dirty.iter().filter(|(kind, _)| *kind == PODS).map(|(_, name)| name);
    let candidates: BTreeSet<&Name> = of_nodes.chain(of_pods).collect();
    let repelled: Vec<Name> =
        candidates.into_iter().filter(|name| is_repelled(index, scene, name)).cloned().collect();
    for name in repelled {
        scene.store.delete(PODS, &name, Grace::default(), scene.now);
    }
}

fn is_repelled(index: &Index, scene: &Scene<'_>, name: &Name) -> bool {
    let Some(view) = index.pods.get(name).filter(|pod| pod.is_active()) else { return false };
    let node = view.node.as_ref().and_then(|node| index.nodes.get(node));
    let Some(node) = node.filter(|node| !node.ending_taints.is_empty()) else { return false };
    let Some(pod) = scene.store.get(PODS, name) else { return false };
    let tolerations = list(pod, "/spec/tolerations");
    node.ending_taints.iter().any(|taint| !tolerates(tolerations, taint))
}
