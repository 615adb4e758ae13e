//! The fleet that results from Karpenter's actions, as a solution: kept, new and removed nodes.
//!
//! Decides nothing except which nodes limits do not allow.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, Pod, PodKey, PodPlace};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::choices;
use crate::solve::daemons::Daemons;
use crate::solve::demand::Demand;
use crate::solve::fit::limits::Ledger;
use crate::solve::fit::mounts::Shared;
use crate::solve::fleet::Costs;
use crate::solve::ledger;
use crate::solve::market::Market;
use crate::solve::memo::Memos;
use crate::solve::price::{self, PriceBook};
use crate::solve::replicas;
use crate::solve::report::variety::warnings as variety_warnings;
use crate::solve::report::{attached, devices, systems, undecided, warnings};
use crate::solve::shrink::Shrunk;
use crate::solve::shrink::due::Due;
use crate::solve::shrink::trial::marked;
use crate::solve::solution::{Kept, NewNode, Report, Solution, Target};
use crate::solve::supply::Supply;
use crate::solve::topology::Topology;

use super::course::{Course, course};
use super::desk::{self, Beyond, Desk};
use super::late::Late;
use super::passes::{Passed, passes};
use super::refused::Refused;
use super::settle::Bought;
use super::store::Store;
use super::{Preferences, Settings, report};

/// Plans as Karpenter does: the nodes that it creates, the pods that it moves and the nodes that it removes until it
/// finds nothing more to do, as one target. Pods and removals in `refused` are left out, each with the reason.
#[must_use]
pub fn solve(snapshot: &Snapshot, policy: &Policy, settings: Settings, refused: &Refused) -> Solution {
    beside(&Memos::default(), (snapshot, policy), settings, refused)
}

/// Like [`solve`], with the memos of other plans.
pub(in crate::solve) fn beside(
    memos: &Memos,
    (snapshot, policy): (&Snapshot, &Policy),
    settings: Settings,
    refused: &Refused,
) -> Solution {
    let mut solution = replicas::without_replacements(snapshot, policy, |world| {
        let due = Due::of(world, policy);
        let drifted = due.clone().drifted(|node| report::why_drifted_stays(world, node));
        let (mut going, mut staying) = due.of_fixed(world, policy).listed();
        going.retain(|removal| refused.lets_go(&removal.node, removal.reason));
        let names = going.iter().map(|removal| removal.node.clone()).collect();
        let mut solution = of_world(memos, (&marked(world, &names), policy), settings, refused);
        let Solution { target, report } = &mut solution;
        target.removed.extend(going);
        target.removed.sort_by(|one, other| one.node.cmp(&other.node));
        report.staying.retain(|(node, _)| !names.contains(node));
        // A node without pods may be removed as empty, whatever it has drifted from.
        let carries = |node: &NodeName| {
            let mut pods = world.pods.iter().filter(|pod| !pod.is_daemon);
            pods.any(|pod| matches!(&pod.place, PodPlace::Bound(place) if place == node))
        };
        staying.extend(drifted.into_iter().filter(|(node, _)| carries(node)));
        staying.extend(report::not_known_to_be_empty(world, target));
        report::add_staying(&mut report.staying, &target.removed, staying);
        report.staying.sort();
        solution
    });
    choices::keep(snapshot, policy, &mut solution);
    attached::warn(snapshot, &mut solution);
    systems::warn(snapshot, &mut solution);
    solution
}

/// Plans a snapshot in which static pools have exactly the nodes that they request.
fn of_world(
    memos: &Memos,
    (snapshot, policy): (&Snapshot, &Policy),
    settings: Settings,
    refused: &Refused,
) -> Solution {
    let market = &Market::of(snapshot, policy);
    let store = &Store::of((snapshot, policy, market), settings);
    let Course { removed, made, mut places, passed, refused } = course((snapshot, store), settings, refused);
    let gone: BTreeSet<NodeName> = removed.iter().map(|removal| removal.node.clone()).collect();
    let left = &marked(snapshot, &gone);
    let topology = Topology::of(left);
    let (demand, daemons) = (Demand::of(left, &topology), Daemons::of(left, &topology));
    let book = PriceBook::new(&policy.fleet.prices);
    let supplied = memos.beside(policy, market, &daemons);
    let (supply, known) = (supplied.supply(), supplied.memo().known(market));
    let shrunk = Shrunk { removed, ..Shrunk::default() };
    let standing = Costs::of(snapshot, &shrunk, market, &book);
    let there = price::cost(&snapshot.nodes, market, &book).effective;
    let mut ledger = ledger::opened(market.limiting(policy), &snapshot.nodes, &standing.free, there);
    let trade = Trade { policy, market, book: &book, supply };
    let (mut new, beyond) = nodes((snapshot, trade), made.iter(), &mut ledger);
    let costs = standing.with_new(&new, &ledger, &book);
    let mut warnings = warnings::all(policy, (market, known), (&[&demand], supply));
    let mut unplaced = report::unplaced(&passed, &refused, beyond);
    let over = unplaced.iter().flat_map(|group| &group.pods).cloned().collect();
    let late = Late { left: &over, places: &mut places, new: &mut new, refused: &refused.late };
    let late = late.place(left, trade, (&daemons, &topology));
    unplaced.iter_mut().for_each(|group| group.pods.retain(|pod| !late.contains(pod)));
    unplaced.retain(|group| !group.pods.is_empty());
    warnings.extend(devices::warnings(snapshot, &[&demand], supply));
    warnings.extend(variety_warnings(policy, &new));
    let report = Report {
        unplaced,
        held: report::held(snapshot),
        without_requests: demand.without_requests,
        warnings,
        staying: report::staying(&refused, &shrunk.removed),
        undecided: [undecided::undecided, undecided::too_old]
            .into_iter()
            .flat_map(|say| say(snapshot, policy))
            .collect(),
        cost_before: costs.0,
        cost_after: costs.1,
        ..Report::default()
    };
    let target = Target { kept: kept(left, &places), new, removed: shrunk.removed };
    Solution { target, report }
}

