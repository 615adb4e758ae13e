//! Conditions that whoever runs a plan sets on it: a pipeline that must not go on when a node would be deleted or
//! the bill would rise too far.
//!
//! Of two inputs side by side, every gate looks at their difference, which is what the page shows. What is not known never
//! passes a gate. This module never changes a plan, words nothing (`render` does) and says nothing of how a command ends.

use crate::model::{MicroUsd, MicroUsdPerHour};
use crate::plan::comparison::Comparison;
use crate::plan::uncertainty::{Uncertainty, creates_unpriced};
use crate::plan::{Cost, Plan, at_most};

/// A condition that a plan must not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A pod fits nowhere; of two inputs, one that fits nowhere in the second only.
    Unplaced,
    /// A node is deleted, be it to be replaced; of two inputs, one that only the first has in the end.
    Delete,
    /// Something is not in the plan, or in either of two: it could not be read, is held back, or has no known price.
    Incomplete,
    /// A figure of the cost is an estimate, on either of two sides.
    Estimate,
    /// The monthly cost rises by more than this, where Azure substitutes too, or by an unknown amount. A change of the
    /// input that saves money passes.
    MonthlyIncrease(MicroUsd),
}

/// A gate that a plan does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The gate.
    pub gate: Gate,
    /// What it found.
    pub found: Found,
}

/// What made a gate fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// So many pods fit nowhere.
    Unplaced {
        /// How many.
        pods: usize,
        /// Whether they are Pending in the second of two inputs only.
        is_newly: bool,
    },
    /// So many nodes are deleted.
    Deleted(usize),
    /// What is not in the plan.
    Incomplete {
        /// What could not be read, each once.
        unread: Vec<String>,
        /// How many pods are held back; of two inputs, where they are more.
        held: usize,
        /// How many nodes have no known price; of two inputs, where they are more.
        unpriced: usize,
    },
    /// The cost that is an estimate.
    Estimate(Estimated),
    /// How much the cost rises is not known: so many of the new nodes have no known price.
    UnknownIncrease {
        /// How many.
        unpriced: usize,
    },
    /// How much the cost rises by the month.
    Increase {
        /// As planned.
        planned: Rise,
        /// If Azure launches the dearest substitutes; never less than planned.
        highest: Rise,
    },
}

/// Which cost is an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimated {
    /// The price of so many nodes to create.
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

/// By how much a monthly cost rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// By how much; below 0 where it falls.
    pub by: MicroUsd,
    /// Whether a price in it is an estimate.
    pub is_estimate: bool,
}

impl Gate {
    /// Returns why a plan does not pass; `None` when it does.
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
    // Room that a CapacityBuffer would keep is no pod.
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
        // What the fleets cost today is not on the page of two inputs.
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

/// An unknown price of a node that goes only makes the rise smaller; that of a node that comes makes it unknown.
fn increase(plan: &Plan, most: MicroUsd) -> Option<Found> {
    let report = &plan.evidence.report;
    let unpriced = creates_unpriced(plan);
    if unpriced > 0 {
        return Some(Found::UnknownIncrease { unpriced });
    }
    let (before, after) = (report.cost_before, report.cost_after);
    // The caller pays for what Azure launches, which may not be what was requested first.
    let highest = Rise::between(before, at_most(plan).unwrap_or(after));
    (highest.by > most).then(|| Found::Increase { planned: Rise::between(before, after), highest })
}

/// By how much the second fleet costs more than the first, each when its plan is done. Where Azure substitutes it does so
/// on both sides, so that the dearest fleets are compared with each other.
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

/// Reads dollars by the month as a decimal. `None` when it is none, is negative or does not fit.
#[must_use]
pub fn dollars_per_month(text: &str) -> Option<MicroUsd> {
    MicroUsdPerHour::from_decimal_usd(text).map(|amount| MicroUsd(amount.0))
}
