//! Volumes: a pod runs where each of its volumes is, or may be created.
//!
//! A claim without a volume that waits only for its pod gets it where the pod runs. A claim that is bound before its
//! pod is scheduled leaves the pod its choice of nodes if every node can reach the volume, or else of those in the one
//! zone that its class allows. Every other claim without a volume holds the pod back. [`super::mounts`] checks how many
//! volumes a node takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Miss;
use super::claims::{self, ClaimState};
use super::mounts::{Mounts, Shared};
use super::not_yet::Wait;
use crate::model::storage::{self, PodVolume, Storage, VolumeClaimKey};
use crate::model::{Pod, Requirement, Requirements, SchedulingRule, label};

/// Zone value by which a driver says that a volume is in no zone, and the one that Azure's nodes have.
const NO_ZONE: (&str, &str) = ("", "0");

/// Requirements of a pod's volumes on its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeAsk {
    /// Alternative label requirements for each volume that is not available everywhere; one of them must hold.
    pub terms: Vec<Vec<Requirements>>,
    /// Attached volumes.
    pub mounts: Mounts,
}

/// Returns the requirements of a pod's volumes on its node.
///
/// # Errors
/// What the pod waits for before it can run anywhere.
pub fn asked(pod: &Pod, storage: &Storage, shared: &Shared) -> Result<VolumeAsk, Wait> {
    let mut attached: BTreeSet<(Arc<str>, VolumeClaimKey)> = BTreeSet::new();
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
        if holds_back(state) {
            return Err(wait());
        }
        if let (ClaimState::Takes(_), Some(claim)) = (state, claim) {
            let available = storage.available_for_claim(claim);
            let terms = available.iter().filter_map(|volume| volume.node_affinity.as_ref()).flatten();
            ask.terms.push(terms.map(in_azures_words).collect());
            let counted = shared.choices.counted(&available);
            attached.extend(counted.map(|choice| (Arc::clone(choice), key.clone())));
            continue;
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
            attached.insert((driver, key));
        }
    }
    ask.mounts = Mounts::of(attached, storage, shared);
    Ok(ask)
}

/// Returns whether a claim in this state holds its pod back. It does not if it has a volume, gets one where the pod
/// runs, or gets one before in a place that is known.
const fn holds_back(state: &ClaimState) -> bool {
    match state {
        ClaimState::Bound(_)
        | ClaimState::Waits(_)
        | ClaimState::AtOnce(_)
        | ClaimState::InOneZone(_)
        | ClaimState::Takes(_) => false,
        ClaimState::BoundToUnknown
        | ClaimState::Going
        | ClaimState::InSomeZone(_)
        | ClaimState::Pending(_)
        | ClaimState::NobodyMakes { .. }
        | ClaimState::PendingOfUnknown(_)
        | ClaimState::NotInInput
        | ClaimState::Disk => true,
    }
}

/// Returns the miss of pods that share a claim whose volume is created in another zone.
#[must_use]
pub fn elsewhere(claim: &VolumeClaimKey) -> Miss {
    let because =
        format!("claim `{claim}` is shared, and its one volume is created in the zone of the first pod");
    Miss::new(super::Rule::Volumes, because)
}

fn wait() -> Wait {
    Wait {
        rule: Some(SchedulingRule::Volumes),
        waits_for: SchedulingRule::Volumes.as_str().to_owned(),
        because: "Kubernetes does not bind a pod before it is known where its volumes are".to_owned(),
    }
}

/// Returns a term with Azure's value for "no zone".
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

/// Combines a pod's label requirements with those of its volumes: all combinations in which both hold.
///
/// # Errors
/// No combination holds.
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
