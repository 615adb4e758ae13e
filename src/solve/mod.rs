//! Which nodes should exist, and where each pod would go.
//!
//! Pure and total: it never fails, it explains. Nothing here knows how a change is carried out. The steps, in
//! the order of [`solve`]: what waits ([`demand`]), what can be bought ([`market`], [`overlay`],
//! [`supply`], [`price`]), which
//! domains pods go to ([`topology`]), what there is and what fits there ([`existing`]), what may go ([`shrink`]),
//! what limits leave ([`ledger`]), new nodes for the rest (`pack`), and why ([`report`], [`explain`]). The rules
//! themselves are in [`fit`]. Beside it stands Karpenter's own way ([`karpenter`]), and what any fleet costs at least
//! ([`bound`](mod@bound)).

mod attempt;
pub mod bound;
pub mod daemons;
pub mod demand;
pub mod existing;
pub mod explain;
pub mod fit;
mod intern;
pub mod karpenter;
pub mod ledger;
pub mod market;
pub mod overlay;
mod pack;
pub mod price;
pub mod report;
pub mod shrink;
pub mod solution;
pub mod supply;
#[cfg(test)]
mod tests;
pub mod topology;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::eviction::Evictions;
use crate::model::{DisruptionReason, LabelKey, Node, NodeName, PodPlace, PoolName, label};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use attempt::{Attempt, Ground};
use daemons::Daemons;
use demand::Demand;
use existing::Standing;
use fit::limits::{Counter, Ledger};
use pack::finish::{Finished, ZoneCounts};
use price::{PriceBook, Quote, Uncommitted};
use report::nearest::World;
use report::warnings;
use shrink::due::Due;
use shrink::trial::{self, Scene};
use shrink::{Shrunk, candidate, composed, consolidate, imagined};
use supply::Supply;
use topology::Topology;

pub use explain::{explain_node, explain_pod, explain_pool, explain_size};
pub use market::Market;
pub use solution::{
    Bound, Cost, Held, Kept, NewNode, NodeRef, Removal, Report, Solution, Substitute, Target, Unplaced,
    Variety, Warning,
};

/// How the fleet is worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// nodeform's own: the cheapest fleet that holds the pods.
    #[default]
    Cheapest,
    /// Karpenter's, by its defaults.
    Karpenter,
}

/// Works out the fleet that should exist.
#[must_use]
pub fn solve(snapshot: &Snapshot, policy: &Policy) -> Solution {
    let market = &Market::of(snapshot, policy);
    let book = &PriceBook::new(&policy.fleet.prices);
    let lets_go = &candidate::pools(snapshot, policy);
    let due = Due::of(snapshot, policy);
    let asked = &due.names();
    let evictions = &Evictions::of(&snapshot.budgets, &snapshot.pods);
    let given = Given { policy, market, book, lets_go, asked, evictions };
    let may_go = staged(snapshot, given, |scene| consolidate::candidates(scene, snapshot));
    // Rules between pods are read with the pods of all that may go, so that every set is planned alike.
    let all = trial::marked(snapshot, &may_go.union(asked).cloned().collect());
    staged(&all, given, |scene| {
        let due = due.settled(scene, snapshot);
        let without_due = &trial::marked(snapshot, &due.names());
        let mut solution = step(scene, without_due);
        solution.report.cost_before = price::cost(snapshot.nodes_today(), market, book);
        if !(may_go.is_empty() && due.names().is_empty()) {
            solution = repeated(scene, without_due, solution);
        }
        with_due(solution, due)
    })
}

/// Looks for what is left to gain in the world that was planned, a counted number of times.
fn repeated(scene: &Scene<'_>, snapshot: &Snapshot, mut solution: Solution) -> Solution {
    for _ in 0..STEPS_MAX {
        let between = imagined::after(scene, snapshot, &solution.target);
        let next = step(scene, &between);
        if next.target.is_reached() {
            break;
        }
        solution = composed::composed(scene, &between, (solution, next));
    }
    let busy = busy(snapshot);
    for removal in &mut solution.target.removed {
        // What never carried more than it was planned to is removed for being empty.
        if !busy.contains(&removal.node) {
            removal.reason = DisruptionReason::Empty;
        }
    }
    solution
}

