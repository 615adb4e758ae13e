//! Deletion of all managed nodes: which nodes are deleted, which are kept and why, and which kept nodes their pods fit.
//!
//! Never creates nodes. Ignores budgets, quiet time and cost, because the user requests more than they allow. Respects
//! what protects single nodes and pods, and holds of the fleet, which delay the deletion of nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::eviction::Evictions;
use crate::model::{DisruptionReason, Node, NodeName, Pod, PodPlace, ResourceName, Resources, Target};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::gangs::{self, Spares};
use super::market::Market;
use super::memo::Memos;
use super::price::{self, PriceBook};
use super::shrink::{empty, trial};
use super::solution::{Held, Removal, Report, Solution, Target as Fleet};
use super::steps;

/// Plans the fleet that is left if all nodes of NodePools are deleted, or only the targets if there are any.
#[must_use]
pub fn destroy(snapshot: &Snapshot, policy: &Policy, targets: &BTreeSet<Target>) -> Solution {
    let mut removed = Vec::new();
    let mut staying = Vec::new();
    let mut going = BTreeSet::new();
    let kept = Kept::of(snapshot, policy);
    let mut spares = Spares::of(snapshot, &snapshot.gangs(), &[]);
    let meant = snapshot.nodes.iter().filter(|node| !node.is_deleting && is_meant(node, targets));
    for node in meant {
        if let Some(why) = kept.why(node).or_else(|| spares.take(&node.name).err()) {
            staying.push((node.name.clone(), why));
            continue;
        }
        let holds = &policy.fleet.holds;
        let hold = node
            .pool
            .as_ref()
            .and_then(|pool| holds.on_removal(pool, DisruptionReason::Destroyed, snapshot.at));
        if hold.is_none() {
            going.insert(node.name.clone());
        }
        removed.push(Removal { node: node.name.clone(), reason: DisruptionReason::Destroyed, what: None });
    }
    without((snapshot, policy), &going, Removed { removed, staying })
}

/// Plans the fleet that is left if the nodes deleted by users are gone. Protections of their pods apply when the nodes
/// are drained, and are no reason to keep a node.
#[must_use]
pub fn deleted(snapshot: &Snapshot, policy: &Policy) -> Solution {
    let named = &snapshot.supposed.wishes.deleted;
    let nodes = snapshot.nodes.iter().filter(|node| named.contains(&node.name));
    let going: BTreeSet<NodeName> = nodes.map(|node| node.name.clone()).collect();
    let removal =
        |node: &NodeName| Removal { node: node.clone(), reason: DisruptionReason::Deleted, what: None };
    let removed = going.iter().map(removal).collect();
    without((snapshot, policy), &going, Removed { removed, staying: Vec::new() })
}

/// Removed nodes, including those that a hold keeps for now, and kept nodes with the reason.
struct Removed {
    removed: Vec<Removal>,
    staying: Vec<(NodeName, String)>,
}

/// Returns the fleet without these nodes.
fn without(
    (snapshot, policy): (&Snapshot, &Policy),
    going: &BTreeSet<NodeName>,
    removed: Removed,
) -> Solution {
    let Removed { removed, staying } = removed;
    let rest = rest(snapshot, policy, going);
    let Solution { target: Fleet { kept, new: _, removed: _ }, report } = rest;
    let gone: BTreeSet<&NodeName> = removed.iter().map(|removal| &removal.node).collect();
    let stays = |node: &&Node| !node.is_deleting && !gone.contains(&node.name);
    let (market, book) = (Market::of(snapshot, policy), PriceBook::new(&policy.fleet.prices));
    let unplaced = report.unplaced.into_iter().flat_map(|unplaced| unplaced.pods).collect();
    let (waits_for, because) = match snapshot.supposed.wishes.destroy {
        true => (Held::DESTROY, "`--destroy` creates no node, and they fit no node that is kept"),
        false => {
            (Held::DELETE, "their node is deleted, and they fit no node that is kept: new nodes are planned")
        }
    };
    let waits = Held { pods: unplaced, waits_for: waits_for.to_owned(), because: because.to_owned() };
    let report = Report {
        cost_after: price::cost(snapshot.nodes.iter().filter(stays), &market, &book),
        cost_before: price::cost(snapshot.nodes_today(), &market, &book),
        held: left(waits, report.held),
        staying,
        passed_over: report.passed_over,
        without_requests: report.without_requests,
        ..Report::default()
    };
    Solution { target: Fleet { kept, new: Vec::new(), removed }, report }
}

