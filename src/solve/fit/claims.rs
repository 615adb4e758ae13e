//! States of a pod's claims: whether each has a volume, or gets one before or with its pod, and where the volume is.
//!
//! Only reports states; [`super::volumes`] decides which of them hold a pod back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::model::available_volume::VolumeWish;
use crate::model::storage::{
    self, AskedClass, BindingMode, ClaimPhase, DISKS, NO_PROVISIONER, PodVolume, Storage, StorageClass,
    Volume, VolumeClaimKey,
};
use crate::model::{Pod, PodKey, Requirement, Requirements, ResourceName, label};

/// State of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimState {
    /// Bound to a volume in these zones; empty if the volume can be mounted anywhere.
    Bound(Vec<Arc<str>>),
    /// Bound to a volume that is not in the input.
    BoundToUnknown,
    /// Its volume is lost, or the claim is being deleted.
    Going,
    /// Without a volume, of a class that creates one where the first pod runs.
    Waits(Arc<str>),
    /// Of a class that binds immediately, before the pod is scheduled, to a volume that every node can reach.
    AtOnce(Arc<str>),
    /// Of a class that creates a disk immediately, in the only zone that it allows.
    InOneZone(Arc<str>),
    /// Of a class that creates a disk immediately, in a zone that cannot be predicted.
    InSomeZone(Arc<str>),
    /// In the cluster without a volume, although its class binds immediately: its provisioner has not created one.
    Pending(Arc<str>),
    /// Of a class without a provisioner: it binds to one of the available volumes, each of which is on a node.
    Takes(Arc<str>),
    /// Of a class without a provisioner, with no volume available for it.
    NobodyMakes {
        /// The class.
        class: Arc<str>,
        /// Why volumes that are available to others do not match; `None` if there are none.
        others: Option<String>,
    },
    /// Without a volume, of a class that is not in the input.
    PendingOfUnknown(AskedClass),
    /// Not in the input.
    NotInInput,
    /// An Azure disk by its name, in an unknown zone.
    Disk,
}

impl fmt::Display for ClaimState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bound(zones) if zones.is_empty() => formatter.write_str("bound to a volume of every zone"),
            Self::Bound(zones) => write!(formatter, "bound in {}", zones.join(" or ")),
            Self::BoundToUnknown => formatter.write_str("bound to a volume that is not in the input"),
            Self::Going => formatter.write_str("going, or without its volume"),
            Self::Waits(class) => {
                write!(formatter, "not bound: `{class}` makes the volume where the first pod runs")
            }
            Self::AtOnce(class) => {
                write!(formatter, "bound first: `{class}` binds immediately to a volume that every node reaches")
            }
            Self::InOneZone(class) => {
                write!(formatter, "bound first: `{class}` creates the disk immediately, in the only zone that it allows")
            }
            Self::InSomeZone(class) => write!(
                formatter,
                "not bound yet: `{class}` creates the disk immediately, in a zone that cannot be predicted (hint: \
                 `volumeBindingMode: WaitForFirstConsumer` on StorageClass `{class}`)"
            ),
            Self::Pending(class) => write!(
                formatter,
                "not bound yet, although `{class}` binds immediately (hint: `kubectl describe pvc` says what \
                 its provisioner waits for)"
            ),
            Self::Takes(class) => {
                write!(formatter, "not bound: it takes an available PersistentVolume of class `{class}`")
            }
            Self::NobodyMakes { class, others } => {
                write!(formatter, "not bound, and no PersistentVolume of class `{class}` is available for it: ")?;
                formatter.write_str(others.as_deref().unwrap_or("the class has no provisioner"))
            }
            Self::PendingOfUnknown(AskedClass::Named(class)) => {
                write!(formatter, "not bound: its StorageClass `{class}` is not in the input")
            }
            Self::PendingOfUnknown(AskedClass::Default) => formatter.write_str(
                "not bound: it asks for the default StorageClass, and none in the input is the default (hint: \
                 `storageClassName` on the claim, or `storageclass.kubernetes.io/is-default-class: \"true\"` on a \
                 StorageClass)",
            ),
            Self::PendingOfUnknown(AskedClass::None) => formatter.write_str(
                "not bound: it asks for no StorageClass, so it waits until somebody binds a PersistentVolume to it",
            ),
            Self::NotInInput => formatter.write_str("not in the input"),
            Self::Disk => formatter.write_str("a disk by its name, in a zone that is not known"),
        }
    }
}

/// Returns the state of each volume that may tie a pod, by the name of its claim.
#[must_use]
pub fn of(pod: &Pod, storage: &Storage) -> Vec<(Arc<str>, ClaimState)> {
    let state = |volume: &PodVolume| match volume {
        PodVolume::Disk(name) => (Arc::clone(name), ClaimState::Disk),
        PodVolume::Claim(_) | PodVolume::Ephemeral(_) | PodVolume::Template(_) => {
            let name = volume.claim_of(&pod.key.name).unwrap_or_else(|| Arc::from(""));
            let state = state(volume, &pod.key, &name, storage);
            (name, state)
        }
    };
    pod.spec.volumes.iter().map(state).collect()
}

