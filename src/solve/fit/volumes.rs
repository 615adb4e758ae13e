//! Volumes: a pod runs where each of its volumes is, or may be made.
//!
//! A claim that has no volume yet and waits for nothing but its pod gets it where the pod runs; every other claim
//! without one holds the pod back. How many volumes a node takes is
//! what its drivers say of it, or of others of its size.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Miss;
use super::claims::{self, ClaimState};
use super::not_yet::Wait;
use super::slots::Slots;
use crate::model::storage::{
    self, BindingMode, PodVolume, Storage, StorageClass, VolumeAttachment, VolumeClaimKey,
};
use crate::model::{NodeName, Pod, Requirement, Requirements, SchedulingRule, label};

/// The value by which a driver says that a volume is in no zone, and the one by which Azure's nodes say it.
const NO_ZONE: (&str, &str) = ("", "0");

/// Drivers of shares, which every node reaches.
const SHARES: [&str; 2] = ["blob.csi.azure.com", "file.csi.azure.com"];

/// What the volumes of a pod ask of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeAsk {
    /// For each volume that is not everywhere: what the labels of the node must be; one of these must hold.
    pub terms: Vec<Vec<Requirements>>,
    /// How many volumes of each driver are attached.
    pub attached: BTreeMap<Arc<str>, usize>,
}

/// Returns what the volumes of a pod ask of its node.
///
/// # Errors
/// What the pod waits for before it can run anywhere.
pub fn asked(pod: &Pod, storage: &Storage) -> Result<VolumeAsk, Wait> {
    let states = claims::of(pod, storage);
    let mut ask = VolumeAsk::default();
    for (volume, (name, state)) in pod.spec.volumes.iter().zip(&states) {
        let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name: Arc::clone(name) };
        let claim = storage.claim(&key);
        let own = match volume {
            PodVolume::Ephemeral(own) | PodVolume::Template(own) => Some(&own.class),
            PodVolume::Claim(_) | PodVolume::Disk(_) => None,
        };
        let class = claim.map(|claim| &claim.class).or(own).and_then(|class| storage.class(class));
        if waits(state, class) {
            return Err(wait());
        }
        let bound = claim.and_then(|claim| storage.volume(claim.volume.as_ref()?));
        let terms = match bound {
            Some(volume) => volume.node_affinity.as_ref(),
            None => class.and_then(|class| class.topologies.as_ref()),
        };
        ask.terms.extend(terms.map(|terms| terms.iter().map(in_azures_words).collect::<Vec<_>>()));
        let driver = match bound {
            Some(volume) => volume.driver.clone(),
            None => class.map(|class| storage::driver_of(&class.provisioner)),
        };
        if let Some(driver) = driver {
            *ask.attached.entry(driver).or_default() += 1;
        }
    }
    Ok(ask)
}

/// Returns whether a claim in this state holds its pod back. Where a volume is still to be made, it does not if it is
/// made where the pod runs, or is a share that every node reaches.
fn waits(state: &ClaimState, class: Option<&StorageClass>) -> bool {
    let is_made_anywhere = |class: &StorageClass| {
        class.binding == BindingMode::WaitForFirstConsumer || SHARES.contains(&&*class.provisioner)
    };
    match state {
        ClaimState::Bound(_) | ClaimState::Waits(_) => false,
        ClaimState::NotMade | ClaimState::Pending(_) => !class.is_some_and(is_made_anywhere),
        ClaimState::BoundToUnknown
        | ClaimState::Going
        | ClaimState::PendingOfUnknown
        | ClaimState::NotInInput
        | ClaimState::Disk => true,
    }
}

fn wait() -> Wait {
    Wait {
        rule: Some(SchedulingRule::Volumes),
        waits_for: SchedulingRule::Volumes.as_str().to_owned(),
        because: "Kubernetes does not bind a pod before it is known where its volumes are".to_owned(),
    }
}

/// Returns a term with Azure's name for "no zone".
fn in_azures_words(term: &Requirements) -> Requirements {
    let mut term = term.clone();
    let zones = term.get(label::ZONE).and_then(Requirement::listed);
    if let Some(zones) = zones.filter(|zones| zones.contains(NO_ZONE.0)) {
        let named = zones.iter().filter(|zone| !zone.is_empty()).map(|zone| &**zone);
        let zones = Requirement::new(crate::model::Operator::In, named.chain([NO_ZONE.1]));
        term.set(crate::model::LabelKey::new(label::ZONE), zones);
    }
    term
}

