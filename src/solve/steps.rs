//! The fleet without regard to soft preferences: nodes go step by step until nothing is left to gain.
//!
//! Every step plans the world that the steps before lead to; what they come to is one change from the world as it is.
//! What a set of nodes comes to when it goes is worked out elsewhere ([`super::fleet`]).

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

/// How often what is left to gain is looked for in the world that was planned; in a large one once.
const STEPS_MAX: usize = 8;

/// How often a fleet is worked out anew without due nodes whose pods have no sure place in it.
const DUE_MAX: usize = 4;

/// The most new nodes of a fleet that is looked at again though nothing that runs may go, or all of a large fleet does: of
/// few nodes each counts, and of many what is left to gain is little beside the time.
const FRESH_MAX: usize = 12;

/// The most pods that wait for which a fleet of more new nodes is looked at again, unless that of a large cluster: it takes
/// little time then.
const FEW_MAX: usize = 300;

/// The most pods that wait of a fleet that is looked at again because some of them are left over.
const LEFT_OVER_MAX: usize = 2_000;

/// Works out the fleet that should exist, and what stays though it might go.
pub(super) fn solve(snapshot: &Snapshot, policy: &Policy, memos: &Memos) -> Solution {
    apart::solve(snapshot, policy, memos)
        .unwrap_or_else(|| planned(snapshot, policy, memos, |_, _, solution, due| with_due(solution, due)))
}

/// Works out the fleet that should exist where what may go goes as in one of these fleets, or stays: a guess at what
/// [`solve`] comes to, which looks at more.
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

/// Works out the fleet that should exist, without what is due, and hands it on with the world that it was planned for, in
/// which due nodes go.
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
            // Single trials look less closely than the whole fleet, in which their pods came to stand elsewhere.
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

/// Works out the fleet of a world in which due nodes go.
fn of_world(
    scene: &Scene<'_>,
    without_due: &Snapshot,
    (may_go, due): (&BTreeSet<NodeName>, &Due),
    snapshot: &Snapshot,
) -> Solution {
    let is_due = !due.names().is_empty();
    let mut solution = stepped(scene, without_due, (may_go, is_due));
    // Other ways are looked at beside due nodes only where that may place more: each takes as long as all of this. They
    // may make room for what due nodes carry that stay, and the next plan would find that.
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

/// Works out the fleet for as many pods as have a place together, where limits leave too little for all; nothing where that
/// is no better. `looked_again` plans a world with all care.
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
        // Where as many have a place, those have it that would whatever else waited: of more, never fewer.
        let is_other = || best.is_none() && surplus::places_others(without_due, &other, than);
        let is_taken =
            is_better(without_due, &other, than) || !is_worse(without_due, &other, than) && is_other();
        if is_taken && !lets_go_of_due(scene, without_due, &other.target) {
            best = Some(other);
        }
    }
    best
}

/// Works out the fleet step by step. These nodes may go for what that saves; others may be due.
fn stepped(
    scene: &Scene<'_>,
    without_due: &Snapshot,
    (may_go, is_due): (&BTreeSet<NodeName>, bool),
) -> Solution {
    let solution = step(scene, without_due);
    let removed = solution.target.removed_names();
    let is_anew = || consolidate::is_large(without_due) && may_go.is_subset(&removed);
    let is_fresh = (may_go.is_empty() || is_anew()) && !is_due;
    // Where nothing is to be done, looking again finds the same.
    match is_fresh && !gains_by_looking(without_due, &solution) || solution.target.is_reached() {
        true => solution,
        false => repeated(scene, without_due, solution),
    }
}

/// Returns whether a fleet from nothing may well gain by being looked at again: it is small, or some of not too many pods
/// are left over, which may have a place beside those that came before them.
fn gains_by_looking(snapshot: &Snapshot, solution: &Solution) -> bool {
    let waiting = snapshot.pods.iter().filter(|pod| pod.place == PodPlace::Waiting).count();
    let made = solution.target.new.len();
    let are_few = waiting <= FEW_MAX && !consolidate::is_large(snapshot);
    let is_small = made > 0 && (made <= FRESH_MAX || are_few);
    is_small || solution.report.left_over() > 0 && waiting <= LEFT_OVER_MAX
}

/// Returns whether a fleet leaves fewer pods over than another, the highest priority first, or as many for less.
pub(super) fn is_better(snapshot: &Snapshot, one: &Solution, other: &Solution) -> bool {
    is_worth_it(snapshot, (one, 0), (other, 0))
}

