//! Usage of PodDisruptionBudgets by drains: the drains of one wave never exceed a budget together.
//!
//! A wave ends when the evicted pods are up again elsewhere, so every wave starts with full budgets. A node with more
//! pods of a budget than it allows at the same time is the only one of its wave with such pods: its drain evicts them
//! one by one, as the eviction API allows. Whether a pod may be evicted at all is not checked here.

use std::collections::BTreeMap;

use crate::model::eviction::Evictions;
use crate::model::{NodeName, PodPlace};
use crate::snapshot::Snapshot;

/// Evictions by index of the budget.
type Counts = BTreeMap<usize, u32>;

/// Budget usage of each node's drain.
#[derive(Debug)]
pub(super) struct Drains<'a> {
    evictions: Evictions<'a>,
    by_node: BTreeMap<&'a NodeName, Counts>,
    /// Usage of nodes that are already being deleted.
    leaving: Counts,
}

/// One wave of drains.
#[derive(Debug)]
pub(super) struct Pace<'d> {
    drains: &'d Drains<'d>,
    is_first: bool,
    taken: Counts,
}

impl<'a> Drains<'a> {
    /// Counts the pods of each budget on each node.
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let evictions = Evictions::of(&snapshot.budgets, &snapshot.pods);
        let mut by_node: BTreeMap<&NodeName, Counts> = BTreeMap::new();
        for pod in &snapshot.pods {
            let PodPlace::Bound(node) = &pod.place else { continue };
            for place in evictions.used_by(pod) {
                *by_node.entry(node).or_default().entry(place).or_default() += 1;
            }
        }
        let mut leaving = Counts::new();
        for node in snapshot.nodes.iter().filter(|node| node.is_deleting) {
            // A removal that only finishes such a node evicts nothing more.
            for (place, count) in by_node.remove(&node.name).into_iter().flatten() {
                *leaving.entry(place).or_default() += count;
            }
        }
        Self { evictions, by_node, leaving }
    }

    /// Starts a wave; nodes that are already being deleted drain during the first one.
    pub(super) const fn wave(&self, is_first: bool) -> Pace<'_> {
        Pace { drains: self, is_first, taken: Counts::new() }
    }

    /// Returns how many pods of a budget a wave may evict.
    fn room(&self, place: usize, is_first: bool) -> u32 {
        let allowed = self.evictions.guard(place).map_or(0, |guard| guard.allowed);
        let leaving = self.leaving.get(&place).copied().filter(|_| is_first);
        allowed.saturating_sub(leaving.unwrap_or(0))
    }
}

impl Pace<'_> {
    /// Adds the drain of a node to the wave, if the budgets allow it together with those already added.
    pub(super) fn take(&mut self, node: &NodeName) -> bool {
        let Some(counts) = self.drains.by_node.get(node) else { return true };
        let fits = |(place, count): (&usize, &u32)| match self.taken.get(place) {
            Some(taken) => taken.saturating_add(*count) <= self.drains.room(*place, self.is_first),
            None => true,
        };
        let fits = counts.iter().all(fits);
        if fits {
            for (place, count) in counts {
                *self.taken.entry(*place).or_default() += count;
            }
        }
        fits
    }
}
