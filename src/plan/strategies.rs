//! Results of each strategy for the same input, side by side.
//!
//! Each is a whole plan that the checker accepted, of which only the totals are kept. They travel with the plan of the
//! first strategy, outside its digest. Nothing is decided here.

use serde::{Deserialize, Serialize};

use super::Plan;
use super::fleet::FleetSum;
use super::summary::pending;
use crate::model::PodKey;
use crate::solve::{Cost, Strategy};

/// What a strategy arrives at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StrategyFleet {
    /// How the fleet was worked out.
    pub strategy: Strategy,
    /// What the fleet is when its plan is done.
    pub fleet: FleetSum,
    /// What it then costs.
    pub cost: Cost,
    /// How many pods fit nowhere.
    pub unplaced_pods: usize,
    /// The pods that stay Pending, sorted.
    #[serde(default)]
    pub pending: Vec<PodKey>,
}

impl StrategyFleet {
    /// Sums up the plan of a strategy.
    #[must_use]
    pub fn of(strategy: Strategy, plan: &Plan) -> Self {
        let report = &plan.evidence.report;
        let unplaced = report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
        Self {
            strategy,
            fleet: FleetSum::planned(plan),
            cost: report.cost_after,
            unplaced_pods: unplaced.count(),
            pending: pending(plan).into_iter().cloned().collect(),
        }
    }
}
