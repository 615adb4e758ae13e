//! One way through all steps, and the best of a counted number of them.
//!
//! Domains are given out before it is known what fits there. Where a place turns out to take fewer pods than it was
//! given, the next attempt gives it no more than it took. No step is undone within an attempt.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{LabelKey, PodKey, PoolName, Price, Requirements};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::demand::Demand;
use super::existing::{self, Standing};
use super::fit::Miss;
use super::fleet::{Costs, zones};
use super::market::Market;
use super::overruled;
use super::pack::Effort;
use super::pack::finish::{Desk, Finished, finish};
use super::price::PriceBook;
use super::shrink::{self, Shrunk};
use super::solution::NewNode;
use super::supply::Supply;
use super::topology::Topology;
use super::topology::assign::{self, Assigned, Caps, Refused};
use super::topology::bundle::{self, Riders};
use super::topology::census::Census;
use super::topology::domains::{THERE, tier_of_new};
use super::topology::settle::{self, Place};
use super::{ledger, pack, price};

/// How often pods are given out anew after the first time.
const ROUNDS_MAX: usize = 5;

/// How often all is planned again without pods that came off.
const MENDS_MAX: usize = 3;

/// What every attempt starts from.
pub(super) struct Ground<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) market: &'a Market,
    pub(super) book: &'a PriceBook<'a>,
    pub(super) topology: &'a Topology,
    pub(super) demand: &'a Demand,
    pub(super) supply: &'a Supply<'a>,
    /// What there is, with nothing placed yet.
    pub(super) nodes: &'a [Standing<'a>],
    /// What the attempts are for.
    pub(super) effort: Effort,
}

/// What an attempt came to.
pub(super) struct Attempt<'a> {
    /// What waited, with its domains.
    pub(super) assigned: Assigned,
    /// What there is, filled.
    pub(super) nodes: Vec<Standing<'a>>,
    /// What goes.
    pub(super) shrunk: Shrunk,
    /// What stays of what there is, in money.
    pub(super) costs: Costs,
    /// What is made, and which pods are on nothing.
    pub(super) finished: Finished,
}

/// How good an attempt is; the smaller, the better: nodes of lighter pools whose pod a heavier one has room for; pods
/// that went to lighter pools than they were given to, of which a heavier one might have taken them elsewhere; pods
/// left over by priority; the price.
type Score = (usize, usize, Vec<(Reverse<i32>, usize)>, i64);

/// Returns the best attempt.
pub(super) fn best<'a>(ground: &Ground<'a>) -> Attempt<'a> {
    let mut best = rounds(ground, ground.demand);
    for _ in 0..MENDS_MAX {
        let came_off: Vec<Refused> =
            best.assigned.refused.iter().filter(|refused| refused.was_placed).cloned().collect();
        if came_off.is_empty() || overruled(ground, &best) == 0 {
            break;
        }
        let mut next = rounds(ground, &without(ground.demand, &came_off));
        next.assigned.refused.extend(came_off);
        if score(ground, &next) >= score(ground, &best) {
            break;
        }
        best = next;
    }
    best
}

/// Returns the demand without pods that came off again: what was opened beside them took their limits for kept.
fn without(demand: &Demand, came_off: &[Refused]) -> Demand {
    let gone: BTreeSet<&PodKey> = came_off.iter().flat_map(|refused| &refused.pods).collect();
    let mut rest = demand.clone();
    rest.shapes.iter_mut().for_each(|shape| shape.pods.retain(|pod| !gone.contains(pod)));
    rest
}

/// Returns the best of the attempts that give out domains anew.
fn rounds<'a>(ground: &Ground<'a>, demand: &Demand) -> Attempt<'a> {
    let mut caps = Caps::new();
    let mut best = attempt(ground, demand, &caps);
    let mut last = tightened(ground, &best, &mut caps);
    for _ in 0..ROUNDS_MAX {
        if !last {
            break;
        }
        let next = attempt(ground, demand, &caps);
        last = tightened(ground, &next, &mut caps);
        if score(ground, &next) < score(ground, &best) {
            best = next;
        }
    }
    best
}

