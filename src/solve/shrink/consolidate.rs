//! Looks for the nodes whose going saves most: removals and cheaper replacements alike.
//!
//! Nodes are tried in bulk, the ones first that cost most for what their pods are worth, and every set is judged by
//! planning without it. A set is taken only where it leaves no more pods without a place and saves more than moving
//! is worth. The number of tries is counted, never timed. Nothing here knows waves.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{CapacityType, LabelKey, Node, NodeName, PoolName, SkuName, Zone, label};
use crate::snapshot::Snapshot;
use crate::solve::existing;
use crate::solve::price;

use super::balanced::Scales;
use super::candidate::{self, Candidate};
use super::trial::{Scene, Stage, Trial, by_name, is_worse};
use super::worth;

/// How often nodes are kept that would be replaced by their like.
const ROUNDS_MAX: usize = 3;

/// How often a set is tried again without the nodes whose pods had no place.
const MENDS_MAX: usize = 3;

/// The fewest and the most sets that are tried in one search, and the pods and nodes that are planned in all between.
const TRIES: (usize, usize) = (6, 64);
const PLANNED_MAX: usize = 150_000;

/// Returns the nodes that may go though they carry pods, where it saves enough.
pub(in crate::solve) fn candidates(scene: &Scene<'_>, snapshot: &Snapshot) -> BTreeSet<NodeName> {
    found(scene, snapshot).into_iter().map(|known| known.node).collect()
}

fn found(scene: &Scene<'_>, snapshot: &Snapshot) -> Vec<Candidate> {
    let standing = existing::standing(snapshot, scene.daemons, scene.topology);
    candidate::candidates(scene, snapshot, &standing)
}

/// Returns the nodes that should go though they carry pods. The scene knows the pods of all that may go as waiting.
pub(in crate::solve) fn leaving(scene: &Scene<'_>, snapshot: &Snapshot) -> BTreeSet<NodeName> {
    let Some(mut search) = Search::of(scene, snapshot) else { return BTreeSet::new() };
    search.run();
    search.best.map(|best| best.leaving).unwrap_or_default()
}

/// The best set so far.
struct Best {
    leaving: BTreeSet<NodeName>,
    trial: Trial,
    /// What the fleet costs by the hour, with what moving is worth.
    score: i64,
}

struct Search<'s> {
    scene: &'s Scene<'s>,
    snapshot: &'s Snapshot,
    stage: Stage<'s>,
    candidates: BTreeMap<NodeName, Candidate>,
    scales: Scales<'s>,
    /// What the fleet comes to where none of them goes.
    base: Trial,
    best: Option<Best>,
    tried: BTreeSet<BTreeSet<NodeName>>,
    tries_max: usize,
}

impl<'s> Search<'s> {
    /// Returns nothing where no node may go, or the cost of the fleet is not known.
    fn of(scene: &'s Scene<'s>, snapshot: &'s Snapshot) -> Option<Self> {
        let candidates = found(scene, snapshot);
        if candidates.is_empty() {
            return None;
        }
        let mut stage = Stage::of(scene, snapshot);
        let base = stage.trial(scene, &BTreeSet::new());
        let prices = prices(scene, snapshot);
        let planned = snapshot.pods.len() + snapshot.nodes.len();
        base.is_priced.then(|| Self {
            scene,
            snapshot,
            stage,
            candidates: candidates.into_iter().map(|known| (known.node.clone(), known)).collect(),
            scales: Scales::of(snapshot, scene.policy, |node| prices.get(node).copied().unwrap_or(0)),
            base,
            best: None,
            tried: BTreeSet::new(),
            tries_max: (PLANNED_MAX / planned.max(1)).clamp(TRIES.0, TRIES.1),
        })
    }

    fn run(&mut self) {
        let order = self.by_efficiency();
        let all = order.len();
        let mut sizes: BTreeSet<usize> = BTreeSet::from([all, all * 3 / 4]);
        let mut size = all / 2;
        while size > 0 {
            sizes.insert(size);
            size /= 2;
        }
        // Half of the tries are left for what is around the best of these.
        for size in sizes.iter().rev().take(self.tries_max.div_ceil(2)) {
            self.improves(order[..*size].iter().cloned().collect());
        }
        self.between(&order);
        self.put_back();
        self.one_by_one(&order);
    }

