//! How many volumes of each driver a node takes: as its drivers say, and where one has not said so yet, as it says of
//! other nodes of the size; where it says nothing of any, as many disks as Azure attaches to the size.
//!
//! What nobody has said of a size is no limit. What is attached is not counted here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::storage::{CsiDriver, DISKS, Storage};
use crate::model::{LabelKey, Node, SkuName, label};
use crate::snapshot::Snapshot;

/// How many volumes of each driver something takes, where that is limited.
pub type Slots = BTreeMap<Arc<str>, usize>;

/// How many volumes of each driver nodes of a size take, where that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeSlots(BTreeMap<SkuName, Slots>);

impl SizeSlots {
    /// Reads what drivers say of nodes, and the catalogue of sizes. Where drivers differ about nodes of one size, the least
    /// holds for it. Nothing is read where no pod has a volume.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut all: BTreeMap<SkuName, Slots> = BTreeMap::new();
        if snapshot.pods.iter().all(|pod| pod.spec.volumes.is_empty()) {
            return Self(all);
        }
        let mut spoken_of: BTreeSet<SkuName> = BTreeSet::new();
        for node in snapshot.nodes_today() {
            let Some(size) = size_of(node) else { continue };
            if snapshot.storage.drivers.get(&node.name).is_some_and(|own| own.contains_key(DISKS)) {
                spoken_of.insert(size.clone());
            }
            for (driver, most) in said(node, &snapshot.storage) {
                let least = all.entry(size.clone()).or_default().entry(driver).or_insert(most);
                *least = most.min(*least);
            }
        }
        let disks: Arc<str> = Arc::from(DISKS);
        for size in snapshot.catalog.sizes().iter().map(|sold| &sold.size) {
            let most = size.capabilities.data_disks_max.filter(|_| !spoken_of.contains(&size.name));
            if let Some(most) = most.and_then(|most| usize::try_from(most).ok()) {
                all.entry(size.name.clone()).or_default().insert(Arc::clone(&disks), most);
            }
        }
        Self(all)
    }

    /// Returns how many volumes a new node of a size takes.
    #[must_use]
    pub fn of_size(&self, size: &SkuName) -> Slots {
        self.0.get(size).cloned().unwrap_or_default()
    }

    /// Returns how many volumes a node takes that exists, or is on its way.
    #[must_use]
    pub fn of_node(&self, node: &Node, storage: &Storage) -> Slots {
        let mut slots = size_of(node).map(|size| self.of_size(&size)).unwrap_or_default();
        if let Some(own) = storage.drivers.get(&node.name) {
            slots.retain(|driver, _| !own.contains_key(driver));
        }
        slots.extend(said(node, storage));
        slots
    }
}

/// Returns the drivers of which some node, or nodes of some size, take only so many volumes.
#[must_use]
pub fn limited(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let drivers = snapshot.storage.drivers.values().flatten();
    let said = drivers.filter(|(_, driver)| driver.volumes_max.is_some()).map(|(name, _)| Arc::clone(name));
    let mut sizes = snapshot.catalog.sizes().iter();
    let of_sizes = sizes.any(|sold| sold.size.capabilities.data_disks_max.is_some());
    said.chain(of_sizes.then(|| Arc::from(DISKS))).collect()
}

/// Returns how many volumes the drivers of a node say that it takes.
fn said<'s>(node: &Node, storage: &'s Storage) -> impl Iterator<Item = (Arc<str>, usize)> + use<'s> {
    let limit = |(name, driver): (&Arc<str>, &CsiDriver)| {
        let most = usize::try_from(driver.volumes_max?).unwrap_or(usize::MAX);
        Some((Arc::clone(name), most))
    };
    storage.drivers.get(&node.name).into_iter().flatten().filter_map(limit)
}

/// Returns what drivers will say of a node that takes so many volumes.
#[must_use]
pub fn drivers(slots: &Slots) -> BTreeMap<Arc<str>, CsiDriver> {
    let driver = |(name, most): (&Arc<str>, &usize)| {
        let volumes_max = Some(u32::try_from(*most).unwrap_or(u32::MAX));
        (Arc::clone(name), CsiDriver { volumes_max, topology_keys: Vec::new() })
    };
    slots.iter().map(driver).collect()
}

fn size_of(node: &Node) -> Option<SkuName> {
    node.labels.get(&LabelKey::new(label::INSTANCE_TYPE)).map(|size| SkuName::new(&**size))
}
