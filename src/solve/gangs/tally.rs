//! Counts the pods of each gang that a fleet places and that it evicts.
//!
//! Decides only whether a gang is complete.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Gang, NodeName, Pod, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::fit::{gates, not_yet};
use crate::solve::solution::{Solution, Unplaced};

/// A gang of which too few pods are placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its priority: the lowest of its pods.
    pub(super) priority: i32,
    /// Number of its pods on a node in the end, running ones included.
    pub(super) standing: usize,
    /// Number of those that the plan placed.
    pub(super) placed: usize,
    /// Number of further pods that are required.
    pub(super) missing: usize,
    /// The most common reason why its other pods are not placed.
    pub(super) because: Option<Unplaced>,
}

impl Part {
    /// Returns the sort key for withholding: the lowest priority first, then the most missing pods.
    pub(super) const fn badness(&self) -> (i32, Reverse<usize>) {
        (self.priority, Reverse(self.missing))
    }
}

/// Placement of every gang's pods in a fleet.
pub(super) struct Tally<'a> {
    gangs: &'a [Gang<'a>],
    /// The nodes that are removed, or take no pods because they are being deleted.
    removed: BTreeSet<NodeName>,
    leaving: BTreeSet<&'a NodeName>,
    placed: BTreeSet<&'a PodKey>,
    unplaced: BTreeMap<&'a PodKey, &'a Unplaced>,
}

impl<'a> Tally<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, gangs: &'a [Gang<'a>], solution: &'a Solution) -> Self {
        let members: BTreeSet<&PodKey> =
            gangs.iter().flat_map(|gang| &gang.pods).map(|pod| &pod.key).collect();
        let target = &solution.target;
        let kept = target.kept.iter().flat_map(|kept| &kept.pods);
        let placed = kept.chain(target.new.iter().flat_map(|node| &node.pods));
        let unplaced = solution.report.unplaced.iter();
        let unplaced = unplaced.flat_map(|group| group.pods.iter().map(move |pod| (pod, group)));
        let leaving = snapshot.nodes.iter().filter(|node| node.is_deleting);
        Self {
            gangs,
            removed: target.removed_names(),
            leaving: leaving.map(|node| &node.name).collect(),
            placed: placed.filter(|pod| members.contains(pod)).collect(),
            unplaced: unplaced.filter(|(pod, _)| members.contains(pod)).collect(),
        }
    }

    /// Returns the partly placed gangs with their indices, in the order in which they are withheld.
    pub(super) fn in_part(&self) -> Vec<(usize, Part)> {
        let gangs = self.gangs.iter().enumerate();
        let mut parts: Vec<(usize, Part)> =
            gangs.filter_map(|(place, gang)| Some((place, self.part(gang)?))).collect();
        parts.retain(|(_, part)| part.placed > 0);
        parts.sort_by(|(one_at, one), (other_at, other)| {
            (one.badness(), Reverse(one_at)).cmp(&(other.badness(), Reverse(other_at)))
        });
        parts
    }

    /// Returns what a gang lacks, if fewer of its pods are placed than required.
    pub(super) fn part(&self, gang: &Gang<'_>) -> Option<Part> {
        let placed = unbound(gang, &self.leaving).filter(|pod| self.placed.contains(&pod.key)).count();
        let standing = self.standing(gang);
        let missing = gang.least?.checked_sub(standing).filter(|missing| *missing > 0)?;
        let priority = gang.pods.iter().map(|pod| pod.spec.priority).min().unwrap_or(0);
        Some(Part { priority, standing, placed, missing, because: self.because(gang) })
    }

    /// Returns how many pods of a gang are on a node in the end.
    fn standing(&self, gang: &Gang<'_>) -> usize {
        let stays = |pod: &Pod| match &pod.place {
            PodPlace::Bound(node) => !self.leaving.contains(node) && !self.removed.contains(node),
            PodPlace::Waiting => false,
        };
        gang.pods.iter().filter(|pod| stays(pod) || self.placed.contains(&pod.key)).count()
    }

    /// Returns the most common reason among the unplaced pods of a gang.
    fn because(&self, gang: &Gang<'_>) -> Option<Unplaced> {
        let groups = gang.pods.iter().filter_map(|pod| self.unplaced.get(&pod.key).copied());
        let mut counts: Vec<(usize, &Unplaced)> = Vec::new();
        for group in groups {
            match counts.iter_mut().find(|(_, known)| std::ptr::eq(*known, group)) {
                Some((count, _)) => *count += 1,
                None => counts.push((1, group)),
            }
        }
        counts.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, group)| group.clone())
    }

    pub(super) const fn gangs(&self) -> &'a [Gang<'a>] {
        self.gangs
    }

    pub(super) const fn leaving(&self) -> &BTreeSet<&'a NodeName> {
        &self.leaving
    }

    /// Returns whether a pod is reported as unplaced.
    pub(super) fn is_unplaced(&self, pod: &PodKey) -> bool {
        self.unplaced.contains_key(pod)
    }

    /// Returns whether any pending pod of a gang is placed.
    pub(super) fn is_placed(&self, place: usize) -> bool {
        unbound(&self.gangs[place], &self.leaving).any(|pod| self.placed.contains(&pod.key))
    }
}

/// Returns the pods of a gang that need a node: they are pending, or their node is being deleted.
pub(super) fn unbound<'g>(
    gang: &'g Gang<'_>,
    leaving: &'g BTreeSet<&NodeName>,
) -> impl Iterator<Item = &'g Pod> {
    gang.pods.iter().copied().filter(|pod| match &pod.place {
        PodPlace::Bound(node) => leaving.contains(node),
        PodPlace::Waiting => true,
    })
}

/// Returns whether something else holds a pod back, so it is never placed.
pub(super) fn is_held(pod: &Pod) -> bool {
    gates::why(&pod.spec).is_some() || not_yet::why(&pod.spec).is_some()
}

/// Returns how many of these gangs, in order, are withheld together: until the pods placed for them would complete the
/// rest if all pods were alike.
pub(super) fn surplus(parts: &[(usize, Part)]) -> usize {
    let mut missing: usize = parts.iter().map(|(_, part)| part.missing).sum();
    let mut freed = 0;
    let mut count = 0;
    for (_, part) in parts {
        if count > 0 && freed >= missing {
            break;
        }
        missing -= part.missing;
        freed += part.placed;
        count += 1;
    }
    count
}