/// The supply, and the prices by which it is chosen.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Trade<'a> {
    pub(in crate::solve) policy: &'a Policy,
    pub(in crate::solve) market: &'a Market,
    pub(in crate::solve) book: &'a PriceBook<'a>,
    pub(in crate::solve) supply: &'a Supply<'a>,
}

/// Karpenter's provisioning for one snapshot, ignoring soft preferences. Never removes a node, and never checks a
/// result.
pub(in crate::solve) struct Provisioning<'a> {
    snapshot: &'a Snapshot,
    trade: Trade<'a>,
    settings: Settings,
    store: Store<'a>,
}

impl<'a> Provisioning<'a> {
    /// Reads the supply.
    pub(in crate::solve) fn of(snapshot: &'a Snapshot, trade: Trade<'a>) -> Self {
        let Trade { policy, market, .. } = trade;
        let settings = Settings { preferences: Preferences::Ignore, ..Settings::of(policy) };
        Self { snapshot, trade, settings, store: Store::of((snapshot, policy, market), settings) }
    }

    /// Returns the pods that are placed on existing nodes, and the new nodes that limits allow, which are taken off the
    /// ledger. Pods in `left_out` are not placed.
    pub(in crate::solve) fn without(
        &self,
        left_out: &BTreeMap<PodKey, String>,
        ledger: &mut Ledger,
    ) -> (BTreeMap<PodKey, NodeName>, Vec<NewNode>) {
        let Self { snapshot, settings, ref store, .. } = *self;
        let Passed { settled, mut placed, .. } = passes((snapshot, store), settings, left_out);
        let claims = settled.iter().map(|settled| &settled.bought);
        let (new, _) = nodes((snapshot, self.trade), claims, ledger);
        let there: BTreeSet<&NodeName> = snapshot.nodes.iter().map(|node| &node.name).collect();
        placed.retain(|_, node| there.contains(node));
        (placed, new)
    }

    /// Places those of these pods that Karpenter leaves unplaced and that fit existing or new nodes, and returns them.
    /// Pods in `left_out` stay unplaced.
    pub(in crate::solve) fn late(
        &self,
        left: &BTreeSet<PodKey>,
        (places, new): (&mut BTreeMap<PodKey, NodeName>, &mut Vec<NewNode>),
        left_out: &BTreeSet<PodKey>,
    ) -> BTreeSet<PodKey> {
        let topology = &Topology::of(self.snapshot);
        let around = (&Daemons::of(self.snapshot, topology), topology);
        Late { left, places, new, refused: left_out }.place(self.snapshot, self.trade, around)
    }
}

/// Builds the nodes that claims become, as far as limits allow.
fn nodes<'b>(
    (snapshot, trade): (&Snapshot, Trade<'_>),
    claims: impl Iterator<Item = &'b Bought>,
    ledger: &mut Ledger,
) -> (Vec<NewNode>, Beyond) {
    let Trade { market, book, supply, .. } = trade;
    let pods: BTreeMap<&PodKey, &Pod> = snapshot.pods.iter().map(|pod| (&pod.key, pod)).collect();
    let is_tied = pods.values().any(|pod| desk::is_tied(pod));
    let (storage, shared) = (&snapshot.storage, &Shared::of(snapshot));
    Desk { supply, market, book, pods: &pods, storage, shared, is_tied }.nodes(claims, ledger)
}

fn kept(snapshot: &Snapshot, placed: &BTreeMap<PodKey, NodeName>) -> Vec<Kept> {
    let mut pods: BTreeMap<&NodeName, Vec<PodKey>> = BTreeMap::new();
    for (pod, node) in placed {
        pods.entry(node).or_default().push(pod.clone());
    }
    let mut kept: Vec<Kept> = snapshot
        .nodes
        .iter()
        .filter(|node| !node.is_deleting)
        .map(|node| Kept { node: node.name.clone(), pods: pods.remove(&node.name).unwrap_or_default() })
        .collect();
    kept.sort_by(|one, other| one.node.cmp(&other.node));
    kept
}
