//! Claims that only one pod at a time may use (`ReadWriteOncePod`): a running pod with such a claim holds back all
//! others; of pending pods the one with the highest priority comes first, then the first by name.
//!
//! Terminating pods hold back no others: their claim is free before others are bound.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::not_yet::Wait;
use crate::model::storage::{Storage, VolumeClaimKey};
use crate::model::{Pod, PodKey, PodPlace, SchedulingRule};

/// The pod that may use each claim that is for one pod.
#[derive(Clone, Debug, Default)]
pub struct Turns<'p>(BTreeMap<VolumeClaimKey, (Rank, &'p PodKey)>);

/// Sort key by which the pod that may use a claim comes first: whether it is pending, and its priority.
type Rank = (bool, Reverse<i32>);

impl<'p> Turns<'p> {
    /// Determines which pods use which claim.
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

    /// Checks whether a pod may use its claims.
    ///
    /// # Errors
    /// The claim that another pod uses, or will use.
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
