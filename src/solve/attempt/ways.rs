//! Portfolio of approaches: the best of a bounded number of attempts.
//!
//! Pods are assigned to domains before it is known what fits there. If a place takes fewer pods than assigned, the next
//! attempt assigns it no more than it took. If pods that share a node do not fit together, the followers are left out
//! of the next attempt. If limits leave pods unplaced, the best approach is tried again with nodes that hold as many
//! pods as they can. Candidates for a plan are drafts, and the best one is repeated in full.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::PodKey;
use crate::solve::demand::{Demand, Shape};
use crate::solve::fit::company::HostRule;
use crate::solve::fit::{Miss, affinity};
use crate::solve::pack::Effort;
use crate::solve::topology::assign::{self, Caps, Manner, Refused};
use crate::solve::topology::census::Running;
use crate::solve::topology::group::GroupKind;
use crate::solve::topology::{Role, Topology};

use super::{Approach, Attempt, Ground, attempt, overruled, score};

/// Maximum number of reassignments after the first attempt.
const ROUNDS_MAX: usize = 5;

/// Number of pods to place above which drafts are rough.
const ROUGH_MIN: usize = 10_000;

/// Number of pods to place from which other attempts are skipped if all are placed and less than one pod in `SHORT_MAX`
/// is not where it was assigned: another attempt would change almost nothing.
const SPARED_MIN: usize = 5_000;
const SHORT_MAX: usize = 100;

/// Maximum number of pods that are assigned in other manners too.
const OTHERWISE_MAX: usize = 2_000;

/// Maximum number of replans without pods that were unplaced again.
const MENDS_MAX: usize = 3;

/// Parameters in which attempts differ.
struct Way {
    approach: Approach,
    /// Pods that are left out, with the reason.
    left_out: Vec<Refused>,
    /// Maximum number of pods of each place.
    caps: Caps,
}

/// Returns the best attempt.
pub(in crate::solve) fn best<'a>(ground: &Ground<'a>) -> Attempt<'a> {
    if !ground.effort.is_plan() {
        return found(ground).0;
    }
    let running = &Running::of(ground.topology, ground.nodes);
    let first = attempt((ground, running), ground.demand, &Caps::new());
    if is_settled(ground, &first) {
        return first;
    }
    let appraisal = ground.appraised();
    let is_rough = ground.demand.pods() > ROUGH_MIN;
    let effort = if is_rough { Effort::Comparison(Some(&appraisal)) } else { Effort::Draft(&appraisal) };
    let (_, way) = found(&Ground { effort, ..*ground });
    let demand = without(ground.demand, &way.left_out);
    let taken = Ground { approach: way.approach, ..*ground };
    let mut best = attempt((&taken, running), &demand, &way.caps);
    best.assigned.refused.extend(way.left_out);
    if score(ground, &best) < score(ground, &first) { best } else { first }
}

/// Returns whether no approach but the first needs to be tried.
fn is_settled(ground: &Ground<'_>, first: &Attempt<'_>) -> bool {
    !is_short(ground.demand, first, &mut Caps::new())
        && followers(ground.demand, first).is_empty()
        && !is_left_beside(first)
        && !first.assigned.refused.iter().any(|refused| refused.was_placed)
        && !is_narrow(ground, first)
        && otherwise(ground, first).next().is_none()
}

/// Returns the best attempt of this effort, and its parameters. Few pods are assigned to domains in other manners too.
fn found<'a>(ground: &Ground<'a>) -> (Attempt<'a>, Way) {
    let approach = ground.approach;
    let mut best = best_of(ground, approach);
    // Without existing nodes there are no running pods to draw others away from.
    if is_left_beside(&best.0) && !ground.nodes.is_empty() {
        let led = best_of(ground, Approach { leads: true, ..approach });
        if score(ground, &led.0) < score(ground, &best.0) {
            best = led;
        }
    }
    for manner in otherwise(ground, &best.0) {
        let other = best_of(ground, Approach { manner, ..approach });
        if score(ground, &other.0) < score(ground, &best.0) {
            best = other;
        }
    }
    if !approach.fills && is_narrow(ground, &best.0) {
        let fuller = best_of(ground, Approach { fills: true, ..best.1.approach });
        if score(ground, &fuller.0) < score(ground, &best.0) {
            best = fuller;
        }
    }
    best
}

