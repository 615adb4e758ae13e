//! Gates that users set on a plan, such as a pipeline that must stop if a node would be deleted or the cost would rise
//! too far.
//!
//! For two inputs side by side, every gate checks their difference, as the page shows it. Unknown values never pass a
//! gate. This module never changes a plan, words nothing (`render` does) and never decides a command's exit code.

use crate::model::{MicroUsd, MicroUsdPerHour};
use crate::plan::comparison::Comparison;
use crate::plan::uncertainty::{Uncertainty, creates_unpriced};
use crate::plan::{Cost, Plan, at_most};

/// A condition that a plan must not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A pod fits nowhere; for two inputs, one that fits nowhere only in the second.
    Unplaced,
    /// A node is deleted or replaced; for two inputs, a node that only the first ends up with.
    Delete,
    /// Something is missing from the plan, or from either of two: it could not be read, is held back, or has no known
    /// price.
    Incomplete,
    /// A cost figure is an estimate, in either of two plans.
    Estimate,
    /// The monthly cost rises by more than this, including Azure's substitutes, or by an unknown amount. A change of
    /// the input that saves money passes.
    MonthlyIncrease(MicroUsd),
}

/// A gate that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The gate.
    pub gate: Gate,
    /// Its finding.
    pub found: Found,
}

/// Why a gate failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Pods that fit nowhere.
    Unplaced {
        /// Number of pods.
        pods: usize,
        /// Whether they are Pending only in the second of two inputs.
        is_newly: bool,
    },
    /// Number of deleted nodes.
    Deleted(usize),
    /// Missing parts of the plan.
    Incomplete {
        /// What could not be read, without duplicates.
        unread: Vec<String>,
        /// Number of pods held back; the higher of two inputs.
        held: usize,
        /// Number of nodes without a known price; the higher of two inputs.
        unpriced: usize,
    },
    /// The estimated cost.
    Estimate(Estimated),
    /// The increase is unknown because new nodes have no known price.
    UnknownIncrease {
        /// Number of nodes.
        unpriced: usize,
    },
    /// Increase of the monthly cost.
    Increase {
        /// As planned.
        planned: Rise,
        /// If Azure launches the most expensive substitutes; never less than planned.
        highest: Rise,
    },
}

/// Which cost is an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimated {
    /// The price of this many new nodes.
    Creates(usize),
    /// The cost before the plan.
    Before,
    /// The cost after the plan.
    After,
    /// The cost of the first of two inputs.
    FirstSide,
    /// The cost of the second of two inputs.
    SecondSide,
    /// The costs of both.
    BothSides,
}

/// Increase of a monthly cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// Amount; negative if the cost falls.
    pub by: MicroUsd,
    /// Whether it includes an estimated price.
    pub is_estimate: bool,
}

impl Gate {
    /// Returns why a plan fails the gate; `None` if it passes.
    #[must_use]
    pub fn failed(self, plan: &Plan) -> Option<Failed> {
        let compared = plan.evidence.comparison.as_ref();
        let found = match self {
            Self::Unplaced => unplaced(plan, compared),
            Self::Delete => deletes(plan, compared),
            Self::Incomplete => incomplete(plan, compared),
            Self::Estimate => estimate(plan, compared),
            Self::MonthlyIncrease(most) => match compared {
                Some(comparison) => compared_increase(plan, comparison, most),
                None => increase(plan, most),
            },
        };
        found.map(|found| Failed { gate: self, found })
    }
}

fn unplaced(plan: &Plan, compared: Option<&Comparison>) -> Option<Found> {
    let groups = compared.map_or(&plan.evidence.report.unplaced, |comparison| &comparison.unplaced);
    // Placeholders of CapacityBuffers are no pods.
    let pods = groups.iter().flat_map(|unplaced| &unplaced.pods).filter(|pod| !pod.is_placeholder()).count();
    (pods > 0).then_some(Found::Unplaced { pods, is_newly: compared.is_some() })
}

