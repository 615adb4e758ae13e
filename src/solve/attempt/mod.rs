//! One attempt: assigns pods to domains, fills existing nodes, packs the rest, and unplaces pods that rules refuse.
//!
//! Never undoes a step within an attempt. [`ways`] chooses the best of several attempts.

mod hosts;
mod ways;

pub(super) use ways::best;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::MicroUsdPerHour;
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::demand::Demand;
use super::existing::Standing;
use super::fit::company::HostRole;
use super::fleet::{Costs, zones};
use super::market::Market;
use super::memo::Memo;
use super::pack::finish::{Desk, Finished, Shapes, finish};
use super::pack::{Appraisal, Effort};
use super::price::PriceBook;
use super::shortfall::Shortfalls;
use super::shrink::{self, Shrunk};
use super::solution::NewNode;
use super::supply::Supply;
use super::topology::Topology;
use super::topology::assign::{self, Assigned, Caps, Manner};
use super::topology::bundle::{self, Riders};
use super::topology::census::Running;
use super::{came_off, ledger, overruled, pack, price};

/// Inputs of every attempt.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) market: &'a Market,
    pub(super) book: &'a PriceBook<'a>,
    pub(super) topology: &'a Topology,
    pub(super) demand: &'a Demand,
    pub(super) supply: &'a Supply<'a>,
    /// Memo of the supply.
    pub(super) memo: &'a Memo,
    /// Pods that are packed with the demand and then taken off again.
    pub(super) slack: &'a Demand,
    /// Existing nodes, with nothing placed yet.
    pub(super) nodes: &'a [Standing<'a>],
    /// Purpose of the attempts.
    pub(super) effort: Effort<'a>,
    /// Approach that is tried first.
    pub(super) approach: Approach,
    /// Whether other approaches are tried.
    pub(super) looks_further: bool,
}

/// Variant of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Approach {
    /// Manner in which pods are assigned to domains.
    pub(super) manner: Manner,
    /// Whether pending pods draw others away from running pods ([`bundle::World`]).
    pub(super) leads: bool,
    /// Whether the nodes that limits allow are also filled with as many pods as they hold.
    pub(super) fills: bool,
}

impl Approach {
    /// Default approach.
    pub(super) const PLAIN: Self = Self { manner: Manner::Evenly, leads: false, fills: false };
}

impl Ground<'_> {
    /// Returns the dual prices of pods if all of these have to be placed on new nodes.
    pub(super) fn appraised(&self) -> Appraisal {
        let Ground { snapshot, policy, market, book, topology, supply, memo, slack, nodes, demand, .. } =
            *self;
        let world = bundle::World { topology, supply, memo, nodes, leads: false };
        let (mut demand, _) = bundle::bundled(demand, world);
        if !slack.shapes.is_empty() {
            demand.to_mut().shapes.extend(slack.shapes.iter().cloned());
        }
        let free = Costs::of(snapshot, &Shrunk::default(), market, book).free;
        let ledger = ledger::opened(market.limiting(policy), &snapshot.nodes, &free, MicroUsdPerHour(0))
            .without_limits();
        pack::appraised(&demand, (supply, memo), (&ledger, book))
    }
}

/// Result of an attempt.
pub(super) struct Attempt<'a> {
    /// Pods to place, with their domains.
    pub(super) assigned: Assigned,
    /// Existing nodes, filled.
    pub(super) nodes: Vec<Standing<'a>>,
    /// Removed nodes.
    pub(super) shrunk: Shrunk,
    /// Cost of the existing nodes that are kept.
    pub(super) costs: Costs,
    /// New nodes, and unplaced pods.
    pub(super) finished: Finished,
    /// Places that took fewer pods than assigned.
    pub(super) shortfalls: Shortfalls,
    /// Co-located pods, by the pod that stands for them.
    pub(super) riders: Riders,
    /// Its approach.
    pub(super) approach: Approach,
}

/// Score of an attempt, the smaller the better: nodes of lighter pools whose pod fits a heavier one; pods that went to
/// lighter pools than assigned although a heavier one might have taken them elsewhere; unplaced pods by priority; and
/// the fleet's price with premiums, including kept nodes, because an otherwise empty node may be kept for pending pods.
type Score = (usize, usize, LeftOver, Worth);

