//! Selects the preferences that count: all of pending pods, and the met ones of pods running on nodes that may be
//! removed.
//!
//! An unmet preference of a running pod is no reason to move it, and losing a met one is counted. Costs are not known
//! here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::model::{Form, NodeName, Pod, PodKey, PodPlace, PodSpec, Preference, SoftTaints};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::{demand, steps};

use super::choice::{Choice, Item};
use super::firm::{Firm, Taken, firm};
use super::met::Met;

/// Minimum number of pods per thread.
const PODS_AT_ONCE: usize = 4096;

/// Pods with preferences, grouped by spec.
pub(super) struct Wishes<'a> {
    pub(super) contents: Vec<Content<'a>>,
    /// The `PreferNoSchedule` taints of the world.
    pub(super) taints: SoftTaints,
}

/// Pods with the same spec.
pub(super) struct Content<'a> {
    pub(super) spec: &'a PodSpec,
    /// The preferences with their weights.
    pub(super) weights: Vec<(Preference, u32)>,
    /// The pods: running ones first, then by name.
    pub(super) pods: Vec<Wisher<'a>>,
}

impl Content<'_> {
    /// Returns the spec with these of its preferences made required.
    pub(super) fn firm(&self, taken: &[Taken]) -> Firm {
        firm((self.spec, &self.weights), taken, self.pods.len())
    }
}

/// A pod with preferences.
pub(super) struct Wisher<'a> {
    /// Its index in the snapshot.
    place: usize,
    pub(super) key: &'a PodKey,
    /// Whether it is running on a node where it may stay.
    pub(super) runs: bool,
    /// The preferences that may be honored, each in its strongest form.
    pub(super) open: Vec<Taken>,
}

impl<'a> Wishes<'a> {
    /// Finds the pods; those in `left_over` cannot be placed even without preferences.
    pub(super) fn of(snapshot: &'a Snapshot, policy: &Policy, left_over: &BTreeSet<&PodKey>) -> Self {
        let leaving: BTreeSet<&NodeName> =
            snapshot.nodes.iter().filter(|node| node.is_deleting).map(|node| &node.name).collect();
        let pools = policy.pools.values().flat_map(|pool| &pool.taints);
        let taints = SoftTaints::of(pools.chain(snapshot.nodes.iter().flat_map(|node| &node.taints)));
        let pods = snapshot.pods.par_iter().with_min_len(PODS_AT_ONCE).enumerate();
        let wishing: Vec<(usize, &Pod)> = pods.filter(|(_, pod)| pod.spec.has_preferences(&taints)).collect();
        let may_move = |pod: &Pod| !pod.is_daemon && !demand::needs_place(pod, &leaving);
        let movable = match wishing.iter().any(|(_, pod)| may_move(pod)) {
            true => steps::movable(snapshot, policy),
            false => BTreeSet::new(),
        };
        let mut wishers: Vec<(&Pod, Wisher<'_>)> = Vec::new();
        let mut running: Vec<&Pod> = Vec::new();
        for (place, pod) in wishing {
            let runs = match &pod.place {
                _ if demand::needs_place(pod, &leaving) => false,
                PodPlace::Bound(node) if may_move(pod) && movable.contains(node) => true,
                PodPlace::Bound(_) | PodPlace::Waiting => continue,
            };
            if runs {
                running.push(pod);
            }
            wishers.push((pod, Wisher { place, key: &pod.key, runs, open: Vec::new() }));
        }
        let met = Met::of(snapshot, &running, &taints);
        for (pod, wisher) in &mut wishers {
            wisher.open = match wisher.runs {
                true => met.forms(pod, &taints),
                false if left_over.contains(&pod.key) => Vec::new(),
                false => pod.spec.preferences(&taints).into_iter().map(|(it, _)| (it, Form::Whole)).collect(),
            };
        }
        Self { contents: by_content(wishers, &taints), taints }
    }

    /// Returns whether no preference can be honored.
    pub(super) fn is_empty(&self) -> bool {
        self.contents.iter().all(|content| content.pods.iter().all(|pod| pod.open.is_empty()))
    }

    /// Returns the pods that have preferences.
    pub(super) fn keys(&self) -> impl Iterator<Item = &PodKey> {
        self.contents.iter().flat_map(|content| content.pods.iter().map(|pod| pod.key))
    }

    /// Returns how many pods have preferences.
    pub(super) fn pods(&self) -> usize {
        self.contents.iter().map(|content| content.pods.len()).sum()
    }

    /// Returns every preference of every spec that can be honored for some pod, the heaviest first; of equal weight,
    /// those first that are usually cheapest to meet.
    pub(super) fn items(&self) -> Vec<Item> {
        let mut items: Vec<(std::cmp::Reverse<u32>, Preference, usize)> = Vec::new();
        for (number, content) in self.contents.iter().enumerate() {
            let open: BTreeSet<Preference> =
                content.pods.iter().flat_map(|pod| &pod.open).map(|(preference, _)| *preference).collect();
            let weights = content.weights.iter().filter(|(preference, _)| open.contains(preference));
            items.extend(weights.map(|(it, weight)| (std::cmp::Reverse(*weight), *it, number)));
        }
        items.sort();
        items.into_iter().map(|(_, preference, content)| Item { content, preference }).collect()
    }

    /// Writes the chosen preferences into the pods of a copy of the snapshot.
    pub(super) fn apply(&self, choice: &Choice, copy: &mut Snapshot) {
        for (number, content) in self.contents.iter().enumerate() {
            let mut made: BTreeMap<Vec<Taken>, Arc<PodSpec>> = BTreeMap::new();
            for (rank, wisher) in content.pods.iter().enumerate() {
                let taken = choice.of(number, rank, wisher);
                let spec = made.entry(taken).or_insert_with_key(|taken| Arc::new(content.firm(taken).spec));
                copy.pods[wisher.place].spec = Arc::clone(spec);
            }
        }
    }
}

fn by_content<'a>(wishers: Vec<(&'a Pod, Wisher<'a>)>, taints: &SoftTaints) -> Vec<Content<'a>> {
    // Pods of a workload share one allocation, so few specs are compared in full.
    let mut by_address: BTreeMap<usize, (&PodSpec, Vec<Wisher<'_>>)> = BTreeMap::new();
    for (pod, wisher) in wishers {
        let address = Arc::as_ptr(&pod.spec).addr();
        by_address.entry(address).or_insert_with(|| (&pod.spec, Vec::new())).1.push(wisher);
    }
    let mut by_content: BTreeMap<&PodSpec, Vec<Wisher<'_>>> = BTreeMap::new();
    for (spec, wishers) in by_address.into_values() {
        by_content.entry(spec).or_default().extend(wishers);
    }
    let content = |(spec, mut pods): (&'a PodSpec, Vec<Wisher<'a>>)| {
        pods.sort_by_key(|pod| (!pod.runs, pod.key));
        Content { spec, weights: spec.preferences(taints), pods }
    };
    by_content.into_iter().map(content).collect()
}