fn state(volume: &PodVolume, pod: &PodKey, name: &Arc<str>, storage: &Storage) -> ClaimState {
    let key = VolumeClaimKey { namespace: pod.namespace.clone(), name: Arc::clone(name) };
    let Some(claim) = storage.claim(&key) else {
        return match volume {
            PodVolume::Claim(_) | PodVolume::Disk(_) => ClaimState::NotInInput,
            // Its controller creates the claim before the pod.
            PodVolume::Ephemeral(own) | PodVolume::Template(own) => {
                unbound((&own.class, None), ClaimPhase::Unseen, storage)
            }
        };
    };
    if claim.is_deleting || claim.phase == ClaimPhase::Lost {
        return ClaimState::Going;
    }
    let Some(name) = &claim.volume else {
        return unbound((&claim.class, claim.wish.as_ref()), claim.phase, storage);
    };
    let Some(volume) = storage.volume(name) else { return ClaimState::BoundToUnknown };
    let terms = volume.node_affinity.iter().flatten();
    let mut zones: Vec<Arc<str>> = terms
        .filter_map(|term| term.get(label::ZONE).and_then(Requirement::listed))
        .flatten()
        .cloned()
        .collect();
    // The zone of a disk outside of zones is empty.
    zones.retain(|zone| !zone.is_empty());
    zones.sort();
    zones.dedup();
    ClaimState::Bound(zones)
}

/// Returns the state of a claim without a volume.
fn unbound(
    (asked, wish): (&AskedClass, Option<&VolumeWish>),
    phase: ClaimPhase,
    storage: &Storage,
) -> ClaimState {
    let Some(class) = storage.class(asked) else { return ClaimState::PendingOfUnknown(asked.clone()) };
    let name = Arc::clone(&class.name);
    if &*class.provisioner == NO_PROVISIONER {
        return match storage.available_for(asked, wish).is_empty() {
            true => ClaimState::NobodyMakes { others: of_others(&name, wish, storage), class: name },
            false => ClaimState::Takes(name),
        };
    }
    match (class.binding, phase) {
        (BindingMode::WaitForFirstConsumer, _) => ClaimState::Waits(name),
        (BindingMode::Immediate, ClaimPhase::Unseen) if makes_disks(class) => match has_one_zone(class) {
            true => ClaimState::InOneZone(name),
            false => ClaimState::InSomeZone(name),
        },
        (BindingMode::Immediate, ClaimPhase::Unseen) => ClaimState::AtOnce(name),
        (BindingMode::Immediate, ClaimPhase::Pending | ClaimPhase::Bound | ClaimPhase::Lost) => {
            ClaimState::Pending(name)
        }
    }
}

/// Explains why a claim cannot bind to any volume of its class, by the largest one that is unclaimed.
fn of_others(class: &Arc<str>, wish: Option<&VolumeWish>, storage: &Storage) -> Option<String> {
    let is_free = |volume: &&Volume| volume.class.as_ref() == Some(class) && volume.claim.is_none();
    let offered = storage.volumes.iter().filter(is_free);
    let offered = offered.filter_map(|volume| Some((volume.offer.as_ref()?, &volume.name)));
    let (offer, name) = offered.max_by_key(|(offer, _)| offer.bytes)?;
    let wish = wish?;
    let shown = |bytes| ResourceName::EphemeralStorage.show(bytes);
    if offer.bytes < wish.bytes {
        let (has, asked) = (shown(offer.bytes), shown(wish.bytes));
        return Some(format!("the largest, `{name}`, has {has}, and the claim asks for {asked}"));
    }
    Some(format!(
        "`{name}` is large enough, but its access modes, volume mode or labels do not match the claim"
    ))
}

/// Returns whether all volumes of a class are created in the same zone.
#[must_use]
pub fn has_one_zone(class: &StorageClass) -> bool {
    let zone = |term: &Requirements| term.get(label::ZONE).and_then(Requirement::single).cloned();
    let zones: Option<BTreeSet<Arc<str>>> = class.topologies.iter().flatten().map(zone).collect();
    zones.is_some_and(|zones| zones.len() == 1)
}

/// Returns whether the volumes of a class are Azure disks, each of which is in one zone.
#[must_use]
pub fn makes_disks(class: &StorageClass) -> bool {
    &*storage::driver_of(&class.provisioner) == DISKS
}

/// Drivers of shares, which nodes of every zone can reach.
const SHARES: [&str; 3] = ["blob.csi.azure.com", "file.csi.azure.com", "nfs.csi.k8s.io"];

/// Returns whether nodes of every zone can reach the volumes of a class, wherever they are created.
#[must_use]
pub fn is_reached_everywhere(class: &StorageClass) -> bool {
    SHARES.contains(&&*storage::driver_of(&class.provisioner))
}

/// Describes the states of one pod's claims.
#[must_use]
pub fn said_of(pod: &Pod, storage: &Storage) -> String {
    let mut claims: BTreeMap<ClaimState, Vec<Arc<str>>> = BTreeMap::new();
    for (name, state) in of(pod, storage) {
        claims.entry(state).or_default().push(name);
    }
    said(&claims)
}

/// Lists the claims in each state, with a few names of each.
#[must_use]
pub fn said(claims: &BTreeMap<ClaimState, Vec<Arc<str>>>) -> String {
    const SHOWN_MAX: usize = 3;
    let state = |(state, names): (&ClaimState, &Vec<Arc<str>>)| {
        let mut shown: Vec<String> = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
        if names.len() > SHOWN_MAX {
            shown.push(format!("{} more", names.len() - SHOWN_MAX));
        }
        let (noun, is) = match (state, names.len()) {
            (ClaimState::Disk, 1) => ("disk", "is"),
            (ClaimState::Disk, _) => ("disks", "are"),
            (_, 1) => ("claim", "is"),
            (_, _) => ("claims", "are"),
        };
        format!("{noun} {} {is} {state}", shown.join(", "))
    };
    claims.iter().map(state).collect::<Vec<_>>().join("; ")
}
