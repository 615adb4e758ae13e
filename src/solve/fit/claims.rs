//! Where the volumes of a pod that is held back are: which claim, whether it is in the input, and where it is bound.
//!
//! Says what is known, and decides nothing: the rules of volumes are not planned with yet.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::model::storage::{BindingMode, ClaimPhase, PodVolume, Storage, VolumeClaimKey};
use crate::model::{Pod, PodKey, Requirement, label};

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
    /// Without a volume, of a class that makes one at once.
    Pending(Arc<str>),
    /// Without a volume, of a class that the input does not hold.
    PendingOfUnknown,
    /// Made for the pod, and not there yet.
    NotMade,
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
            Self::Pending(class) => write!(formatter, "not bound yet: `{class}` makes the volume at once"),
            Self::PendingOfUnknown => formatter.write_str("not bound, of a class that is not in the input"),
            Self::NotMade => formatter.write_str("made with the pod"),
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
            PodVolume::Ephemeral(_) | PodVolume::Template(_) => ClaimState::NotMade,
        };
    };
    if claim.is_deleting || claim.phase == ClaimPhase::Lost {
        return ClaimState::Going;
    }
    if let Some(name) = &claim.volume {
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
        return ClaimState::Bound(zones);
    }
    match storage.class(&claim.class) {
        None => ClaimState::PendingOfUnknown,
        Some(class) if class.binding == BindingMode::WaitForFirstConsumer => {
            ClaimState::Waits(Arc::clone(&class.name))
        }
        Some(class) => ClaimState::Pending(Arc::clone(&class.name)),
    }
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
