//! Static pools (`replicas`): creates missing nodes regardless of pending pods.
//!
//! The nodes to create are added to a copy of the world as if they had joined: pods use them like existing nodes, so no
//! others are bought unnecessarily. Afterwards they are reported as new. Surplus nodes are chosen together with those
//! that are due ([`super::shrink::due`]). Never places a pod.

mod filled;
mod named;
mod ways;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, NodeName, Pool, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::daemons::Daemons;
use super::market::Market;
use super::price::PriceBook;
use super::shrink::due::Due;
use super::shrink::imagined;
use super::solution::{Kept, NewNode, Solution};
use super::supply::Supply;
use super::topology::Topology;

use filled::Filled;

/// Maximum number of times that the world is planned again because nodes that were to be replaced are kept.
const ROUNDS_MAX: usize = 4;

/// Plans a world in which static pools have all their nodes, plus one for each node that is to be replaced.
pub(super) fn with_replacements(
    snapshot: &Snapshot,
    policy: &Policy,
    solve: impl Fn(&Snapshot) -> Solution,
) -> Solution {
    with(snapshot, policy, || Due::of(snapshot, policy).without_room(), solve)
}

/// Plans a world in which static pools have all their nodes, and drifted nodes are kept.
pub(super) fn without_replacements(
    snapshot: &Snapshot,
    policy: &Policy,
    solve: impl Fn(&Snapshot) -> Solution,
) -> Solution {
    with(snapshot, policy, BTreeMap::new, solve)
}

fn with(
    snapshot: &Snapshot,
    policy: &Policy,
    replaced: impl FnOnce() -> BTreeMap<PoolName, usize>,
    solve: impl Fn(&Snapshot) -> Solution,
) -> Solution {
    if !has_any(policy) {
        return solve(snapshot);
    }
    let mut replaced = replaced();
    let mut round = 0;
    loop {
        let filled = Filled::of(snapshot, policy, &replaced);
        let solution = filled.named(solve(&filled.world));
        let idle = idle(snapshot, policy, &solution, &replaced);
        round += 1;
        if idle.is_empty() {
            return solution;
        }
        for (pool, idle) in idle {
            replaced.entry(pool).and_modify(|count| *count -= idle);
        }
        if round == ROUNDS_MAX {
            replaced.clear();
        }
    }
}

/// Returns the world and its fleet as if the missing nodes of static pools existed, because every fleet contains them.
pub(super) fn as_if_there(snapshot: &Snapshot, policy: &Policy, solution: &Solution) -> (Snapshot, Solution) {
    let (mut world, mut fleet) = (snapshot.clone(), solution.clone());
    let (fixed, new): (Vec<NewNode>, Vec<NewNode>) =
        fleet.target.new.into_iter().partition(|node| node.opened_for.is_none());
    fleet.target.new = new;
    if fixed.is_empty() {
        return (world, fleet);
    }
    let (market, topology) = (Market::of(snapshot, policy), Topology::of(snapshot));
    let (book, daemons) = (PriceBook::new(&policy.fleet.prices), Daemons::of(snapshot, &topology));
    let supply = Supply::of_fixed(policy, &market, &book, &daemons);
    for (number, new) in fixed.into_iter().enumerate() {
        let Some(pool) = policy.pools.get(&new.pool) else { continue };
        let name = name_by_number(&pool.name, number);
        let node = imagined::joined((policy, &supply), name, &new, snapshot.at);
        fleet.target.kept.push(Kept { node: node.name.clone(), pods: new.pods });
        world.nodes.push(node);
    }
    world.nodes.sort_by(|one, other| one.name.cmp(&other.name));
    fleet.target.kept.sort_by(|one, other| one.node.cmp(&other.node));
    (world, fleet)
}

/// Returns whether a node exists only in a copy of the world: real names contain no blank.
pub(super) fn is_imagined(node: &NodeName) -> bool {
    node.as_str().contains(' ')
}

/// Returns the name of an imagined node of a static pool; no other imagined name contains the pool.
fn name_by_number(pool: &PoolName, number: usize) -> NodeName {
    NodeName::new(&*format!("new {pool} {number:05}"))
}

/// Returns whether a name is that of an imagined node of a static pool.
pub(super) fn is_by_number(node: &NodeName) -> bool {
    node.as_str().split(' ').count() == 3
}

fn has_any(policy: &Policy) -> bool {
    policy.pools.values().any(|pool| pool.replicas.is_some() && !pool.is_deleting)
}

/// Returns how many nodes a pool has that are not being deleted.
pub(super) fn present(snapshot: &Snapshot, pool: &PoolName) -> usize {
    snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(pool) && !node.is_deleting).count()
}

/// Returns how many nodes a pool requests; `None` if it is not static.
pub(super) fn asked(pool: &Pool) -> Option<usize> {
    pool.replicas.map(|replicas| usize::try_from(replicas).unwrap_or(usize::MAX))
}

/// Returns, per pool, the number of replacements that were created for nodes that are kept after all.
fn idle(
    snapshot: &Snapshot,
    policy: &Policy,
    solution: &Solution,
    replaced: &BTreeMap<PoolName, usize>,
) -> BTreeMap<PoolName, usize> {
    let gone: BTreeSet<&NodeName> = solution.target.removed.iter().map(|removal| &removal.node).collect();
    let of_pool = |(name, replaced): (&PoolName, &usize)| {
        let asked = asked(policy.pools.get(name)?)?;
        let own = |node: &&Node| node.pool.as_ref() == Some(name) && !node.is_deleting;
        let stay = snapshot.nodes.iter().filter(own).filter(|node| !gone.contains(&node.name)).count();
        let made = solution.target.new.iter().filter(|node| node.pool == *name).count();
        let idle = (stay + made).saturating_sub(asked).min(*replaced).min(made);
        (idle > 0).then(|| (name.clone(), idle))
    };
    replaced.iter().filter_map(of_pool).collect()
}