/// Returns whether there are few enough pods for further attempts.
fn is_little(ground: &Ground<'_>) -> bool {
    ground.looks_further && ground.demand.pods() <= OTHERWISE_MAX
}

/// Returns whether limits allow too few nodes for a small number of pods.
fn is_narrow(ground: &Ground<'_>, found: &Attempt<'_>) -> bool {
    let is_left_over = found.assigned.leaves_over() || !found.finished.unplaced.is_empty();
    is_little(ground) && is_left_over && found.finished.ledger.has_limits()
}

/// Returns the other manners to try: if rules between pods leave some unplaced, if spreads let domains differ by more
/// than one, and if limits allow too few nodes. If no pod depends on its domain, every manner has the same result.
fn otherwise(ground: &Ground<'_>, found: &Attempt<'_>) -> impl Iterator<Item = Manner> + use<> {
    let is_tied = ground.demand.shapes.iter().any(|shape| !shape.roles.is_empty());
    let is_asked = is_little(ground) && is_tied;
    let is_refused = is_asked && found.assigned.leaves_over();
    let is_loose = is_asked && is_loose(ground.topology, ground.demand);
    let is_narrow = is_asked && is_narrow(ground, found);
    let others =
        [(Manner::BoundFirst, is_refused), (Manner::Thriftily, is_loose), (Manner::Gathered, is_narrow)];
    others.into_iter().filter(|(_, is_asked)| *is_asked).map(|(manner, _)| manner)
}

/// Returns whether pods that must be next to others are unplaced.
fn is_left_beside(attempt: &Attempt<'_>) -> bool {
    let shapes = attempt.finished.unplaced.iter().map(|(shape, _)| &attempt.assigned.demand.shapes[*shape]);
    let mut roles = shapes.flat_map(|shape| &shape.ask.company);
    roles.any(|role| role.rule == HostRule::Beside && role.is_bound)
}

/// Returns the best attempt of one approach, and its parameters.
fn best_of<'a>(ground: &Ground<'a>, approach: Approach) -> (Attempt<'a>, Way) {
    let ground = &Ground { approach, ..*ground };
    let running = &Running::of(ground.topology, ground.nodes);
    let (mut best, mut way) = without_followers(ground, running);
    let demand = &*without(ground.demand, &way.left_out);
    let followers = way.left_out.clone();
    for _ in 0..MENDS_MAX {
        let came_off: Vec<Refused> =
            best.assigned.refused.iter().filter(|refused| refused.was_placed).cloned().collect();
        if came_off.is_empty() || overruled(ground, &best) == 0 {
            break;
        }
        let (mut next, caps) = rounds((ground, running), &without(demand, &came_off));
        let left_out: Vec<Refused> = came_off.into_iter().chain(followers.iter().cloned()).collect();
        next.assigned.refused.extend(left_out.iter().cloned());
        if score(ground, &next) >= score(ground, &best) {
            break;
        }
        best = next;
        way = Way { left_out, caps, ..way };
    }
    (best, way)
}

/// Returns the best attempt, and the pods left out of it: they do not fit together with the pods that they must share a
/// node with, and the others fit without them.
fn without_followers<'a>(ground: &Ground<'a>, running: &Running<'a>) -> (Attempt<'a>, Way) {
    let Ground { approach, .. } = *ground;
    let (first, caps) = rounds((ground, running), ground.demand);
    let whole = Way { approach, left_out: Vec::new(), caps };
    let followers = followers(ground.demand, &first);
    if followers.is_empty() {
        return (first, whole);
    }
    let tried = |places: &[usize]| {
        let left_out: Vec<Refused> = places.iter().flat_map(|place| &followers[*place]).cloned().collect();
        let (mut next, caps) = rounds((ground, running), &without(ground.demand, &left_out));
        next.assigned.refused.extend(left_out.iter().cloned());
        (next, Way { approach, left_out, caps })
    };
    let mut left_out: Vec<usize> = (0..followers.len()).collect();
    let mut best = tried(&left_out);
    if score(ground, &best.0) >= score(ground, &first) {
        return (first, whole);
    }
    // Adds back pods that are not the cause. Comparisons of worlds skip this.
    if !ground.effort.is_plan() {
        return best;
    }
    for place in 0..followers.len().min(MENDS_MAX) {
        let fewer: Vec<usize> = left_out.iter().copied().filter(|other| *other != place).collect();
        let next = tried(&fewer);
        if score(ground, &next.0) < score(ground, &best.0) {
            (best, left_out) = (next, fewer);
        }
    }
    best
}