fn attempt<'a>(ground: &Ground<'a>, demand: &Demand, caps: &Caps) -> Attempt<'a> {
    let Ground { snapshot, policy, market, book, topology, supply, nodes, effort, .. } = *ground;
    let (bundled, riders) = bundle::bundled(demand, bundle::World { topology, supply, nodes });
    let mut assigned = assign::assign(&bundled, topology, (supply, nodes), caps);
    let mut nodes: Vec<Standing<'a>> = nodes.to_vec();
    let open = assigned.open_demand();
    let left = existing::fill(&open, &mut nodes);
    let shrunk = shrink::shrink(snapshot, policy, &nodes, &open);
    let costs = Costs::of(snapshot, &shrunk, market, book);
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let ledger = ledger::opened(policy, &snapshot.nodes, &costs.free, there);
    let (problem, packing) = pack::pack((&open, &left), supply, (&ledger, book), effort);
    let desk = Desk { problem: &problem, supply, demand: &open, book, effort };
    let mut finished = finish(&desk, packing, &mut zones(&nodes, &shrunk));
    finished.unplaced.extend(assigned.closed_pods());
    let refused = settled(ground, &assigned, &mut nodes, &mut finished);
    assigned.refused.extend(refused);
    unbundle(&riders, &mut assigned, &mut nodes, &mut finished);
    Attempt { assigned, nodes, shrunk, costs, finished }
}

/// Takes pods off whose domains came to something else than was meant.
fn settled(
    ground: &Ground<'_>,
    assigned: &Assigned,
    nodes: &mut [Standing<'_>],
    finished: &mut Finished,
) -> Vec<Refused> {
    let Ground { supply, policy, topology, .. } = *ground;
    let fleet = Fleet { supply, policy, nodes, new: &finished.nodes };
    let refused = fleet.refused(&assigned.demand, topology);
    take_off(&refused, &assigned.demand, nodes, finished);
    assign::grouped(&assigned.demand, refused)
}

/// What stays and what is made, with the pods that are placed there.
pub(super) struct Fleet<'a> {
    pub(super) supply: &'a Supply<'a>,
    pub(super) policy: &'a Policy,
    pub(super) nodes: &'a [Standing<'a>],
    pub(super) new: &'a [NewNode],
}

impl Fleet<'_> {
    /// Returns the placed pods of this demand that Kubernetes would not bind, now that it is known where all are.
    pub(super) fn refused(&self, demand: &Demand, topology: &Topology) -> BTreeMap<PodKey, Miss> {
        if topology.is_empty() {
            return BTreeMap::new();
        }
        let labels: Vec<BTreeMap<LabelKey, Arc<str>>> =
            self.new.iter().map(|node| labels_of(self.supply, node)).collect();
        let running = Census::of(topology, self.nodes);
        let staying = self.nodes.iter().filter(|standing| !standing.node.is_deleting);
        let mut places: Vec<Place<'_>> = staying
            .map(|standing| Place {
                labels: &standing.node.labels,
                site: standing.site.labels.clone(),
                taints: &standing.site.taints,
                pods: &standing.placed,
            })
            .collect();
        places.extend(self.new.iter().zip(&labels).map(|(node, labels)| Place {
            labels,
            site: Requirements::of_labels(labels.iter().map(|(key, value)| (key.as_str(), &**value))),
            taints: &self.policy.pools[&node.pool].taints,
            pods: &node.pods,
        }));
        settle::refused((demand, topology), &running, &places)
    }
}

