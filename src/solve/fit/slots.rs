//! Volume slots: how many volumes of each driver a node takes, as reported by the node's drivers, or else by the same
//! driver on other nodes of the size, or else, for disks, by the catalogue for the size, known or assumed.
//!
//! Without a report, drivers other than Azure's for disks have no limit. Never counts attached volumes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::storage::{CsiDriver, DISKS, Storage};
use crate::model::{DataDisks, LabelKey, Node, NodeName, ResourceName, SkuName, label};
use crate::snapshot::Snapshot;

/// Number of volumes of each driver, if limited.
pub type Slots = BTreeMap<Arc<str>, usize>;

/// Number of volumes of each driver that nodes of a size take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeSlots {
    of_sizes: BTreeMap<SkuName, Slots>,
    /// Slots of nodes that do not name their size.
    of_nameless: BTreeMap<NodeName, Slots>,
    /// Sizes whose limit for Azure disks is an estimate.
    estimated: BTreeSet<SkuName>,
}

impl SizeSlots {
    /// Reads what drivers report for nodes, and the catalogue for sizes. If drivers differ about nodes of one size, the
    /// smallest number applies to it. Reads nothing if no pod has a volume.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut slots = Self::default();
        if snapshot.pods.iter().all(|pod| pod.spec.volumes.is_empty()) {
            return slots;
        }
        let all = &mut slots.of_sizes;
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
        let count = |disks: DataDisks| usize::try_from(disks.most).unwrap_or(usize::MAX);
        let of_sizes = snapshot.catalog.data_disks();
        let mut of_others: BTreeMap<SkuName, DataDisks> = BTreeMap::new();
        for node in snapshot.nodes_today() {
            let cpu_milli = node.capacity.get(&ResourceName::Cpu);
            let of_node = |size| snapshot.catalog.data_disks_of(size, cpu_milli);
            match size_of(node) {
                Some(size) if of_sizes.contains_key(&size) => {}
                Some(size) => {
                    let own = of_node(Some(&size));
                    let least = of_others.entry(size).or_insert(own);
                    *least = own.min(*least);
                }
                None => {
                    let own = Slots::from([(Arc::clone(&disks), count(of_node(None)))]);
                    slots.of_nameless.insert(node.name.clone(), own);
                }
            }
        }
        let unsaid = of_sizes.into_iter().chain(of_others).filter(|(size, _)| !spoken_of.contains(size));
        for (size, most) in unsaid {
            if most.is_estimate {
                slots.estimated.insert(size.clone());
            }
            slots.of_sizes.entry(size).or_default().insert(Arc::clone(&disks), count(most));
        }
        slots
    }

    /// Returns how many volumes a new node of a size takes.
    #[must_use]
    pub fn of_size(&self, size: &SkuName) -> Slots {
        self.of_sizes.get(size).cloned().unwrap_or_default()
    }

    /// Returns whether the limit of a size for Azure disks is an estimate.
    #[must_use]
    pub fn is_estimate(&self, size: &SkuName) -> bool {
        self.estimated.contains(size)
    }

    /// Returns whether the limit for Azure disks of an existing node, or one being launched, is an estimate.
    #[must_use]
    pub fn is_estimate_of(&self, node: &Node, storage: &Storage) -> bool {
        let is_said = storage.drivers.get(&node.name).is_some_and(|own| own.contains_key(DISKS));
        !is_said && size_of(node).is_none_or(|size| self.is_estimate(&size))
    }

    /// Returns how many volumes an existing node, or one being launched, takes.
    #[must_use]
    pub fn of_node(&self, node: &Node, storage: &Storage) -> Slots {
        let mut slots = match size_of(node) {
            Some(size) => self.of_size(&size),
            None => self.of_nameless.get(&node.name).cloned().unwrap_or_default(),
        };
        if let Some(own) = storage.drivers.get(&node.name) {
            slots.retain(|driver, _| !own.contains_key(driver));
        }
        slots.extend(said(node, storage));
        slots
    }
}

/// Returns the drivers with a limit on some node or size; the one for Azure disks always has one.
#[must_use]
pub fn limited(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let drivers = snapshot.storage.drivers.values().flatten();
    let said = drivers.filter(|(_, driver)| driver.volumes_max.is_some()).map(|(name, _)| Arc::clone(name));
    said.chain([Arc::from(DISKS)]).collect()
}

/// Returns how many volumes the drivers of a node report.
fn said<'s>(node: &Node, storage: &'s Storage) -> impl Iterator<Item = (Arc<str>, usize)> + use<'s> {
    let limit = |(name, driver): (&Arc<str>, &CsiDriver)| {
        let most = usize::try_from(driver.volumes_max?).unwrap_or(usize::MAX);
        Some((Arc::clone(name), most))
    };
    storage.drivers.get(&node.name).into_iter().flatten().filter_map(limit)
}

/// Returns what drivers will report for a node with these slots.
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
