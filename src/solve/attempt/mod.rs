//! One way through all steps: domains are given out, nodes filled, what is left packed, and what rules refuse taken off.
//!
//! No step is undone within an attempt. Which of several is the best is chosen in [`ways`].

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
    /// What is tried first.
    pub(super) approach: Approach,
    /// Whether others are tried.
    pub(super) looks_further: bool,
}

/// How the steps are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Approach {
    /// In which manner domains are given out.
    pub(super) manner: Manner,
    /// Whether waiting pods lead others away from those that run ([`bundle::World`]).
    pub(super) leads: bool,
    /// Whether nodes that limits leave are also filled with as many pods as they hold.
    pub(super) fills: bool,
}

impl Approach {
    /// The plain one.
    pub(super) const PLAIN: Self = Self { manner: Manner::Evenly, leads: false, fills: false };
}

impl Ground<'_> {
    /// Returns what pods are worth where all of these have to be placed on new nodes.
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
    /// How it came about.
    pub(super) approach: Approach,
}

/// How good an attempt is; the smaller, the better: nodes of lighter pools whose pod a heavier one has room for; pods
/// that went to lighter pools than they were given to, of which a heavier one might have taken them elsewhere; pods
/// left over by priority; what it counts as with what stays of what there is, since a node that is empty else may stay for
/// those who wait.
type Score = (usize, usize, LeftOver, Worth);

/// What a fleet counts as: how many of its new nodes nobody knows the price of, and what the others count as. A price that
/// is not known is not taken for nothing.
pub(super) type Worth = (usize, i64);

/// How often hosts are added for new nodes that others need, and that count as well.
const HOSTS_ROUNDS_MAX: usize = 4;

/// How many pods of each priority are on nothing, the highest first.
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

/// Who goes to which domain, before nodes are filled.
#[derive(Clone)]
struct Given {
    assigned: Assigned,
    riders: Riders,
    /// What may be placed, and behind it what is taken off again.
    open: Demand,
    /// How many shapes are placed for good.
    shapes: usize,
}

/// Places all where some are spread over hosts: with as few new hosts as are cheapest, and with none, if need be; where pods
/// are left over of both, with no more hosts than limits left, and with a host for each.
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

/// Returns whether everybody has a place.
fn is_whole(attempt: &Attempt<'_>) -> bool {
    attempt.finished.unplaced.is_empty() && !attempt.assigned.leaves_over()
}

/// Returns how many new nodes count for spreads over hosts and have too few of their pods; none where all are as they must
/// be.
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

/// Goes through all steps once domains are given out. What is laid out over hosts already stays there.
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

/// Returns what a fleet counts as when it is chosen: its new nodes, and what stays of what there is.
pub(super) fn cost(attempt: &Attempt<'_>) -> Worth {
    let nodes = &attempt.finished.nodes;
    let unpriced = nodes.iter().filter(|node| node.effective_price.known().is_none()).count();
    (unpriced, attempt.costs.of_staying().0 + price(nodes))
}

fn score(ground: &Ground<'_>, attempt: &Attempt<'_>) -> Score {
    (overruled(ground, attempt), attempt.shortfalls.lighter, left_over(ground.demand, attempt), cost(attempt))
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
