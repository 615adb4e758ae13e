//! A plan as rows for scripts: each node and its cost, the cost of each pool, and the evicted pods.
//!
//! Derived from the plan whenever it is written, like [`Summary`], and rejected when it is read with other figures. It
//! is outside the digests: it says nothing that does not follow from the rest, and nothing here is applied.

mod described;
mod evictions;
mod nodes;
mod pools;

use serde::Serialize;

pub use described::described;
pub use evictions::EvictionFigures;
pub use nodes::{NodeAction, NodeFigures};
pub use pools::PoolFigures;

use super::summary::{Summary, cents, dollars};
use super::{Plan, cost};
use crate::model::MicroUsdPerHour;
use crate::solve::Cost;

/// What a plan comes to in money beyond its summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CostFigures {
    /// Dollars saved in a month of 730 hours: `summary.monthlyDelta` with the other sign, so negative where the cost
    /// increases.
    pub monthly_saving: String,
    /// Dollars that the fleet costs in a month after the plan if Azure launches the most expensive substitute of each
    /// new node; null where a price is unknown.
    pub monthly_worst_case: Option<String>,
    /// Dollars a month for commitments that no node uses today; they are in no pool.
    pub monthly_unused_commitments_before: String,
    /// The same after the plan.
    pub monthly_unused_commitments_after: String,
    /// Nodes of unknown price, which are in no sum: today or after the plan, whichever is more.
    pub unpriced_nodes: usize,
    /// Whether a price is an estimate.
    pub is_estimate: bool,
}

/// A plan row by row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Figures {
    /// What it comes to.
    pub(super) cost: CostFigures,
    /// Nodes that exist or are created, by name.
    pub(super) nodes: Vec<NodeFigures>,
    /// What each pool costs, by name; nodes without a NodePool come first.
    pub(super) pools: Vec<PoolFigures>,
    /// Running pods that the plan evicts, by node.
    pub(super) evictions: Vec<EvictionFigures>,
}

impl Figures {
    /// Works out the rows of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let rates = cost::rates(plan);
        let pools = pools::pools(plan, &rates);
        Self {
            cost: of_cost(plan, &pools),
            nodes: nodes::nodes(plan, &rates),
            pools: pools.iter().map(pools::PoolCost::figures).collect(),
            evictions: evictions::evictions(plan),
        }
    }
}

fn of_cost(plan: &Plan, pools: &[pools::PoolCost]) -> CostFigures {
    let report = &plan.evidence.report;
    let (before, after) = (report.cost_before, report.cost_after);
    // Commitments are paid whether used or not: they are all that a sum contains besides its nodes.
    let unused = |cost: Cost, of_pool: fn(&pools::PoolCost) -> MicroUsdPerHour| {
        monthly(pools.iter().map(of_pool).fold(cost.effective, |left, pool| left - pool))
    };
    let saving = Summary::of(plan).monthly_delta;
    let extra: Option<MicroUsdPerHour> = pools.iter().map(|pool| pool.worst_case_extra).sum();
    CostFigures {
        monthly_saving: negated(&saving),
        monthly_worst_case: extra.map(|extra| monthly(after.effective + extra)),
        monthly_unused_commitments_before: unused(before, |pool| pool.before.rate),
        monthly_unused_commitments_after: unused(after, |pool| pool.after.rate),
        unpriced_nodes: before.unpriced_nodes.max(after.unpriced_nodes),
        is_estimate: before.is_estimate || after.is_estimate,
    }
}

/// Dollars of a month of 730 hours.
fn monthly(rate: MicroUsdPerHour) -> String {
    dollars(cents(rate))
}

/// Turns the sign of a decimal.
fn negated(decimal: &str) -> String {
    match decimal.strip_prefix('-') {
        Some(amount) => amount.to_owned(),
        None if decimal.chars().any(|digit| ('1'..='9').contains(&digit)) => format!("-{decimal}"),
        None => decimal.to_owned(),
    }
}

#[cfg(test)]
mod tests;