/// Returns whether a node belongs to a NodePool and, if there are targets, is one of them.
fn is_meant(node: &Node, targets: &BTreeSet<Target>) -> bool {
    let Some(pool) = &node.pool else { return false };
    targets.is_empty()
        || targets.contains(&Target::Node(node.name.clone()))
        || targets.contains(&Target::NodePool(pool.clone()))
}

/// Adds the pods without a node to the held pods.
fn left(mut waits: Held, mut held: Vec<Held>) -> Vec<Held> {
    waits.pods.sort();
    if !waits.pods.is_empty() {
        held.push(waits);
    }
    held
}

/// Packs the pods onto the kept nodes, with pools that cannot create any node.
fn rest(snapshot: &Snapshot, policy: &Policy, going: &BTreeSet<NodeName>) -> Solution {
    let mut world = trial::marked(snapshot, going).into_owned();
    // Pods on kept nodes are not moved.
    world.nodes.iter_mut().for_each(|node| node.keep("what stays is not moved about"));
    let mut policy = policy.clone();
    for pool in policy.pools.values_mut() {
        pool.replicas = None;
        pool.limits = Resources::default().with(ResourceName::Cpu, 0);
        pool.nodes_max = Some(0);
    }
    gangs::solve(&world, |world| steps::solve(world, &policy, &Memos::default()))
}

/// Inputs for deciding whether a node is kept although its deletion is requested.
struct Kept<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    evictions: Evictions<'a>,
    bound: BTreeMap<&'a NodeName, Vec<&'a Pod>>,
    has_claims: bool,
}

impl<'a> Kept<'a> {
    fn of(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let mut bound: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
        for pod in &snapshot.pods {
            if let PodPlace::Bound(node) = &pod.place {
                bound.entry(node).or_default().push(pod);
            }
        }
        let has_claims = snapshot.nodes.iter().any(|node| node.claim.is_some());
        let evictions = snapshot.evictions();
        Self { snapshot, policy, evictions, bound, has_claims }
    }

    /// Returns why a node is kept; pods keep no node with a limited drain time (`terminationGracePeriod`).
    fn why(&self, node: &Node) -> Option<String> {
        let Self { snapshot, policy, evictions, bound, has_claims } = self;
        let pool = node.pool.as_ref()?;
        match policy.pools.get(pool) {
            // Its NodeClaim shows that nodeform created it.
            None if node.claimed.is_own && node.claim.is_some() => {}
            None => {
                return Some(format!(
                    "its pool `{pool}` is not in the input, so that it is not known whose it is"
                ));
            }
            Some(pool) if pool.is_deleting => {
                return Some(format!(
                    "its pool `{}` is being deleted, which takes its nodes along",
                    pool.name
                ));
            }
            Some(_) => {}
        }
        if let Some(unknown) = empty::unknown(node, *has_claims, !bound.is_empty()) {
            return Some(unknown);
        }
        if let Some(why) = node.why_kept() {
            return Some(why.to_owned());
        }
        let pods = bound.get(&node.name).map_or(&[][..], Vec::as_slice);
        // The user requests that nodes are deleted, not that a gang is torn apart on the way.
        if let Some(why) = pods.iter().find_map(|pod| evictions.why_bound_together(pod)) {
            return Some(why);
        }
        if node.claimed.termination_grace_period.is_some() {
            return None;
        }
        if let Some(pod) = pods.iter().find(|pod| pod.is_protected(snapshot.at)) {
            return Some(format!("its pod `{}` has `karpenter.sh/do-not-disrupt`", pod.key));
        }
        pods.iter().find_map(|pod| evictions.why_stays(pod))
    }
}
