//! Volume limits: how many volumes of a driver a node attaches. Each volume counts once, however many pods mount it.
//!
//! If a driver reports no limit for a node, such as a new one, the lowest limit that it reports for nodes of the same
//! size applies. If the Azure disk driver reports none for the size, the catalogue's number applies, known or assumed.
//! Other drivers without a reported limit are not checked. Running pods alone never exceed a limit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::case::{Case, Site};
use super::finding::{Finding, Rule};
use super::labels::Domain;
use super::volumes::{Mount, mount};
use crate::model::storage::{CsiDriver, DISKS, driver_of};
use crate::model::{LabelKey, NodeName, Pod, ResourceName, SkuName, label};
use crate::snapshot::Snapshot;

/// Volumes by driver, each under a unique name.
type Volumes = BTreeMap<Arc<str>, BTreeSet<String>>;

/// Volume limits from drivers and the catalogue, by size.
#[derive(Default)]
pub(super) struct Attachable {
    by_size: BTreeMap<Arc<str>, BTreeMap<Arc<str>, u32>>,
    /// The Azure disk driver.
    disks: Arc<str>,
    /// Disk limit of nodes for whose size neither the driver nor the catalogue has one.
    disks_by_node: BTreeMap<NodeName, u32>,
}

impl Attachable {
    /// Reads the drivers' limits on existing nodes, including nodes assumed away, and the catalogue's limits of sizes.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut sizes: BTreeMap<Arc<str>, BTreeMap<Arc<str>, u32>> = BTreeMap::new();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let absent = snapshot.supposed.absent.iter().map(|absent| &absent.node);
        for node in snapshot.nodes.iter().chain(absent) {
            let size = node.labels.get(&LabelKey::new(label::INSTANCE_TYPE));
            let drivers = snapshot.storage.drivers.get(&node.name);
            for (size, (driver, CsiDriver { volumes_max, topology_keys: _ })) in
                size.into_iter().flat_map(|size| drivers.into_iter().flatten().map(move |it| (size, it)))
            {
                if **driver == *DISKS {
                    known.insert(size);
                }
                let Some(most) = *volumes_max else { continue };
                let of_size = sizes.entry(Arc::clone(size)).or_default();
                let least = of_size.get(driver).map_or(most, |least| most.min(*least));
                of_size.insert(Arc::clone(driver), least);
            }
        }
        for (size, disks) in snapshot.catalog.data_disks() {
            if !known.contains(size.as_str()) {
                let of_size = sizes.entry(Arc::from(size.as_str())).or_default();
                of_size.insert(Arc::from(DISKS), disks.most);
            }
        }
        let mut disks_by_node = BTreeMap::new();
        for node in &snapshot.nodes {
            let size = node.labels.get(&LabelKey::new(label::INSTANCE_TYPE));
            let has_limit =
                |size: &Arc<str>| sizes.get(size).is_some_and(|of_size| of_size.contains_key(DISKS));
            if size.is_some_and(|size| known.contains(&**size) || has_limit(size)) {
                continue;
            }
            let size = size.map(|size| SkuName::new(&**size));
            let cpu_milli = node.capacity.get(&ResourceName::Cpu);
            let disks = snapshot.catalog.data_disks_of(size.as_ref(), cpu_milli);
            disks_by_node.insert(node.name.clone(), disks.most);
        }
        Self { by_size: sizes, disks: Arc::from(DISKS), disks_by_node }
    }

    /// Returns how many volumes of each driver a node attaches.
    fn on<'c>(&'c self, snapshot: &'c Snapshot, site: &Site<'_>) -> BTreeMap<&'c Arc<str>, u32> {
        let size = match site.labels.domain(&LabelKey::new(label::INSTANCE_TYPE)) {
            Domain::Value(size) => self.of_size(size),
            Domain::Own | Domain::Open | Domain::Absent => BTreeMap::new(),
        };
        let mut most = size;
        if let Some(disks) = site.node.and_then(|node| self.disks_by_node.get(node)) {
            most.insert(&self.disks, *disks);
        }
        for (driver, said) in
            site.node.into_iter().filter_map(|it| snapshot.storage.drivers.get(it)).flatten()
        {
            match said.volumes_max {
                Some(said) => most.insert(driver, said),
                None => most.remove(driver),
            };
        }
        most
    }

    fn of_size(&self, size: &str) -> BTreeMap<&Arc<str>, u32> {
        self.by_size.get(size).into_iter().flatten().map(|(driver, most)| (driver, *most)).collect()
    }
}

