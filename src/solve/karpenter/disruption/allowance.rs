//! Number of nodes of each pool that may be disrupted now for a reason.
//!
//! Budgets count initialized nodes; unhealthy nodes and nodes that are being deleted already use them up.

use std::collections::BTreeMap;

use crate::model::allowance::Allowance;
use crate::model::{DisruptionReason, Node, NodeStage, Pool, PoolName};

use super::scene::Scene;

/// Remaining budget of each pool.
#[derive(Clone, Debug)]
pub(super) struct Left<'a>(BTreeMap<&'a PoolName, usize>);

impl<'a> Left<'a> {
    /// Reads how many nodes the budgets allow.
    pub(super) fn of(scene: &Scene<'a, '_>, reason: DisruptionReason) -> Self {
        let left = |(name, pool): (&'a PoolName, &'a Pool)| {
            let is_counted = |node: &&Node| {
                let is_managed = node.claim.is_some() && node.stage == NodeStage::Initialized;
                is_managed && node.pool.as_ref() == Some(name)
            };
            let nodes: Vec<&Node> = scene.snapshot.nodes.iter().filter(is_counted).collect();
            let going = nodes.iter().filter(|node| node.is_deleting || !node.is_ready()).count();
            let allowed =
                Allowance::of(pool, &scene.policy.fleet.holds, scene.snapshot.at).nodes(reason, nodes.len());
            (name, allowed.saturating_sub(going))
        };
        Self(scene.policy.pools.iter().map(left).collect())
    }

    /// Returns how many more nodes of a pool may be disrupted.
    pub(super) fn nodes(&self, pool: &Pool) -> usize {
        self.0.get(&pool.name).copied().unwrap_or(0)
    }

    /// Takes one node off a pool's budget, if it allows one.
    pub(super) fn take(&mut self, pool: &Pool) -> bool {
        match self.0.get_mut(&pool.name) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            Some(_) | None => false,
        }
    }
}