/// Price of a fleet for comparison: the number of new nodes without a known price, and the price of the others with
/// premiums. An unknown price never counts as zero.
pub(super) type Worth = (usize, i64);

/// Maximum number of rounds that add hosts for new nodes which other pods need and which count as well.
const HOSTS_ROUNDS_MAX: usize = 4;

/// Number of unplaced pods of each priority, the highest first.
pub(super) type LeftOver = Vec<(Reverse<i32>, usize)>;

fn attempt<'a>((ground, running): (&Ground<'a>, &Running<'a>), demand: &Demand, caps: &Caps) -> Attempt<'a> {
    let Ground { topology, supply, memo, slack, nodes, approach, .. } = *ground;
    let Approach { manner, leads, fills: _ } = approach;
    let world = bundle::World { topology, supply, memo, nodes, leads };
    let (bundled, riders) = bundle::bundled(demand, world);
    let assigned = assign::assign(&bundled, running, (supply, memo), (caps, manner));
    let mut open = assigned.open_demand();
    let shapes = open.shapes.len();
    open.shapes.extend(slack.shapes.iter().cloned());
    let given = Given { assigned, riders, open, shapes };
    let crews = hosts::crews(ground, running.census(), &given.open);
    if crews.is_empty() {
        return placed((ground, running), given, None);
    }
    spread((ground, running), given, &crews)
}

/// Assignment of pods to domains, before nodes are filled.
#[derive(Clone)]
struct Given {
    assigned: Assigned,
    riders: Riders,
    /// Pods that may be placed, followed by those that are taken off again.
    open: Demand,
    /// Number of shapes that are placed for good.
    shapes: usize,
}

/// Places all pods if some are spread over hosts: with the cheapest number of new hosts, and with none if needed; if
/// both leave pods unplaced, also with no more hosts than limits allowed, and with a host for each.
fn spread<'a>(
    (ground, running): (&Ground<'a>, &Running<'a>),
    given: Given,
    crews: &[hosts::Crew<'_>],
) -> Attempt<'a> {
    let mut found: Vec<Attempt<'a>> = Vec::new();
    let mut new = Some(hosts::New::AtLeast(0));
    let mut rounds = 0;
    while let Some(asked) = new {
        let even = hosts::even(ground, &given.open, crews, asked);
        let next = even.map(|even| {
            let hosts = even.hosts.len();
            let attempt = placed((ground, running), given.clone(), Some(even));
            (hosts, bare(ground, &attempt), attempt)
        });
        rounds += 1;
        new = match next {
            Some((_, 0, attempt)) => {
                let is_done = is_whole(&attempt) || asked == hosts::New::None;
                found.push(attempt);
                (!is_done).then_some(hosts::New::None)
            }
            Some((hosts, bare, _)) if asked != hosts::New::None && rounds < HOSTS_ROUNDS_MAX => {
                Some(hosts::New::AtLeast(hosts + bare))
            }
            _ => (asked != hosts::New::None).then_some(hosts::New::None),
        };
    }
    let limited = found.iter().filter(|attempt| attempt.finished.ledger.has_limits());
    let made = limited.map(|attempt| attempt.finished.nodes.len()).max();
    if let Some(made) = made.filter(|made| *made > 0 && !found.iter().any(is_whole)) {
        let even = hosts::even(ground, &given.open, crews, hosts::New::AtMost(made));
        found.extend(even.map(|even| placed((ground, running), given.clone(), Some(even))));
    }
    if !found.iter().any(is_whole) {
        found.push(placed((ground, running), given.clone(), None));
    }
    let best = found.into_iter().min_by_key(|attempt| score(ground, attempt));
    best.unwrap_or_else(|| placed((ground, running), given, None))
}

/// Returns whether all pods are placed.
fn is_whole(attempt: &Attempt<'_>) -> bool {
    attempt.finished.unplaced.is_empty() && !attempt.assigned.leaves_over()
}

