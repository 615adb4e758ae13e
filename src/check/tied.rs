//! Which labels of their node the placed pods depend on, by their required rules and by those of others.
//!
//! Nothing is judged here: the rules about weight and substitutes read it.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::{anti_affinity, pod_affinity};
use crate::model::{LabelKey, Namespace, Pod, PodSpec, Strength};

/// The labels by which pods are tied.
#[derive(Default)]
pub(super) struct Tie {
    /// Their node must have the values that it was chosen with: they are spread by them, or near others.
    pub(super) fixed: BTreeSet<LabelKey>,
    /// Others are kept away by them: of their values some are right and some are wrong.
    pub(super) apart: BTreeSet<LabelKey>,
}

/// The ties of placed pods, by what these are; none of pods that are not tied.
#[derive(Default)]
pub(super) struct Ties<'a>(BTreeMap<(&'a PodSpec, &'a Namespace), Tie>);

impl<'a> Ties<'a> {
    /// Gathers the ties of all placed pods.
    pub(super) fn of_all(case: &Case<'a>) -> Self {
        let mut ties = Self::default();
        for group in case.crowd.groups.iter().filter(|group| group.is_placed) {
            let spec = group.spec;
            let spread = spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required);
            let spread = spread.map(|constraint| &constraint.topology_key);
            let near = spec.affinity.iter().map(|term| &term.topology_key);
            let fixed: BTreeSet<LabelKey> = spread.chain(near).cloned().collect();
            let apart: BTreeSet<LabelKey> =
                spec.anti_affinity.iter().map(|term| term.topology_key.clone()).collect();
            if !fixed.is_empty() || !apart.is_empty() || !spec.volumes.is_empty() {
                ties.0.insert((spec, group.namespace), Tie { fixed, apart });
            }
        }
        for (key, groups) in pod_affinity::needed(case) {
            ties.of_groups(case, &groups, |tie| tie.fixed.extend([key.clone()]));
        }
        for (key, groups) in anti_affinity::kept_away(case) {
            ties.of_groups(case, &groups, |tie| tie.apart.extend([key.clone()]));
        }
        ties
    }

    fn of_groups(&mut self, case: &Case<'a>, groups: &[usize], change: impl Fn(&mut Tie)) {
        for group in groups.iter().map(|number| &case.crowd.groups[*number]).filter(|group| group.is_placed) {
            change(self.0.entry((group.spec, group.namespace)).or_default());
        }
    }

    /// Returns the ties of a placed pod, beside what its volumes ask for.
    pub(super) fn of(&self, pod: &'a Pod) -> Option<&Tie> {
        self.0.get(&(&*pod.spec, &pod.key.namespace))
    }
}
