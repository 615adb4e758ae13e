//! Volumes: the nodes that they allow, and how many of them an existing node can still attach.
//!
//! The number of volumes that a new node can attach is ignored, as in Karpenter. Never reads the labels of nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::storage::{
    AskedClass, BindingMode, ClaimPhase, NO_PROVISIONER, PodVolume, Storage, StorageClass, VolumeClaim,
    VolumeClaimKey,
};
use crate::model::{NodeName, Pod, Requirements, label};
use crate::solve::fit::claims;

/// A volume that takes one of a driver's slots on a node.
pub(super) type Mount = (Arc<str>, VolumeClaimKey);

/// Requirements of a pod's volumes on its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Volumes {
    /// Alternative requirements on the node's labels. Empty requires nothing.
    pub(super) alternatives: Vec<Requirements>,
    /// Volumes to attach, by driver.
    pub(super) mounts: Vec<Mount>,
}

/// Reads the requirements of a pod's volumes.
///
/// # Errors
/// The reason why the pod is not scheduled at all.
pub(super) fn of(pod: &Pod, storage: &Storage) -> Result<Volumes, String> {
    let mut volumes = Volumes::default();
    let mut choices: Vec<Vec<Requirements>> = Vec::new();
    for volume in &pod.spec.volumes {
        let Some(name) = volume.claim_of(&pod.key.name) else { continue };
        let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name };
        let (terms, driver) = match (storage.claim(&key), volume) {
            (Some(claim), _) => of_claim(claim, storage)?,
            (None, PodVolume::Ephemeral(own) | PodVolume::Template(own)) => {
                unbound((&own.class, ClaimPhase::Unseen), &key, storage)?
            }
            (None, PodVolume::Claim(_) | PodVolume::Disk(_)) => {
                return Err(format!("its claim `{key}` is not in the input"));
            }
        };
        choices.extend(terms.filter(|terms: &Vec<Requirements>| !terms.is_empty()));
        volumes.mounts.extend(driver.map(|driver| (driver, key)));
    }
    volumes.alternatives = product(&choices);
    Ok(volumes)
}

type Place = (Option<Vec<Requirements>>, Option<Arc<str>>);

fn of_claim(claim: &VolumeClaim, storage: &Storage) -> Result<Place, String> {
    let key = &claim.key;
    if claim.is_deleting {
        return Err(format!("its claim `{key}` is being deleted"));
    }
    if claim.phase == ClaimPhase::Lost {
        return Err(format!("the volume of its claim `{key}` is lost"));
    }
    let Some(name) = &claim.volume else { return unbound((&claim.class, claim.phase), key, storage) };
    let Some(volume) = storage.volume(name) else {
        return Err(format!("its claim `{key}` is bound to volume `{name}`, which is not in the input"));
    };
    if volume.is_deleting {
        return Err(format!("volume `{name}` of its claim `{key}` is being deleted"));
    }
    // A volume that is local to one node is planned as if it could be created again elsewhere.
    let without_host = |term: &Requirements| {
        let kept = term.iter().filter(|(key, _)| !volume.is_local || key.as_str() != label::HOSTNAME);
        let mut rest = Requirements::none();
        for (key, requirement) in kept {
            rest.add(key.clone(), requirement.clone());
        }
        rest
    };
    let terms = volume.node_affinity.as_ref().map(|terms| terms.iter().map(without_host).collect());
    Ok((terms, volume.driver.clone()))
}

/// Returns the requirements of a claim without a volume. Its class creates the volume where the pod runs or, for a
/// claim of a manifest, before Karpenter looks at the pod. Every node reaches such a volume unless it is a disk, whose
/// zone is known if its class allows only one.
fn unbound(
    (asked, phase): (&AskedClass, ClaimPhase),
    key: &VolumeClaimKey,
    storage: &Storage,
) -> Result<Place, String> {
    let Some(class) = storage.class(asked) else {
        return Err(format!("its claim `{key}` has no volume, and its StorageClass is not in the input"));
    };
    let StorageClass { name, provisioner, binding, topologies, is_default: _ } = class;
    let is_made_first = phase == ClaimPhase::Unseen
        && (!claims::makes_disks(class) || claims::has_one_zone(class))
        && &**provisioner != NO_PROVISIONER;
    match binding {
        BindingMode::Immediate if !is_made_first => Err(format!(
            "its claim `{key}` has no volume yet, and StorageClass `{name}` creates it immediately"
        )),
        BindingMode::Immediate | BindingMode::WaitForFirstConsumer => {
            Ok((topologies.clone(), Some(Arc::clone(provisioner))))
        }
    }
}

/// Returns every combination of one term of each volume; contradictory ones only if all are.
fn product(choices: &[Vec<Requirements>]) -> Vec<Requirements> {
    if choices.is_empty() {
        return Vec::new();
    }
    let (mut agreeing, mut all) = (vec![Requirements::none()], vec![Requirements::none()]);
    for terms in choices {
        agreeing = extended(&agreeing, terms, |so_far, term| term.intersects(so_far).is_ok());
        all = extended(&all, terms, |_, _| true);
    }
    if agreeing.is_empty() { all } else { agreeing }
}

fn extended(
    so_far: &[Requirements],
    terms: &[Requirements],
    is_kept: impl Fn(&Requirements, &Requirements) -> bool,
) -> Vec<Requirements> {
    let pairs = so_far.iter().flat_map(|one| terms.iter().map(move |term| (one, term)));
    let joined = pairs.filter(|(one, term)| is_kept(one, term)).map(|(one, term)| {
        let mut both = one.clone();
        both.add_all(term);
        both
    });
    joined.collect()
}

/// Volumes attached to an existing node.
#[derive(Clone, Debug, Default)]
pub(super) struct Attached {
    limits: BTreeMap<Arc<str>, u32>,
    used: BTreeMap<Arc<str>, BTreeSet<VolumeClaimKey>>,
}

impl Attached {
    /// Reads how many volumes the drivers of a node can attach.
    pub(super) fn of(node: &NodeName, storage: &Storage) -> Self {
        let drivers = storage.drivers.get(node).into_iter().flatten();
        let limits = drivers.filter_map(|(name, driver)| Some((Arc::clone(name), driver.volumes_max?)));
        Self { limits: limits.collect(), used: BTreeMap::new() }
    }

    /// Adds volumes. A volume that is already attached takes nothing more.
    pub(super) fn add(&mut self, mounts: &[Mount]) {
        for (driver, claim) in mounts {
            self.used.entry(Arc::clone(driver)).or_default().insert(claim.clone());
        }
    }

    /// Returns whether these volumes can be attached as well.
    pub(super) fn has_room(&self, mounts: &[Mount]) -> bool {
        let drivers: BTreeSet<&Arc<str>> = mounts.iter().map(|(driver, _)| driver).collect();
        drivers.into_iter().all(|driver| {
            let Some(limit) = self.limits.get(driver) else { return true };
            let there = self.used.get(driver);
            let more = mounts.iter().filter(|(other, claim)| {
                other == driver && !there.is_some_and(|there| there.contains(claim))
            });
            let more: BTreeSet<&VolumeClaimKey> = more.map(|(_, claim)| claim).collect();
            let count = there.map_or(0, BTreeSet::len) + more.len();
            more.is_empty() || u32::try_from(count).is_ok_and(|count| count <= *limit)
        })
    }
}
