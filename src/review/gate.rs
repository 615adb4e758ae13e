//! Conditions that whoever runs a plan sets on it: a pipeline that must not go on when a node would be deleted or
//! the bill would rise too far.
//!
//! What is not known never passes a gate. This module never changes a plan and says nothing of how a command ends.

use std::fmt;

use crate::model::{MicroUsd, MicroUsdPerHour};
use crate::plan::{self, Plan};

/// A condition that a plan must not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A pod fits nowhere.
    Unplaced,
    /// A node is deleted, be it to be replaced.
    Delete,
    /// Something is not in the plan: it could not be read, is held back, or has no known price.
    Incomplete,
    /// A figure of the cost is an estimate.
    Estimate,
    /// The monthly cost rises by more than this, where Azure substitutes too, or by nobody knows how much.
    MonthlyIncrease(MicroUsd),
}

/// A gate that a plan does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The gate.
    pub gate: Gate,
    /// What it found, for people.
    pub because: String,
}

impl fmt::Display for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unplaced => formatter.write_str("--fail-on unplaced"),
            Self::Delete => formatter.write_str("--fail-on delete"),
            Self::Incomplete => formatter.write_str("--fail-on incomplete"),
            Self::Estimate => formatter.write_str("--fail-on estimate"),
            Self::MonthlyIncrease(most) => write!(formatter, "--max-monthly-increase {}", dollars(*most)),
        }
    }
}

impl Gate {
    /// Returns why a plan does not pass; `None` when it does.
    #[must_use]
    pub fn failed(self, plan: &Plan) -> Option<Failed> {
        let because = match self {
            Self::Unplaced => unplaced(plan),
            Self::Delete => deletes(plan),
            Self::Incomplete => incomplete(plan),
            Self::Estimate => estimate(plan),
            Self::MonthlyIncrease(most) => increase(plan, most),
        };
        because.map(|because| Failed { gate: self, because })
    }
}

fn unplaced(plan: &Plan) -> Option<String> {
    // Room that a CapacityBuffer would keep is no pod.
    let pods = plan.evidence.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    let pods = pods.filter(|pod| !pod.is_placeholder()).count();
    (pods > 0).then(|| format!("{} nowhere", counted(pods, "pod fits", "pods fit")))
}

fn deletes(plan: &Plan) -> Option<String> {
    let nodes = plan.spec.deletes().count();
    (nodes > 0).then(|| format!("{} destroyed", counted(nodes, "node is", "nodes are")))
}

