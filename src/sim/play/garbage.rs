//! Garbage collection: dependents of deleted owners, and pods of deleted nodes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Scene;
use super::index::Index;
use crate::sim::cluster::{Grace, KindId, Name, PODS};
use crate::sim::json::{list, text};

/// Deletes dependents whose owners are all deleted.
pub(crate) fn collect(scene: &mut Scene<'_>) {
    let gone = scene.store.take_orphaned();
    if gone.is_empty() {
        return;
    }
    let kinds: Vec<KindId> = scene.store.kinds.all().map(|(id, _)| id).collect();
    for kind in kinds {
        let owned: Vec<Name> = scene
            .store
            .list(kind)
            .filter(|(_, object)| is_orphan(object, &gone))
            .map(|(name, _)| name.clone())
            .collect();
        for name in owned {
            scene.store.delete(kind, &name, Grace::default(), scene.now);
        }
    }
}

fn is_orphan(object: &Value, gone: &BTreeSet<String>) -> bool {
    let owners = list(object, "/metadata/ownerReferences");
    !owners.is_empty() && owners.iter().all(|owner| text(owner, "/uid").is_some_and(|uid| gone.contains(uid)))
}

/// Removes pods whose node no longer exists: no kubelet is left to terminate them.
pub(crate) fn pods_of_lost_nodes(index: &Index, scene: &mut Scene<'_>) {
    let lost: Vec<Name> = index
        .nodes_of_pods()
        .filter(|node| !index.nodes.contains_key(*node))
        .flat_map(|node| index.on_node(node).map(|(name, _)| name.clone()))
        .collect();
    for name in lost {
        scene.store.modify(PODS, &name, |pod| {
            crate::sim::json::set(pod, &["metadata", "finalizers"], serde_json::json!([]));
        });
        scene.store.remove(PODS, &name);
    }
}
