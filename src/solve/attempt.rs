//! One way through all steps, and the best of a counted number of them.
//!
//! Domains are given out before it is known what fits there. Where a place turns out to take fewer pods than it was
//! given, the next attempt gives it no more than it took. Where pods that share a node have no place together, those that
//! follow the others are left out of the next. No step is undone within an attempt.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{PodKey, label};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::demand::{Demand, Shape};
use super::existing::{self, Standing};
use super::fit::{Miss, affinity};
use super::fleet::{Costs, zones};
use super::market::Market;
use super::memo::Memo;
use super::pack::Effort;
use super::pack::finish::{Desk, Finished, finish};
use super::price::PriceBook;
use super::shortfall::Shortfalls;
use super::shrink::{self, Shrunk};
use super::solution::NewNode;
use super::supply::Supply;
use super::topology::assign::{self, Assigned, Caps, Manner, Refused};
use super::topology::bundle::{self, Riders};
use super::topology::census::Running;
use super::topology::group::GroupKind;
use super::topology::{Role, Topology};
use super::{came_off, ledger, overruled, pack, price};

/// How often pods are given out anew after the first time.
const ROUNDS_MAX: usize = 5;

/// With more pods to place than this, attempts after the first are sketches until the last.
const SKETCHED_MIN: usize = 10_000;

/// With so many pods to place or more, no other attempt is made where all have a place and less than one pod of so many is
/// not where it was given to: it would change next to nothing.
const SPARED_MIN: usize = 5_000;
const SHORT_MAX: usize = 100;

/// The most pods that are given out in other manners too.
const OTHERWISE_MAX: usize = 2_000;

/// How often all is planned again without pods that came off.
const MENDS_MAX: usize = 3;

/// What every attempt starts from.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) market: &'a Market,
    pub(super) book: &'a PriceBook<'a>,
    pub(super) topology: &'a Topology,
    pub(super) demand: &'a Demand,
    pub(super) supply: &'a Supply<'a>,
    /// What is known of it.
    pub(super) memo: &'a Memo,
    /// What is packed beside the demand and then taken off again.
    pub(super) slack: &'a Demand,
    /// What there is, with nothing placed yet.
    pub(super) nodes: &'a [Standing<'a>],
    /// What the attempts are for.
    pub(super) effort: Effort<'a>,
    /// In which manner domains are given out.
    pub(super) manner: Manner,
    /// Whether other ways than the plain one are looked at.
    pub(super) looks_further: bool,
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
    /// What places took fewer pods than they were given.
    pub(super) shortfalls: Shortfalls,
    /// Who came along with whom.
    pub(super) riders: Riders,
}

/// How good an attempt is; the smaller, the better: nodes of lighter pools whose pod a heavier one has room for; pods
/// that went to lighter pools than they were given to, of which a heavier one might have taken them elsewhere; pods
/// left over by priority; the price.
type Score = (usize, usize, LeftOver, i64);

/// How many pods of each priority are on nothing, the highest first.
pub(super) type LeftOver = Vec<(Reverse<i32>, usize)>;

/// Returns the best attempt. Of a few pods domains are given out in other manners too: where rules between pods leave some
/// over, and where spreads let domains differ by more than one.
pub(super) fn best<'a>(ground: &Ground<'a>) -> Attempt<'a> {
    let mut best = best_of_manner(ground);
    if !ground.looks_further || ground.demand.pods() > OTHERWISE_MAX {
        return best;
    }
    let is_refused = !best.assigned.refused.is_empty();
    let is_loose = is_loose(ground.topology, ground.demand);
    let others = [(Manner::BoundFirst, is_refused), (Manner::Thriftily, is_loose)];
    for (manner, _) in others.into_iter().filter(|(_, is_asked)| *is_asked) {
        let other = best_of_manner(&Ground { manner, ..*ground });
        if score(ground, &other) < score(ground, &best) {
            best = other;
        }
    }
    best
}

fn best_of_manner<'a>(ground: &Ground<'a>) -> Attempt<'a> {
    let running = &Running::of(ground.topology, ground.nodes);
    let (mut best, left_out) = without_followers(ground, running);
    let demand = &*without(ground.demand, &left_out);
    for _ in 0..MENDS_MAX {
        let came_off: Vec<Refused> =
            best.assigned.refused.iter().filter(|refused| refused.was_placed).cloned().collect();
        if came_off.is_empty() || overruled(ground, &best) == 0 {
            break;
        }
        let mut next = rounds((ground, running), &without(demand, &came_off));
        next.assigned.refused.extend(came_off.into_iter().chain(left_out.iter().cloned()));
        if score(ground, &next) >= score(ground, &best) {
            break;
        }
        best = next;
    }
    best
}

