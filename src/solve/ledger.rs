//! What is left of every limit: what pools and the fleet may have, less what there is.
//!
//! Nodes that will be removed still count, with their money too: they are there while new ones are made, and
//! a budget may keep them.

use crate::model::{
    CapacityType, InstanceType, MicroUsdPerHour, Node, Offering, Pool, ResourceName, amount::HOURS_PER_MONTH,
};
use crate::policy::Policy;

use super::fit::limits::{Charges, Counter, Ledger};
use super::price::{PriceBook, Uncommitted};

/// Counts what the nodes take of all limits. `cost` is what they cost by the hour.
#[must_use]
pub fn opened<'n>(
    policy: &Policy,
    nodes: impl IntoIterator<Item = &'n Node>,
    uncommitted: &Uncommitted,
    cost: MicroUsdPerHour,
) -> Ledger {
    let all: Vec<&Node> = nodes.into_iter().collect();
    let mut ledger = Ledger::default();
    let is_limited = |pool: &&Pool| pool.nodes_max.is_some() || pool.limits.iter().next().is_some();
    for pool in policy.pools.values().filter(is_limited) {
        let own: Vec<&Node> =
            all.iter().filter(|node| node.pool.as_ref() == Some(&pool.name)).copied().collect();
        for (name, limit) in pool.limits.iter() {
            let counter = Counter::PoolResource(pool.name.clone(), name.clone());
            ledger.add_used(counter, limit, capacity(&own, name));
        }
        if let Some(limit) = pool.nodes_max {
            ledger.add_used(Counter::PoolNodes(pool.name.clone()), count(limit), length(own.len()));
        }
    }
    ledger.note_foreign(all.iter().filter(|node| node.pool.is_none()).count());
    let limits = &policy.fleet.limits;
    let resources = [(ResourceName::Cpu, limits.cpu_milli), (ResourceName::Memory, limits.memory_bytes)];
    for (name, limit) in resources {
        if let Some(limit) = limit {
            let there = capacity(&all, &name);
            ledger.add_used(Counter::FleetResource(name), limit, there);
        }
    }
    if let Some(limit) = limits.nodes {
        ledger.add_used(Counter::FleetNodes, count(limit), length(all.len()));
    }
    if let Some(limit) = limits.cost_per_month {
        ledger.add_used(Counter::FleetCost, limit.0 / HOURS_PER_MONTH, cost.0);
    }
    for (number, left) in uncommitted.0.iter().enumerate() {
        ledger.add(Counter::Commitment(number), i64::from(*left));
    }
    ledger
}

/// Returns whether anything limits how much there may be.
#[must_use]
pub fn has_limits(policy: &Policy) -> bool {
    opened(policy, [], &Uncommitted(Vec::new()), MicroUsdPerHour::default()).has_limits()
}

fn capacity(nodes: &[&Node], resource: &ResourceName) -> i64 {
    nodes.iter().fold(0, |sum: i64, node| sum.saturating_add(node.capacity.get(resource)))
}

fn count(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn length(nodes: usize) -> i64 {
    i64::try_from(nodes).unwrap_or(i64::MAX)
}

/// Returns what one node of this size takes of the limits. A size whose price is not known takes more money
/// than any limit leaves.
#[must_use]
pub fn charges(ledger: &Ledger, pool: &Pool, kind: &InstanceType, price: Option<MicroUsdPerHour>) -> Charges {
    let amount = |counter: &Counter| match counter {
        Counter::PoolResource(name, resource) => (*name == pool.name).then(|| kind.capacity.get(resource)),
        Counter::PoolNodes(name) => (*name == pool.name).then_some(1),
        Counter::FleetResource(resource) => Some(kind.capacity.get(resource)),
        Counter::FleetNodes => Some(1),
        Counter::FleetCost => Some(price.map_or(i64::MAX, |price| price.0)),
        Counter::Commitment(_) => None,
    };
    ledger.iter().filter_map(|(place, counter, _)| Some((place, amount(counter)?))).collect()
}

/// Returns the numbers of the commitments that pay for a VM of this offering.
#[must_use]
pub fn commitments(
    ledger: &Ledger,
    kind: &InstanceType,
    offering: &Offering,
    book: &PriceBook<'_>,
) -> Vec<usize> {
    if offering.capacity_type != CapacityType::OnDemand {
        return Vec::new();
    }
    let unused = ledger.iter().filter_map(|(_, counter, left)| match counter {
        Counter::Commitment(number) if left > 0 => Some(*number),
        Counter::Commitment(_)
        | Counter::PoolResource(..)
        | Counter::PoolNodes(_)
        | Counter::FleetResource(_)
        | Counter::FleetNodes
        | Counter::FleetCost => None,
    });
    unused.filter(|number| book.commitments()[*number].size == kind.name).collect()
}

/// Returns the place of a commitment's counter.
#[must_use]
pub fn commitment(ledger: &Ledger, number: usize) -> Option<usize> {
    let mut counters = ledger.iter();
    counters.find(|(_, counter, _)| **counter == Counter::Commitment(number)).map(|(place, _, _)| place)
}
