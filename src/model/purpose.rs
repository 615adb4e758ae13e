//! A short digest of a pod's owner and template that fits into an annotation. A NodeClaim records with it which pods it
//! was created for, so a later process can still tell.
//!
//! Values only. Properties that differ between replicas, such as the ordinal, are excluded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Digest, Pod, PodSpec, Purpose, Workload};

/// Length in characters: 50 bits.
const LETTERS: usize = 10;

impl Purpose {
    /// Returns the purpose of a pod. A pod without an owner has its own.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        let owner = pod.workload.as_ref().map_or_else(|| pod.key.to_string(), Workload::to_string);
        let template = PodSpec {
            labels: BTreeMap::new(),
            gates: BTreeSet::new(),
            volumes: Vec::new(),
            withheld: None,
            ..PodSpec::clone(&pod.spec)
        };
        let digest = Digest::of_json(&(&owner, &template));
        // All map keys are strings, so serialization does not fail.
        let digest = digest.unwrap_or_else(|_| Digest::of_bytes(format!("{owner} {template:?}").as_bytes()));
        Self::new(digest.base32(LETTERS))
    }
}

/// Computes purposes, once per template.
#[derive(Debug, Default)]
pub struct Purposes<'p>(BTreeMap<(usize, Option<&'p Workload>), Purpose>);

impl<'p> Purposes<'p> {
    /// Returns the purpose of a pod.
    pub fn of(&mut self, pod: &'p Pod) -> Purpose {
        if pod.workload.is_none() {
            return Purpose::of(pod);
        }
        let key = (Arc::as_ptr(&pod.spec).addr(), pod.workload.as_ref());
        self.0.entry(key).or_insert_with(|| Purpose::of(pod)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LabelKey, PodKey, PodPlace, PodState, Resources};

    fn pod(name: &str, owner: Option<&str>, spec: PodSpec) -> Pod {
        Pod {
            key: PodKey::new("default", name),
            workload: owner.map(|name| Workload {
                kind: "Deployment".into(),
                namespace: "default".into(),
                name: name.into(),
            }),
            spec: Arc::new(spec),
            place: PodPlace::Waiting,
            is_daemon: false,
            is_do_not_disrupt: false,
            is_terminating: false,
            state: PodState::default(),
        }
    }

    #[test]
    fn replicas_share_a_purpose_and_another_owner_or_template_has_another() {
        let labelled = |ordinal: &str| PodSpec {
            labels: BTreeMap::from([(LabelKey::new("apps.kubernetes.io/pod-index"), ordinal.into())]),
            ..PodSpec::default()
        };
        let (first, second) = (pod("a-0", Some("a"), labelled("0")), pod("a-1", Some("a"), labelled("1")));
        assert_eq!(Purpose::of(&first), Purpose::of(&second));
        assert_eq!(Purpose::of(&first).as_str().len(), LETTERS);
        let other = pod("b-0", Some("b"), labelled("0"));
        assert_ne!(Purpose::of(&first), Purpose::of(&other));
        let larger = PodSpec {
            requests: Resources::none().with(crate::model::ResourceName::Cpu, 500),
            ..PodSpec::default()
        };
        assert_ne!(Purpose::of(&first), Purpose::of(&pod("a-0", Some("a"), larger)));
        let bare = |name| Purpose::of(&pod(name, None, PodSpec::default()));
        assert_ne!(bare("x"), bare("y"));
    }
}