/// Returns the best attempt, and the pods that are left out of it: together with those that they have to share a node with
/// they have no place, and the others have one without them.
fn without_followers<'a>(ground: &Ground<'a>, running: &Running<'a>) -> (Attempt<'a>, Vec<Refused>) {
    let first = rounds((ground, running), ground.demand);
    let followers = followers(ground.demand, &first);
    if followers.is_empty() {
        return (first, Vec::new());
    }
    let tried = |left_out: &[usize]| {
        let refused: Vec<Refused> = left_out.iter().flat_map(|place| &followers[*place]).cloned().collect();
        let mut next = rounds((ground, running), &without(ground.demand, &refused));
        next.assigned.refused.extend(refused.iter().cloned());
        (next, refused)
    };
    let mut left_out: Vec<usize> = (0..followers.len()).collect();
    let mut best = tried(&left_out);
    if score(ground, &best.0) >= score(ground, &first) {
        return (first, Vec::new());
    }
    // Those come along again that are not the reason.
    for place in 0..followers.len().min(MENDS_MAX) {
        let fewer: Vec<usize> = left_out.iter().copied().filter(|other| *other != place).collect();
        let next = tried(&fewer);
        if score(ground, &next.0) < score(ground, &best.0) {
            (best, left_out) = (next, fewer);
        }
    }
    best
}

/// Returns the pods that came along with others that are left over, of each shape, with why.
fn followers(demand: &Demand, attempt: &Attempt<'_>) -> Vec<Vec<Refused>> {
    let Attempt { riders, assigned, finished, .. } = attempt;
    if riders.is_empty() {
        return Vec::new();
    }
    let unplaced: BTreeSet<&PodKey> = finished.unplaced.iter().map(|(_, pod)| pod).collect();
    let mut left: BTreeMap<&PodKey, Miss> = BTreeMap::new();
    for (leader, riders) in riders {
        let refused = assigned.refused.iter().find(|refused| refused.pods.binary_search(leader).is_ok());
        let miss = match refused {
            Some(refused) => refused.miss.clone(),
            None if unplaced.contains(leader) => affinity::miss(label::HOSTNAME, 0),
            None => continue,
        };
        left.extend(riders.iter().map(|rider| (rider, miss.clone())));
    }
    let of_shape = |shape: &Shape| {
        let pods = shape.pods.iter().filter_map(|pod| Some((pod.clone(), left.get(pod)?.clone())));
        let mut refused = assign::grouped(demand, pods.collect());
        refused.iter_mut().for_each(|refused| refused.was_placed = false);
        refused
    };
    demand.shapes.iter().map(of_shape).filter(|refused| !refused.is_empty()).collect()
}

/// Returns the demand without pods that came off again: what was opened beside them took their limits for kept.
fn without<'d>(demand: &'d Demand, came_off: &[Refused]) -> Cow<'d, Demand> {
    if came_off.is_empty() {
        return Cow::Borrowed(demand);
    }
    let gone: BTreeSet<&PodKey> = came_off.iter().flat_map(|refused| &refused.pods).collect();
    let mut rest = demand.clone();
    rest.shapes.iter_mut().for_each(|shape| shape.pods.retain(|pod| !gone.contains(pod)));
    Cow::Owned(rest)
}

/// Returns whether a spread lets the domains of pods that wait differ by more than one.
fn is_loose(topology: &Topology, demand: &Demand) -> bool {
    let is_loose = |role: &Role| match &topology.groups[role.group].kind {
        GroupKind::Spread(spread) => role.is_bound && spread.max_skew > 1,
        GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Volume(_) => false,
    };
    demand.shapes.iter().flat_map(|shape| &shape.roles).any(is_loose)
}

