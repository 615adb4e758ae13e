//! Available volumes on nodes: how many each node has for which claims.
//!
//! Kubernetes binds a claim to one on the pod's node. A node serves as many claims as it has volumes for: claims with
//! fewer candidates also count with those that have more (Hall's condition, for nested sets). Never decides which
//! volume a claim gets.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::slots::Slots;
use crate::model::storage::{NO_PROVISIONER, Storage, Volume, VolumeClaimKey};
use crate::model::{Node, Pod, Requirements};

/// Volumes that some claim may bind to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    /// Name under which it is counted.
    name: Arc<str>,
    volumes: BTreeSet<Arc<str>>,
}

/// Choices of the claims without a volume, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(Vec<Choice>);

impl Choices {
    /// Collects the choices of all claims.
    #[must_use]
    pub fn of(storage: &Storage) -> Self {
        let mut choices: Vec<Choice> = Vec::new();
        for claim in storage.claims.iter().filter(|claim| claim.volume.is_none()) {
            let Some(class) =
                storage.class(&claim.class).filter(|class| &*class.provisioner == NO_PROVISIONER)
            else {
                continue;
            };
            let volumes = names(&storage.available_for_claim(claim));
            if volumes.is_empty() || choices.iter().any(|known| known.volumes == volumes) {
                continue;
            }
            let mut name = format!("StorageClass {}", class.name);
            let known = choices.iter().filter(|known| known.name.starts_with(&name)).count();
            if known > 0 {
                name = format!("{name} ({})", known + 1);
            }
            choices.push(Choice { name: Arc::from(name), volumes });
        }
        Self(choices)
    }

    /// Returns the names of the choices that count a claim with these candidate volumes.
    pub fn counted<'c>(&'c self, volumes: &[&Volume]) -> impl Iterator<Item = &'c Arc<str>> + use<'c> {
        let own = names(volumes);
        self.0.iter().filter(move |choice| choice.volumes.is_superset(&own)).map(|choice| &choice.name)
    }

    /// Returns how many volumes of each choice are on a node beside those for the claims of its pods: a pod that was
    /// just placed there has no volume yet.
    #[must_use]
    pub fn on(&self, node: &Node, bound: &[&Pod], storage: &Storage) -> Slots {
        if self.0.is_empty() {
            return Slots::new();
        }
        let own = Requirements::of_labels(node.labels.iter().map(|(key, value)| (key.as_str(), &**value)));
        let is_here = |name: &&Arc<str>| {
            let terms = storage.volume(name).and_then(|volume| volume.node_affinity.as_ref());
            terms.into_iter().flatten().any(|term| term.satisfied_by(&own, |_| false).is_ok())
        };
        let count = |choice: &Choice| choice.volumes.iter().filter(is_here).count();
        let mut slots: Slots =
            self.0.iter().map(|choice| (Arc::clone(&choice.name), count(choice))).collect();
        let taking: BTreeSet<VolumeClaimKey> = bound.iter().flat_map(|pod| claims_of(pod)).collect();
        for claim in taking.iter().filter_map(|key| storage.claim(key)).filter(|it| it.volume.is_none()) {
            let volumes = storage.available_for_claim(claim);
            for name in self.counted(&volumes).filter(|_| !volumes.is_empty()) {
                if let Some(left) = slots.get_mut(name) {
                    *left = left.saturating_sub(1);
                }
            }
        }
        slots
    }
}

fn claims_of(pod: &Pod) -> impl Iterator<Item = VolumeClaimKey> {
    let names = pod.spec.volumes.iter().filter_map(|volume| volume.claim_of(&pod.key.name));
    names.map(|name| VolumeClaimKey { namespace: pod.key.namespace.clone(), name })
}

fn names(volumes: &[&Volume]) -> BTreeSet<Arc<str>> {
    volumes.iter().map(|volume| Arc::clone(&volume.name)).collect()
}
