//! Unschedulable pods: no pool creates nodes that could hold them, and no existing node could.
//!
//! Only labels, taints and the largest size of each pool decide, which do not depend on other pods and nodes. Such pods
//! are reported once and left out of all planning, so almost no time is spent on them. Never covers pods that are
//! unplaced only because of other pods, limits or used capacity.

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

/// Unschedulable pods, and their report.
#[derive(Default)]
pub(super) struct Impossible<'s> {
    /// All pods of their world; empty if none is unschedulable.
    pub(super) among: &'s [Pod],
    /// Their demand.
    pub(super) demand: Demand,
    unplaced: Vec<Unplaced>,
}

impl<'s> Impossible<'s> {
    /// Finds the unschedulable pods of a world, and returns the world without them; `None` if there are none. The scene
    /// must belong to that world.
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

    /// Adds their report to that of the other pods.
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

/// Returns the specs of pending pods that nothing could hold, by address.
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

/// Pools that pods with some terms may use, and whether some node is open to them, once evaluated.
type Found = (Vec<usize>, Option<bool>);

/// Pools and nodes that might hold a pod.
struct Holders<'a> {
    supply: &'a Supply<'a>,
    /// Largest amount of each resource on a node of each pool.
    largest: Vec<Resources>,
    snapshot: &'a Snapshot,
    /// Results by node terms and tolerations.
    known: BTreeMap<(Vec<Requirements>, Stance), Found>,
}

impl Holders<'_> {
    /// Returns whether a pool or node could hold such a pod if it were empty.
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

/// Returns whether nodes of a pool can match a pod's labels and taints.
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