/// Returns whether a fleet leaves more pods over than another, the highest priority first.
fn is_worse(snapshot: &Snapshot, one: &Solution, other: &Solution) -> bool {
    let [left, left_by_other] = [one, other].map(|solution| caution::unplaced(snapshot, solution));
    trial::is_worse(&left, &left_by_other)
}

/// The same, where each costs so much more for what it moves. What is likely to be refused counts as dearer here too.
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

/// Returns whether due nodes that stay could go once a target is reached, what goes is gone and what comes up is there.
fn lets_go_of_due(scene: &Scene<'_>, without_due: &Snapshot, target: &Target) -> bool {
    let (mut then, _) = afterwards::when_gone(scene, without_due, target);
    then.nodes.iter_mut().for_each(|node| node.stage = NodeStage::Initialized);
    let due = Due::of(&then, scene.policy);
    !due.settled(scene, &then).names().is_empty()
}

/// Returns what keeps a node that carries pods though its pool may let it go.
pub(super) fn alone(
    (snapshot, policy): (&Snapshot, &Policy),
    target: &Target,
    node: &NodeName,
) -> Option<Alone> {
    begun((snapshot, policy), &Memos::default(), |scene, without_due, _| {
        alone::alone(scene, &imagined::after(scene, without_due, target), node)
    })
}

/// Reads what planning starts from, and hands it on with the world in which due nodes go, the nodes that may go, and what
/// is due.
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
    // Rules between pods are read with the pods of all that may go, so that every set is planned alike.
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

/// Returns the nodes that may go though they carry pods: for what that saves, or for other reasons than cost.
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

/// Returns the nodes that may go though they carry pods, where it saves enough.
fn may_go(rules: Rules<'_>, snapshot: &Snapshot) -> BTreeSet<NodeName> {
    if snapshot.nodes.is_empty() {
        return BTreeSet::new();
    }
    let topology = &Topology::of(snapshot);
    let daemons = &Daemons::of(snapshot, topology);
    candidate::names(rules, snapshot, &existing::standing(snapshot, daemons, topology))
}

/// Reads what is the same whatever goes: rules between pods with the pods of what is marked as leaving.
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
        // Which nodes can go whatever it costs is found out in the plain way.
        looks_further: asked.is_empty(),
    })
}

/// Looks for what is left to gain in the world that was planned, a counted number of times.
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

/// Says of what carries no pods that it is removed for being empty, whatever was meant to come there.
fn say_empty(snapshot: &Snapshot, removed: &mut [Removal]) {
    if removed.is_empty() {
        return;
    }
    let busy = busy(snapshot);
    let empty = removed.iter_mut().filter(|removal| !busy.contains(&removal.node));
    empty.for_each(|removal| removal.reason = DisruptionReason::Empty);
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

/// Works out the fleet without the nodes whose going saves most. Worlds that are compared are looked at less closely: none
/// goes where more pods have a place then.
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

/// Works out the fleet without these nodes, in which none of their pods loses its place: fleets that are compared are not
/// looked at as closely as the one that is planned, which may have other places for them.
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

/// Returns whether some of these nodes cannot go.
fn strands(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    (solution, set): (&Solution, &BTreeSet<NodeName>),
) -> bool {
    !stranding(scene, snapshot, (solution, set)).is_empty()
}

/// Returns those of these nodes of which pods are left over, or move to nodes that have not come up, or are needed where they
/// are by others that stay.
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
    // As a rule there are none, and many pods.
    if !lost.is_empty() {
        stranding.extend(snapshot.pods.iter().filter_map(|pod| match &pod.place {
            PodPlace::Bound(node) if set.contains(node) && lost.contains(&pod.key) => Some(node.clone()),
            PodPlace::Bound(_) | PodPlace::Waiting => None,
        }));
    }
    stranding
}

/// Works out the fleet without these nodes.
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

/// Lists nodes whose pods move with what is removed.
fn with_moved(mut solution: Solution, leaving: BTreeSet<NodeName>) -> Solution {
    let moved =
        leaving.into_iter().map(|node| Removal { node, reason: DisruptionReason::Underutilized, what: None });
    solution.target.removed.extend(moved);
    solution.target.removed.sort_by(|one, other| one.node.cmp(&other.node));
    solution
}

/// Lists the due nodes with what is removed, and with what stays though it might go.
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
