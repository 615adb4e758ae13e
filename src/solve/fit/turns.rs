//! Claims that only one pod at a time may use (`ReadWriteOncePod`): the pod that runs with one holds back all others; of
//! those that wait the highest priority has its turn, then the first by name.
//!
//! What is being deleted holds nobody back: its claim is free before others are bound.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::not_yet::Wait;
use crate::model::storage::{Storage, VolumeClaimKey};
use crate::model::{Pod, PodKey, PodPlace, SchedulingRule};

/// Who may use each claim that is for one pod.
#[derive(Clone, Debug, Default)]
pub struct Turns<'p>(BTreeMap<VolumeClaimKey, (Rank, &'p PodKey)>);

/// What sorts the pod first whose turn it is: whether it waits, and its priority.
type Rank = (bool, Reverse<i32>);

impl<'p> Turns<'p> {
    /// Looks at who uses which claim.
    #[must_use]
    pub fn of(pods: &'p [Pod], storage: &Storage) -> Self {
        let mut turns = Self::default();
        if !storage.claims.iter().any(|claim| claim.is_for_one_pod) {
            return turns;
        }
        for pod in pods.iter().filter(|pod| !pod.is_terminating) {
            let waits = pod.place == PodPlace::Waiting;
            if waits && !pod.spec.gates.is_empty() {
                continue;
            }
            let own = ((waits, Reverse(pod.spec.priority)), &pod.key);
            for key in claims(pod).filter(|key| storage.claim(key).is_some_and(|claim| claim.is_for_one_pod))
            {
                let first = turns.0.entry(key).or_insert(own);
                *first = own.min(*first);
            }
        }
        turns
    }

    /// Says whether it is a pod's turn.
    ///
    /// # Errors
    /// The claim that another pod uses, or will.
    pub fn why(&self, pod: &Pod) -> Result<(), Wait> {
        if self.0.is_empty() {
            return Ok(());
        }
        let other = claims(pod).find_map(|key| {
            let (_, first) = self.0.get(&key).filter(|(_, first)| **first != pod.key)?;
            Some(format!(
                "only one pod at a time may use claim `{}` (`ReadWriteOncePod`): `{first}` does",
                key.name
            ))
        });
        other.map_or(Ok(()), |because| {
            Err(Wait {
                rule: Some(SchedulingRule::Volumes),
                waits_for: SchedulingRule::Volumes.as_str().to_owned(),
                because,
            })
        })
    }
}

fn claims(pod: &Pod) -> impl Iterator<Item = VolumeClaimKey> {
    let names = pod.spec.volumes.iter().filter_map(|volume| volume.claim_of(&pod.key.name));
    names.map(|name| VolumeClaimKey { namespace: pod.key.namespace.clone(), name })
}
