//! Consolidation: local search for the set of nodes whose removal or cheaper replacement saves most.
//!
//! Nodes are tried in bulk, those first that cost most relative to the value of their pods, and every set is evaluated
//! by planning without it. A set is accepted only if it leaves no more pods unplaced and saves more than the cost of
//! moving. Two sets are tried in parallel, and their results are taken in order, so the number of threads does not
//! matter. The number of attempts is limited, never their time. Never considers waves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{CapacityType, LabelKey, Node, NodeName, PoolName, SkuName, Zone, label};
use crate::snapshot::Snapshot;
use crate::solve::demand::Roster;
use crate::solve::existing;
use crate::solve::price;

use super::balanced::Scales;
use super::candidate::{self, Candidate};
use super::outcome::{Best, Known, Outcome, suits_scheduler};
use super::trial::{Scene, Stage, Trial, by_name};
use super::worth;

/// Maximum number of rounds that keep nodes which would be replaced by equal ones.
const ROUNDS_MAX: usize = 3;

/// Minimum and maximum number of sets tried in one search; in between, the total number of planned pods and nodes
/// limits it. With more sets, fleets of forty nodes became no cheaper and took twice as long.
const TRIES: (usize, usize) = (8, 32);
const PLANNED_MAX: usize = 150_000;

/// Maximum number of candidates for which every set is tried: no more sets than are tried otherwise.
const EVERY_MAX: usize = 4;

/// Number of pods and nodes from which only the minimum number of sets is tried.
pub(in crate::solve) const LARGE_MIN: usize = PLANNED_MAX / TRIES.0;

/// Returns whether a world is so large that only the minimum number of sets is tried.
pub(in crate::solve) fn is_large(snapshot: &Snapshot) -> bool {
    planned(snapshot) >= LARGE_MIN
}

/// Returns how many pods and nodes are planned in every attempt.
pub(in crate::solve) fn planned(snapshot: &Snapshot) -> usize {
    snapshot.pods.len() + snapshot.nodes.len()
}

/// Returns the nodes with pods that should be removed. The scene treats the pods of all removable nodes as pending.
pub(in crate::solve) fn leaving(scene: &Scene<'_>, snapshot: &Snapshot) -> BTreeSet<NodeName> {
    let Some(mut search) = Search::of(scene, snapshot, Reach::All) else { return BTreeSet::new() };
    search.run();
    search.best.map(|best| best.leaving).unwrap_or_default()
}

/// Returns which of these sets saves most when removed, reduced to candidates, or the empty set. Tries no other sets.
pub(in crate::solve) fn leaving_as(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    sets: Vec<BTreeSet<NodeName>>,
) -> BTreeSet<NodeName> {
    let Some(mut search) = Search::of(scene, snapshot, Reach::Given) else { return BTreeSet::new() };
    for pair in sets.chunks(2) {
        let of_candidates = |set: &BTreeSet<NodeName>| {
            set.iter().filter(|node| search.known.candidates.contains_key(*node)).cloned().collect()
        };
        let sets = pair.iter().map(of_candidates).collect();
        search.improve(sets);
    }
    search.best.map(|best| best.leaving).unwrap_or_default()
}

/// Which sets are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// As many as the limit allows.
    All,
    /// Only the given ones.
    Given,
}

struct Search<'s> {
    known: Known<'s>,
    stages: (Stage<'s>, Stage<'s>),
    /// The candidates, those first that cost most relative to the value of their pods.
    order: Vec<NodeName>,
    /// Number of leading candidates that are estimated to save most together.
    promising: usize,
    /// The trial that removes all candidates, until it is used.
    anew: Option<Trial>,
    best: Option<Best>,
    tried: BTreeSet<BTreeSet<NodeName>>,
    tries_max: usize,
}