    /// Returns the nodes, the one first that costs most for what its pods are worth.
    fn by_efficiency(&mut self) -> Vec<NodeName> {
        let all: BTreeSet<NodeName> = self.candidates.keys().cloned().collect();
        let anew = self.stage.trial(self.scene, &all);
        let worth = worth::by_node(self.snapshot, &anew);
        let mut order: Vec<&Candidate> = self.candidates.values().collect();
        order.sort_by_key(|known| {
            let worth = worth.get(&known.node).copied().unwrap_or(0);
            (worth * 1_000_000 / i128::from(known.price.0.max(1)), &known.node)
        });
        order.into_iter().map(|known| known.node.clone()).collect()
    }

    /// Tries the sizes around the best one of those that were tried.
    fn between(&mut self, order: &[NodeName]) {
        let mut step = self.best.as_ref().map_or(0, |best| best.leaving.len() / 4);
        while step > 0 {
            let Some(size) = self.best.as_ref().map(|best| best.leaving.len()) else { return };
            for size in [size.saturating_sub(step), (size + step).min(order.len())] {
                self.improves(order[..size].iter().cloned().collect());
            }
            step /= 2;
        }
    }

    /// Keeps nodes that would be replaced by their like.
    fn put_back(&mut self) {
        for _ in 0..ROUNDS_MAX {
            let Some(best) = &self.best else { return };
            let mut made: BTreeMap<Offer, usize> = BTreeMap::new();
            for node in &best.trial.new {
                let offer = (node.pool.clone(), node.size.clone(), node.zone.clone(), node.capacity_type);
                *made.entry(offer).or_default() += 1;
            }
            let nodes = by_name(self.snapshot);
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
            if rest.len() == best.leaving.len() || !self.improves(rest) {
                return;
            }
        }
    }

    /// Adds and takes back single nodes as long as that helps and tries are left.
    fn one_by_one(&mut self, order: &[NodeName]) {
        let mut is_better = true;
        while is_better && self.tried.len() < self.tries_max {
            is_better = false;
            for node in order {
                let mut set = self.best.as_ref().map(|best| best.leaving.clone()).unwrap_or_default();
                if !set.remove(node) {
                    set.insert(node.clone());
                }
                is_better |= self.improves(set);
                if self.tried.len() >= self.tries_max {
                    break;
                }
            }
        }
    }

    /// Tries a set, without the nodes that cannot go; returns whether it is the best so far.
    fn improves(&mut self, mut set: BTreeSet<NodeName>) -> bool {
        for _ in 0..MENDS_MAX {
            if set.is_empty() || self.tried.len() >= self.tries_max || !self.tried.insert(set.clone()) {
                return false;
            }
            let trial = self.stage.trial(self.scene, &set);
            if !trial.stranded.is_empty() {
                set = set.difference(&trial.stranded).cloned().collect();
                continue;
            }
            let Some(score) = self.score(&set, &trial) else { return false };
            let least = self.best.as_ref().map_or(self.base.cost.0, |best| best.score);
            let is_better = score < least;
            if is_better {
                self.best = Some(Best { leaving: set, trial, score });
            }
            return is_better;
        }
        false
    }

    /// Returns what the fleet costs with what moving is worth; nothing where it may not be.
    fn score(&self, set: &BTreeSet<NodeName>, trial: &Trial) -> Option<i64> {
        let thresholds: i64 = set.iter().map(|node| self.candidates[node].threshold()).sum();
        let saving = self.base.cost.0 - trial.cost.0;
        let is_allowed = trial.is_priced
            && !is_worse(&trial.unplaced, &self.base.unplaced)
            && self.scales.agree(set, saving);
        is_allowed.then_some(trial.cost.0 + thresholds)
    }
}

/// What a node was bought as.
type Offer = (PoolName, SkuName, Zone, CapacityType);

fn offer_of(node: &Node) -> Option<Offer> {
    let (size, capacity_type) = price::bought_as(node)?;
    let zone = node.labels.get(&LabelKey::new(label::ZONE))?;
    Some((node.pool.clone()?, size, Zone::new(&**zone), capacity_type))
}

/// Returns what each node costs the user by the hour, as far as that is known.
fn prices(scene: &Scene<'_>, snapshot: &Snapshot) -> BTreeMap<NodeName, i64> {
    let (quotes, _) = price::quote_nodes(&snapshot.nodes, scene.market, scene.book);
    let known = snapshot
        .nodes
        .iter()
        .zip(quotes)
        .filter_map(|(node, quote)| Some((node.name.clone(), quote?.effective.known()?.0)));
    known.collect()
}
