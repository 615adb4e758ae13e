//! Node labels that placed pods depend on, by their own required rules and those of other pods.
//!
//! Nothing is checked here: the rules about weight and substitutes read it.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::crowd::Group;
use super::{anti_affinity, pod_affinity};
use crate::model::{LabelKey, Namespace, Pod, PodSpec, Strength};

/// Labels that tie pods to their node's domain.
#[derive(Default)]
pub(super) struct Tie {
    /// Labels whose values must be those the node was chosen with, because of spread or affinity.
    pub(super) fixed: BTreeSet<LabelKey>,
    /// Labels of anti-affinity terms: some of their values are allowed and some are not.
    pub(super) apart: BTreeSet<LabelKey>,
}

/// Pods of one spec in one namespace.
type Kind<'a> = (&'a PodSpec, &'a Namespace);

/// Ties of placed pods by kind; pods without ties are absent.
#[derive(Default)]
pub(super) struct Ties<'a> {
    ties: BTreeMap<Kind<'a>, Tie>,
    /// Topology keys of spreads that count them.
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

    /// Returns the ties of a placed pod, without those of its volumes.
    pub(super) fn of(&self, pod: &'a Pod) -> Option<&Tie> {
        self.ties.get(&(&*pod.spec, &pod.key.namespace))
    }

    /// Returns the topology keys of spreads that count a placed pod: it may have to stay in its domain because of them.
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
