//! Karpenter's own choice for the same pods, where little waits: the better of both is taken.
//!
//! Domains are given out, and nodes filled, by rules that are right for many pods; for a handful, first fit may find what
//! they miss. It is one more attempt, asked by the same rules as ours: nothing is taken that they refuse.

pub(super) mod leaving;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::NO_ZONE;
use crate::model::{NodeName, PodKey};

use crate::solve::attempt::{self, Attempt, Ground};
use crate::solve::came_off::Fleet;
use crate::solve::demand::Demand;
use crate::solve::existing::Standing;
use crate::solve::fit::Miss;
use crate::solve::fit::limits::Ledger;
use crate::solve::fit::variety::{self, Asked};
use crate::solve::fleet::Costs;
use crate::solve::karpenter::{Provisioning, Trade};
use crate::solve::pack::finish::{Finished, Shapes};
use crate::solve::shortfall::Shortfalls;
use crate::solve::shrink::Shrunk;
use crate::solve::solution::{NewNode, Variety};
use crate::solve::supply::Supply;
use crate::solve::topology::assign::{self, Assigned, Refused};
use crate::solve::topology::bundle::Riders;
use crate::solve::topology::census::Running;
use crate::solve::{came_off, ledger, overruled, price, shrink};

/// The most pods that wait, and nodes that are there, beside which it is asked: of many pods it is dearer by a fifth as a
/// rule, and takes longer than ours.
const PODS_MAX: usize = 300;
const NODES_MAX: usize = 300;

/// The most pods where rules between pods leave some over: that is worth a longer look.
const REFUSED_PODS_MAX: usize = 2_000;

/// How often it is planned again without pods that rules refuse: each time leaves more out.
const ROUNDS_MAX: usize = 8;

/// Returns Karpenter's fleet where it leaves fewer pods over, or costs less; else ours.
pub(in crate::solve) fn or<'a>(ground: &Ground<'a>, ours: Attempt<'a>) -> Attempt<'a> {
    better(ground, ours, |_, _| true)
}

/// The same, where nodes that run go for what is made: none is made in no zone then where ours has none there, since whoever
/// asks for zones gets such a one last.
pub(in crate::solve) fn or_in_zones<'a>(ground: &Ground<'a>, ours: Attempt<'a>) -> Attempt<'a> {
    better(ground, ours, |rival, ours| is_outside(&rival.finished.nodes) <= is_outside(&ours.finished.nodes))
}

fn better<'a>(
    ground: &Ground<'a>,
    ours: Attempt<'a>,
    suits: impl Fn(&Attempt<'a>, &Attempt<'a>) -> bool,
) -> Attempt<'a> {
    if !is_asked(ground, &ours) {
        return ours;
    }
    match rival(ground, &ours) {
        Some(rival) if suits(&rival, &ours) && score(ground, &rival) < score(ground, &ours) => rival,
        Some(_) | None => ours,
    }
}

/// Returns whether there is anything to gain, and little to look at.
fn is_asked(ground: &Ground<'_>, ours: &Attempt<'_>) -> bool {
    let Attempt { assigned, finished, .. } = ours;
    let pods_max = if assigned.leaves_over() { REFUSED_PODS_MAX } else { PODS_MAX };
    let is_small = ground.demand.pods() <= pods_max && ground.nodes.len() <= NODES_MAX;
    let is_whole = finished.nodes.is_empty() && finished.unplaced.is_empty() && assigned.refused.is_empty();
    ground.looks_further && ground.slack.shapes.is_empty() && is_small && !is_whole
}

/// How good a fleet is; the smaller, the better: pods that are left over, nodes without a known price, what it counts as with
/// what stays of what there is.
type Score = (attempt::LeftOver, usize, i64);

fn score(ground: &Ground<'_>, attempt: &Attempt<'_>) -> Score {
    let nodes = &attempt.finished.nodes;
    let unpriced = nodes.iter().filter(|node| node.effective_price.known().is_none()).count();
    (attempt::left_over(ground.demand, attempt), unpriced, attempt::cost(attempt))
}

/// Returns whether nodes are made in no zone.
fn is_outside(nodes: &[NewNode]) -> bool {
    nodes.iter().any(|node| node.zone.as_str() == NO_ZONE)
}

