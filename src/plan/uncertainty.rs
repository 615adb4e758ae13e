//! Unknown or estimated parts of a plan, for gates and comparisons.
//!
//! Derived from the plan alone. This module decides nothing and words nothing.

use serde::{Deserialize, Serialize};

use super::{Plan, at_most};
use crate::snapshot::Gap;
use crate::solve::Cost;

/// What of a plan is not known, or only estimated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Uncertainty {
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// How many pods are held back because of something that could not be read.
    pub pods_held: usize,
    /// How many nodes have no known price, before the plan or after it.
    pub nodes_unpriced: usize,
    /// How many nodes to create have an estimated price, be it only that of a substitute.
    pub creates_estimated: usize,
    /// Whether the cost before the plan is an estimate.
    pub is_cost_before_estimate: bool,
    /// Whether the cost after the plan is an estimate.
    pub is_cost_after_estimate: bool,
    /// What the fleet costs after the plan if Azure launches the dearest substitute of each new node.
    pub cost_at_most: Cost,
}

impl Uncertainty {
    /// Returns what of a plan is not known, or only estimated.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let report = &plan.evidence.report;
        let (before, after) = (report.cost_before, report.cost_after);
        let estimated = plan.evidence.placements.values().filter(|placement| {
            placement.list_price.is_estimate()
                || placement.effective_price.is_estimate()
                || placement.is_price_max_estimate
        });
        let unpriced = [before.unpriced_nodes, after.unpriced_nodes, creates_unpriced(plan)];
        Self {
            gaps: plan.evidence.world.gaps.clone(),
            pods_held: report.held.iter().map(|held| held.pods.len()).sum(),
            nodes_unpriced: unpriced.into_iter().max().unwrap_or_default(),
            creates_estimated: estimated.count(),
            is_cost_before_estimate: before.is_estimate,
            is_cost_after_estimate: after.is_estimate,
            cost_at_most: at_most(plan).unwrap_or(after),
        }
    }
}

/// Returns how many nodes to create have no known price.
#[must_use]
pub fn creates_unpriced(plan: &Plan) -> usize {
    let placements = plan.evidence.placements.values();
    placements.filter(|placement| placement.effective_price.known().is_none()).count()
}
