//! How far the claims of a pod are: whether each has its volume, or gets one before or with its pod, and where that is.
//!
//! Says what is known; which of it holds a pod back is for [`super::volumes`] to say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::model::available_volume::VolumeWish;
use crate::model::storage::{
    self, AskedClass, BindingMode, ClaimPhase, DISKS, NO_PROVISIONER, PodVolume, Storage, StorageClass,
    Volume, VolumeClaimKey,
};
use crate::model::{Pod, PodKey, Requirement, Requirements, ResourceName, label};

/// What is known of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimState {
    /// Bound to a volume of these zones; none where the volume may be mounted anywhere.
    Bound(Vec<Arc<str>>),
    /// Bound to a volume that the input does not hold.
    BoundToUnknown,
    /// Its volume is gone, or the claim itself is going.
    Going,
    /// Without a volume, of a class that makes one where the first pod runs.
    Waits(Arc<str>),
    /// Of a class that binds at once, before the pod is looked at, to a volume that every node reaches.
    AtOnce(Arc<str>),
    /// Of a class that makes a disk at once, in the one zone that it allows.
    InOneZone(Arc<str>),
    /// Of a class that makes a disk at once, in a zone that nobody can know before.
    InSomeZone(Arc<str>),
    /// In the cluster without a volume, although its class binds at once: its provisioner has not made one.
    Pending(Arc<str>),
    /// Of a class without a provisioner: it takes one of the available volumes, each of which lies on a node.
    Takes(Arc<str>),
    /// Of a class without a provisioner, and no volume is available for it.
    NobodyMakes {
        /// The class.
        class: Arc<str>,
        /// What is wrong with those that are available to others; `None` where there is none.
        others: Option<String>,
    },
    /// Without a volume, of a class that the input does not hold.
    PendingOfUnknown(AskedClass),
    /// Not in the input.
    NotInInput,
    /// An Azure disk by its name, whose zone is not known here.
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

/// Returns what is known of each volume that may tie a pod, by the name of its claim.
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
            // Its controller makes the claim before the pod.
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
    // A disk outside of zones is bound by an empty text.
    zones.retain(|zone| !zone.is_empty());
    zones.sort();
    zones.dedup();
    ClaimState::Bound(zones)
}

/// Returns what becomes of a claim without a volume.
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

/// Says why a claim can take none of the volumes of its class: what is wrong with the largest that is nobody's.
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

/// Returns whether all that a class may make is in the same zone.
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

/// Drivers of shares, which nodes of every zone reach.
const SHARES: [&str; 3] = ["blob.csi.azure.com", "file.csi.azure.com", "nfs.csi.k8s.io"];

/// Returns whether nodes of every zone reach the volumes of a class, wherever they are made.
#[must_use]
pub fn is_reached_everywhere(class: &StorageClass) -> bool {
    SHARES.contains(&&*storage::driver_of(&class.provisioner))
}

/// Says how far the claims of one pod are.
#[must_use]
pub fn said_of(pod: &Pod, storage: &Storage) -> String {
    let mut claims: BTreeMap<ClaimState, Vec<Arc<str>>> = BTreeMap::new();
    for (name, state) in of(pod, storage) {
        claims.entry(state).or_default().push(name);
    }
    said(&claims)
}

/// Says which claims are in which state: a few names of each.
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
