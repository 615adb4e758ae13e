//! Cost of each pool before and after: existing nodes at today's prices and new ones as planned.

use std::collections::BTreeMap;

use serde::Serialize;

use super::monthly;
use crate::model::{MicroUsdPerHour, PoolName, Price};
use crate::plan::Plan;
use crate::plan::cost::Rates;

/// A pool's cost as a script reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoolFigures {
    /// The NodePool; null for nodes without one.
    pub pool: Option<PoolName>,
    /// Its nodes today.
    pub nodes_before: usize,
    /// Its nodes after the plan.
    pub nodes_after: usize,
    /// Dollars that they cost in a month of 730 hours today; nodes of unknown price are left out.
    pub monthly_before: String,
    /// The same after the plan.
    pub monthly_after: String,
    /// The first without the second: negative where the pool costs more.
    pub monthly_saving: String,
    /// Dollars a month after the plan if Azure launches the most expensive substitute of each new node; null where a
    /// price is unknown.
    pub monthly_worst_case: Option<String>,
    /// Nodes of unknown price: today or after the plan, whichever is more.
    pub unpriced_nodes: usize,
    /// Whether a price is an estimate.
    pub is_estimate: bool,
}

/// A fleet of one pool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fleet {
    /// Its nodes.
    nodes: usize,
    /// What those of a known price cost.
    pub(super) rate: MicroUsdPerHour,
    /// How many have no known price.
    unpriced: usize,
    is_estimate: bool,
}

/// What a pool costs.
#[derive(Clone, Debug)]
pub(super) struct PoolCost {
    pool: Option<PoolName>,
    /// Today.
    pub(super) before: Fleet,
    /// After the plan.
    pub(super) after: Fleet,
    /// How much more its new nodes cost as their most expensive substitutes; nothing where a price is unknown.
    pub(super) worst_case_extra: Option<MicroUsdPerHour>,
}

impl Fleet {
    fn add(&mut self, price: Price) {
        self.nodes += 1;
        self.is_estimate |= price.is_estimate();
        match price.known() {
            Some(rate) => self.rate += rate,
            None => self.unpriced += 1,
        }
    }
}

impl PoolCost {
    fn new(pool: Option<PoolName>) -> Self {
        let (before, after) = (Fleet::default(), Fleet::default());
        Self { pool, before, after, worst_case_extra: Some(MicroUsdPerHour::default()) }
    }

    /// Returns the row.
    pub(super) fn figures(&self) -> PoolFigures {
        let Self { pool, before, after, worst_case_extra } = self;
        PoolFigures {
            pool: pool.clone(),
            nodes_before: before.nodes,
            nodes_after: after.nodes,
            monthly_before: monthly(before.rate),
            monthly_after: monthly(after.rate),
            monthly_saving: monthly(before.rate - after.rate),
            monthly_worst_case: worst_case_extra.map(|extra| monthly(after.rate + extra)),
            unpriced_nodes: before.unpriced.max(after.unpriced),
            is_estimate: before.is_estimate || after.is_estimate,
        }
    }
}

/// Returns what each pool costs that has nodes before or after, by name; nodes without a pool come first.
pub(super) fn pools(plan: &Plan, rates: &Rates) -> Vec<PoolCost> {
    let world = &plan.evidence.world;
    let mut pools: BTreeMap<Option<&PoolName>, PoolCost> = BTreeMap::new();
    let absent = world.absent.iter().map(|absent| &absent.node);
    for node in world.nodes.iter().chain(absent) {
        let pool = pools.entry(node.pool.as_ref()).or_insert_with(|| PoolCost::new(node.pool.clone()));
        pool.before.add(rates.today.get(&node.name).copied().unwrap_or(Price::Unknown));
        if let Some(price) = rates.staying.get(&node.name) {
            pool.after.add(*price);
        }
    }
    for (id, _, claim) in plan.spec.creates() {
        let pool = pools.entry(Some(&claim.pool)).or_insert_with(|| PoolCost::new(Some(claim.pool.clone())));
        let placement = plan.evidence.placements.get(id);
        let price = placement.map_or(Price::Unknown, |placement| placement.effective_price);
        pool.after.add(price);
        let extra = claim.price_max.zip(price.known()).map(|(most, planned)| most - planned);
        pool.worst_case_extra = pool.worst_case_extra.zip(extra).map(|(sum, extra)| sum + extra);
    }
    pools.into_values().collect()
}