/// Returns the best of the attempts that give out domains anew.
fn rounds<'a>((ground, running): (&Ground<'a>, &Running<'a>), demand: &Demand) -> Attempt<'a> {
    let mut caps = Caps::new();
    let first = attempt((ground, running), demand, &caps);
    let mut is_new = first.shortfalls.tighten(&first.assigned, &mut caps);
    let is_little = demand.pods() >= SPARED_MIN && first.shortfalls.pods * SHORT_MAX < demand.pods();
    if !is_new || is_little && is_whole(&first) {
        return first;
    }
    // Where there is much to place, sketches find out what every place takes.
    let is_sketched = ground.effort.is_plan() && demand.pods() > SKETCHED_MIN;
    let tried = if is_sketched { Ground { effort: Effort::Comparison(None), ..*ground } } else { *ground };
    let mut best = (score(ground, &first), first);
    let mut sketched: Option<(Score, Caps)> = None;
    for _ in 0..ROUNDS_MAX {
        if !is_new {
            break;
        }
        let given = caps.clone();
        let next = attempt((&tried, running), demand, &caps);
        is_new = next.shortfalls.tighten(&next.assigned, &mut caps);
        let score = score(ground, &next);
        if !is_sketched && score < best.0 {
            best = (score, next);
        } else if is_sketched && sketched.as_ref().is_none_or(|(least, _)| score < *least) {
            sketched = Some((score, given));
        }
    }
    if let Some((_, caps)) = sketched {
        let next = attempt((ground, running), demand, &caps);
        let score = score(ground, &next);
        if score < best.0 {
            best = (score, next);
        }
    }
    best.1
}

/// Returns whether everybody has a place, and none on a lighter pool than it was given to.
fn is_whole(attempt: &Attempt<'_>) -> bool {
    attempt.finished.unplaced.is_empty()
        && attempt.assigned.refused.is_empty()
        && attempt.shortfalls.lighter == 0
}

fn attempt<'a>((ground, running): (&Ground<'a>, &Running<'a>), demand: &Demand, caps: &Caps) -> Attempt<'a> {
    let Ground { snapshot, policy, market, book, topology, supply, memo, slack, nodes, .. } = *ground;
    let (effort, manner) = (ground.effort, ground.manner);
    let (bundled, riders) = bundle::bundled(demand, bundle::World { topology, supply, nodes });
    let mut assigned = assign::assign(&bundled, running, (supply, memo), (caps, manner));
    let mut nodes: Vec<Standing<'a>> = nodes.to_vec();
    let mut open = assigned.open_demand();
    let shapes = open.shapes.len();
    open.shapes.extend(slack.shapes.iter().cloned());
    let left = existing::fill(&open, &mut nodes);
    let shrunk = shrink::shrink(snapshot, policy, &nodes, &open);
    let costs = Costs::of(snapshot, &shrunk, market, book);
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let ledger = ledger::opened(policy, &snapshot.nodes, &costs.free, there);
    let (problem, packing) = pack::pack((&open, &left), (supply, memo), (&ledger, book), effort);
    let desk = Desk { problem: &problem, supply, memo, demand: &open, book, effort };
    let mut finished = finish(&desk, packing, &mut zones(&nodes, &shrunk));
    came_off::without_slack(&open, shapes, &mut nodes, &mut finished);
    finished.unplaced.extend(assigned.closed_pods());
    let around = (supply, policy, running);
    let refused = came_off::take_off(around, &assigned.demand, &mut nodes, &mut finished);
    assigned.refused.extend(refused);
    let shortfalls = Shortfalls::of(supply, &assigned, &nodes, &finished);
    came_off::unbundle(&riders, &mut assigned, &mut nodes, &mut finished);
    Attempt { assigned, nodes, shrunk, costs, finished, shortfalls, riders }
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

/// Returns how many pods are on nothing, the highest priority first.
pub(super) fn left_over(demand: &Demand, attempt: &Attempt<'_>) -> LeftOver {
    let unplaced = unplaced(demand, attempt).into_iter().rev();
    unplaced.map(|(priority, count)| (Reverse(priority), count)).collect()
}

/// Returns what nodes count as when they are chosen, as far as prices are known.
pub(super) fn price(nodes: &[NewNode]) -> i64 {
    let price = |node: &NewNode| node.effective_price.known().map_or(0, |price| (price + node.premium).0);
    nodes.iter().map(price).sum()
}

fn score(ground: &Ground<'_>, attempt: &Attempt<'_>) -> Score {
    (
        overruled(ground, attempt),
        attempt.shortfalls.lighter,
        left_over(ground.demand, attempt),
        price(&attempt.finished.nodes),
    )
}

/// Counts the nodes of lighter pools whose pod a heavier one has room for, now that everything is known.
fn overruled(ground: &Ground<'_>, attempt: &Attempt<'_>) -> usize {
    let Attempt { assigned, finished, .. } = attempt;
    // Where nothing is limited every pool is open to the end.
    if !finished.ledger.has_limits() {
        return 0;
    }
    let shapes = finished.shapes.iter().map(|shapes| &assigned.demand.shapes[shapes.opened_for]);
    overruled::count((ground.supply, ground.topology), &finished.ledger, finished.nodes.iter().zip(shapes))
}