/// Returns the first driver that cannot attach all volumes of these pods to a new node of this size.
pub(super) fn short_on_new<'c>(case: &'c Case<'_>, size: &SkuName, pods: &[&Pod]) -> Option<&'c Arc<str>> {
    let most = case.attachable.of_size(size.as_str());
    if most.is_empty() {
        return None;
    }
    let asked = volumes(case, pods);
    let is_short = |(driver, most): &(&Arc<str>, u32)| {
        asked.get(*driver).is_some_and(|asked| asked.len() > usize::try_from(*most).unwrap_or(usize::MAX))
    };
    most.into_iter().find(is_short).map(|(driver, _)| driver)
}

/// Returns the drivers whose volume limit is exceeded on a node.
pub(super) fn too_many(case: &Case<'_>, site: &Site<'_>) -> Vec<Finding> {
    let most = case.attachable.on(case.snapshot, site);
    if most.is_empty() || site.pods.iter().all(|pod| pod.spec.volumes.is_empty()) {
        return Vec::new();
    }
    let running = volumes(case, &site.running);
    let placed = volumes(case, &site.pods);
    let mut found = Vec::new();
    for (driver, most) in most {
        let Some(placed) = placed.get(driver) else { continue };
        let mut there = running.get(driver).cloned().unwrap_or_default();
        let others = site.node.map(|node| attached(case, node, driver, &there));
        there.extend(others.into_iter().flatten());
        let new = placed.difference(&there).count();
        let (all, most) = (there.len() + new, usize::try_from(most).unwrap_or(usize::MAX));
        if new > 0 && all > most {
            let why = format!(
                "driver `{driver}` would have {all} volumes there, {new} of them of placed pods; it takes {most}"
            );
            found.push(Finding::new(Rule::Volumes, site.title.clone(), why));
        }
    }
    found
}

fn volumes(case: &Case<'_>, pods: &[&Pod]) -> Volumes {
    let mut volumes = Volumes::new();
    for (pod, volume) in pods.iter().flat_map(|pod| pod.spec.volumes.iter().map(move |it| (*pod, it))) {
        let (driver, name) = match mount(&case.snapshot.storage, pod, volume) {
            Ok(Mount::Bound(volume)) => (volume.driver.clone(), of_volume(&volume.name)),
            Ok(Mount::ToMake(key, class)) => (Some(driver_of(&class.provisioner)), format!("claim {key}")),
            Ok(Mount::Disk(name)) => (Some(Arc::from(DISKS)), format!("disk {name}")),
            // Such a volume is local to the node, so nothing is attached.
            Ok(Mount::ToTake(..)) | Err(_) => continue,
        };
        if let Some(driver) = driver {
            volumes.entry(driver).or_default().insert(name);
        }
    }
    volumes
}

fn of_volume(name: &str) -> String {
    format!("volume {name}")
}

/// Returns the attachments of a node other than the volumes that its pods mount. An attachment without a volume name is
/// a disk that a pod names; only those beyond the pods' disks are others.
fn attached(case: &Case<'_>, node: &NodeName, driver: &Arc<str>, mounted: &BTreeSet<String>) -> Vec<String> {
    let mut disks = mounted.iter().filter(|name| name.starts_with("disk ")).count();
    let here = |it: &&crate::model::storage::VolumeAttachment| it.node == *node && it.driver == *driver;
    let mut others = Vec::new();
    for attachment in case.snapshot.storage.attachments.iter().filter(here) {
        match &attachment.volume {
            Some(volume) => others.push(of_volume(volume)),
            None if disks > 0 => disks -= 1,
            None => others.push(format!("attachment {}", attachment.name)),
        }
    }
    others
}