/// Names the pods that come along with others, wherever those are.
fn unbundle(riders: &Riders, assigned: &mut Assigned, nodes: &mut [Standing<'_>], finished: &mut Finished) {
    if riders.is_empty() {
        return;
    }
    let placed = nodes.iter_mut().map(|standing| &mut standing.placed);
    let made = finished.nodes.iter_mut().map(|node| &mut node.pods);
    let refused = assigned.refused.iter_mut().map(|refused| &mut refused.pods);
    placed.chain(made).chain(refused).for_each(|pods| bundle::with_riders(pods, riders));
    let along = |(shape, pod): &(usize, PodKey)| {
        let pods = riders.get(pod).into_iter().flatten();
        pods.map(|pod| (*shape, pod.clone())).collect::<Vec<_>>()
    };
    let more: Vec<(usize, PodKey)> = finished.unplaced.iter().flat_map(along).collect();
    finished.unplaced.extend(more);
}

fn take_off(
    refused: &BTreeMap<PodKey, Miss>,
    demand: &Demand,
    nodes: &mut [Standing<'_>],
    finished: &mut Finished,
) {
    if refused.is_empty() {
        return;
    }
    let stays = |pod: &PodKey| !refused.contains_key(pod);
    for standing in nodes {
        standing.placed.retain(stays);
    }
    let touched = |node: &&NewNode| node.pods.iter().any(|pod| !stays(pod));
    let of_touched: BTreeSet<&PodKey> =
        finished.nodes.iter().filter(touched).flat_map(|node| &node.pods).collect();
    let shapes: BTreeMap<PodKey, usize> = demand
        .shapes
        .iter()
        .enumerate()
        .flat_map(|(place, shape)| shape.pods.iter().map(move |pod| (pod, place)))
        .filter(|(pod, _)| of_touched.contains(pod))
        .map(|(pod, place)| (pod.clone(), place))
        .collect();
    let before: Vec<Option<PodKey>> = finished.nodes.iter().map(|node| node.opened_for.clone()).collect();
    for node in &mut finished.nodes {
        for pod in node.pods.iter().filter(|pod| !stays(pod)) {
            node.requests = node.requests.minus(&demand.shapes[shapes[pod]].ask.requests);
        }
        node.pods.retain(stays);
        if let Some(opened_for) = node.opened_for.clone().filter(|pod| !stays(pod)) {
            let own = shapes[&opened_for];
            match node.pods.iter().find(|pod| shapes[*pod] == own) {
                Some(pod) => node.opened_for = Some(pod.clone()),
                // The others came along: they alone may not be a reason for a node of this pool.
                None => finished.unplaced.extend(node.pods.drain(..).map(|pod| (shapes[&pod], pod))),
            }
        }
    }
    finished.without_empty(&before);
}

/// Returns the labels that a new node is sure to have.
pub(super) fn labels_of(supply: &Supply<'_>, node: &NewNode) -> BTreeMap<LabelKey, Arc<str>> {
    let mut labels = node.labels.clone();
    let bought = supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
    let Some((pool, kind, usable)) = bought else { return labels };
    for (key, requirement) in pool.site(kind, usable).labels.iter() {
        if let Some(value) = requirement.single() {
            labels.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    labels
}

/// Caps every place at what it took, where it took less than it was given, or only by lighter pools; returns whether
/// that says anything new.
fn tightened(ground: &Ground<'_>, attempt: &Attempt<'_>, caps: &mut Caps) -> bool {
    let mut is_new = false;
    for (shape, tier, placed) in shortfalls(ground, attempt).0 {
        if let (origin, Some(pin)) = &attempt.assigned.origins[shape] {
            let before = caps.insert((*origin, pin.values.clone(), tier), placed);
            is_new |= before != Some(placed);
        }
    }
    is_new
}

/// Returns the places, by split shape and tier, that took fewer pods than they were given, with how many they took; and
/// how many pods went to lighter pools though a heavier one might have taken them in another place.
fn shortfalls(ground: &Ground<'_>, attempt: &Attempt<'_>) -> (Vec<(usize, usize, usize)>, usize) {
    let pinned: BTreeMap<&PodKey, usize> = attempt
        .assigned
        .origins
        .iter()
        .enumerate()
        .filter(|(_, (_, pin))| pin.is_some())
        .flat_map(|(shape, _)| attempt.assigned.demand.shapes[shape].pods.iter().map(move |pod| (pod, shape)))
        .collect();
    if pinned.is_empty() {
        return (Vec::new(), 0);
    }
    let tiers: BTreeMap<&PoolName, usize> =
        ground.supply.pools.iter().map(|pool| (&pool.pool.name, tier_of_new(pool.tier))).collect();
    let mut placed: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let there = attempt.nodes.iter().map(|standing| (THERE, None, &standing.placed));
    let made = attempt.finished.nodes.iter();
    let made = made.map(|node| {
        let opened_for = node.opened_for.as_ref().and_then(|pod| pinned.get(pod));
        (tiers[&node.pool], opened_for, &node.pods)
    });
    for (tier, opened_for, pods) in there.chain(made) {
        for shape in pods.iter().filter_map(|pod| pinned.get(pod)) {
            // What comes along on a node that others needed takes nothing of a lighter pool.
            let tier = if opened_for == Some(shape) { tier } else { THERE };
            *placed.entry((*shape, tier)).or_default() += 1;
        }
    }
    // What had room and came off again says nothing about room.
    let came_off = attempt.assigned.refused.iter().filter(|refused| refused.was_placed);
    for shape in came_off.flat_map(|refused| &refused.pods).filter_map(|pod| pinned.get(pod)) {
        *placed.entry((*shape, THERE)).or_default() += 1;
    }
    let (mut short, mut lighter) = (Vec::new(), 0);
    for (shape, (_, pin)) in attempt.assigned.origins.iter().enumerate() {
        let (mut given, mut before) = (0, 0);
        for (tier, count) in pin.iter().flat_map(|pin| &pin.tiers) {
            let so_far: usize = placed.range((shape, 0)..=(shape, *tier)).map(|(_, count)| count).sum();
            given += count;
            if so_far < given {
                short.push((shape, *tier, so_far - before));
                lighter += if *tier == THERE { 0 } else { given - so_far };
            }
            before = so_far;
        }
        let most = pin.iter().flat_map(|pin| &pin.tiers).map(|(tier, _)| *tier).max();
        let most = most.max(pin.as_ref().map(|pin| pin.heaviest)).unwrap_or(usize::MAX);
        lighter += placed
            .range((shape, most.saturating_add(1))..=(shape, usize::MAX))
            .map(|(_, n)| n)
            .sum::<usize>();
    }
    (short, lighter)
}

/// Returns how many pods are on nothing, by priority.
pub(super) fn unplaced(demand: &Demand, attempt: &Attempt<'_>) -> BTreeMap<i32, usize> {
    let mut unplaced: BTreeMap<i32, usize> = demand.shapes.iter().map(|shape| (shape.priority, 0)).collect();
    for barred in &attempt.assigned.demand.barred {
        *unplaced.entry(barred.priority).or_default() += barred.pods.len();
    }
    for (shape, _) in &attempt.finished.unplaced {
        *unplaced.entry(attempt.assigned.demand.shapes[*shape].priority).or_default() += 1;
    }
    for refused in &attempt.assigned.refused {
        *unplaced.entry(refused.priority).or_default() += refused.pods.len();
    }
    unplaced
}

fn score(ground: &Ground<'_>, attempt: &Attempt<'_>) -> Score {
    let unplaced = unplaced(ground.demand, attempt).into_iter().rev();
    let (_, lighter) = shortfalls(ground, attempt);
    let price = |price: Price| price.known().map_or(0, |price| price.0);
    let cost = attempt.finished.nodes.iter().map(|node| price(node.effective_price)).sum();
    (
        overruled(ground, attempt),
        lighter,
        unplaced.map(|(priority, count)| (Reverse(priority), count)).collect(),
        cost,
    )
}

/// Counts the nodes of lighter pools whose pod a heavier one has room for, now that everything is known.
fn overruled(ground: &Ground<'_>, attempt: &Attempt<'_>) -> usize {
    let Attempt { assigned, finished, .. } = attempt;
    overruled::count(ground.supply, &finished.ledger, (&finished.nodes, &assigned.demand))
}
