//! CSI drivers of a node that has joined: copied from nodes of the same size; Azure's disk driver otherwise from the
//! catalog, known or assumed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::storage::{CsiDriver, DISKS};
use crate::model::{LabelKey, Node, ResourceName, SkuName, label};
use crate::snapshot::Snapshot;

/// Returns the drivers of a node. If nodes of the size differ, the lowest volume limit applies.
pub(super) fn of(node: &Node, seen: &Snapshot) -> BTreeMap<Arc<str>, CsiDriver> {
    let size = |node: &Node| node.labels.get(&LabelKey::new(label::INSTANCE_TYPE)).cloned();
    let own = size(node);
    let is_like = |other: &&Node| own.is_some() && size(other) == own;
    let mut drivers: BTreeMap<Arc<str>, CsiDriver> = BTreeMap::new();
    let alike = seen.nodes_today().filter(is_like).filter_map(|other| seen.storage.drivers.get(&other.name));
    for (name, said) in alike.flatten() {
        let driver = drivers.entry(Arc::clone(name)).or_insert_with(|| said.clone());
        let most = [driver.volumes_max, said.volumes_max].into_iter().flatten().min();
        driver.volumes_max = most;
    }
    drivers.entry(Arc::from(DISKS)).or_insert_with(|| {
        let size = own.map(|size| SkuName::new(&*size));
        let most = seen.catalog.data_disks_of(size.as_ref(), node.capacity.get(&ResourceName::Cpu)).most;
        CsiDriver { volumes_max: Some(most), topology_keys: Vec::new() }
    });
    drivers
}
