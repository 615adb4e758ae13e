//! Ephemeral storage that existing nodes of the same size and class show, which the catalogue can only estimate.
//!
//! Uses only nodes whose disk is about as large as their class sets today, and the smallest value of several. Never
//! learns anything else.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::Offered;
use crate::model::{ClassName, InstanceType, LabelKey, Node, NodeStage, ResourceName, SkuName, label};

/// Maximum difference between a node's disk and that of its class, in percent: file systems take some space, and a GB
/// is not a GiB. Beyond that, the node was created with another disk.
const DIFFERENCE_MAX_HUNDREDTHS: i64 = 10;

/// Replaces what new nodes offer by what existing nodes of the size and class have.
pub(super) fn ephemeral_storage<'n>(
    offered: &mut BTreeMap<ClassName, Arc<Offered>>,
    nodes: impl Iterator<Item = &'n Node>,
) {
    let mut seen: BTreeMap<(&ClassName, SkuName), Vec<&Node>> = BTreeMap::new();
    for node in nodes.filter(|node| node.stage == NodeStage::Initialized) {
        let size = node.labels.get(&LabelKey::new(label::INSTANCE_TYPE));
        if let (Some(class), Some(size)) = (&node.class, size) {
            seen.entry((class, SkuName::new(&**size))).or_default().push(node);
        }
    }
    for ((class, size), nodes) in seen {
        let Some(offered) = offered.get_mut(class) else { continue };
        for place in 0..offered.types.len() {
            let kind = &offered.types[place];
            let estimate = kind.allocatable.get(&ResourceName::EphemeralStorage);
            let least = if kind.name == size { least(kind, &nodes) } else { None };
            // Classes share `offered` until something in it changes.
            if let Some(least) = least.filter(|least| *least != estimate) {
                let kind = &mut Arc::make_mut(offered).types[place];
                kind.allocatable.set(ResourceName::EphemeralStorage, least);
            }
        }
    }
}

/// Returns the smallest allocatable amount among nodes of a size whose disk is about as large as their class sets.
fn least(kind: &InstanceType, nodes: &[&Node]) -> Option<i64> {
    let made = kind.capacity.get(&ResourceName::EphemeralStorage);
    let is_of_class = |node: &&&Node| {
        let has = node.capacity.get(&ResourceName::EphemeralStorage);
        (has - made).abs().saturating_mul(100) <= made.saturating_mul(DIFFERENCE_MAX_HUNDREDTHS)
    };
    let left = |node: &&Node| node.allocatable.get(&ResourceName::EphemeralStorage);
    nodes.iter().filter(is_of_class).map(left).filter(|left| *left > 0).min()
}
