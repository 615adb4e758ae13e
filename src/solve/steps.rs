//! Fleet without regard to soft preferences: nodes are removed step by step until there is nothing left to gain.
//!
//! Every step plans the world that the steps before it lead to; together they are one change to the current world. The
//! result of removing a set of nodes is computed elsewhere ([`super::fleet`]).

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::model::{DisruptionReason, NodeName, NodeStage, PodKey, PodPlace};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::afterwards;
use super::apart;
use super::capped::Capped;
use super::caution;
use super::daemons::Daemons;
use super::demand::Demand;
use super::existing;
use super::fleet;
use super::headroom;
use super::impossible::Impossible;
use super::market::Market;
use super::memo::Memos;
use super::price::{self, PriceBook};
use super::rival;
use super::rival::whole::Gone;
use super::scheduler;
use super::shrink::alone::Alone;
use super::shrink::candidate::Rules;
use super::shrink::due::Due;
use super::shrink::needed::Needs;
use super::shrink::trial::{self, Scene};
use super::shrink::{alone, candidate, composed, consolidate, imagined, whole};
use super::solution::{Cost, Removal, Solution, Target};
use super::surplus;
use super::topology::Topology;

/// Maximum number of further steps in the planned world; one in a large world.
const STEPS_MAX: usize = 8;

/// Maximum number of replans without due nodes whose pods are not certain to fit.
const DUE_MAX: usize = 4;

/// Maximum number of new nodes of a fleet that is searched again although no running node may be removed, or although a
/// large fleet is replaced entirely: in a small fleet each node counts, in a large one the gain is small for the time.
const FRESH_MAX: usize = 12;

/// Maximum number of pending pods for which a fleet with more new nodes is searched again, except in a large cluster:
/// the search is fast then.
const FEW_MAX: usize = 300;

/// Maximum number of pending pods for which a fleet with unplaced pods is searched again.
const LEFT_OVER_MAX: usize = 2_000;

/// Plans the fleet that should exist, and reports nodes that are kept although they might be removed.
pub(super) fn solve(snapshot: &Snapshot, policy: &Policy, memos: &Memos) -> Solution {
    apart::solve(snapshot, policy, memos)
        .unwrap_or_else(|| planned(snapshot, policy, memos, |_, _, solution, due| with_due(solution, due)))
}

/// Plans the fleet that should exist if removable nodes are removed as in one of these fleets, or kept: an
/// approximation of [`solve`], which tries more.
pub(super) fn near(snapshot: &Snapshot, policy: &Policy, memos: &Memos, fleets: &[&Solution]) -> Solution {
    apart::solve(snapshot, policy, memos).unwrap_or_else(|| {
        begun((snapshot, policy), memos, |scene, without_due, (_, due)| {
            let sets: Vec<BTreeSet<NodeName>> =
                fleets.iter().map(|fleet| fleet.target.removed_names()).collect();
            let leaving = consolidate::leaving_as(scene, without_due, sets);
            let mut solution = gone(scene, without_due, leaving, scheduler::with_slack_alone);
            solution.report.cost_before = price::cost(snapshot.nodes_today(), scene.market, scene.book);
            say_empty(without_due, &mut solution.target.removed);
            scene.capped.told(&mut solution.report);
            scene.impossible.told(&mut solution.report);
            with_due(solution, due)
        })
    })
}