/// Plans as Karpenter does, without the pods that rules refuse where it has them; nothing where pools are not in their order,
/// or there is no end to it.
fn rival<'a>(ground: &Ground<'a>, ours: &Attempt<'a>) -> Option<Attempt<'a>> {
    let Ground { snapshot, policy, market, book, topology, supply, .. } = *ground;
    let running = &Running::of(topology, ground.nodes);
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let nothing_goes = Costs::of(snapshot, &Shrunk::default(), market, book);
    let karpenter = Provisioning::of(snapshot, Trade { policy, market, book, supply });
    let mut refused: BTreeMap<PodKey, Miss> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        let left_out = refused.iter().map(|(pod, miss)| (pod.clone(), miss.because.clone())).collect();
        let mut ledger = ledger::opened(policy, &snapshot.nodes, &nothing_goes.free, there);
        let fleet = karpenter.without(&left_out, &mut ledger);
        let mut tried = Tried::of(ground, fleet.clone(), ledger.clone())?;
        let more = tried.refused(ground, running);
        if more.is_empty() {
            let out = refused.keys().cloned().collect();
            let later = later(ground, &karpenter, (fleet, ledger), (running, &out));
            return later.unwrap_or(tried).attempt(ground, (ours, refused));
        }
        refused.extend(more);
    }
    None
}

/// Places what is left over and fits on the nodes of a fleet, as kube-scheduler would; nothing where nothing does.
fn later<'a>(
    ground: &Ground<'a>,
    karpenter: &Provisioning<'a>,
    ((mut places, mut new), ledger): ((BTreeMap<PodKey, NodeName>, Vec<NewNode>), Ledger),
    (running, out): (&Running<'_>, &BTreeSet<PodKey>),
) -> Option<Tried<'a>> {
    let placed: BTreeSet<&PodKey> = places.keys().chain(new.iter().flat_map(|node| &node.pods)).collect();
    let waiting = ground.demand.shapes.iter().flat_map(|shape| &shape.pods);
    let left: BTreeSet<PodKey> = waiting.filter(|pod| !placed.contains(pod)).cloned().collect();
    if karpenter.late(&left, (&mut places, &mut new), out).is_empty() {
        return None;
    }
    let mut tried = Tried::of(ground, (places, new), ledger)?;
    tried.refused(ground, running).is_empty().then_some(tried)
}

/// Where Karpenter has the pods.
struct Tried<'a> {
    nodes: Vec<Standing<'a>>,
    new: Vec<NewNode>,
    shapes: Vec<Shapes>,
    ledger: Ledger,
    /// The pods that a node does not take.
    off: BTreeMap<PodKey, Miss>,
}

impl<'a> Tried<'a> {
    /// Puts the pods where Karpenter has them; nothing where it has others than those that wait, or makes nodes that cannot
    /// be had.
    fn of(
        ground: &Ground<'a>,
        (places, new): (BTreeMap<PodKey, NodeName>, Vec<NewNode>),
        ledger: Ledger,
    ) -> Option<Self> {
        let Ground { demand, supply, .. } = *ground;
        let numbers = came_off::numbers(demand, places.keys());
        let mut on: BTreeMap<&NodeName, Vec<&PodKey>> = BTreeMap::new();
        places.iter().for_each(|(pod, node)| on.entry(node).or_default().push(pod));
        let mut off = BTreeMap::new();
        let mut nodes = ground.nodes.to_vec();
        for standing in &mut nodes {
            let pods = on.remove(&standing.node.name).unwrap_or_default();
            let shapes: Vec<usize> =
                pods.iter().map(|pod| numbers.get(pod).copied()).collect::<Option<_>>()?;
            let asks = pods.iter().zip(&shapes).map(|(pod, shape)| (*pod, &demand.shapes[*shape].ask));
            off.extend(standing.site.seat(asks).into_iter().map(|(pod, miss)| (pod.clone(), miss)));
            standing.placed.extend(pods.into_iter().cloned());
            standing.shapes.extend(shapes);
        }
        let shapes = came_off::shapes_of(demand, &new);
        for (node, shapes) in new.iter().zip(&shapes) {
            let (pool, kind, usable) =
                supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type))?;
            let mut site = pool.site_with(kind, usable, &node.labels);
            if shapes.pods.len() != node.pods.len() || shapes.opened_for >= demand.shapes.len() {
                return None;
            }
            let asks = node.pods.iter().zip(&shapes.pods);
            let asks = asks.map(|(pod, shape)| (pod, &demand.shapes[*shape].ask));
            off.extend(site.seat(asks).into_iter().map(|(pod, miss)| (pod.clone(), miss)));
        }
        Some(Self { nodes, new, shapes, ledger, off })
    }

    /// Returns the pods that Kubernetes would not bind there.
    fn refused(&mut self, ground: &Ground<'_>, running: &Running<'_>) -> BTreeMap<PodKey, Miss> {
        let Ground { supply, policy, demand, .. } = *ground;
        let Self { nodes, new, shapes, off, .. } = self;
        match off.is_empty() {
            true => Fleet { supply, policy, nodes, new, shapes }.refused(demand, running),
            false => std::mem::take(off),
        }
    }

    /// Returns the fleet, without these pods.
    fn attempt(
        self,
        ground: &Ground<'a>,
        (ours, refused): (&Attempt<'a>, BTreeMap<PodKey, Miss>),
    ) -> Option<Attempt<'a>> {
        let Ground { snapshot, policy, market, book, demand, supply, .. } = *ground;
        let Self { nodes, new, shapes, ledger, .. } = self;
        let opened = shapes.iter().map(|shapes| &demand.shapes[shapes.opened_for]);
        let is_overruled = overruled::count((supply, ground.topology), &ledger, new.iter().zip(opened)) > 0;
        if is_overruled || !new.iter().all(|node| has_choice(supply, node)) {
            return None;
        }
        let placed = nodes.iter().flat_map(|standing| &standing.placed);
        let placed: BTreeSet<&PodKey> = placed.chain(new.iter().flat_map(|node| &node.pods)).collect();
        let (refused, unplaced) = left(demand, (ours, refused), &placed);
        let shrunk = shrink::shrink(snapshot, policy, &nodes, demand);
        let costs = Costs::of(snapshot, &shrunk, market, book);
        let origins = (0..demand.shapes.len()).map(|place| (place, None)).collect();
        let assigned = Assigned { demand: demand.clone(), origins, refused, ..Assigned::default() };
        let finished = Finished { nodes: new, shapes, unplaced, ledger, took: BTreeMap::new() };
        let (shortfalls, riders) = (Shortfalls::default(), Riders::default());
        Some(Attempt { assigned, nodes, shrunk, costs, finished, shortfalls, riders })
    }
}

