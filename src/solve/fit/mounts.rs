//! Attached volumes: the limit of a node per driver, where each volume counts once, however many pods use it.
//!
//! Never checks where volumes are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::available::Choices;
use super::slots::{self, Slots};
use super::{Miss, Rule};
use crate::model::storage::{self, PodVolume, Storage, VolumeAttachment, VolumeClaim, VolumeClaimKey};
use crate::model::{NodeName, Pod, PodPlace};
use crate::snapshot::Snapshot;

/// A volume on a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mounted {
    /// A volume that exists, by its name.
    Volume(Arc<str>),
    /// A volume that is being created for this claim.
    Claim(VolumeClaimKey),
    /// A disk that a pod names.
    Disk(Arc<str>),
    /// An attachment with this name that is no existing volume.
    Attached(Arc<str>),
}

impl Mounted {
    fn of(key: VolumeClaimKey, storage: &Storage) -> Self {
        let volume = storage.claim(&key).and_then(|claim| storage.volume(claim.volume.as_ref()?));
        volume.map_or_else(|| Self::Claim(key), |volume| Self::Volume(Arc::clone(&volume.name)))
    }
}

/// Volumes that pods have in common.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Claims whose volume may be on a node without the pod that requests it: several pods use it, or it is attached
    /// where none of them runs. Covers only drivers with a limit.
    claims: BTreeSet<VolumeClaimKey>,
    /// Volumes on nodes that claims may bind to.
    pub choices: Choices,
}

impl Shared {
    /// Determines which pods use which claim.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let Snapshot { pods, storage, .. } = snapshot;
        let limited = slots::limited(snapshot);
        let choices = Choices::of(storage);
        if limited.is_empty() {
            return Self { claims: BTreeSet::new(), choices };
        }
        let mut users: BTreeMap<VolumeClaimKey, Vec<&Pod>> = BTreeMap::new();
        for pod in pods {
            for name in pod.spec.volumes.iter().filter_map(|volume| volume.claim_of(&pod.key.name)) {
                let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name };
                users.entry(key).or_default().push(pod);
            }
        }
        let mut attached: BTreeMap<&Arc<str>, Vec<&NodeName>> = BTreeMap::new();
        for VolumeAttachment { node, volume, .. } in &storage.attachments {
            volume.iter().for_each(|volume| attached.entry(volume).or_default().push(node));
        }
        let is_left_behind = |key: &VolumeClaimKey, users: &[&Pod]| {
            let volume = storage.claim(key).and_then(|claim| claim.volume.as_ref());
            let nodes = volume.and_then(|volume| attached.get(volume)).into_iter().flatten();
            let runs = |node: &NodeName| users.iter().any(|pod| pod.place == PodPlace::Bound(node.clone()));
            nodes.into_iter().any(|node| !runs(node))
        };
        let is_limited = |key: &VolumeClaimKey| {
            let driver = storage.claim(key).and_then(|claim| driver_of(claim, storage));
            driver.is_some_and(|driver| limited.contains(&driver))
        };
        users.retain(|key, users| is_limited(key) && (users.len() > 1 || is_left_behind(key, users)));
        Self { claims: users.into_keys().collect(), choices }
    }
}

/// Volumes attached to a node for a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mounts {
    /// Number of volumes of each driver that no other pod uses.
    pub own: Slots,
    /// Volumes that may be attached already, by driver.
    pub shared: BTreeSet<(Arc<str>, Mounted)>,
}

impl Mounts {
    /// Returns the volumes attached for a pod that uses these claims.
    #[must_use]
    pub fn of(
        claims: impl IntoIterator<Item = (Arc<str>, VolumeClaimKey)>,
        storage: &Storage,
        shared: &Shared,
    ) -> Self {
        let mut mounts = Self::default();
        for (driver, key) in claims {
            if shared.claims.contains(&key) {
                mounts.shared.insert((driver, Mounted::of(key, storage)));
            } else {
                *mounts.own.entry(driver).or_default() += 1;
            }
        }
        mounts
    }

    /// Returns whether nothing is attached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.shared.is_empty()
    }

    /// Returns the drivers that attach something.
    pub fn drivers(&self) -> impl Iterator<Item = &Arc<str>> {
        self.own.keys().chain(self.shared.iter().map(|(driver, _)| driver))
    }

    /// Returns how many volumes of a driver are attached in addition to those in `there`.
    #[must_use]
    pub fn beside(&self, driver: &str, there: &BTreeSet<Mounted>) -> usize {
        let shared = self.shared.iter().filter(|(own, volume)| **own == *driver && !there.contains(volume));
        self.own.get(driver).copied().unwrap_or(0) + shared.count()
    }

    /// Adds the volumes attached for others.
    pub fn add(&mut self, others: &Self) {
        for (driver, count) in &others.own {
            *self.own.entry(Arc::clone(driver)).or_default() += count;
        }
        self.shared.extend(others.shared.iter().cloned());
    }

    /// Returns the volumes attached for this many such pods.
    #[must_use]
    pub fn times(&self, count: usize) -> Self {
        let own =
            self.own.iter().map(|(driver, volumes)| (Arc::clone(driver), volumes.saturating_mul(count)));
        Self { own: own.collect(), shared: self.shared.clone() }
    }
}