/// Lists the due nodes with what is removed, and with what stays though it might go.
fn with_due(mut solution: Solution, due: Due) -> Solution {
    let (going, staying) = due.listed();
    let Solution { target, report } = &mut solution;
    target.removed.extend(going);
    target.removed.sort_by(|one, other| one.node.cmp(&other.node));
    let is_due = |name: &NodeName| staying.iter().any(|(node, _)| node == name);
    report.staying.retain(|(node, _)| !is_due(node));
    let is_removed = |name: &NodeName| target.removed.iter().any(|removal| removal.node == *name);
    report.staying.extend(staying.iter().filter(|(node, _)| !is_removed(node)).cloned());
    report.staying.sort();
    solution
}

/// What every stage of planning is given.
#[derive(Clone, Copy)]
struct Given<'a> {
    policy: &'a Policy,
    market: &'a Market,
    book: &'a PriceBook<'a>,
    lets_go: &'a BTreeSet<PoolName>,
    asked: &'a BTreeSet<NodeName>,
    evictions: &'a Evictions<'a>,
}

/// Returns the nodes that carry pods other than daemonsets'.
fn busy(snapshot: &Snapshot) -> BTreeSet<&NodeName> {
    let bound = snapshot.pods.iter().filter(|pod| !pod.is_daemon).map(|pod| &pod.place);
    bound
        .filter_map(|place| match place {
            PodPlace::Bound(node) => Some(node),
            PodPlace::Waiting => None,
        })
        .collect()
}

/// How often what is left to gain is looked for in the world that was planned.
const STEPS_MAX: usize = 4;

/// Works out the fleet without the nodes whose going saves most.
fn step(scene: &Scene<'_>, snapshot: &Snapshot) -> Solution {
    let leaving = consolidate::leaving(scene, snapshot);
    let mut solution = without(scene, &trial::marked(snapshot, &leaving));
    let moved =
        leaving.into_iter().map(|node| Removal { node, reason: DisruptionReason::Underutilized, what: None });
    solution.target.removed.extend(moved);
    solution.target.removed.sort_by(|one, other| one.node.cmp(&other.node));
    solution
}

/// Returns the nodes that may go though they carry pods, where it saves enough.
fn may_go(
    snapshot: &Snapshot,
    (policy, market, book): (&Policy, &Market, &PriceBook<'_>),
) -> BTreeSet<NodeName> {
    let lets_go = &candidate::pools(snapshot, policy);
    let asked = &Due::of(snapshot, policy).names();
    let evictions = &Evictions::of(&snapshot.budgets, &snapshot.pods);
    let given = Given { policy, market, book, lets_go, asked, evictions };
    staged(snapshot, given, |scene| consolidate::candidates(scene, snapshot))
}

/// Reads what is the same whatever goes.
fn staged<T>(snapshot: &Snapshot, given: Given<'_>, then: impl FnOnce(&Scene<'_>) -> T) -> T {
    let Given { policy, market, book, lets_go, asked, evictions } = given;
    let topology = &Topology::of(snapshot);
    let daemons = &Daemons::of(snapshot, topology);
    let supply = &Supply::of(policy, market, book, daemons);
    then(&Scene { policy, market, book, topology, supply, daemons, lets_go, asked, evictions })
}

