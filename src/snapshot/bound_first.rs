//! Binds PersistentVolumeClaims that get their volume before their pods are scheduled: claims from manifests, and
//! claims created with their pods, if their class binds immediately (`volumeBindingMode: Immediate`).
//!
//! In Kubernetes, the volume controller does not wait for a pod if the class binds immediately, and kube-scheduler
//! waits for the volume. Claims with no class, or one that does not exist, still get an available volume, the smallest
//! that fits. Reports the assumptions about such claims; never decides where their pods may run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Assumption;
use crate::model::Pod;
use crate::model::storage::{
    AskedClass, BindingMode, ClaimPhase, DISKS, NO_PROVISIONER, PodVolume, Storage, StorageClass, Volume,
    VolumeClaim, VolumeClaimKey, driver_of,
};

/// Drivers of file shares and blobs: nodes in every zone can reach their volumes.
const SHARES: [&str; 3] = ["blob.csi.azure.com", "file.csi.azure.com", "nfs.csi.k8s.io"];

/// Maximum number of claims to list.
const SHOWN_MAX: usize = 3;

/// Binds claims to existing volumes: those reserved for a claim, and available ones if the class binds immediately, or
/// if the class has no provisioner and the volume is not tied to a node. Returns the assumption to report.
pub fn take(storage: &mut Storage, pods: &[Pod]) -> Option<Assumption> {
    claims_to_come(storage, pods);
    let mut taken: Vec<(VolumeClaimKey, Arc<str>)> = Vec::new();
    for place in 0..storage.claims.len() {
        let claim = &storage.claims[place];
        let waits = matches!(claim.phase, ClaimPhase::Unseen | ClaimPhase::Pending);
        if !waits || claim.is_deleting || claim.volume.is_some() {
            continue;
        }
        let Some(name) = volume_for(claim, storage).map(|volume| Arc::clone(&volume.name)) else { continue };
        let key = claim.key.clone();
        let claim = &mut storage.claims[place];
        (claim.volume, claim.phase, claim.wish) = (Some(Arc::clone(&name)), ClaimPhase::Bound, None);
        if let Some(volume) = storage.volumes.iter_mut().find(|volume| volume.name == name) {
            (volume.claim, volume.offer) = (Some(key.clone()), None);
        }
        taken.push((key, name));
    }
    (!taken.is_empty()).then(|| of_taken(&taken))
}

/// Adds the claims of pods that their controller is yet to create, if an available volume may match them.
fn claims_to_come(storage: &mut Storage, pods: &[Pod]) {
    let mut added: BTreeSet<VolumeClaim> = BTreeSet::new();
    if storage.volumes.iter().all(|volume| volume.offer.is_none()) {
        return;
    }
    for (pod, volume) in pods.iter().flat_map(|pod| pod.spec.volumes.iter().map(move |it| (pod, it))) {
        let (PodVolume::Ephemeral(own) | PodVolume::Template(own)) = volume else { continue };
        let Some(name) = volume.claim_of(&pod.key.name) else { continue };
        let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name };
        if storage.claim(&key).is_none() && !storage.available_for(&own.class, None).is_empty() {
            added.insert(VolumeClaim {
                key,
                volume: None,
                class: own.class.clone(),
                phase: ClaimPhase::Unseen,
                is_deleting: false,
                is_for_one_pod: false,
                is_for_one_node: false,
                wish: None,
            });
        }
    }
    storage.claims.extend(added);
    storage.claims.sort();
}