/// Joins what a pod asks of labels with where its volumes are: every way in which both hold.
///
/// # Errors
/// That there is none.
pub fn joined(alternatives: &[Requirements], volumes: &VolumeAsk) -> Result<Vec<Requirements>, Miss> {
    let mut ways = alternatives.to_vec();
    for terms in &volumes.terms {
        let mut joined: Vec<Requirements> = Vec::new();
        let mut conflict = None;
        for way in &ways {
            for term in terms {
                match term.intersects(way) {
                    Ok(()) => {
                        let mut both = way.clone();
                        both.add_all(term);
                        joined.push(both);
                    }
                    Err(found) => conflict = Some(found),
                }
            }
        }
        joined.sort();
        joined.dedup();
        if joined.is_empty() {
            let because = conflict.map_or_else(
                || "its volume can be mounted nowhere".to_owned(),
                |conflict| format!("its volumes are not where it may run: {conflict}"),
            );
            return Err(Miss::new(super::Rule::Volumes, because));
        }
        ways = joined;
    }
    Ok(ways)
}

/// Says whether a node has room for these volumes beside those that are attached; drivers that are not named have
/// no limit that is known.
///
/// # Errors
/// The driver that has no more room.
pub fn why(asked: &BTreeMap<Arc<str>, usize>, left: &BTreeMap<Arc<str>, usize>) -> Result<(), Miss> {
    let short = asked.iter().find_map(|(driver, count)| {
        let left = left.get(driver)?;
        (left < count)
            .then(|| format!("the node takes {left} more volumes of `{driver}`, {count} are asked for"))
    });
    short.map_or(Ok(()), |because| Err(Miss::new(super::Rule::Volumes, because)))
}

/// A volume on a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mounted<'s> {
    /// A volume that exists, by its name.
    Volume(&'s str),
    /// One that is being made for this claim.
    Claim(VolumeClaimKey),
    /// A disk that a pod names.
    Disk(&'s str),
    /// What is attached under this name, and is no volume that exists.
    Attached(&'s str),
}

/// Returns how many more volumes of each driver a node takes that takes so many in all, less the volumes that its pods use
/// and those that are attached to it beside them, each once.
#[must_use]
pub fn left(slots: Slots, node: &NodeName, bound: &[&Pod], storage: &Storage) -> Slots {
    if slots.is_empty() {
        return slots;
    }
    let mounted = mounted(bound, storage);
    let left = |(name, most): (Arc<str>, usize)| {
        let mut there = mounted.get(&name).cloned().unwrap_or_default();
        let mut disks = there.iter().filter(|it| matches!(it, Mounted::Disk(_))).count();
        let here = |it: &&VolumeAttachment| it.node == *node && it.driver == name;
        for attachment in storage.attachments.iter().filter(here) {
            match &attachment.volume {
                Some(volume) => drop(there.insert(Mounted::Volume(volume))),
                None if disks > 0 => disks -= 1,
                None => drop(there.insert(Mounted::Attached(&attachment.name))),
            }
        }
        (name, most.saturating_sub(there.len()))
    };
    slots.into_iter().map(left).collect()
}

/// Returns the volumes of each driver that these pods use.
fn mounted<'s>(bound: &[&'s Pod], storage: &'s Storage) -> BTreeMap<Arc<str>, BTreeSet<Mounted<'s>>> {
    let mut mounted: BTreeMap<Arc<str>, BTreeSet<Mounted<'_>>> = BTreeMap::new();
    for (pod, volume) in bound.iter().flat_map(|pod| pod.spec.volumes.iter().map(move |it| (pod, it))) {
        let (driver, own) = match (volume, volume.claim_of(&pod.key.name)) {
            (PodVolume::Disk(name), _) => (Some(Arc::from(storage::DISKS)), Mounted::Disk(name)),
            (_, None) => continue,
            (_, Some(name)) => {
                let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name };
                let Some(claim) = storage.claim(&key) else { continue };
                match claim.volume.as_ref().and_then(|volume| storage.volume(volume)) {
                    Some(volume) => (volume.driver.clone(), Mounted::Volume(&volume.name)),
                    None => {
                        let class = storage.class(&claim.class);
                        (class.map(|class| storage::driver_of(&class.provisioner)), Mounted::Claim(key))
                    }
                }
            }
        };
        if let Some(driver) = driver {
            mounted.entry(driver).or_default().insert(own);
        }
    }
    mounted
}