fn deletes(plan: &Plan, compared: Option<&Comparison>) -> Option<Found> {
    let nodes =
        compared.map_or_else(|| plan.spec.deletes().count(), |comparison| comparison.nodes.counts.destroy);
    (nodes > 0).then_some(Found::Deleted(nodes))
}

fn incomplete(plan: &Plan, compared: Option<&Comparison>) -> Option<Found> {
    let own = Uncertainty::of(plan);
    let mut unread: Vec<String> = own.gaps.iter().map(|gap| gap.what.clone()).collect();
    let (mut held, mut unpriced) = (own.pods_held, own.nodes_unpriced);
    if let Some(comparison) = compared {
        unread.extend(comparison.gaps_gone.iter().map(|gap| gap.what.clone()));
        held = held.max(comparison.first.pods_held);
        unpriced = unpriced.max(comparison.first.nodes_unpriced);
    }
    let is_complete = unread.is_empty() && held == 0 && unpriced == 0;
    (!is_complete).then_some(Found::Incomplete { unread, held, unpriced })
}

fn estimate(plan: &Plan, compared: Option<&Comparison>) -> Option<Found> {
    let own = Uncertainty::of(plan);
    let estimated = match compared {
        // The page of two inputs does not show today's cost.
        Some(Comparison { first, .. }) => {
            let is_estimate = |side: &Uncertainty| side.is_cost_after_estimate || side.creates_estimated > 0;
            match (is_estimate(first), is_estimate(&own)) {
                (false, false) => None,
                (true, false) => Some(Estimated::FirstSide),
                (false, true) => Some(Estimated::SecondSide),
                (true, true) => Some(Estimated::BothSides),
            }
        }
        None => match (own.creates_estimated, own.is_cost_before_estimate, own.is_cost_after_estimate) {
            (0, false, false) => None,
            (0, true, _) => Some(Estimated::Before),
            (0, false, true) => Some(Estimated::After),
            (creates, _, _) => Some(Estimated::Creates(creates)),
        },
    };
    estimated.map(Found::Estimate)
}

/// Checks the increase. An unknown price of a removed node can only lower it; that of a new node makes it unknown.
fn increase(plan: &Plan, most: MicroUsd) -> Option<Found> {
    let report = &plan.evidence.report;
    let unpriced = creates_unpriced(plan);
    if unpriced > 0 {
        return Some(Found::UnknownIncrease { unpriced });
    }
    let (before, after) = (report.cost_before, report.cost_after);
    // The user pays for what Azure launches, which may not be the first choice.
    let highest = Rise::between(before, at_most(plan).unwrap_or(after));
    (highest.by > most).then(|| Found::Increase { planned: Rise::between(before, after), highest })
}

/// Checks how much more the second fleet costs than the first, each after its plan. Azure would substitute on both
/// sides, so the most expensive fleets are compared.
fn compared_increase(plan: &Plan, comparison: &Comparison, most: MicroUsd) -> Option<Found> {
    let Comparison { cost_before, cost_after, .. } = *comparison;
    let unpriced = comparison.more_unpriced();
    if unpriced > 0 {
        return Some(Found::UnknownIncrease { unpriced });
    }
    let planned = Rise::between(cost_before, cost_after);
    if planned.by.0 <= 0 {
        return None;
    }
    let substituted = Rise::between(
        comparison.first.cost_at_most,
        at_most(plan).unwrap_or(plan.evidence.report.cost_after),
    );
    let highest = if substituted.by > planned.by { substituted } else { planned };
    (highest.by > most).then_some(Found::Increase { planned, highest })
}

impl Rise {
    fn between(before: Cost, after: Cost) -> Self {
        let by = (after.effective - before.effective).per_month();
        Self { by, is_estimate: before.is_estimate || after.is_estimate }
    }
}

/// Parses dollars per month as a decimal. `None` if it is invalid, negative or out of range.
#[must_use]
pub fn dollars_per_month(text: &str) -> Option<MicroUsd> {
    MicroUsdPerHour::from_decimal_usd(text).map(|amount| MicroUsd(amount.0))
}
