//! Pods leave a node whose NoExecute taint they do not tolerate.

use super::Scene;
use super::index::Index;
use super::pod::tolerates;
use crate::sim::cluster::{Grace, Name, PODS};
use crate::sim::json::{list, text};

/// Deletes the pods that a taint repels. A toleration for a time counts as one: nodes of this world are repaired or
/// removed sooner.
pub(crate) fn evict(index: &Index, scene: &mut Scene<'_>) {
    let mut repelled: Vec<Name> = Vec::new();
    for (node, view) in &index.nodes {
        let taints: Vec<_> =
            view.taints.iter().filter(|taint| text(taint, "/effect") == Some("NoExecute")).collect();
        if taints.is_empty() {
            continue;
        }
        for (name, _) in index.on_node(node).filter(|(_, pod)| pod.is_active()) {
            let Some(pod) = scene.store.get(PODS, name) else { continue };
            let tolerations = list(pod, "/spec/tolerations");
            if taints.iter().any(|taint| !tolerates(tolerations, taint)) {
                repelled.push(name.clone());
            }
        }
    }
    for name in repelled {
        scene.store.delete(PODS, &name, Grace::default(), scene.now);
    }
}