impl<'s> Search<'s> {
    /// Returns `None` if no node may be removed or the cost of the fleet is unknown.
    fn of(scene: &'s Scene<'s>, snapshot: &'s Snapshot, reach: Reach) -> Option<Self> {
        let (standing, roster) = rayon::join(
            || existing::standing(snapshot, scene.daemons, scene.topology),
            || Arc::new(Roster::of(snapshot, scene.topology)),
        );
        let held = roster.held_shapes(|node| snapshot.nodes[node].is_deleting);
        let candidates = candidate::candidates(scene.rules(), snapshot, (&standing, &held));
        if candidates.is_empty() {
            return None;
        }
        let candidates: BTreeMap<NodeName, Candidate> =
            candidates.into_iter().map(|known| (known.node.clone(), known)).collect();
        let all: BTreeSet<NodeName> = candidates.keys().cloned().collect();
        let stage = || Stage::of(snapshot, (&standing, &roster));
        let (mut one, other) = rayon::join(stage, stage);
        let appraisal = Arc::new(one.appraised(scene, &all));
        let mut stages = (one.with(&appraisal), other.with(&appraisal));
        let (base, anew) = rayon::join(
            || stages.0.trial(scene, &BTreeSet::new()),
            || (reach == Reach::All).then(|| stages.1.trial(scene, &all)),
        );
        // Nodes that stay empty are removed whatever is chosen here.
        let is_idle = |standing: &existing::Standing<'_>| {
            let node = &standing.node.name;
            let is_used = base.placed.contains_key(node) || base.keeping.contains(node);
            standing.is_empty() && !is_used || !candidates.contains_key(node)
        };
        if standing.iter().all(is_idle) {
            return None;
        }
        let planned = planned(snapshot);
        let scales = Scales::of(snapshot, scene.policy, scene.market);
        let ordered = anew.as_ref().map(|anew| by_efficiency(snapshot, &candidates, anew));
        let (order, promising) = ordered.unwrap_or_default();
        base.is_priced.then(|| Self {
            order,
            promising,
            known: Known {
                suits_scheduler: suits_scheduler((scene, snapshot), &BTreeSet::new(), &base),
                scene,
                snapshot,
                candidates,
                scales,
                base,
            },
            stages,
            anew,
            best: None,
            tried: BTreeSet::new(),
            tries_max: (PLANNED_MAX / planned.max(1)).clamp(TRIES.0, TRIES.1),
        })
    }

    fn run(&mut self) {
        let all = self.order.len();
        let mut sizes: Vec<usize> = [all * 3 / 4].into_iter().chain(halves(all / 2)).collect();
        // Half of the attempts are reserved for sets near the best of these.
        let most = self.tries_max / 2;
        // If not all sizes can be tried, those near the estimate come first: fewer removals are better if they save as
        // much. The estimate may be too low, so a large set is among the first.
        if sizes.len() > most {
            let mut guessed = halves(self.promising).filter(|size| *size < all);
            let first: Vec<usize> = guessed.next().into_iter().chain([all * 3 / 4]).chain(guessed).collect();
            sizes.retain(|size| !first.contains(size));
            sizes.splice(0..0, first);
        }
        sizes.truncate(most);
        self.improve(vec![self.first(all)]);
        if let Some(sets) = self.every() {
            sets.chunks(2).for_each(|pair| {
                self.improve(pair.to_vec());
            });
            return;
        }
        for pair in sizes.chunks(2) {
            self.improve(pair.iter().map(|size| self.first(*size)).collect());
        }
        self.between();
        self.put_back();
        self.one_by_one();
        self.swapped();
    }

    /// Returns every set of candidates, if all can be tried.
    fn every(&self) -> Option<Vec<BTreeSet<NodeName>>> {
        if self.order.len() > EVERY_MAX {
            return None;
        }
        let sets = Some(1_usize << self.order.len()).filter(|sets| *sets <= self.tries_max)?;
        let set = |number: usize| {
            let is_in = |place: &usize| number >> place & 1 == 1;
            (0..self.order.len()).filter(is_in).map(|place| self.order[place].clone()).collect()
        };
        Some((1..sets).map(set).collect())
    }

    /// Returns the first `size` candidates, those that cost most relative to the value of their pods.
    fn first(&self, size: usize) -> BTreeSet<NodeName> {
        self.order.iter().take(size).cloned().collect()
    }

    /// Tries sizes near the best one so far.
    fn between(&mut self) {
        let size = |search: &Self| search.best.as_ref().map_or(0, |best| best.leaving.len());
        let mut step = size(self) / 4;
        while step > 0 {
            let before = size(self);
            let mut sets = self.around(before, step);
            let mut least = step;
            // Two sets can be tried in parallel: adds the one that would be next if this one fails.
            let next = self.around(before, step / 2);
            if sets.len() == 1 && next.len() == 1 {
                least = step / 2;
                sets.extend(next);
            }
            self.improve(sets);
            step = if size(self) == before { least / 2 } else { step / 2 };
        }
    }

    /// Returns the untried sets with `step` fewer and `step` more nodes.
    fn around(&self, size: usize, step: usize) -> Vec<BTreeSet<NodeName>> {
        let mut sets = vec![self.first(size.saturating_sub(step)), self.first(size + step)];
        sets.retain(|set| self.is_new(set));
        sets
    }

    fn is_new(&self, set: &BTreeSet<NodeName>) -> bool {
        !set.is_empty() && !self.tried.contains(set)
    }

    /// Keeps nodes that would be replaced by equal ones.
    fn put_back(&mut self) {
        for _ in 0..ROUNDS_MAX {
            let Some(best) = &self.best else { return };
            let mut made: BTreeMap<Offer, usize> = BTreeMap::new();
            for node in &best.trial.new {
                let offer = (node.pool.clone(), node.size.clone(), node.zone.clone(), node.capacity_type);
                *made.entry(offer).or_default() += 1;
            }
            let nodes = by_name(self.known.snapshot);
            let mut rest = best.leaving.clone();
            rest.retain(|name| {
                let alike = nodes.get(name).and_then(|node| made.get_mut(&offer_of(node)?));
                match alike.filter(|left| **left > 0) {
                    Some(left) => {
                        *left -= 1;
                        false
                    }
                    None => true,
                }
            });
            if rest.len() == best.leaving.len() || !self.improve(vec![rest]) {
                return;
            }
        }
    }

    /// Adds and removes single nodes of the set while that helps and attempts are left.
    fn one_by_one(&mut self) {
        let order = self.order.clone();
        let mut is_better = true;
        while is_better && self.tried.len() < self.tries_max {
            is_better = false;
            for pair in order.chunks(2) {
                let best = self.best.as_ref().map(|best| best.leaving.clone()).unwrap_or_default();
                let toggled = |node: &NodeName| {
                    let mut set = best.clone();
                    if !set.remove(node) {
                        set.insert(node.clone());
                    }
                    set
                };
                is_better |= self.improve(pair.iter().map(toggled).collect());
                if self.tried.len() >= self.tries_max {
                    break;
                }
            }
        }
    }

    /// Exchanges single nodes of the set while that helps and attempts are left, then tries single changes again.
    fn swapped(&mut self) {
        while self.tried.len() < self.tries_max {
            let best = self.best.as_ref().map(|best| best.leaving.clone()).unwrap_or_default();
            let instead = |out: &NodeName, other: &NodeName| {
                let mut set = best.clone();
                set.remove(out);
                set.insert(other.clone());
                set
            };
            let others = || self.order.iter().filter(|node| !best.contains(*node));
            let of_one = |out| others().map(move |other| (out, other));
            let pairs = best.iter().flat_map(of_one).map(|(out, other)| instead(out, other));
            let sets: Vec<BTreeSet<NodeName>> =
                pairs.filter(|set| self.is_new(set)).take(self.tries_max - self.tried.len()).collect();
            if !sets.chunks(2).any(|pair| self.improve(pair.to_vec())) {
                return;
            }
            self.one_by_one();
        }
    }

    /// Tries up to two sets; returns whether one is the best so far.
    fn improve(&mut self, mut sets: Vec<BTreeSet<NodeName>>) -> bool {
        sets.retain(|set| self.is_new(set));
        sets.dedup();
        if self.tried.len() >= self.tries_max {
            return false;
        }
        let Self { known, stages: (one, other), anew, tried, .. } = self;
        let mut planned = |set: &BTreeSet<NodeName>| match set.len() == known.candidates.len() {
            true => anew.take(),
            false => None,
        };
        let mut sets = sets.into_iter().map(|set| (planned(&set), set));
        let outcomes = match (sets.next(), sets.next()) {
            (Some(set), Some(beside)) => {
                let (set, beside) =
                    rayon::join(|| known.outcome(one, tried, set), || known.outcome(other, tried, beside));
                vec![set, beside]
            }
            (Some(set), None) => vec![known.outcome(one, tried, set)],
            (None, _) => Vec::new(),
        };
        let mut is_better = false;
        for Outcome { tried, found } in outcomes {
            self.tried.extend(tried);
            let least = self.best.as_ref().map_or(self.known.base.cost.0, |best| best.score);
            if let Some(found) = found.filter(|found| found.score < least) {
                self.best = Some(found);
                is_better = true;
            }
        }
        is_better
    }
}

