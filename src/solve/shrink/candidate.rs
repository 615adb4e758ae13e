//! Candidates for consolidation: nodes that may be removed although they carry, or will carry, pods, and the minimum
//! saving.
//!
//! Karpenter's rules: the pool allows consolidation of underutilized nodes and they were quiet for long enough, neither
//! the node nor a pod on it has `karpenter.sh/do-not-disrupt`, no PodDisruptionBudget prevents it, and some budget
//! allows a removal. If no pod is pending that kube-scheduler might bind there immediately, empty nodes of any pool may
//! be removed: moved pods need not use them. The price of the node must be known. Never checks whether its pods fit
//! elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::allowance::{Allowance, PoolNodes};
use crate::model::eviction::Evictions;
use crate::model::{
    ConsolidationPolicy, DisruptionReason, MicroUsdPerHour, Node, NodeName, PodPlace, Pool, PoolName,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::demand::{Demand, Roster, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::market::Market;
use crate::solve::price::{self, PriceBook};

use super::trial::Scene;
use super::{empty, imagined};

/// A node that may be removed to save cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The node.
    pub(super) node: NodeName,
    /// Its hourly price.
    pub(super) price: MicroUsdPerHour,
}

impl Candidate {
    /// Returns the minimum saving for removing the node: 2 % of its price, but at least half a cent an hour. Less does
    /// not justify moving pods.
    pub(super) fn threshold(&self) -> i64 {
        const LEAST: i64 = 5_000;
        (self.price.0 / 50).max(LEAST)
    }
}

/// Returns the pools whose budgets allow an underutilized node to be removed now.
pub(in crate::solve) fn pools(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<PoolName> {
    let lets_go = |pool: &&Pool| {
        pool.disruption.policy != ConsolidationPolicy::WhenEmpty
            && at_once(snapshot, policy, pool, DisruptionReason::Underutilized) > 0
    };
    policy.pools.values().filter(lets_go).map(|pool| pool.name.clone()).collect()
}

/// Returns the empty nodes that no budget or freeze allows to be removed as empty; they could be removed for no other
/// reason. While pods are pending, empty nodes that must wait their turn are included, because pods may be bound to
/// them immediately.
pub(in crate::solve) fn stuck(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<NodeName> {
    let waits = snapshot.pods.iter().any(|pod| pod.place == PodPlace::Waiting);
    let reason = DisruptionReason::Empty;
    let lets_go = |pool: &&Pool| match waits {
        true => at_once(snapshot, policy, pool, reason) > 0,
        false => ever(snapshot, policy, pool, reason) > 0,
    };
    let keeping: BTreeSet<&PoolName> =
        policy.pools.values().filter(|pool| !lets_go(pool)).map(|pool| &pool.name).collect();
    let bound = snapshot.pods.iter().filter(|pod| !pod.is_daemon).filter_map(|pod| match &pod.place {
        PodPlace::Bound(node) => Some(node),
        PodPlace::Waiting => None,
    });
    let busy: BTreeSet<&NodeName> = if keeping.is_empty() { BTreeSet::new() } else { bound.collect() };
    let is_stuck = |node: &&Node| {
        node.pool.as_ref().is_some_and(|pool| keeping.contains(pool)) && !busy.contains(&node.name)
    };
    snapshot.nodes.iter().filter(is_stuck).map(|node| node.name.clone()).collect()
}

/// Inputs that decide which nodes may be removed.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Rules<'a> {
    pub(in crate::solve) policy: &'a Policy,
    pub(in crate::solve) market: &'a Market,
    pub(in crate::solve) book: &'a PriceBook<'a>,
    /// The pools whose budgets allow an underutilized node to be removed now.
    pub(in crate::solve) lets_go: &'a BTreeSet<PoolName>,
    /// The nodes that are empty in the real world and are kept for that, whatever an imagined world places on them.
    pub(in crate::solve) stuck: &'a BTreeSet<NodeName>,
    /// The evictions that are allowed in the real world, whatever an imagined world changes.
    pub(in crate::solve) evictions: &'a Evictions<'a>,
    /// The headroom for future pods.
    pub(in crate::solve) room: &'a Demand,
}

/// Returns the names of nodes that may be removed if it saves enough, ignoring held pods.
pub(in crate::solve) fn names(
    rules: Rules<'_>,
    snapshot: &Snapshot,
    nodes: &[Standing<'_>],
) -> BTreeSet<NodeName> {
    candidates(rules, snapshot, (nodes, &[])).into_iter().map(|known| known.node).collect()
}

/// Returns the minimum saving for each removable node.
pub(in crate::solve) fn thresholds(scene: &Scene<'_>, snapshot: &Snapshot) -> BTreeMap<NodeName, i64> {
    let standing = existing::standing(snapshot, scene.daemons, scene.topology);
    let held = Roster::of(snapshot, scene.topology).held_shapes(|node| snapshot.nodes[node].is_deleting);
    let candidates = candidates(scene.rules(), snapshot, (&standing, &held));
    candidates.into_iter().map(|known| (known.node.clone(), known.threshold())).collect()
}

/// Returns the nodes that may be removed, by name. Empty nodes are included only if no held pod may need them.
pub(super) fn candidates(
    rules: Rules<'_>,
    snapshot: &Snapshot,
    (nodes, held): (&[Standing<'_>], &[Shape]),
) -> Vec<Candidate> {
    let Rules { policy, market, book, lets_go, stuck, evictions, room } = rules;
    let has_claims = snapshot.nodes.iter().any(|node| node.claim.is_some());
    let has_pods = snapshot.knows_running_pods();
    let nobody_waits = !snapshot.pods.iter().any(|pod| pod.place == PodPlace::Waiting);
    let lets_empty_go: BTreeSet<&PoolName> = policy
        .pools
        .values()
        .filter(|pool| nobody_waits && ever(snapshot, policy, pool, DisruptionReason::Empty) > 0)
        .map(|pool| &pool.name)
        .collect();
    let may_go = |standing: &&Standing<'_>| {
        let node = standing.node;
        let is_let_go =
            |pool: &PoolName| lets_go.contains(pool) || standing.is_empty() && lets_empty_go.contains(pool);
        // An imagined node can be dropped without disruption, whatever budgets would allow once it exists.
        let is_free = !room.shapes.is_empty() && is_unmade(policy, node);
        is_free
            || node.pool.as_ref().is_some_and(is_let_go)
                && !stuck.contains(&node.name)
                && !node.is_deleting
                && empty::unknown(node, has_claims, has_pods).is_none()
                && empty::why_stays(snapshot, policy, standing).is_none()
                && standing.bound.iter().all(|pod| evictions.may_leave(pod))
                && !(standing.is_empty() && empty::wanted_by(standing, held).is_some())
    };
    let priced = |standing: &Standing<'_>| {
        let (quotes, _) = price::quote_nodes([standing.node], market, book);
        let price = quotes.into_iter().next()??.effective.known()?;
        Some(Candidate { node: standing.node.name.clone(), price })
    };
    nodes.iter().filter(may_go).filter_map(priced).collect()
}

/// Returns whether a node is only imagined, and not because its pool is static.
fn is_unmade(policy: &Policy, node: &Node) -> bool {
    let pool = node.pool.as_ref().and_then(|pool| policy.pools.get(pool));
    imagined::is_new(&node.name) && pool.is_some_and(|pool| pool.replicas.is_none())
}

/// Returns how many more nodes of a pool its budgets allow to be removed now for a reason.
pub(super) fn at_once(snapshot: &Snapshot, policy: &Policy, pool: &Pool, reason: DisruptionReason) -> usize {
    let nodes = PoolNodes::of(&snapshot.nodes, &pool.name);
    let out = nodes.leaving + nodes.down_beside(reason, |_| false);
    allowed(snapshot, policy, (pool, &nodes), reason).saturating_sub(out)
}

/// Returns how many nodes of a pool its budgets allow to be removed for a reason while no other node is leaving or
/// down.
pub(super) fn ever(snapshot: &Snapshot, policy: &Policy, pool: &Pool, reason: DisruptionReason) -> usize {
    allowed(snapshot, policy, (pool, &PoolNodes::of(&snapshot.nodes, &pool.name)), reason)
}

fn allowed(
    snapshot: &Snapshot,
    policy: &Policy,
    (pool, nodes): (&Pool, &PoolNodes<'_>),
    reason: DisruptionReason,
) -> usize {
    Allowance::of(pool, &policy.fleet.holds, snapshot.at).nodes(reason, nodes.joined.max(1))
}
