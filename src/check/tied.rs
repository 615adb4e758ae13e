//! Which labels of their node the placed pods depend on: it would be wrong to put such a pod, or to launch its
//! node, where these have other values.
//!
//! A pod is tied by its own required rules, and by those of others that keep it away, count it or need it near.
//! Nothing is judged here.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::crowd::topology_keys;
use super::{anti_affinity, pod_affinity, spread};
use crate::model::{LabelKey, Namespace, Pod, PodSpec};

/// The labels by which placed pods are tied, by what they are.
#[derive(Default)]
pub(super) struct Ties<'a>(BTreeMap<(&'a PodSpec, &'a Namespace), BTreeSet<LabelKey>>);

impl<'a> Ties<'a> {
    /// Gathers the ties of all placed pods.
    pub(super) fn of_all(case: &Case<'a>) -> Self {
        let groups = &case.crowd.groups;
        let mut ties = Self::default();
        for group in groups.iter().filter(|group| group.is_placed) {
            let keys: BTreeSet<LabelKey> = topology_keys(group.spec).cloned().collect();
            if !keys.is_empty() || !group.spec.volumes.is_empty() {
                ties.0.entry((group.spec, group.namespace)).or_default().extend(keys);
            }
        }
        let by_others = spread::counted(case).into_iter().chain(pod_affinity::needed(case));
        for (key, numbers) in by_others.chain(anti_affinity::kept_away(case)) {
            for group in numbers.iter().map(|number| &groups[*number]).filter(|group| group.is_placed) {
                ties.0.entry((group.spec, group.namespace)).or_default().insert(key.clone());
            }
        }
        ties
    }

    /// Returns the labels by which a placed pod is tied, beside those that its volumes ask for; nothing of a pod
    /// that is not tied.
    pub(super) fn of(&self, pod: &'a Pod) -> Option<&BTreeSet<LabelKey>> {
        self.0.get(&(&*pod.spec, &pod.key.namespace))
    }
}