/// Returns the volume that a claim binds to before its pod is scheduled.
fn volume_for<'s>(claim: &VolumeClaim, storage: &'s Storage) -> Option<&'s Volume> {
    let is_kept = |volume: &&Volume| volume.claim.as_ref() == Some(&claim.key) && volume.offer.is_some();
    if let Some(kept) = storage.volumes.iter().find(is_kept) {
        return Some(kept);
    }
    let class = storage.class(&claim.class);
    let mut available = storage.available_for_claim(claim).into_iter();
    match class.map(|class| (class.binding, &*class.provisioner)) {
        None | Some((BindingMode::Immediate, _)) => available.next(),
        // Among node-local volumes, the pod's node decides.
        Some((BindingMode::WaitForFirstConsumer, NO_PROVISIONER)) => {
            available.find(|volume| !(volume.is_local && volume.node_affinity.is_some()))
        }
        Some((BindingMode::WaitForFirstConsumer, _)) => None,
    }
}

fn of_taken(taken: &[(VolumeClaimKey, Arc<str>)]) -> Assumption {
    let mut named: Vec<String> =
        taken.iter().take(SHOWN_MAX).map(|(claim, volume)| format!("`{volume}` for `{claim}`")).collect();
    if taken.len() > SHOWN_MAX {
        named.push(format!("{} more", taken.len() - SHOWN_MAX));
    }
    let lead = match taken.len() {
        1 => "claim takes a PersistentVolume",
        _ => "claims take PersistentVolumes",
    };
    Assumption {
        what: format!("{} {lead} first: {}", taken.len(), named.join(", ")),
        why: "Kubernetes binds what is available without waiting for a pod".to_owned(),
    }
}

/// Returns the assumptions about the claims of these pods, one per class.
#[must_use]
pub fn assumed(storage: &Storage, pods: &[Pod]) -> Vec<Assumption> {
    let mut claims: BTreeMap<&StorageClass, BTreeSet<VolumeClaimKey>> = BTreeMap::new();
    for (pod, volume) in pods.iter().flat_map(|pod| pod.spec.volumes.iter().map(move |it| (pod, it))) {
        let Some(name) = volume.claim_of(&pod.key.name) else { continue };
        let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name };
        if let Some(class) = class_to_come(volume, &key, storage).filter(|class| is_made_at_once(class)) {
            claims.entry(class).or_default().insert(key);
        }
    }
    claims.into_iter().map(|(class, claims)| assumption(class, &claims)).collect()
}

/// Returns the class of a claim that no controller has processed yet.
fn class_to_come<'s>(
    volume: &PodVolume,
    key: &VolumeClaimKey,
    storage: &'s Storage,
) -> Option<&'s StorageClass> {
    let asked: &AskedClass = match (storage.claim(key), volume) {
        (Some(claim), _) if claim.phase == ClaimPhase::Unseen && claim.volume.is_none() => &claim.class,
        (None, PodVolume::Ephemeral(own) | PodVolume::Template(own)) => &own.class,
        (Some(_), _) | (None, PodVolume::Claim(_) | PodVolume::Disk(_)) => return None,
    };
    storage.class(asked)
}

fn is_made_at_once(class: &StorageClass) -> bool {
    class.binding == BindingMode::Immediate
        && &*class.provisioner != NO_PROVISIONER
        && *driver_of(&class.provisioner) != *DISKS
}

fn assumption(class: &StorageClass, claims: &BTreeSet<VolumeClaimKey>) -> Assumption {
    let mut named: Vec<String> = claims.iter().take(SHOWN_MAX).map(|key| format!("`{key}`")).collect();
    if claims.len() > SHOWN_MAX {
        named.push(format!("{} more", claims.len() - SHOWN_MAX));
    }
    let what = match claims.len() {
        1 => format!("claim {} gets its volume first", named.join(", ")),
        count => format!("{count} claims get their volumes first: {}", named.join(", ")),
    };
    let driver: Arc<str> = driver_of(&class.provisioner);
    let reach = match SHARES.contains(&&*driver) {
        true => "whose volumes every node reaches".to_owned(),
        false => format!("and volumes of `{driver}` are taken to be reachable from every node"),
    };
    let why = format!("StorageClass `{}` binds immediately, {reach}", class.name);
    Assumption { what, why }
}
