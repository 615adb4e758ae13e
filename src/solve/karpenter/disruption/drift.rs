//! Drift: nodes that their claims report as drifted, one at a time, the longest drifted first.
//!
//! Never determines whether a node drifted: that is read. The pool's policy, `consolidateAfter` and cost are ignored.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::model::{MicroUsdPerHour, Node, Pool};
use crate::solve::karpenter::Claim;
use crate::solve::karpenter::leaving::Quiet;

use super::allowance::Left;
use super::candidate::{self, Candidate, Class};
use super::probe::{self, Without};
use super::replacement::Narrowing;
use super::scene::Scene;
use super::{Command, Method, names};

/// Returns the command that replaces a drifted node. Nodes without pods come first: pods of other nodes would move
/// there only to move once more.
pub(super) fn command(scene: &Scene<'_, '_>) -> Option<Command> {
    let method = Method::Drift;
    let left = Left::of(scene, method.reason());
    let mut candidates = drifted(scene, method);
    candidates.retain(|one| one.pool.replicas.is_none() && left.nodes(one.pool) > 0);
    candidates.sort_by_key(|one| Reverse(one.carries_nothing));
    candidates.iter().find_map(|one| {
        let Without { claims, moved } = probe::without(scene, &[one], Quiet::Overlooked)?;
        let spent: i64 = claims.iter().map(|claim| first_price(scene, claim)).sum();
        let savings = MicroUsdPerHour(one.amount() - spent);
        Some(Command { method, nodes: names(&[one]), replacements: claims, moved, savings })
    })
}

/// Returns the drifted nodes, the longest drifted first, equal ones by name.
fn drifted<'a>(scene: &Scene<'a, '_>, method: Method) -> Vec<Candidate<'a>> {
    let mut candidates = candidate::all(scene, Class::Eventual);
    candidates.retain(|one| one.node.claimed.drift.is_some() && one.may_go(scene, method));
    candidates.sort_by_key(|one| one.node.claimed.drift.as_ref().and_then(|drift| drift.since));
    candidates
}

fn first_price(scene: &Scene<'_, '_>, claim: &Claim) -> i64 {
    let pool = scene.policy.pools.get(&claim.pool);
    pool.map_or(0, |pool| Narrowing { scene, pool }.first_price(claim))
}

/// Returns the command that replaces a drifted node of a static pool by a similar one, if the pool has no more nodes
/// than its `replicas`. The size of the new node is unknown until it is launched.
pub(super) fn of_static_pools(scene: &Scene<'_, '_>) -> Option<Command> {
    let method = Method::StaticDrift;
    let left = Left::of(scene, method.reason());
    let mut candidates = drifted(scene, method);
    candidates.retain(|one| one.pool.replicas.is_some() && left.nodes(one.pool) > 0);
    let pools: BTreeSet<_> = candidates.iter().map(|one| &one.pool.name).collect();
    pools.into_iter().find_map(|name| {
        let one = candidates.iter().find(|one| one.pool.name == *name)?;
        has_room(scene, one.pool).then(|| Command {
            method,
            nodes: names(&[one]),
            replacements: vec![like(one.pool)],
            moved: Vec::new(),
            savings: MicroUsdPerHour(one.amount()),
        })
    })
}

/// Returns whether a static pool has no more nodes than its `replicas`, and may temporarily have one more.
fn has_room(scene: &Scene<'_, '_>, pool: &Pool) -> bool {
    let is_own = |node: &&Node| node.claim.is_some() && node.pool.as_ref() == Some(&pool.name);
    let own = || scene.snapshot.nodes.iter().filter(is_own);
    let count = |nodes: usize| u64::try_from(nodes).unwrap_or(u64::MAX);
    let (all, staying) = (count(own().count()), count(own().filter(|node| !node.is_deleting).count()));
    let is_settled = pool.replicas.is_some_and(|replicas| staying <= replicas);
    is_settled && pool.nodes_max.is_none_or(|most| all < most)
}

fn like(pool: &Pool) -> Claim {
    Claim {
        pool: pool.name.clone(),
        requirements: pool.requirements.clone(),
        sizes: Vec::new(),
        cheapest: None,
        pods: Vec::new(),
        requests: crate::model::Resources::none(),
        is_min_values_relaxed: false,
    }
}