/// Returns whether a claim may list as many values as its pool asks for (`minValues`): Karpenter counts those of sizes. What
/// comes together by sizes, zones and capacity types that are listed must be known to hold the pods.
fn has_choice(supply: &Supply<'_>, node: &NewNode) -> bool {
    let Variety { asked, among } = &node.variety;
    let own = (&node.size, &node.zone, node.capacity_type);
    let others = among.iter().map(|other| (&other.size, &other.zone, other.capacity_type));
    let ways: Vec<_> = std::iter::once(own)
        .chain(others)
        .filter_map(|(size, zone, bought)| supply.bought(&node.pool, size, (zone, bought)))
        .map(|(_, kind, usable)| (kind.kind, usable.offering))
        .collect();
    let asked: Vec<Asked> = asked.iter().map(|(key, least)| (key.clone(), *least)).collect();
    let there = variety::counts(&asked, ways.into_iter());
    variety::why(&asked, &there).is_ok() && is_block(supply, node)
}

/// Returns whether the substitutes of a node have all that comes together by its own way and those that its claim must list.
fn is_block(supply: &Supply<'_>, node: &NewNode) -> bool {
    let among = &node.variety.among;
    let sizes: BTreeSet<_> = among.iter().map(|other| &other.size).chain([&node.size]).collect();
    let zones: BTreeSet<_> = among.iter().map(|other| &other.zone).chain([&node.zone]).collect();
    let types: BTreeSet<_> =
        among.iter().map(|other| other.capacity_type).chain([node.capacity_type]).collect();
    let holds: BTreeSet<_> = node
        .substitutes
        .iter()
        .map(|other| (&other.size, &other.zone, other.capacity_type))
        .chain([(&node.size, &node.zone, node.capacity_type)])
        .collect();
    let ways = sizes.iter().flat_map(|size| zones.iter().map(move |zone| (*size, *zone)));
    let mut ways = ways.flat_map(|(size, zone)| types.iter().map(move |bought| (size, zone, *bought)));
    ways.all(|way @ (size, zone, bought)| {
        holds.contains(&way) || supply.bought(&node.pool, size, (zone, bought)).is_none()
    })
}

/// Returns the pods that have no place: those of which it is known which rule between pods says no, and the rest.
fn left(
    demand: &Demand,
    (ours, refused): (&Attempt<'_>, BTreeMap<PodKey, Miss>),
    placed: &BTreeSet<&PodKey>,
) -> (Vec<Refused>, Vec<(usize, PodKey)>) {
    let mut known = refused;
    let mut unplaced = Vec::new();
    for (number, shape) in demand.shapes.iter().enumerate() {
        let of_shape = |pod: &PodKey| shape.pods.binary_search(pod).is_ok();
        // Of pods that are alike another one may have the place there.
        let like = ours.assigned.refused.iter().find(|refused| refused.pods.iter().any(of_shape));
        for pod in shape.pods.iter().filter(|pod| !placed.contains(pod)) {
            match like {
                Some(like) => {
                    known.entry(pod.clone()).or_insert_with(|| like.miss.clone());
                }
                None if known.contains_key(pod) => {}
                None => unplaced.push((number, pod.clone())),
            }
        }
    }
    let mut refused = assign::grouped(demand, known);
    refused.iter_mut().for_each(|refused| refused.was_placed = false);
    (refused, unplaced)
}
