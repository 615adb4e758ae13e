//! Which labels of their node the placed pods depend on, by their required rules and by those of others.
//!
//! Nothing is judged here: the rules about weight and substitutes read it.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::crowd::Group;
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

/// Pods of one content in one namespace.
type Kind<'a> = (&'a PodSpec, &'a Namespace);

/// The ties of placed pods, by what these are; none of pods that are not tied.
#[derive(Default)]
pub(super) struct Ties<'a> {
    ties: BTreeMap<Kind<'a>, Tie>,
    /// The labels by which others are spread with them.
    counted: BTreeMap<Kind<'a>, BTreeSet<&'a LabelKey>>,
}

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
                ties.ties.insert((spec, group.namespace), Tie { fixed, apart });
            }
        }
        for (key, groups) in pod_affinity::needed(case) {
            ties.of_groups(case, &groups, |tie| tie.fixed.extend([key.clone()]));
        }
        for (key, groups) in anti_affinity::kept_away(case) {
            ties.of_groups(case, &groups, |tie| tie.apart.extend([key.clone()]));
        }
        ties.count(case);
        ties
    }

    fn of_groups(&mut self, case: &Case<'a>, groups: &[usize], change: impl Fn(&mut Tie)) {
        for group in groups.iter().map(|number| &case.crowd.groups[*number]).filter(|group| group.is_placed) {
            change(self.ties.entry((group.spec, group.namespace)).or_default());
        }
    }

    /// Returns the ties of a placed pod, beside what its volumes ask for.
    pub(super) fn of(&self, pod: &'a Pod) -> Option<&Tie> {
        self.ties.get(&(&*pod.spec, &pod.key.namespace))
    }

    /// Returns the labels by which others are spread with a placed pod: it may have to be in one domain for their sake.
    pub(super) fn counted(&self, pod: &'a Pod) -> impl Iterator<Item = &'a LabelKey> {
        self.counted.get(&(&*pod.spec, &pod.key.namespace)).into_iter().flatten().copied()
    }

    fn count(&mut self, case: &Case<'a>) {
        let groups = &case.crowd.groups;
        for Group { spec, namespace, .. } in groups {
            for spread in spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required) {
                let counted = case.crowd.selected(spread.selector.as_ref(), &[*namespace].into());
                for group in counted.into_iter().map(|number| &groups[number]).filter(|group| group.is_placed)
                {
                    let keys = self.counted.entry((group.spec, group.namespace)).or_default();
                    keys.insert(&spread.topology_key);
                }
            }
        }
    }
}