fn incomplete(plan: &Plan) -> Option<String> {
    let evidence = &plan.evidence;
    let held: usize = evidence.report.held.iter().map(|held| held.pods.len()).sum();
    let unpriced = unpriced(plan);
    let parts: Vec<String> = evidence
        .world
        .gaps
        .iter()
        .map(|gap| format!("not in it: {}", gap.what))
        .chain((held > 0).then(|| format!("{} held back", counted(held, "pod is", "pods are"))))
        .chain((unpriced > 0).then(|| {
            let of = counted(unpriced, "node", "nodes");
            format!("the price of {of} is not known")
        }))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn estimate(plan: &Plan) -> Option<String> {
    let evidence = &plan.evidence;
    let new = evidence.placements.values().filter(|placement| {
        placement.list_price.is_estimate()
            || placement.effective_price.is_estimate()
            || placement.is_price_max_estimate
    });
    let new = new.count();
    let report = &evidence.report;
    match (new, report.cost_before.is_estimate, report.cost_after.is_estimate) {
        (0, false, false) => None,
        (0, true, _) => Some("today's cost is an estimate".to_owned()),
        (0, false, true) => Some("the cost after the plan is an estimate".to_owned()),
        (new, _, _) => {
            Some(format!("the price of {} is an estimate", counted(new, "node to add", "nodes to add")))
        }
    }
}

/// An unknown price of a node that goes only makes the rise smaller; that of a node that comes makes it unknown.
fn increase(plan: &Plan, most: MicroUsd) -> Option<String> {
    let report = &plan.evidence.report;
    let new = new_unpriced(plan);
    if new > 0 {
        let nodes = counted(new, "node to add", "nodes to add");
        return Some(format!("by how much the cost rises is not known: the price of {nodes} is not"));
    }
    let after = report.cost_after;
    // Whoever sets a limit pays what Azure launches, not what was asked for first.
    let at_most = plan::at_most(plan).unwrap_or(after);
    let rise = |effective: MicroUsdPerHour| (effective - report.cost_before.effective).per_month();
    let mark = |is_estimate: bool| if report.cost_before.is_estimate || is_estimate { "~" } else { "" };
    let (planned, highest) = (rise(after.effective), rise(at_most.effective));
    let (mark, highest_mark) = (mark(after.is_estimate), mark(at_most.is_estimate));
    let up_to = || match highest > planned {
        true => format!(", up to {highest_mark}{} if Azure substitutes", dollars(highest)),
        false => String::new(),
    };
    (highest > most).then(|| format!("the monthly cost rises by {mark}{}{}", dollars(planned), up_to()))
}

fn new_unpriced(plan: &Plan) -> usize {
    let prices = plan.evidence.placements.values();
    prices.filter(|placement| placement.effective_price.known().is_none()).count()
}

fn unpriced(plan: &Plan) -> usize {
    let report = &plan.evidence.report;
    report.cost_before.unpriced_nodes.max(report.cost_after.unpriced_nodes).max(new_unpriced(plan))
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Writes an amount to the cent, rounded up: who asks by how much a limit is passed must see that it is.
fn dollars(amount: MicroUsd) -> String {
    const CENT: i64 = 10_000;
    let cents = amount.0.saturating_add(CENT - 1).div_euclid(CENT);
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Reads dollars by the month as a decimal. `None` when it is none, is negative or does not fit.
#[must_use]
pub fn dollars_per_month(text: &str) -> Option<MicroUsd> {
    MicroUsdPerHour::from_decimal_usd(text).map(|amount| MicroUsd(amount.0))
}

#[cfg(test)]
mod tests {
    use super::{Gate, MicroUsd, MicroUsdPerHour, Plan, dollars_per_month};
    use crate::model::Price;
    use crate::plan::tests::world::example_plan;
    use crate::snapshot::{Gap, GapKind};

    /// The sentences of every gate but that of the cost.
    fn failed(plan: &Plan) -> Vec<String> {
        let gates = [Gate::Unplaced, Gate::Delete, Gate::Incomplete, Gate::Estimate];
        gates.iter().filter_map(|gate| gate.failed(plan)).map(|failed| failed.because).collect()
    }

    fn rises_above(plan: &Plan, dollars: &str) -> Option<String> {
        let most = dollars_per_month(dollars).expect("an amount");
        Gate::MonthlyIncrease(most).failed(plan).map(|failed| failed.because)
    }

    #[test]
    fn each_gate_says_what_it_found() {
        let mut plan = example_plan();
        assert_eq!(failed(&plan), ["1 node is destroyed"]);
        plan.evidence.report.cost_after.is_estimate = true;
        let gap = Gap {
            kind: GapKind::Unread,
            what: "2 documents of kind `Rollout`".into(),
            consequence: "none".into(),
        };
        plan.evidence.world.gaps.push(gap);
        plan.evidence.report.cost_before.unpriced_nodes = 1;
        assert_eq!(
            failed(&plan),
            [
                "1 node is destroyed",
                "not in it: 2 documents of kind `Rollout`; the price of 1 node is not known",
                "the cost after the plan is an estimate",
            ]
        );
    }

    #[test]
    fn the_rise_is_compared_exactly_and_unknown_is_not_nothing() {
        let mut plan = example_plan();
        without_choice(&mut plan);
        let report = &mut plan.evidence.report;
        report.cost_before.effective = MicroUsdPerHour(0);
        report.cost_after.effective = MicroUsdPerHour(100_000);
        assert_eq!(rises_above(&plan, "73"), None);
        assert_eq!(rises_above(&plan, "72.999999"), Some("the monthly cost rises by $73.00".to_owned()));
        plan.evidence.report.cost_before.unpriced_nodes = 1;
        assert_eq!(
            rises_above(&plan, "73"),
            None,
            "a node of unknown price that goes makes the rise smaller"
        );
        for placement in plan.evidence.placements.values_mut() {
            placement.effective_price = Price::Unknown;
        }
        assert!(rises_above(&plan, "1000000").is_some_and(|because| because.contains("is not known")));
    }

    /// Lets no node come up as anything dearer than its first choice.
    fn without_choice(plan: &mut Plan) {
        let prices = plan.evidence.placements.values().map(|placement| placement.effective_price.known());
        let first = prices.max().flatten();
        plan.spec.claims.values_mut().for_each(|claim| claim.price_max = first);
    }

    #[test]
    fn the_rise_is_that_of_the_dearest_choices() {
        let mut plan = example_plan();
        let report = &mut plan.evidence.report;
        report.cost_before.effective = MicroUsdPerHour(0);
        report.cost_after.effective = MicroUsdPerHour(100_000);
        let said = "the monthly cost rises by $73.00, up to $365.00 if Azure substitutes";
        assert_eq!(rises_above(&plan, "364.99").as_deref(), Some(said));
        assert_eq!(rises_above(&plan, "365"), None);
        for placement in plan.evidence.placements.values_mut() {
            placement.is_price_max_estimate = true;
        }
        let estimated = "the monthly cost rises by $73.00, up to ~$365.00 if Azure substitutes";
        assert_eq!(rises_above(&plan, "0").as_deref(), Some(estimated));
    }

    #[test]
    fn a_fall_passes_and_amounts_are_decimals_of_nothing_or_more() {
        let mut plan = example_plan();
        without_choice(&mut plan);
        plan.evidence.report.cost_after.effective = MicroUsdPerHour(0);
        assert_eq!(rises_above(&plan, "0"), None);
        assert_eq!(dollars_per_month("0.5"), Some(MicroUsd(500_000)));
        for wrong in ["-1", "", "$5", "five", "1e40", "-0.0000001"] {
            assert_eq!(dollars_per_month(wrong), None, "{wrong}");
        }
    }
}
