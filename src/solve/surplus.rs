//! How many pods of each kind have a place together, where limits leave too little for all and rules between pods bind some.
//!
//! Domains are given out before it is known what limits leave, so that pods which have no place may take the domain of those
//! that have one: the more wait, the fewer of a spread would stand. Here pods are added kind by kind, the highest priority
//! first, and of each kind as many as all have a place beside those before; the fleet is planned without the others. How many
//! that are does not depend on how many more wait: numbers are tried in an order of their own, and none above what waits. What
//! is tried is counted, and so are the pods of it.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Namespace, PodKey, PodPlace, PodSpec};
use crate::snapshot::Snapshot;

use super::fleet;
use super::ledger;
use super::shrink::trial::Scene;
use super::shrink::{composed, imagined, whole};
use super::solution::Solution;

/// How many fleets are tried at most, and how many pods wait of all of them together: twice for each half of a number of a
/// thousand, of a few kinds.
const TRIES_MAX: usize = 64;
const PODS_MAX: usize = 20_000;

/// The most nodes that are there beside which pods are counted: each takes its time in every try.
const NODES_MAX: usize = 300;

/// By what a number that is tried grows while all have a place, until it is halved.
const GROWTH: usize = 4;

/// Waiting pods that the scheduler cannot tell apart, by name.
struct Kind<'s> {
    priority: i32,
    pods: Vec<&'s PodKey>,
}

/// Returns the world without the waiting pods for which limits leave no place beside the others; nothing where there is no
/// reason to look, or it takes too long.
pub(super) fn without(scene: &Scene<'_>, snapshot: &Snapshot, solution: &Solution) -> Option<Snapshot> {
    let is_asked = solution.report.left_over() > 0
        && ledger::has_limits(scene.policy)
        && !scene.topology.is_empty()
        && snapshot.nodes.len() <= NODES_MAX;
    if !is_asked {
        return None;
    }
    let kinds = kinds(snapshot);
    let counts = vec![0; kinds.len()];
    let mut search = Search { scene, snapshot, kinds: &kinds, counts, left: 0, spent: Spent::default() };
    if snapshot.nodes.iter().any(|node| node.is_deleting) {
        search.left = fleet::left_over(scene, &search.world(&search.counts));
    }
    let mut first = 0;
    for alike in kinds.chunk_by(|one, other| one.priority == other.priority) {
        let places: Vec<usize> = (first..first + alike.len()).collect();
        first += alike.len();
        // That not all have a place together is known.
        search.add(&places, first == kinds.len() && places.len() == kinds.len());
    }
    let is_whole = kinds.iter().zip(&search.counts).all(|(kind, count)| kind.pods.len() == *count);
    (!is_whole).then(|| search.world(&search.counts))
}

/// Adds to a fleet for such a world what still has a place beside it, and says why the others have none; nothing where the
/// rules refuse that.
pub(super) fn with_rest(scene: &Scene<'_>, snapshot: &Snapshot, solution: Solution) -> Option<Solution> {
    let between = imagined::after(scene, snapshot, &solution.target);
    let rest = fleet::without(scene, &between);
    let both = composed::composed(scene, &between, (solution, rest));
    whole::is_right(scene, snapshot, &both).then_some(both)
}

/// Lists what waits by kind: the highest priority first, and of one those last that have to stand beside others.
fn kinds(snapshot: &Snapshot) -> Vec<Kind<'_>> {
    let waiting = snapshot.pods.iter().filter(|pod| pod.place == PodPlace::Waiting && !pod.is_terminating);
    let mut by_content: BTreeMap<(Reverse<i32>, bool, &Namespace, &PodSpec), Vec<&PodKey>> = BTreeMap::new();
    for pod in waiting {
        let follows = !pod.spec.affinity.is_empty();
        let content = (Reverse(pod.spec.priority), follows, &pod.key.namespace, &*pod.spec);
        by_content.entry(content).or_default().push(&pod.key);
    }
    let kind = |((priority, ..), mut pods): ((Reverse<i32>, bool, _, _), Vec<_>)| {
        pods.sort();
        Kind { priority: priority.0, pods }
    };
    by_content.into_iter().map(kind).collect()
}

/// How much was tried.
#[derive(Default)]
struct Spent {
    tries: Cell<usize>,
    pods: Cell<usize>,
}

impl Spent {
    /// Returns whether a world of so many waiting pods may be tried, and counts it.
    fn lets(&self, pods: usize) -> bool {
        self.tries.set(self.tries.get() + 1);
        self.pods.set(self.pods.get() + pods);
        self.tries.get() <= TRIES_MAX && self.pods.get() <= PODS_MAX
    }
}

struct Search<'s> {
    scene: &'s Scene<'s>,
    snapshot: &'s Snapshot,
    kinds: &'s [Kind<'s>],
    /// How many pods of each kind have a place together, as far as is known.
    counts: Vec<usize>,
    /// How many pods of nodes that go have no place though none waits.
    left: usize,
    spent: Spent,
}

impl Search<'_> {
    /// Adds as many pods of these kinds as have a place, the first kind first. It may be known that not all have one.
    fn add(&mut self, places: &[usize], is_known_short: bool) {
        let mut all = self.counts.clone();
        places.iter().for_each(|place| all[*place] = self.kinds[*place].pods.len());
        if !is_known_short && self.holds(&all) {
            self.counts = all;
            return;
        }
        match places {
            [] => {}
            [place] => self.counts[*place] = self.most(*place),
            _ => {
                let (first, second) = places.split_at(places.len() / 2);
                self.add(first, false);
                self.add(second, false);
            }
        }
    }

    /// Returns how many pods of a kind, of which not all have a place, have one beside what is counted. The same numbers are
    /// tried however many wait, so that of more never fewer have a place.
    fn most(&self, place: usize) -> usize {
        let most = self.kinds[place].pods.len().saturating_sub(1);
        let holds = |count: usize| {
            let mut counts = self.counts.clone();
            counts[place] = count;
            count <= most && self.holds(&counts)
        };
        let (mut sure, mut next) = (0, GROWTH);
        while holds(next) {
            (sure, next) = (next, next.saturating_mul(GROWTH));
        }
        let (mut found, mut width) = (0, next / 2);
        while width > 0 {
            if found + width <= sure || holds(found + width) {
                found += width;
            }
            width /= 2;
        }
        found
    }

    /// Returns whether so many pods of each kind all have a place together.
    fn holds(&self, counts: &[usize]) -> bool {
        self.spent.lets(counts.iter().sum()) && fleet::left_over(self.scene, &self.world(counts)) <= self.left
    }

    /// Returns the world in which so many pods of each kind wait.
    fn world(&self, counts: &[usize]) -> Snapshot {
        let surplus = self.kinds.iter().zip(counts).flat_map(|(kind, count)| &kind.pods[*count..]);
        let surplus: BTreeSet<&PodKey> = surplus.copied().collect();
        let pods = self.snapshot.pods.iter().filter(|pod| !surplus.contains(&pod.key));
        self.snapshot.with_pods(pods.cloned().collect())
    }
}
