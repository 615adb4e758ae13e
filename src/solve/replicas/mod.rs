//! Pools that ask for a fixed number of nodes (`replicas`): what is missing is made, whatever pods ask for.
//!
//! The nodes to make stand in a copy of the world as if they had joined: pods use them as they use what exists, and
//! nothing is bought beside them without need. Afterwards they are named as new. Which nodes are too many is decided
//! with those that are due ([`super::shrink::due`]). Nothing here places a pod.

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

/// How often the world is planned again because nodes stay that were to be replaced.
const ROUNDS_MAX: usize = 4;

/// Plans a world in which pools have the nodes that they ask for, with one more for each that is to be replaced.
pub(super) fn with_replacements(
    snapshot: &Snapshot,
    policy: &Policy,
    solve: impl Fn(&Snapshot) -> Solution,
) -> Solution {
    with(snapshot, policy, || Due::of(snapshot, policy).without_room(), solve)
}

/// Plans a world in which pools have the nodes that they ask for, and what is drifted stays.
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

/// Returns the world, and its fleet, as if the nodes were there that pools ask for: no fleet is without them.
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

/// Returns whether a node is one that only a copy of the world has: no real name has a blank.
pub(super) fn is_imagined(node: &NodeName) -> bool {
    node.as_str().contains(' ')
}

/// Returns the name of a node that is imagined because its pool asks for a number of them: only those say the pool.
fn name_by_number(pool: &PoolName, number: usize) -> NodeName {
    NodeName::new(&*format!("new {pool} {number:05}"))
}

/// Returns whether a node has such a name.
pub(super) fn is_by_number(node: &NodeName) -> bool {
    node.as_str().split(' ').count() == 3
}

fn has_any(policy: &Policy) -> bool {
    policy.pools.values().any(|pool| pool.replicas.is_some() && !pool.is_deleting)
}

/// Returns how many nodes of a pool there are that are not on their way out.
pub(super) fn present(snapshot: &Snapshot, pool: &PoolName) -> usize {
    snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(pool) && !node.is_deleting).count()
}

/// Returns how many nodes a pool asks for, where it does.
pub(super) fn asked(pool: &Pool) -> Option<usize> {
    pool.replicas.map(|replicas| usize::try_from(replicas).unwrap_or(usize::MAX))
}

/// Returns of each pool how many nodes were made for others that stay after all.
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
