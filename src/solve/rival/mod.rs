//! Karpenter's placement as one more candidate when few pods are pending; the better of both fleets is taken.
//!
//! Our rules for choosing domains and filling nodes suit many pods; for a handful, first fit may find a placement that
//! they miss. Karpenter's fleet is checked by the same rules as ours. Never accepts anything that they refuse.

mod tried;
pub(super) mod whole;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::NO_ZONE;
use crate::model::{NodeName, PodKey};

use crate::solve::attempt::{self, Attempt, Ground};
use crate::solve::fit::Miss;
use crate::solve::fit::limits::{self, Ledger};
use crate::solve::fleet::Costs;
use crate::solve::karpenter::{Provisioning, Trade};
use crate::solve::shrink::Shrunk;
use crate::solve::solution::{NewNode, Target};
use crate::solve::topology::census::Running;
use crate::solve::{ledger, price};
use tried::Tried;

/// Maximum numbers of pending pods and existing nodes for which Karpenter's fleet is tried: for many pods, it usually
/// costs a fifth more than ours and takes longer.
const PODS_MAX: usize = 300;
const NODES_MAX: usize = 300;

/// Maximum number of pods if rules between pods leave some unplaced, which is worth a longer search.
const REFUSED_PODS_MAX: usize = 2_000;

/// Maximum number of rounds; each round leaves out the pods that rules refused before.
const ROUNDS_MAX: usize = 8;

/// Returns Karpenter's fleet if it leaves fewer pods unplaced or costs less; else ours.
pub(in crate::solve) fn or<'a>(ground: &Ground<'a>, ours: Attempt<'a>) -> Attempt<'a> {
    better(ground, ours, |_, _| true)
}

/// Like [`or`], for fleets in which new nodes replace running ones: Karpenter's fleet may create nodes without a zone
/// only if ours does too, because such nodes are the last choice for pods that ask for zones.
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

/// Returns whether an improvement is possible and the input is small.
fn is_asked(ground: &Ground<'_>, ours: &Attempt<'_>) -> bool {
    let Attempt { assigned, finished, .. } = ours;
    let pods_max = if assigned.leaves_over() { REFUSED_PODS_MAX } else { PODS_MAX };
    let is_small = ground.demand.pods() <= pods_max && ground.nodes.len() <= NODES_MAX;
    let is_whole = finished.nodes.is_empty() && finished.unplaced.is_empty() && assigned.refused.is_empty();
    ground.looks_further && ground.slack.shapes.is_empty() && is_small && !is_whole
}

/// How good a fleet is; smaller is better: unplaced pods, then the cost of the fleet including existing nodes that are
/// kept.
type Score = (attempt::LeftOver, attempt::Worth);

fn score(ground: &Ground<'_>, attempt: &Attempt<'_>) -> Score {
    (attempt::left_over(ground.demand, attempt), attempt::cost(attempt))
}

/// Returns whether some node has no zone.
fn is_outside(nodes: &[NewNode]) -> bool {
    nodes.iter().any(|node| node.zone.as_str() == NO_ZONE)
}

/// Places pods as Karpenter does, leaving out the pods that rules refuse where Karpenter places them. Returns `None` if
/// pool weights are violated or the rounds do not converge.
fn rival<'a>(ground: &Ground<'a>, ours: &Attempt<'a>) -> Option<Attempt<'a>> {
    let Ground { snapshot, policy, market, book, topology, supply, .. } = *ground;
    let running = &Running::of(topology, ground.nodes);
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let nothing_goes = Costs::of(snapshot, &Shrunk::default(), market, book);
    let karpenter = Provisioning::of(snapshot, Trade { policy, market, book, supply });
    let mut refused: BTreeMap<PodKey, Miss> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        let left_out = refused.iter().map(|(pod, miss)| (pod.clone(), miss.because.clone())).collect();
        let mut ledger = ledger::opened(market.limiting(policy), &snapshot.nodes, &nothing_goes.free, there);
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

/// Returns the fleet of a target that Karpenter reaches step by step; `None` if our rules refuse any of it, or if there
/// are commitments, because it is unknown which of its nodes they pay for.
pub(in crate::solve) fn as_in<'a>(
    ground: &Ground<'a>,
    ours: &Attempt<'a>,
    target: &Target,
) -> Option<Attempt<'a>> {
    let Ground { snapshot, policy, market, book, topology, supply, .. } = *ground;
    if !book.commitments().is_empty() {
        return None;
    }
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let nothing_goes = Costs::of(snapshot, &Shrunk::default(), market, book);
    let mut ledger = ledger::opened(market.limiting(policy), &snapshot.nodes, &nothing_goes.free, there);
    for node in &target.new {
        let (pool, kind, _) = supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type))?;
        let charges = ledger::charges(&ledger, pool.pool, node.vm(kind.kind));
        limits::why(&ledger, &charges).ok()?;
        ledger.take(&charges, 1);
    }
    let on = target.kept.iter().flat_map(|kept| kept.pods.iter().map(|pod| (pod.clone(), kept.node.clone())));
    let mut tried = Tried::of(ground, (on.collect(), target.new.clone()), ledger)?;
    match tried.refused(ground, &Running::of(topology, ground.nodes)).is_empty() {
        true => tried.attempt(ground, (ours, BTreeMap::new())),
        false => None,
    }
}

/// Places unplaced pods on nodes of the fleet that they fit, as kube-scheduler would; `None` if none fits.
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
