//! `consolidationPolicy: Balanced`: savings must be worth the disruption.
//!
//! Karpenter's rule: the saved share of the pool's cost, divided by the caused share of all disruption, is at least one
//! half (its `k` of 2). As in Karpenter, VM list prices count, without disks or discounts, so a pool's policy means the
//! same here. Savings over several pools are divided in proportion to the prices of the removed nodes. Never checks
//! anything else.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ConsolidationPolicy, NodeName, Pod, PodPlace, Pool, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::existing::Standing;
use crate::solve::market::Market;
use crate::solve::price;
use crate::solve::solution::NewNode;
use crate::solve::supply::Supply;

/// Weights are in millionths of Karpenter's.
const WHOLE: i128 = 1_000_000;

/// The disruption cost and price of every node.
pub(super) struct Scales<'a> {
    policy: &'a Policy,
    /// By node: its pool, the disruption cost of its pods, and its hourly price.
    nodes: BTreeMap<&'a NodeName, (&'a PoolName, i128, i128)>,
}

/// Sums over nodes of one pool.
#[derive(Clone, Copy, Default)]
struct Sum {
    disturbance: i128,
    price: i128,
}

impl<'a> Scales<'a> {
    /// Weighs every node of a pool that is not being deleted: those that are will be gone anyway.
    pub(super) fn of(snapshot: &'a Snapshot, policy: &'a Policy, market: &Market) -> Self {
        let price = |node| price::vm_of(node, market).map_or(0, |price| i128::from(price.0));
        let mut weights: BTreeMap<&NodeName, i128> = BTreeMap::new();
        for pod in snapshot.pods.iter().filter(|pod| !pod.is_daemon) {
            if let PodPlace::Bound(node) = &pod.place {
                *weights.entry(node).or_default() += eviction_cost(pod).max(0);
            }
        }
        let staying = snapshot.nodes.iter().filter(|node| !node.is_deleting);
        let weighed = staying.filter_map(|node| {
            let weight = WHOLE + weights.get(&node.name).copied().unwrap_or(0);
            Some((&node.name, (node.pool.as_ref()?, weight, price(node))))
        });
        Self { policy, nodes: weighed.collect() }
    }

    /// Returns whether every pool with this policy saves enough if these nodes are removed and VMs cost `saving` less.
    pub(super) fn agree(&self, leaving: &BTreeSet<NodeName>, saving: i64) -> bool {
        let going = self.sums(|node| leaving.contains(node));
        let price_of_all = going.values().map(|sum| sum.price).sum::<i128>().max(1);
        let whole = self.sums(|_| true);
        going.iter().all(|(name, part)| {
            let all = whole[name];
            let own = i128::from(saving) * part.price;
            // (saving / price of all removed) / (price of the pool) against (disruption / disruption of the pool): at
            // least 1/2.
            let gained = own * all.disturbance * 2;
            let taken = part.disturbance * all.price * price_of_all;
            !self.policy.pools.get(*name).is_some_and(is_balanced) || gained >= taken
        })
    }

    fn sums(&self, counts: impl Fn(&NodeName) -> bool) -> BTreeMap<&'a PoolName, Sum> {
        let mut sums: BTreeMap<&PoolName, Sum> = BTreeMap::new();
        for (_, (pool, disturbance, price)) in self.nodes.iter().filter(|(node, _)| counts(node)) {
            let sum = sums.entry(pool).or_default();
            sum.disturbance += disturbance;
            sum.price += price;
        }
        sums
    }
}

/// Returns the eviction cost of a pod: one, plus its priority (2^25 counts one) and its deletion cost (2^27 counts
/// one), limited to ±10.
fn eviction_cost(pod: &Pod) -> i128 {
    let by_priority = i128::from(pod.spec.priority) * WHOLE / (1 << 25);
    let by_deletion = i128::from(pod.state.deletion_cost) * WHOLE / (1 << 27);
    (WHOLE + by_priority + by_deletion).clamp(-10 * WHOLE, 10 * WHOLE)
}

/// Returns the known list price of a fleet's VMs; zero if no pool uses this policy.
pub(super) fn vms<'n>(
    (policy, market, supply): (&Policy, &Market, &Supply<'_>),
    staying: impl Iterator<Item = &'n Standing<'n>>,
    new: &[NewNode],
) -> i64 {
    if !policy.pools.values().any(is_balanced) {
        return 0;
    }
    let staying = staying.filter_map(|standing| price::vm_of(standing.node, market));
    let made = new.iter().filter_map(|node| {
        let bought = supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
        bought?.2.offering.price.known()
    });
    staying.chain(made).map(|price| price.0).sum()
}

fn is_balanced(pool: &Pool) -> bool {
    pool.disruption.policy == ConsolidationPolicy::Balanced
}
