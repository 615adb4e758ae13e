//! How many nodes of each pool may be disrupted now for a reason.
//!
//! Budgets count nodes that are ready for pods; those that are not well or going already use them up.

use std::collections::BTreeMap;

use crate::model::allowance::Allowance;
use crate::model::{DisruptionReason, Node, NodeStage, Pool, PoolName};

use super::scene::Scene;

/// What is left of each pool's budgets.
#[derive(Clone, Debug)]
pub(super) struct Left<'a>(BTreeMap<&'a PoolName, usize>);

impl<'a> Left<'a> {
    /// Reads what budgets let go.
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

    /// Returns how many more nodes of a pool may go.
    pub(super) fn nodes(&self, pool: &Pool) -> usize {
        self.0.get(&pool.name).copied().unwrap_or(0)
    }

    /// Takes one node of a pool, if one may go.
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