/// Free volume slots of a node, and the attached volumes; drivers without an entry have no known limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Free {
    left: Slots,
    there: BTreeSet<Mounted>,
    /// Whether the limit for Azure disks is an estimate.
    is_estimate: bool,
}

impl Free {
    /// Returns the free slots of an empty node with these slots in all.
    #[must_use]
    pub const fn empty(slots: Slots) -> Self {
        Self { left: slots, there: BTreeSet::new(), is_estimate: false }
    }

    /// Sets whether the node's limit for Azure disks is an estimate.
    #[must_use]
    pub const fn estimated(mut self, is_estimate: bool) -> Self {
        self.is_estimate = is_estimate;
        self
    }

    /// Returns the free slots of a node with these slots in all, beside the volumes that its pods use and other volumes
    /// attached to it.
    #[must_use]
    pub fn beside(slots: Slots, node: &NodeName, bound: &[&Pod], storage: &Storage) -> Self {
        if slots.is_empty() {
            return Self::default();
        }
        let mut mounted = mounted(bound, storage);
        let mut free = Self::default();
        for (name, most) in slots {
            let mut there = mounted.remove(&name).unwrap_or_default();
            let mut disks = there.iter().filter(|it| matches!(it, Mounted::Disk(_))).count();
            let here = |it: &&VolumeAttachment| it.node == *node && it.driver == name;
            for attachment in storage.attachments.iter().filter(here) {
                match &attachment.volume {
                    Some(volume) => drop(there.insert(Mounted::Volume(Arc::clone(volume)))),
                    None if disks > 0 => disks -= 1,
                    None => drop(there.insert(Mounted::Attached(Arc::clone(&attachment.name)))),
                }
            }
            free.left.insert(name, most.saturating_sub(there.len()));
            free.there.extend(there);
        }
        free
    }

    /// Returns how many such pods fit.
    #[must_use]
    pub fn most(&self, asked: &Mounts) -> usize {
        let of_driver = |(driver, left): (&Arc<str>, &usize)| {
            let own = asked.own.get(driver).copied().unwrap_or(0);
            let first = asked.beside(driver, &self.there);
            match (first > *left, own) {
                (true, _) => 0,
                (false, 0) => usize::MAX,
                (false, own) => 1 + (left - first) / own,
            }
        };
        self.left.iter().map(of_driver).min().unwrap_or(usize::MAX)
    }

    /// Attaches the volumes of this many such pods.
    pub fn put(&mut self, asked: &Mounts, count: usize) {
        if count == 0 || asked.is_empty() || self.left.is_empty() {
            return;
        }
        let all = asked.times(count);
        for (driver, left) in &mut self.left {
            *left = left.saturating_sub(all.beside(driver, &self.there));
        }
        self.there.extend(all.shared.into_iter().map(|(_, volume)| volume));
    }

    /// Checks whether there are free slots for these volumes.
    ///
    /// # Errors
    /// The driver without enough free slots.
    pub fn why(&self, asked: &Mounts) -> Result<(), Miss> {
        let short = self.left.iter().find_map(|(driver, left)| {
            let count = asked.beside(driver, &self.there);
            let mark = if self.is_estimate && **driver == *storage::DISKS { "~" } else { "" };
            (*left < count).then(|| {
                format!("the node takes {mark}{left} more volumes of `{driver}`, {count} are requested")
            })
        });
        short.map_or(Ok(()), |because| Err(Miss::new(Rule::Volumes, because)))
    }
}

/// Returns the driver that attaches the volume of a claim, if known.
pub(in crate::solve) fn driver_of(claim: &VolumeClaim, storage: &Storage) -> Option<Arc<str>> {
    match claim.volume.as_ref().and_then(|volume| storage.volume(volume)) {
        Some(volume) => volume.driver.clone(),
        None => storage.class(&claim.class).map(|class| storage::driver_of(&class.provisioner)),
    }
}

/// Returns the volumes of each driver that these pods use.
fn mounted(bound: &[&Pod], storage: &Storage) -> BTreeMap<Arc<str>, BTreeSet<Mounted>> {
    let mut mounted: BTreeMap<Arc<str>, BTreeSet<Mounted>> = BTreeMap::new();
    for (pod, volume) in bound.iter().flat_map(|pod| pod.spec.volumes.iter().map(move |it| (pod, it))) {
        let (driver, own) = match (volume, volume.claim_of(&pod.key.name)) {
            (PodVolume::Disk(name), _) => (Some(Arc::from(storage::DISKS)), Mounted::Disk(Arc::clone(name))),
            (_, None) => continue,
            (_, Some(name)) => {
                let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name };
                let Some(claim) = storage.claim(&key) else { continue };
                (driver_of(claim, storage), Mounted::of(key, storage))
            }
        };
        if let Some(driver) = driver {
            mounted.entry(driver).or_default().insert(own);
        }
    }
    mounted
}
