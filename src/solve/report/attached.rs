//! Warns about disks that only one node at a time may attach (`ReadWriteOnce`) if pods on several nodes use them.
//!
//! kube-scheduler ignores this, so placement does too: it binds the second pod, which then waits for its disk. This
//! module only reports that.

use std::collections::BTreeMap;

use crate::model::storage::{DISKS, PodVolume, Storage, VolumeClaimKey};
use crate::model::{Pod, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::fit::mounts;
use crate::solve::solution::{NodeRef, Solution, Target, Warning};

const HINT: &str = "let its pods share a node (`podAffinity` by `kubernetes.io/hostname`), give each a claim of its \
                    own, or use a share (`ReadWriteMany`)";

/// Warns about each single-node disk whose pods end up on several nodes, if the plan places one of them.
pub fn warn(snapshot: &Snapshot, solution: &mut Solution) {
    let storage = &snapshot.storage;
    if !storage.claims.iter().any(|claim| claim.is_for_one_node) {
        return;
    }
    let seats = Seats::of(&solution.target);
    let mut users: BTreeMap<VolumeClaimKey, Vec<Seat<'_>>> = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| !pod.is_terminating) {
        let Some(seat) = seats.of_pod(pod) else { continue };
        for key in disks(pod, storage) {
            users.entry(key).or_default().push(seat.clone());
        }
    }
    let warnings = users.iter().filter_map(|(claim, users)| warning(claim, users, &solution.target));
    let warnings: Vec<Warning> = warnings.collect();
    solution.report.warnings.extend(warnings);
    solution.report.warnings.sort();
}

/// Returns the claims of a pod whose disk only one node at a time may attach.
fn disks<'p>(pod: &'p Pod, storage: &'p Storage) -> impl Iterator<Item = VolumeClaimKey> + 'p {
    let key = |volume: &PodVolume| match volume {
        PodVolume::Claim(name) => {
            Some(VolumeClaimKey { namespace: pod.key.namespace.clone(), name: name.clone() })
        }
        // Volumes created for one pod have no other users.
        PodVolume::Ephemeral(_) | PodVolume::Template(_) | PodVolume::Disk(_) => None,
    };
    let is_disk = |key: &VolumeClaimKey| {
        let Some(claim) = storage.claim(key).filter(|claim| claim.is_for_one_node) else { return false };
        mounts::driver_of(claim, storage).is_some_and(|driver| &*driver == DISKS)
    };
    pod.spec.volumes.iter().filter_map(key).filter(move |key| is_disk(key))
}

/// A pod, its final node, and whether the plan places it there.
#[derive(Clone)]
struct Seat<'p> {
    pod: &'p PodKey,
    place: NodeRef,
    is_placed: bool,
}

/// The nodes that pods are placed on.
struct Seats<'t>(BTreeMap<&'t PodKey, NodeRef>);

impl<'t> Seats<'t> {
    fn of(target: &'t Target) -> Self {
        Self(target.places())
    }

    fn of_pod<'p>(&self, pod: &'p Pod) -> Option<Seat<'p>> {
        let placed = self.0.get(&pod.key).cloned();
        let is_placed = placed.is_some();
        let place = placed.or_else(|| match &pod.place {
            PodPlace::Bound(node) => Some(NodeRef::Existing(node.clone())),
            PodPlace::Waiting => None,
        })?;
        Some(Seat { pod: &pod.key, place, is_placed })
    }
}

fn warning(claim: &VolumeClaimKey, users: &[Seat<'_>], target: &Target) -> Option<Warning> {
    // A running pod already has the disk; among placed pods, the first by name gets it.
    let first = users.iter().find(|seat| !seat.is_placed).or_else(|| users.first())?;
    let second = users.iter().find(|seat| seat.is_placed && seat.place != first.place)?;
    let place = |seat: &Seat<'_>| match &seat.place {
        NodeRef::Existing(node) => format!("node `{node}`"),
        NodeRef::New(number) => format!("a new node of pool `{}`", target.new[*number].pool),
    };
    let has = if first.is_placed { "would go to" } else { "has it on" };
    Some(Warning {
        object: format!("claim `{claim}`"),
        what: format!(
            "one node at a time may have its disk (`ReadWriteOnce`): `{}` {has} {}, and `{}` would go to {}; Kubernetes \
             binds it there all the same, and it waits for the disk (Multi-Attach)",
            first.pod,
            place(first),
            second.pod,
            place(second),
        ),
        hint: Some(HINT.to_owned()),
    })
}
