//! Limits of pools and the fleet: existing and new nodes together stay within them.
//!
//! As in Karpenter, a node counts until it is gone, even if the plan removes it. Lowering a limit removes nothing:
//! limits only apply to plans that create nodes.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::price::{least_price, said_price};
use super::quota::Needs;
use crate::model::{
    CapacityType, InstanceType, MicroUsd, MicroUsdPerHour, Offering, Pool, PoolName, ResourceName, Resources,
};

/// Number and capacity of nodes.
#[derive(Clone, Debug, Default)]
struct Amount {
    nodes: u64,
    capacity: Resources,
    /// Number of nodes that the plan creates.
    made: u64,
}

/// Usage when every node is created and none is removed yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    pools: BTreeMap<PoolName, Amount>,
    fleet: Amount,
    quotas: Needs,
}

impl Usage {
    /// Counts existing nodes and nodes that the plan creates.
    pub(super) fn of(case: &Case<'_>) -> Self {
        let mut usage = Self::default();
        for node in &case.snapshot.nodes {
            usage.add(node.pool.as_ref(), &node.capacity, false);
        }
        for made in &case.made {
            let Some((_, size, _)) = case.bought(made) else { continue };
            usage.add(Some(made.pool), &size.capacity, true);
        }
        usage.quotas = Needs::of(case);
        usage
    }

    fn add(&mut self, pool: Option<&PoolName>, capacity: &Resources, is_made: bool) {
        let of_pool = pool.map(|pool| self.pools.entry(pool.clone()).or_default());
        for amount in std::iter::once(&mut self.fleet).chain(of_pool) {
            amount.nodes += 1;
            amount.made += u64::from(is_made);
            amount.capacity.add(capacity);
        }
    }
}

/// Returns whether pool, fleet and quotas allow one more node of a size beyond this usage. A cost limit counts as
/// reached: what is left of it depends on the order of decisions.
pub(super) fn pool_has_room(
    case: &Case<'_>,
    pool: &Pool,
    usage: &Usage,
    (size, offering): (&InstanceType, &Offering),
) -> bool {
    let amount = usage.pools.get(&pool.name).cloned().unwrap_or_default();
    let after = amount.capacity.plus(&size.capacity);
    let fleet = &case.policy.fleet.limits;
    let fleet_after = usage.fleet.capacity.plus(&size.capacity);
    pool.limits.iter().all(|(name, limit)| after.get(name) <= limit)
        && pool.nodes_max.is_none_or(|most| amount.nodes < most)
        && fleet.nodes.is_none_or(|most| usage.fleet.nodes < most)
        && fleet.cpu_milli.is_none_or(|most| fleet_after.get(&ResourceName::Cpu) <= most)
        && fleet.memory_bytes.is_none_or(|most| fleet_after.get(&ResourceName::Memory) <= most)
        && fleet.cost_per_month.is_none()
        && usage.quotas.have_room(case, (size, offering.capacity_type))
}

/// A limit and its usage.
struct Limit {
    rule: Rule,
    who: String,
    name: ResourceName,
    there: i64,
    most: i64,
}

/// A substitute for a new node's size.
pub(super) struct Swap<'c> {
    pub(super) pool: &'c Pool,
    pub(super) planned: (&'c InstanceType, CapacityType),
    pub(super) other: (&'c InstanceType, CapacityType),
    /// Extra cost of the substitute.
    pub(super) dearer_by: MicroUsdPerHour,
}

impl Swap<'_> {
    /// Returns the limit that the substitute exceeds; `None` if it needs no more than the planned size.
    pub(super) fn beyond(&self, case: &Case<'_>, usage: &Usage) -> Option<(Rule, String)> {
        if let Some(why) = usage.quotas.beyond_instead(case, self.planned, self.other) {
            return Some((Rule::Quota, why));
        }
        let more = self.other.0.capacity.minus(&self.planned.0.capacity);
        let is_beyond =
            |limit: &Limit| more.get(&limit.name) > 0 && limit.there + more.get(&limit.name) > limit.most;
        if let Some(Limit { rule, who, name, there, most }) =
            self.limits(case, usage).into_iter().find(is_beyond)
        {
            let after = name.show(there + more.get(&name));
            let why = format!("{who} would have {after} {name} with it, the limit is {}", name.show(most));
            return Some((rule, why));
        }
        let most = case.policy.fleet.limits.cost_per_month.filter(|_| self.dearer_by.0 > 0)?;
        let after = (money(case).ok()? + self.dearer_by).per_month();
        let why = || format!("the fleet would cost {} µ$/month with it, the limit is {} µ$", after.0, most.0);
        (after > most).then(|| (Rule::FleetLimits, why()))
    }

    fn limits(&self, case: &Case<'_>, usage: &Usage) -> Vec<Limit> {
        let amount = usage.pools.get(&self.pool.name).cloned().unwrap_or_default();
        let of_pool = self.pool.limits.iter().map(|(name, most)| Limit {
            rule: Rule::PoolLimits,
            who: format!("pool `{}`", self.pool.name),
            name: name.clone(),
            there: amount.capacity.get(name),
            most,
        });
        let fleet = &case.policy.fleet.limits;
        let of_fleet = [(ResourceName::Cpu, fleet.cpu_milli), (ResourceName::Memory, fleet.memory_bytes)];
        let of_fleet = of_fleet.into_iter().filter_map(|(name, most)| {
            let there = usage.fleet.capacity.get(&name);
            Some(Limit { rule: Rule::FleetLimits, who: "the fleet".to_owned(), name, there, most: most? })
        });
        of_pool.chain(of_fleet).collect()
    }
}