/// Returns a number, its half, and so on down to one.
fn halves(number: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(number), |half| Some(half / 2)).take_while(|half| *half > 0)
}

/// Returns the nodes, those first that cost most relative to the value of their pods, and how many of the first would
/// save most if all pods could be placed at that value.
fn by_efficiency(
    snapshot: &Snapshot,
    candidates: &BTreeMap<NodeName, Candidate>,
    anew: &Trial,
) -> (Vec<NodeName>, usize) {
    let worth = worth::by_node(snapshot, anew);
    let worth = |known: &Candidate| worth.get(&known.node).copied().unwrap_or(0);
    let mut order: Vec<&Candidate> = candidates.values().collect();
    order.sort_by_key(|known| (worth(known) * 1_000_000 / i128::from(known.price.0.max(1)), &known.node));
    let (mut saved, mut best) = (0, (0, 0));
    for (place, known) in order.iter().enumerate() {
        saved += i128::from(known.price.0 - known.threshold()) - worth(known);
        if saved > best.0 {
            best = (saved, place + 1);
        }
    }
    (order.into_iter().map(|known| known.node.clone()).collect(), best.1)
}

/// The offering that a node was bought as.
type Offer = (PoolName, SkuName, Zone, CapacityType);

fn offer_of(node: &Node) -> Option<Offer> {
    let (size, capacity_type) = price::bought_as(node)?;
    let zone = node.labels.get(&LabelKey::new(label::ZONE))?;
    Some((node.pool.clone()?, size, Zone::new(&**zone), capacity_type))
}
