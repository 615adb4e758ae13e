//! Pods that nothing could ever hold: no pool makes such nodes, and no node that is there is such a one.
//!
//! Labels, taints and the largest size of each pool decide, which are the same whatever else comes and goes. Such pods are
//! told once and left out of everything that is planned: next to nothing is spent on them. Nothing is said here of pods that
//! have no place only because of others, of limits, or of what nodes have left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{MicroUsdPerHour, Pod, PodPlace, PodSpec, Requirements, Resources, Stance};
use crate::snapshot::Snapshot;

use super::demand::{Ask, Demand};
use super::fit::{gates, not_yet, taints};
use super::price::Uncommitted;
use super::report::nearest::{self, World};
use super::shrink::trial::Scene;
use super::solution::{Report, Unplaced};
use super::supply::{PoolSupply, Supply};
use super::{existing, ledger};

/// The pods that nothing could hold, and what is said of them.
#[derive(Default)]
pub(super) struct Impossible<'s> {
    /// All pods of the world that they are of; none where there are no such pods.
    pub(super) among: &'s [Pod],
    /// What they ask for.
    pub(super) demand: Demand,
    unplaced: Vec<Unplaced>,
}

impl<'s> Impossible<'s> {
    /// Finds those of a world, and returns the world without them; nothing where there are none. The scene is the world's.
    pub(super) fn of(scene: &Scene<'_>, snapshot: &'s Snapshot) -> Option<(Self, Snapshot)> {
        let contents = contents(scene.supply, snapshot);
        if contents.is_empty() {
            return None;
        }
        let is_one = |pod: &Pod| pod.place == PodPlace::Waiting && contents.contains(&address(&pod.spec));
        let demand = Demand::of_these(snapshot, scene.topology, is_one);
        let nodes = existing::standing(snapshot, scene.daemons, scene.topology);
        let limiting = scene.market.limiting(scene.policy);
        let left = ledger::opened(limiting, &snapshot.nodes, &Uncommitted(Vec::new()), MicroUsdPerHour(0));
        let world = World { snapshot, demand: &demand, supply: scene.supply, nodes: &nodes, ledger: &left };
        let is_reached = |ask: &Ask| scene.supply.pools.iter().any(|pool| is_reached(pool, ask));
        let unplaced = nearest::all_of(&world, |ask| !is_reached(ask));
        let rest = snapshot.with_pods(snapshot.pods.iter().filter(|pod| !is_one(pod)).cloned().collect());
        Some((Self { among: &snapshot.pods, demand, unplaced }, rest))
    }

    /// Adds what is said of them to what is said of the others.
    pub(super) fn told(&self, report: &mut Report) {
        if self.unplaced.is_empty() {
            return;
        }
        report.unplaced.extend(self.unplaced.iter().cloned());
        report.unplaced = nearest::grouped(std::mem::take(&mut report.unplaced));
        report.without_requests += self.demand.without_requests;
        for (rule, pods) in &self.demand.passed_over {
            *report.passed_over.entry(*rule).or_default() += pods;
        }
    }
}

/// Returns the contents of waiting pods that nothing could hold, by their addresses.
fn contents(supply: &Supply<'_>, snapshot: &Snapshot) -> BTreeSet<usize> {
    let mut seen: BTreeMap<usize, &PodSpec> = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| pod.place == PodPlace::Waiting && !pod.is_terminating) {
        seen.entry(address(&pod.spec)).or_insert(&pod.spec);
    }
    let mut holders = Holders { supply, largest: largest(supply), snapshot, known: BTreeMap::new() };
    let is_impossible = |(_, spec): &(usize, &PodSpec)| {
        let waits = gates::why(spec).is_some() || not_yet::why(spec).is_some();
        !waits && spec.volumes.is_empty() && !holders.hold(spec)
    };
    seen.into_iter().filter(is_impossible).map(|(address, _)| address).collect()
}

fn address(spec: &Arc<PodSpec>) -> usize {
    Arc::as_ptr(spec).addr()
}

/// Which pools may be what pods of some terms ask for, and whether some node is, once that was asked.
type Found = (Vec<usize>, Option<bool>);

/// Whatever might hold a pod.
struct Holders<'a> {
    supply: &'a Supply<'a>,
    /// The most that a node of each pool has of each resource.
    largest: Vec<Resources>,
    snapshot: &'a Snapshot,
    /// What was found for node terms and a stance to taints.
    known: BTreeMap<(Vec<Requirements>, Stance), Found>,
}

impl Holders<'_> {
    /// Returns whether something could hold such a pod if it were empty.
    fn hold(&mut self, spec: &PodSpec) -> bool {
        let Self { supply, largest, snapshot, known } = self;
        let ask = Ask::of(spec);
        let (pools, node) =
            known.entry((ask.alternatives.clone(), ask.stance.clone())).or_insert_with(|| {
                let reached = (0..supply.pools.len()).filter(|pool| is_reached(&supply.pools[*pool], &ask));
                (reached.collect(), None)
            });
        pools.iter().any(|pool| ask.requests.fit_in(&largest[*pool]))
            || *node.get_or_insert_with(|| {
                let terms = (&ask.alternatives, &ask.stance);
                snapshot.nodes.iter().any(|node| existing::is_open(node, terms))
            })
    }
}

/// Returns whether nodes of a pool may be what a pod asks for of labels and taints.
fn is_reached(pool: &PoolSupply<'_>, ask: &Ask) -> bool {
    let reaches = |wanted: &Requirements| {
        pool.reach(wanted).is_some_and(|reach| !reach.kinds.is_empty() && !reach.placements.is_empty())
    };
    taints::are_stood(&pool.pool.taints, &ask.stance) && ask.alternatives.iter().any(reaches)
}

fn largest(supply: &Supply<'_>) -> Vec<Resources> {
    let of_pool = |pool: &PoolSupply<'_>| {
        let kinds = pool.kinds.iter().map(|kind| &kind.kind.allocatable);
        kinds.fold(Resources::none(), |largest, allocatable| Resources::max(&largest, allocatable))
    };
    supply.pools.iter().map(of_pool).collect()
}