/// Returns the limits that the plan exceeds.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let usage = Usage::of(case);
    let mut found = Vec::new();
    for (name, amount) in usage.pools.iter().filter(|(_, amount)| amount.made > 0) {
        let Some(pool) = case.pool(name) else { continue };
        let mut object = |message| {
            found.push(Finding::new(Rule::PoolLimits, format!("pool `{name}`"), message));
        };
        for (resource, limit) in pool.limits.iter() {
            let after = amount.capacity.get(resource);
            if after > limit && makes_any(case, name, resource) {
                object(beyond(resource.as_str(), &resource.show(after), &resource.show(limit)));
            }
        }
        if let Some(most) = pool.nodes_max.filter(|most| amount.nodes > *most) {
            object(beyond("nodes", &amount.nodes.to_string(), &most.to_string()));
        }
    }
    if usage.fleet.made > 0 {
        let fleet = of_fleet(case, &usage.fleet);
        found.extend(fleet.into_iter().map(|why| Finding::new(Rule::FleetLimits, "fleet", why)));
    }
    found
}

fn beyond(what: &str, after: &str, limit: &str) -> String {
    format!("{what}: the nodes that exist and those to make have {after}, the limit is {limit}")
}

/// Returns whether the new nodes of a pool add to this resource.
fn makes_any(case: &Case<'_>, pool: &PoolName, resource: &ResourceName) -> bool {
    let of_pool = case.made.iter().filter(|made| made.pool == pool);
    of_pool.filter_map(|made| case.bought(made)).any(|(_, size, _)| size.capacity.get(resource) > 0)
}

fn of_fleet(case: &Case<'_>, amount: &Amount) -> Vec<String> {
    let limits = &case.policy.fleet.limits;
    let mut beyonds = Vec::new();
    if let Some(most) = limits.nodes.filter(|most| amount.nodes > *most) {
        beyonds.push(beyond("nodes", &amount.nodes.to_string(), &most.to_string()));
    }
    let resources = [(ResourceName::Cpu, limits.cpu_milli), (ResourceName::Memory, limits.memory_bytes)];
    for (name, limit) in resources {
        let after = amount.capacity.get(&name);
        if let Some(most) = limit.filter(|most| after > *most) {
            beyonds.push(beyond(name.as_str(), &name.show(after), &name.show(most)));
        }
    }
    beyonds.extend(limits.cost_per_month.and_then(|most| of_money(case, most)));
    beyonds
}

/// Checks the cost limit: only nodes that stay count, and a node without a known price exceeds any limit.
fn of_money(case: &Case<'_>, most: MicroUsd) -> Option<String> {
    let after = match money(case) {
        Ok(after) => after.per_month(),
        Err(title) => return Some(format!("cost: {title} has no known price, and there is a limit")),
    };
    (after > most).then(|| format!("cost: the nodes cost {} µ$/month, the limit is {} µ$", after.0, most.0))
}

/// Returns the cost of the nodes that stay and the new ones, or the title of the first one without a known price.
fn money(case: &Case<'_>) -> Result<MicroUsdPerHour, String> {
    let existing = case.snapshot.nodes.iter().filter(|node| case.stays(node));
    let mut after: MicroUsdPerHour = existing.filter_map(|node| least_price(case, node)).sum();
    for made in &case.made {
        after += said_price(made).known().ok_or_else(|| made.title())?;
    }
    Ok(after)
}
