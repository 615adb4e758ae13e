//! Ephemeral storage that kubelet leaves to pods, learned from existing nodes of the same class and size.
//!
//! The node that offers the least counts. A node with a disk of another size is ignored: its class has changed since.

use std::sync::Arc;

use crate::catalog::Offered;
use crate::model::{ClassName, InstanceType, LabelKey, Node, NodeStage, ResourceName, label};
use crate::snapshot::Snapshot;

/// Returns a class's instance types with the ephemeral storage of its existing nodes.
pub(super) fn with_disks(class: &ClassName, mut offered: Arc<Offered>, snapshot: &Snapshot) -> Arc<Offered> {
    let key = LabelKey::new(label::INSTANCE_TYPE);
    let nodes: Vec<&Node> = snapshot
        .nodes_today()
        .filter(|node| node.class.as_ref() == Some(class) && node.stage == NodeStage::Initialized)
        .collect();
    if nodes.is_empty() {
        return offered;
    }
    for kind in &mut Arc::make_mut(&mut offered).types {
        let name = kind.name.as_str();
        let alike = nodes.iter().filter(|node| node.labels.get(&key).is_some_and(|size| **size == *name));
        let left = alike.filter(|node| has_the_disk_of(node, kind)).filter_map(|node| disk(node)).min();
        if let Some(left) = left {
            kind.allocatable.set(ResourceName::EphemeralStorage, left);
        }
    }
    offered
}

fn disk(node: &Node) -> Option<i64> {
    Some(node.allocatable.get(&ResourceName::EphemeralStorage)).filter(|left| *left > 0)
}

/// Returns whether a node's disk matches the one that its class creates today, within a tenth: file systems take some
/// of it, and Azure's GB are GiB.
fn has_the_disk_of(node: &Node, kind: &InstanceType) -> bool {
    let (there, made) = (
        node.capacity.get(&ResourceName::EphemeralStorage),
        kind.capacity.get(&ResourceName::EphemeralStorage),
    );
    (made - there).abs() <= made / 10
}