/// Plans the fleet that should exist, without listing due nodes, and passes it on with the world that it was planned
/// for, in which due nodes are being deleted.
pub(super) fn planned<T>(
    snapshot: &Snapshot,
    policy: &Policy,
    memos: &Memos,
    then: impl FnOnce(&Scene<'_>, &Snapshot, Solution, Due) -> T,
) -> T {
    begun((snapshot, policy), memos, |scene, without_due, (may_go, mut due)| {
        let mut without_due = Cow::Borrowed(without_due);
        for _ in 0..DUE_MAX {
            let scene = &Scene { asked: &due.names(), ..*scene };
            let solution = of_world(scene, &without_due, (&may_go, &due), snapshot);
            let stranding = stranding(scene, &without_due, (&solution, &due.names()));
            if stranding.is_empty() {
                return then(scene, &without_due, solution, due);
            }
            // Single trials search less closely than the plan of the whole fleet, which placed their pods elsewhere.
            without_due
                .to_mut()
                .nodes
                .iter_mut()
                .for_each(|node| node.is_deleting &= !stranding.contains(&node.name));
            due = due.kept_for_want_of_places(&stranding);
        }
        let all = due.names();
        without_due.to_mut().nodes.iter_mut().for_each(|node| node.is_deleting &= !all.contains(&node.name));
        let due = due.kept_for_want_of_places(&all);
        let scene = &Scene { asked: &BTreeSet::new(), ..*scene };
        let solution = of_world(scene, &without_due, (&may_go, &due), snapshot);
        then(scene, &without_due, solution, due)
    })
}

/// Plans the fleet of a world in which due nodes are being deleted.
fn of_world(
    scene: &Scene<'_>,
    without_due: &Snapshot,
    (may_go, due): (&BTreeSet<NodeName>, &Due),
    snapshot: &Snapshot,
) -> Solution {
    let is_due = !due.names().is_empty();
    let mut solution = stepped(scene, without_due, (may_go, is_due));
    // With due nodes, other approaches are tried only if they may place more pods: each takes as long as all of this.
    // They may free capacity for pods of due nodes that are kept, and the next plan would use it.
    if !scene.looks_further && solution.report.left_over() > 0 {
        let further = &Scene { looks_further: true, ..*scene };
        let other = stepped(further, without_due, (may_go, is_due));
        if is_better(without_due, &other, &solution) && !lets_go_of_due(scene, without_due, &other.target) {
            solution = other;
        }
    }
    let stepped = |world: &Snapshot| stepped(scene, world, (may_go, is_due));
    let looked_again = |world: &Snapshot| {
        let solution = stepped(world);
        without_surplus(scene, world, &solution, &stepped).unwrap_or(solution)
    };
    if let Some(other) = without_surplus(scene, without_due, &solution, &looked_again) {
        solution = other;
    }
    solution.report.cost_before = price::cost(snapshot.nodes_today(), scene.market, scene.book);
    say_empty(without_due, &mut solution.target.removed);
    afterwards::say(scene, without_due, &mut solution);
    scene.capped.told(&mut solution.report);
    scene.impossible.told(&mut solution.report);
    solution
}

/// Plans the fleet for as many pods as fit together if limits are too low for all; `None` if that is no better.
/// `looked_again` plans a world with the full search.
fn without_surplus(
    scene: &Scene<'_>,
    without_due: &Snapshot,
    solution: &Solution,
    looked_again: &dyn Fn(&Snapshot) -> Solution,
) -> Option<Solution> {
    let mut best: Option<Solution> = None;
    for rest in surplus::without(scene, without_due, solution, looked_again) {
        let of_rest = looked_again(&rest);
        let Some(other) = surplus::with_rest(scene, without_due, of_rest) else { continue };
        let than = best.as_ref().unwrap_or(solution);
        // If as many pods fit, prefers those that are placed regardless of other pending pods: more pending pods never
        // place fewer.
        let is_other = || best.is_none() && surplus::places_others(without_due, &other, than);
        let is_taken =
            is_better(without_due, &other, than) || !is_worse(without_due, &other, than) && is_other();
        if is_taken && !lets_go_of_due(scene, without_due, &other.target) {
            best = Some(other);
        }
    }
    best
}

/// Plans the fleet step by step. Nodes in `may_go` may be removed for savings; others may be due.
fn stepped(
    scene: &Scene<'_>,
    without_due: &Snapshot,
    (may_go, is_due): (&BTreeSet<NodeName>, bool),
) -> Solution {
    let solution = step(scene, without_due);
    let removed = solution.target.removed_names();
    let is_anew = || consolidate::is_large(without_due) && may_go.is_subset(&removed);
    let is_fresh = (may_go.is_empty() || is_anew()) && !is_due;
    // If nothing is to be done, searching again has the same result.
    match is_fresh && !gains_by_looking(without_due, &solution) || solution.target.is_reached() {
        true => solution,
        false => repeated(scene, without_due, solution),
    }
}

/// Returns whether a fleet built from scratch may gain from another search: it is small, or some of not too many pods
/// are unplaced, which may fit beside those placed before them.
fn gains_by_looking(snapshot: &Snapshot, solution: &Solution) -> bool {
    let waiting = snapshot.pods.iter().filter(|pod| pod.place == PodPlace::Waiting).count();
    let made = solution.target.new.len();
    let are_few = waiting <= FEW_MAX && !consolidate::is_large(snapshot);
    let is_small = made > 0 && (made <= FRESH_MAX || are_few);
    is_small || solution.report.left_over() > 0 && waiting <= LEFT_OVER_MAX
}

/// Returns whether a fleet leaves fewer pods unplaced than another, the highest priority first, or as many at a lower
/// cost.
pub(super) fn is_better(snapshot: &Snapshot, one: &Solution, other: &Solution) -> bool {
    is_worth_it(snapshot, (one, 0), (other, 0))
}

/// Returns whether a fleet leaves more pods unplaced than another, the highest priority first.
fn is_worse(snapshot: &Snapshot, one: &Solution, other: &Solution) -> bool {
    let [left, left_by_other] = [one, other].map(|solution| caution::unplaced(snapshot, solution));
    trial::is_worse(&left, &left_by_other)
}

/// Like [`is_better`], with the disruption cost of each side added. Availability premiums count here too.
pub(super) fn is_worth_it(snapshot: &Snapshot, one: (&Solution, i64), other: (&Solution, i64)) -> bool {
    let [left, left_by_other] = [one, other].map(|(solution, _)| caution::unplaced(snapshot, solution));
    let cost = |(solution, moves): (&Solution, i64)| {
        let Cost { unpriced_nodes, effective, .. } = solution.report.cost_after;
        let premiums: i64 = solution.target.new.iter().map(|node| node.premium.0).sum();
        (unpriced_nodes, effective.0 + premiums + moves)
    };
    trial::is_worse(&left_by_other, &left)
        || !trial::is_worse(&left, &left_by_other) && cost(one) < cost(other)
}

/// Returns whether due nodes that are kept could be removed once a target is reached: removed nodes gone, new nodes
/// ready.
fn lets_go_of_due(scene: &Scene<'_>, without_due: &Snapshot, target: &Target) -> bool {
    let (mut then, _) = afterwards::when_gone(scene, without_due, target);
    then.nodes.iter_mut().for_each(|node| node.stage = NodeStage::Initialized);
    let due = Due::of(&then, scene.policy);
    !due.settled(scene, &then).names().is_empty()
}

/// Returns what keeps a node with pods although its pool may remove it.
pub(super) fn alone(
    (snapshot, policy): (&Snapshot, &Policy),
    target: &Target,
    node: &NodeName,
) -> Option<Alone> {
    begun((snapshot, policy), &Memos::default(), |scene, without_due, _| {
        alone::alone(scene, &imagined::after(scene, without_due, target), node)
    })
}

/// Reads the inputs of planning, and passes them on with the world in which due nodes are being deleted, the nodes that
/// may be removed, and the due nodes.
fn begun<T>(
    (snapshot, policy): (&Snapshot, &Policy),
    memos: &Memos,
    then: impl FnOnce(&Scene<'_>, &Snapshot, (BTreeSet<NodeName>, Due)) -> T,
) -> T {
    let market = &Market::of(snapshot, policy);
    let room = &headroom::asked(snapshot);
    let snapshot = &*headroom::without_room(snapshot);
    let book = &PriceBook::new(&policy.fleet.prices);
    let evictions = &snapshot.evictions();
    let (lets_go, stuck) = (&candidate::pools(snapshot, policy), &candidate::stuck(snapshot, policy));
    let rules = Rules { policy, market, book, lets_go, stuck, evictions, room };
    let due = Due::of(snapshot, policy);
    let may_go = may_go(rules, snapshot);
    // Rules between pods are read with the pods of all removable nodes, so that every set is planned alike.
    let all = trial::marked(snapshot, &may_go.union(&due.names()).cloned().collect());
    staged(rules, &all, (memos, &due.names()), |scene| {
        let (impossible, rest) = Impossible::of(scene, snapshot).unzip();
        let snapshot = rest.as_ref().unwrap_or(snapshot);
        let (capped, rest) = Capped::of(scene, snapshot).unzip();
        let snapshot = rest.as_ref().unwrap_or(snapshot);
        let (impossible, capped) = (&impossible.unwrap_or_default(), &capped.unwrap_or_default());
        let scene = &Scene { impossible, capped, ..*scene };
        let due = due.settled(scene, snapshot);
        let scene = &Scene { asked: &due.names(), ..*scene };
        let without_due = &trial::marked(snapshot, &due.names());
        then(scene, without_due, (may_go, due))
    })
}

/// Returns the nodes with pods that may be removed: for savings, or for reasons other than cost.
pub(super) fn movable(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<NodeName> {
    let market = &Market::of(snapshot, policy);
    let book = &PriceBook::new(&policy.fleet.prices);
    let found = Due::of(snapshot, policy);
    let due = found.names();
    let evictions = &snapshot.evictions();
    let (lets_go, stuck) = (&candidate::pools(snapshot, policy), &candidate::stuck(snapshot, policy));
    let rules = Rules { policy, market, book, lets_go, stuck, evictions, room: &Demand::default() };
    let mut movable = may_go(rules, snapshot);
    movable.extend(found.kept_by_number().cloned());
    movable.extend(due);
    movable
}

/// Returns the nodes with pods that may be removed if that saves enough.
fn may_go(rules: Rules<'_>, snapshot: &Snapshot) -> BTreeSet<NodeName> {
    if snapshot.nodes.is_empty() {
        return BTreeSet::new();
    }
    let topology = &Topology::of(snapshot);
    let daemons = &Daemons::of(snapshot, topology);
    candidate::names(rules, snapshot, &existing::standing(snapshot, daemons, topology))
}

/// Reads what does not depend on the removed nodes: rules between pods include the pods of nodes marked as leaving.
fn staged<T>(
    rules: Rules<'_>,
    marked: &Snapshot,
    (memos, asked): (&Memos, &BTreeSet<NodeName>),
    then: impl FnOnce(&Scene<'_>) -> T,
) -> T {
    let Rules { policy, market, book, lets_go, stuck, evictions, room } = rules;
    let topology = &Topology::of(marked);
    let daemons = &Daemons::of(marked, topology);
    let supplied = memos.beside(policy, market, daemons);
    then(&Scene {
        policy,
        market,
        book,
        topology,
        supply: supplied.supply(),
        memo: supplied.memo(),
        memos,
        daemons,
        lets_go,
        stuck,
        asked,
        evictions,
        room,
        slack: &Demand::default(),
        needs: &Needs::of(marked),
        impossible: &Impossible::default(),
        capped: &Capped::default(),
        // Nodes that are removed regardless of cost are checked by the plain search.
        looks_further: asked.is_empty(),
    })
}

/// Searches the planned world for further gains, up to a maximum number of times.
fn repeated(scene: &Scene<'_>, snapshot: &Snapshot, mut solution: Solution) -> Solution {
    let most = if consolidate::is_large(snapshot) { 1 } else { STEPS_MAX };
    for _ in 0..most {
        let between = imagined::after(scene, snapshot, &solution.target);
        let next = step(scene, &between);
        if next.target.is_reached() {
            break;
        }
        let both = composed::composed(scene, &between, (solution.clone(), next));
        if !whole::is_right(scene, snapshot, &both) {
            break;
        }
        solution = both;
    }
    solution
}

/// Sets the reason to `Empty` for removed nodes without pods, whatever was planned onto them.
fn say_empty(snapshot: &Snapshot, removed: &mut [Removal]) {
    if removed.is_empty() {
        return;
    }
    let busy = busy(snapshot);
    let empty = removed.iter_mut().filter(|removal| !busy.contains(&removal.node));
    empty.for_each(|removal| removal.reason = DisruptionReason::Empty);
}

/// Returns the nodes that carry pods other than DaemonSet pods.
fn busy(snapshot: &Snapshot) -> BTreeSet<&NodeName> {
    let bound = snapshot.pods.iter().filter(|pod| !pod.is_daemon).map(|pod| &pod.place);
    bound
        .filter_map(|place| match place {
            PodPlace::Bound(node) => Some(node),
            PodPlace::Waiting => None,
        })
        .collect()
}

/// Plans the fleet without the nodes whose removal saves most. Candidate fleets are searched less closely, so no node
/// is removed if that would leave more pods unplaced.
fn step(scene: &Scene<'_>, snapshot: &Snapshot) -> Solution {
    let leaving = consolidate::leaving(scene, snapshot);
    let may_stay = !leaving.is_empty();
    let gone = |leaving| gone(scene, snapshot, leaving, scheduler::with_slack);
    let as_in = |leaving: BTreeSet<NodeName>, target: &Target| {
        let without = &trial::marked(snapshot, &leaving);
        let solution = fleet::as_in(scene, without, target)?;
        Some(with_moved(scheduler::with_slack_alone(scene, without, solution), leaving))
    };
    let ours = (kept_in_place(scene, snapshot, &leaving), leaving);
    let solution = rival::whole::or(scene, snapshot, ours, Gone { anew: gone, as_in });
    if !may_stay || solution.report.left_over() == 0 {
        return solution;
    }
    let whole = gone(BTreeSet::new());
    if whole.report.left_over() < solution.report.left_over() { whole } else { solution }
}

/// Plans the fleet without these nodes, in which none of their pods becomes unplaced: candidate fleets are searched
/// less closely than the planned one, which may place the pods elsewhere.
fn kept_in_place(scene: &Scene<'_>, snapshot: &Snapshot, leaving: &BTreeSet<NodeName>) -> Solution {
    let further = gone(scene, snapshot, leaving.clone(), scheduler::with_slack);
    if leaving.is_empty() || !strands(scene, snapshot, (&further, leaving)) {
        return further;
    }
    let plain = &Scene { looks_further: false, ..*scene };
    let plain = gone(plain, snapshot, leaving.clone(), scheduler::with_slack);
    match strands(scene, snapshot, (&plain, leaving)) {
        true => gone(scene, snapshot, BTreeSet::new(), scheduler::with_slack),
        false => plain,
    }
}

/// Returns whether removing these nodes would strand a pod.
fn strands(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    (solution, set): (&Solution, &BTreeSet<NodeName>),
) -> bool {
    !stranding(scene, snapshot, (solution, set)).is_empty()
}

/// Returns those of these nodes whose pods become unplaced, move to nodes that are not initialized, or are needed where
/// they are by pods that stay.
pub(super) fn stranding(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    (solution, set): (&Solution, &BTreeSet<NodeName>),
) -> BTreeSet<NodeName> {
    let mut stranding = scene.needs.nodes_in((snapshot, set), scene.supply, &solution.target);
    let early = snapshot.nodes.iter().filter(|node| node.stage != NodeStage::Initialized);
    let early: BTreeSet<&NodeName> = early.map(|node| &node.name).collect();
    let Solution { target, report } = solution;
    let to_early = target.kept.iter().filter(|kept| early.contains(&kept.node)).flat_map(|kept| &kept.pods);
    let left_over = report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    let held = report.held.iter().flat_map(|held| &held.pods);
    let lost: BTreeSet<&PodKey> = to_early.chain(left_over).chain(held).collect();
    // Usually there are none, and many pods.
    if !lost.is_empty() {
        stranding.extend(snapshot.pods.iter().filter_map(|pod| match &pod.place {
            PodPlace::Bound(node) if set.contains(node) && lost.contains(&pod.key) => Some(node.clone()),
            PodPlace::Bound(_) | PodPlace::Waiting => None,
        }));
    }
    stranding
}

/// Plans the fleet without these nodes.
fn gone(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    leaving: BTreeSet<NodeName>,
    with_slack: fn(&Scene<'_>, &Snapshot, Solution) -> Solution,
) -> Solution {
    let without = &trial::marked(snapshot, &leaving);
    let (apart, room) = headroom::shared(scene, without, fleet::without(scene, without));
    with_moved(with_slack(&Scene { slack: &room, ..*scene }, without, apart), leaving)
}

/// Lists nodes whose pods move among the removed nodes.
fn with_moved(mut solution: Solution, leaving: BTreeSet<NodeName>) -> Solution {
    let moved =
        leaving.into_iter().map(|node| Removal { node, reason: DisruptionReason::Underutilized, what: None });
    solution.target.removed.extend(moved);
    solution.target.removed.sort_by(|one, other| one.node.cmp(&other.node));
    solution
}

/// Lists the due nodes among the removed nodes, and among those that are kept although they might be removed.
pub(super) fn with_due(mut solution: Solution, due: Due) -> Solution {
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
