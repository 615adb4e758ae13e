//! How many volumes of each driver a node takes: as its drivers say, and where one has not said so yet, as it says of
//! other nodes of the size; where it says nothing of any, as many disks as the catalogue says of the size, known or assumed.
//!
//! Of drivers other than Azure's for disks, what nobody has said is no limit. What is attached is not counted here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::storage::{CsiDriver, DISKS, Storage};
use crate::model::{DataDisks, LabelKey, Node, NodeName, ResourceName, SkuName, label};
use crate::snapshot::Snapshot;

/// How many volumes of each driver something takes, where that is limited.
pub type Slots = BTreeMap<Arc<str>, usize>;

/// How many volumes of each driver nodes of a size take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeSlots {
    of_sizes: BTreeMap<SkuName, Slots>,
    /// Of nodes that do not name their size.
    of_nameless: BTreeMap<NodeName, Slots>,
    /// The sizes of which it is an estimate how many of Azure's disks they take.
    estimated: BTreeSet<SkuName>,
}

impl SizeSlots {
    /// Reads what drivers say of nodes, and the catalogue of sizes. Where drivers differ about nodes of one size, the least
    /// holds for it. Nothing is read where no pod has a volume.
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

    /// Returns whether it is an estimate how many of Azure's disks nodes of a size take.
    #[must_use]
    pub fn is_estimate(&self, size: &SkuName) -> bool {
        self.estimated.contains(size)
    }

    /// Returns whether it is an estimate how many of Azure's disks a node takes that exists, or is on its way.
    #[must_use]
    pub fn is_estimate_of(&self, node: &Node, storage: &Storage) -> bool {
        let is_said = storage.drivers.get(&node.name).is_some_and(|own| own.contains_key(DISKS));
        !is_said && size_of(node).is_none_or(|size| self.is_estimate(&size))
    }

    /// Returns how many volumes a node takes that exists, or is on its way.
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

/// Returns the drivers of which some node, or nodes of some size, take only so many volumes: of Azure's disks, all do.
#[must_use]
pub fn limited(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let drivers = snapshot.storage.drivers.values().flatten();
    let said = drivers.filter(|(_, driver)| driver.volumes_max.is_some()).map(|(name, _)| Arc::clone(name));
    said.chain([Arc::from(DISKS)]).collect()
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