/// Returns the followers of unplaced pods, by shape, with the reason; and the barred pods, which would take their
/// place.
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
            None if unplaced.contains(leader) => affinity::together(),
            None => continue,
        };
        left.extend(riders.iter().map(|rider| (rider, miss.clone())));
    }
    if left.is_empty() {
        return Vec::new();
    }
    let barred = assigned.demand.barred.iter();
    left.extend(barred.flat_map(|barred| barred.pods.iter().map(|pod| (pod, barred.miss.clone()))));
    let of_shape = |shape: &Shape| {
        let pods = shape.pods.iter().filter_map(|pod| Some((pod.clone(), left.get(pod)?.clone())));
        let mut refused = assign::grouped(demand, pods.collect());
        refused.iter_mut().for_each(|refused| refused.was_placed = false);
        refused
    };
    demand.shapes.iter().map(of_shape).filter(|refused| !refused.is_empty()).collect()
}

/// Returns the demand without pods that were unplaced again: other nodes were opened as if those pods kept using their
/// limits.
fn without<'d>(demand: &'d Demand, came_off: &[Refused]) -> Cow<'d, Demand> {
    if came_off.is_empty() {
        return Cow::Borrowed(demand);
    }
    let gone: BTreeSet<&PodKey> = came_off.iter().flat_map(|refused| &refused.pods).collect();
    let mut rest = demand.clone();
    rest.shapes.iter_mut().for_each(|shape| shape.pods.retain(|pod| !gone.contains(pod)));
    Cow::Owned(rest)
}

/// Returns whether a spread lets the domains of pending pods differ by more than one.
fn is_loose(topology: &Topology, demand: &Demand) -> bool {
    let is_loose = |role: &Role| match &topology.groups[role.group].kind {
        GroupKind::Spread(spread) => role.is_bound && spread.max_skew > 1,
        GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Volume(_) => false,
    };
    demand.shapes.iter().flat_map(|shape| &shape.roles).any(is_loose)
}

/// Returns the best of the attempts with repeated assignment, and its caps.
fn rounds<'a>((ground, running): (&Ground<'a>, &Running<'a>), demand: &Demand) -> (Attempt<'a>, Caps) {
    let mut caps = Caps::new();
    let first = attempt((ground, running), demand, &caps);
    let mut best = (score(ground, &first), Caps::new());
    let mut is_new = is_short(demand, &first, &mut caps);
    let mut found = first;
    for _ in 0..ROUNDS_MAX {
        if !is_new {
            break;
        }
        let given = caps.clone();
        let next = attempt((ground, running), demand, &caps);
        is_new = next.shortfalls.tighten(&next.assigned, &mut caps);
        let score = score(ground, &next);
        if score < best.0 {
            best = (score, given);
            found = next;
        }
    }
    (found, best.1)
}

/// Returns whether places took fewer pods than assigned and reassignment is worthwhile; records what they took.
fn is_short(demand: &Demand, first: &Attempt<'_>, caps: &mut Caps) -> bool {
    let is_new = first.shortfalls.tighten(&first.assigned, caps);
    let is_little = demand.pods() >= SPARED_MIN && first.shortfalls.pods * SHORT_MAX < demand.pods();
    is_new && !(is_little && is_whole(first))
}

/// Returns whether all pods are placed, and none on a lighter pool than assigned.
fn is_whole(attempt: &Attempt<'_>) -> bool {
    attempt.finished.unplaced.is_empty()
        && attempt.assigned.refused.is_empty()
        && attempt.shortfalls.lighter == 0
}
