//! Remaining limits of pools and the fleet: the limits less what existing nodes use.
//!
//! Nodes that will be removed still count, including their cost: they exist while new ones are created, and a budget
//! may keep them.

use std::sync::Arc;

use crate::model::{
    CapacityType, InstanceType, MicroUsdPerHour, Node, Offering, Pool, Quota, ResourceName, Taken,
    amount::HOURS_PER_MONTH,
};
use crate::policy::Policy;

use super::fit::limits::{Charges, Counter, Ledger, Quotas};
use super::price::{PriceBook, Uncommitted};

/// VM that may be created for a pool, as limits count it.
#[derive(Clone, Copy, Debug)]
pub struct Vm<'k> {
    /// The size.
    pub kind: &'k InstanceType,
    /// Its capacity type.
    pub capacity_type: CapacityType,
    /// Its price, if known.
    pub price: Option<MicroUsdPerHour>,
}

/// Sources of limits: the user's policy, and Azure's quotas.
#[derive(Clone, Copy, Debug)]
pub struct Limiting<'l> {
    /// The user's policy.
    pub policy: &'l Policy,
    /// Quotas of the subscription, if known.
    pub quota: Option<&'l Arc<Quota>>,
}

/// Counts what the nodes use of all limits. `cost` is their hourly cost.
#[must_use]
pub fn opened<'n>(
    Limiting { policy, quota }: Limiting<'_>,
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
    if let Some(quota) = quota {
        let quotas = Quotas { places: quotas(&mut ledger, quota, &all), quota: Arc::clone(quota) };
        ledger.set_quotas(Arc::new(quotas));
    }
    ledger
}

/// Adds the quotas that can bind, and returns the index of each. A family with more quota left than the whole region
/// never binds, because each of its vCPUs counts there too.
fn quotas(ledger: &mut Ledger, quota: &Quota, nodes: &[&Node]) -> Vec<Option<usize>> {
    let mut used: Vec<i64> = quota.limits.iter().map(|limit| limit.elsewhere()).collect();
    for node in nodes {
        let taken = quota.taken_by(node);
        for place in taken.names().filter_map(|name| quota.place(name)) {
            used[place] = used[place].saturating_add(taken.vcpus);
        }
    }
    // The sum is negative if removed nodes were never counted by Azure.
    used.iter_mut().for_each(|used| *used = (*used).max(0));
    let most = |place: usize| quota.limits[place].most();
    let left = |place: usize| Some(most(place)?.saturating_sub(used[place]));
    let total = [Quota::REGION, Quota::SPOT].map(|name| quota.place(name));
    let of_region = total[0].and_then(left);
    let binds = |place: usize| {
        total.contains(&Some(place))
            || of_region.is_none_or(|region| left(place).is_some_and(|own| own < region))
    };
    let add = |place: usize| {
        let most = most(place).filter(|_| binds(place))?;
        let name = Arc::clone(&quota.limits[place].name);
        Some(ledger.add_used(Counter::Quota(name), most, used[place]))
    };
    (0..quota.limits.len()).map(add).collect()
}

/// Returns whether there is any limit.
#[must_use]
pub fn has_limits(limiting: Limiting<'_>) -> bool {
    opened(limiting, [], &Uncommitted(Vec::new()), MicroUsdPerHour::default()).has_limits()
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

/// Returns what one node of this size uses of the limits. A size without a known price exceeds every cost limit.
#[must_use]
pub fn charges(ledger: &Ledger, pool: &Pool, Vm { kind, capacity_type, price }: Vm<'_>) -> Charges {
    let amount = |counter: &Counter| match counter {
        Counter::PoolResource(name, resource) => (*name == pool.name).then(|| kind.capacity.get(resource)),
        Counter::PoolNodes(name) => (*name == pool.name).then_some(1),
        Counter::FleetResource(resource) => Some(kind.capacity.get(resource)),
        Counter::FleetNodes => Some(1),
        Counter::FleetCost => Some(price.map_or(i64::MAX, |price| price.0)),
        Counter::Commitment(_) | Counter::Quota(_) => None,
    };
    let mut charges: Charges =
        ledger.before_quotas().filter_map(|(place, counter, _)| Some((place, amount(counter)?))).collect();
    if let Some(Quotas { quota, places }) = ledger.quotas() {
        let taken: Taken<'_> = quota.taken(kind.name.as_str(), capacity_type, &kind.capacity);
        let of = taken.names().filter_map(|name| places[quota.place(name)?]);
        charges.extend(of.map(|place| (place, taken.vcpus)));
        charges.sort_unstable();
    }
    charges
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
    let unused = ledger.before_quotas().filter_map(|(_, counter, left)| match counter {
        Counter::Commitment(number) if left > 0 => Some(*number),
        Counter::Commitment(_)
        | Counter::Quota(_)
        | Counter::PoolResource(..)
        | Counter::PoolNodes(_)
        | Counter::FleetResource(_)
        | Counter::FleetNodes
        | Counter::FleetCost => None,
    });
    unused.filter(|number| book.commitments()[*number].size == kind.name).collect()
}

/// Returns the index of a commitment's counter.
#[must_use]
pub fn commitment(ledger: &Ledger, number: usize) -> Option<usize> {
    let mut counters = ledger.before_quotas();
    counters.find(|(_, counter, _)| **counter == Counter::Commitment(number)).map(|(place, _, _)| place)
}
