//! How many volumes of a driver a node that exists takes: each counts once, however many pods mount it.
//!
//! Nodes to come are not judged: no driver has said yet what they take. Volumes that run there alone are
//! nobody's fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::case::{Case, Site};
use super::finding::{Finding, Rule};
use super::volumes::{Mount, mount};
use crate::model::storage::{CsiDriver, DISKS, driver_of};
use crate::model::{NodeName, Pod};

/// The volumes of each driver, each by a name of its own.
type Volumes = BTreeMap<Arc<str>, BTreeSet<String>>;

/// Returns the drivers that are to mount more volumes on a node than they can.
pub(super) fn too_many(case: &Case<'_>, site: &Site<'_>) -> Vec<Finding> {
    let Some(drivers) = site.node.and_then(|node| case.snapshot.storage.drivers.get(node)) else {
        return Vec::new();
    };
    if site.pods.iter().all(|pod| pod.spec.volumes.is_empty()) {
        return Vec::new();
    }
    let running = volumes(case, &site.running);
    let placed = volumes(case, &site.pods);
    let mut found = Vec::new();
    for (driver, CsiDriver { volumes_max, topology_keys: _ }) in drivers {
        let (Some(most), Some(placed)) = (*volumes_max, placed.get(driver)) else { continue };
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
            Err(_) => continue,
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

/// Returns what is attached to a node beside the volumes that pods there mount. One without a volume's name is a
/// disk that a pod names, and only those beyond the pods' disks are others.
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