/// Returns how many new nodes count for spreads over hosts and have too few of their pods; zero if all spreads are met.
fn bare(ground: &Ground<'_>, attempt: &Attempt<'_>) -> usize {
    let Ground { snapshot, policy, topology, supply, .. } = *ground;
    let Attempt { assigned, nodes, finished, .. } = attempt;
    let fleet = came_off::Fleet { supply, policy, nodes, new: &finished.nodes, shapes: &finished.shapes };
    if fleet.uneven(&assigned.demand, (topology, snapshot)).is_empty() {
        return 0;
    }
    let spreads = |shape: &usize| assigned.demand.shapes[*shape].ask.company.iter().any(HostRole::spreads);
    let is_bare = |shapes: &&Shapes| !shapes.pods.iter().any(spreads);
    finished.shapes.iter().filter(is_bare).count().max(1)
}

/// Runs all steps after pods are assigned to domains. Pods already laid out over hosts stay there.
fn placed<'a>(
    (ground, running): (&Ground<'a>, &Running<'a>),
    given: Given,
    even: Option<hosts::Even<'a>>,
) -> Attempt<'a> {
    let Ground { snapshot, policy, market, book, supply, memo, nodes, effort, approach, .. } = *ground;
    let Given { mut assigned, riders, open, shapes } = given;
    let even = even.unwrap_or_else(|| hosts::Even::without_crews(&open, nodes));
    let hosts::Even { mut nodes, left, hosts, unplaced } = even;
    let (packed, left) = hosts::joined(&open, left, &hosts);
    let shrunk = shrink::shrink(snapshot, policy, &nodes, &open);
    let costs = Costs::of(snapshot, &shrunk, market, book);
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let ledger = ledger::opened(market.limiting(policy), &snapshot.nodes, &costs.free, there);
    let fills = approach.fills;
    let (problem, packing) = pack::pack((&packed, &left), (supply, memo), (&ledger, book), (effort, fills));
    let desk = Desk { problem: &problem, supply, memo, demand: &packed, book, effort };
    let mut finished = finish(&desk, packing, &mut zones(&nodes, &shrunk));
    hosts::parted(open.shapes.len(), &hosts, &mut finished);
    finished.unplaced.extend(hosts::unplaced(&open, &unplaced));
    came_off::without_slack(&open, shapes, &mut nodes, &mut finished);
    finished.unplaced.extend(assigned.closed_pods());
    let around = (supply, policy, running);
    let refused = came_off::take_off(around, &assigned.demand, &mut nodes, &mut finished);
    assigned.refused.extend(refused);
    let shortfalls = Shortfalls::of(supply, &assigned, &nodes, &finished);
    came_off::unbundle(&riders, &mut assigned, &mut nodes, &mut finished);
    Attempt { assigned, nodes, shrunk, costs, finished, shortfalls, riders, approach }
}

/// Returns how many pods are unplaced, by priority.
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

/// Returns how many pods are unplaced, the highest priority first.
pub(super) fn left_over(demand: &Demand, attempt: &Attempt<'_>) -> LeftOver {
    let unplaced = unplaced(demand, attempt).into_iter().rev();
    unplaced.map(|(priority, count)| (Reverse(priority), count)).collect()
}

/// Returns the price of nodes with premiums, as far as prices are known.
pub(super) fn price(nodes: &[NewNode]) -> i64 {
    let price = |node: &NewNode| node.effective_price.known().map_or(0, |price| (price + node.premium).0);
    nodes.iter().map(price).sum()
}

/// Returns the price of a fleet with premiums: its new nodes, and the kept ones.
pub(super) fn cost(attempt: &Attempt<'_>) -> Worth {
    let nodes = &attempt.finished.nodes;
    let unpriced = nodes.iter().filter(|node| node.effective_price.known().is_none()).count();
    (unpriced, attempt.costs.of_staying().0 + price(nodes))
}

fn score(ground: &Ground<'_>, attempt: &Attempt<'_>) -> Score {
    (overruled(ground, attempt), attempt.shortfalls.lighter, left_over(ground.demand, attempt), cost(attempt))
}

/// Counts the nodes of lighter pools whose pod fits a heavier one in the final result.
fn overruled(ground: &Ground<'_>, attempt: &Attempt<'_>) -> usize {
    let Attempt { assigned, finished, .. } = attempt;
    // Without limits every pool is open to the end.
    if !finished.ledger.has_limits() {
        return 0;
    }
    let shapes = finished.shapes.iter().map(|shapes| &assigned.demand.shapes[shapes.opened_for]);
    overruled::count((ground.supply, ground.topology), &finished.ledger, finished.nodes.iter().zip(shapes))
}
