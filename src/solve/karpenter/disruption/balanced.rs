//! The policy `Balanced`: whether the saving of a command is worth its disruption, relative to the whole pool.
//!
//! The saved share of the pool's cost must be at least half the disrupted share. Integers are compared by
//! cross-multiplication, without rounding.

use std::collections::BTreeMap;

use crate::model::{ConsolidationPolicy, Node, NodeName, Pool, PoolName};

use super::candidate::Candidate;
use super::cost;
use super::scene::Scene;

/// Maximum ratio of the disrupted share to the saved share.
const TIMES: i128 = 2;

/// Cost of all nodes of each pool, and the cost of disrupting them all.
pub(super) struct Totals<'a>(BTreeMap<&'a PoolName, (i64, i64)>);

impl<'a> Totals<'a> {
    /// Counts every node, whether it may be disrupted or not; candidates count with their own disruption cost.
    pub(super) fn of(scene: &Scene<'a, '_>, candidates: &[Candidate<'a>]) -> Self {
        let known: BTreeMap<&NodeName, &Candidate<'_>> =
            candidates.iter().map(|one| (&one.node.name, one)).collect();
        let mut totals: BTreeMap<&PoolName, (i64, i64)> = BTreeMap::new();
        for node in &scene.snapshot.nodes {
            let Some(pool) = scene.pool(node) else { continue };
            let (price, disruption) = totals.entry(&pool.name).or_default();
            *price += list_price(scene, node, pool);
            *disruption += known.get(&node.name).map_or_else(|| of_all_pods(scene, node), |one| one.cost);
        }
        Self(totals)
    }

    /// Returns whether removing one node is worth it even if no node is created for it.
    pub(super) fn may_pass(&self, candidate: &Candidate<'_>) -> bool {
        let (price, disruption) = self.of_pool(candidate.pool);
        let share = Share { saved: i128::from(candidate.amount()), of: 1, disrupted: candidate.cost };
        !is_balanced(candidate.pool) || price <= 0 || share.is_worth_it(price, disruption)
    }

    /// Returns whether the saving of a command is enough for every pool with this policy.
    pub(super) fn approves(&self, candidates: &[&Candidate<'_>], savings: i64) -> bool {
        let all: i64 = candidates.iter().map(|one| one.amount()).sum();
        let mut pools: BTreeMap<&PoolName, Vec<&Candidate<'_>>> = BTreeMap::new();
        for candidate in candidates {
            pools.entry(&candidate.pool.name).or_default().push(candidate);
        }
        let is_alone = pools.len() == 1;
        pools.into_values().all(|own| {
            let pool = own[0].pool;
            let (price, disruption) = self.of_pool(pool);
            let paid: i64 = own.iter().map(|one| one.amount()).sum();
            let (part, of) = if is_alone || all <= 0 { (1, 1) } else { (paid, all) };
            let saved = i128::from(savings) * i128::from(part);
            let share = Share { saved, of: i128::from(of), disrupted: own.iter().map(|one| one.cost).sum() };
            !is_balanced(pool) || share.is_worth_it(price, disruption)
        })
    }

    fn of_pool(&self, pool: &Pool) -> (i64, i64) {
        self.0.get(&pool.name).copied().unwrap_or_default()
    }
}

/// The saving, as a fraction, and the disruption for it.
struct Share {
    saved: i128,
    of: i128,
    disrupted: i64,
}

impl Share {
    fn is_worth_it(&self, price: i64, disruption: i64) -> bool {
        if price <= 0 || disruption <= 0 || self.saved <= 0 {
            return false;
        }
        let gain = TIMES.saturating_mul(self.saved).saturating_mul(i128::from(disruption));
        gain >= i128::from(self.disrupted).saturating_mul(i128::from(price)).saturating_mul(self.of)
    }
}

fn is_balanced(pool: &Pool) -> bool {
    pool.disruption.policy == ConsolidationPolicy::Balanced
}

fn list_price(scene: &Scene<'_, '_>, node: &Node, pool: &Pool) -> i64 {
    let size = node.labels.get(crate::model::label::INSTANCE_TYPE);
    let kind = size.and_then(|size| scene.kind(pool, size));
    kind.and_then(|kind| cost::price(node, kind)).map_or(0, |price| price.0)
}

/// Returns the disruption cost of a node that may not be disrupted: all pods count except those of DaemonSets.
fn of_all_pods(scene: &Scene<'_, '_>, node: &Node) -> i64 {
    let is_daemonset =
        |pod: &&crate::model::Pod| pod.workload.as_ref().is_some_and(|owner| &*owner.kind == "DaemonSet");
    cost::of_node(scene.running(node).iter().copied().filter(|pod| !is_daemonset(pod)))
}