/// Works out the fleet that takes the place of nodes that are being deleted.
fn without(scene: &Scene<'_>, snapshot: &Snapshot) -> Solution {
    let Scene { policy, market, book, topology, supply, daemons, .. } = *scene;
    let demand = &Demand::of(snapshot, topology);
    let nodes = &existing::standing(snapshot, daemons, topology);
    let ground = Ground { snapshot, policy, market, book, topology, demand, supply, nodes };
    let Attempt { assigned, nodes, shrunk, costs, ledger, finished } = attempt::best(&ground);
    let costs = costs.with_new(&finished.nodes, &ledger, book);
    let world = World { demand: &assigned.demand, supply, nodes: &nodes, ledger: &ledger };
    let mut warnings = warnings::all(policy, market, (demand, supply));
    warnings.extend(report::agent_labels::warnings(snapshot, demand, supply));
    warnings.extend(report::variety::warnings(policy, &finished.nodes));
    let report = Report {
        unplaced: report::nearest::unplaced(
            &world,
            &finished.unplaced,
            (&assigned.refused, &assigned.demand.barred),
        ),
        held: demand.held.clone(),
        passed_over: demand.passed_over.clone(),
        without_requests: demand.without_requests,
        warnings,
        staying: shrunk.staying,
        undecided: report::undecided::undecided(snapshot, policy),
        cost_before: costs.0,
        cost_after: costs.1,
        bound: None,
    };
    Solution { target: target(&nodes, shrunk.removed, finished), report }
}

fn target(nodes: &[Standing<'_>], removed: Vec<Removal>, finished: Finished) -> Target {
    let gone: BTreeSet<&NodeName> = removed.iter().map(|removal| &removal.node).collect();
    let stays = |standing: &&Standing<'_>| !standing.node.is_deleting && !gone.contains(&standing.node.name);
    let kept = nodes
        .iter()
        .filter(stays)
        .map(|standing| Kept { node: standing.node.name.clone(), pods: standing.placed.clone() })
        .collect();
    Target { kept, new: finished.nodes, removed }
}

/// Counts the nodes of each pool in each zone, without those that go.
fn zones(nodes: &[Standing<'_>], shrunk: &Shrunk) -> ZoneCounts {
    let gone: BTreeSet<&NodeName> = shrunk.removed.iter().map(|removal| &removal.node).collect();
    let mut zones: ZoneCounts = BTreeMap::new();
    for standing in nodes {
        let Node { name, pool, labels, is_deleting, .. } = standing.node;
        let zone = labels.get(&LabelKey::new(label::ZONE));
        if let (Some(pool), Some(zone)) = (pool, zone)
            && !is_deleting
            && !gone.contains(name)
        {
            *zones.entry((pool.clone(), (&**zone).into())).or_default() += 1;
        }
    }
    zones
}

/// What the nodes cost that exist: now, and those that stay.
struct Costs {
    before: Cost,
    staying: Vec<Option<Quote>>,
    /// The commitments that nodes which stay do not use.
    unused: Uncommitted,
    /// Those of them that new nodes may use: what goes uses its own until it is gone, and a budget may keep it.
    free: Uncommitted,
}

impl Costs {
    fn of(snapshot: &Snapshot, shrunk: &Shrunk, market: &Market, book: &PriceBook<'_>) -> Self {
        let gone: BTreeSet<&NodeName> = shrunk.removed.iter().map(|removal| &removal.node).collect();
        let before = price::cost(snapshot.nodes_today(), market, book);
        let mut nodes: Vec<&Node> = snapshot.nodes.iter().filter(|node| !node.is_deleting).collect();
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        let (_, free) = price::quote_nodes(nodes.iter().copied(), market, book);
        let stays = nodes.into_iter().filter(|node| !gone.contains(&node.name));
        let (staying, unused) = price::quote_nodes(stays, market, book);
        Self { before, staying, unused, free }
    }

    /// Returns what everything costs before and after, with the new nodes; the ledger says which commitments they
    /// left free.
    fn with_new(self, new: &[NewNode], ledger: &Ledger, book: &PriceBook<'_>) -> (Cost, Cost) {
        let mut unused = self.unused;
        for (_, counter, left) in ledger.iter() {
            if let Counter::Commitment(number) = counter {
                let left = u32::try_from(left).unwrap_or(0);
                unused.0[*number] -= self.free.0[*number].saturating_sub(left);
            }
        }
        let quote = |node: &NewNode| Some(Quote { list: node.list_price, effective: node.effective_price });
        let quotes = self.staying.into_iter().chain(new.iter().map(quote));
        (self.before, price::sum(quotes, &unused, book))
    }
}
