//! Messages of failed gates, in the page's number format.

use super::money::{Sureness, dollars, dollars_exact};
use super::words::{count, verb};
use crate::model::MicroUsd;
use crate::review::gate::{Estimated, Failed, Found, Gate, Rise};

/// Returns one line with the gate and its finding.
#[must_use]
pub fn failed_gate(failed: &Failed) -> String {
    let Failed { gate, found } = failed;
    let limit = match gate {
        Gate::MonthlyIncrease(limit) => Some(*limit),
        Gate::Unplaced | Gate::Delete | Gate::Incomplete | Gate::Estimate => None,
    };
    format!("gate `{}`: {}", flag(*gate), because(found, limit.unwrap_or_default()))
}

/// Returns the flag as the caller wrote it.
fn flag(gate: Gate) -> String {
    match gate {
        Gate::Unplaced => "--fail-on unplaced".to_owned(),
        Gate::Delete => "--fail-on delete".to_owned(),
        Gate::Incomplete => "--fail-on incomplete".to_owned(),
        Gate::Estimate => "--fail-on estimate".to_owned(),
        Gate::MonthlyIncrease(most) => {
            format!("--max-monthly-increase {}", dollars_exact(most, Sureness::Listed))
        }
    }
}

fn because(found: &Found, limit: MicroUsd) -> String {
    match found {
        Found::Unplaced { pods, is_newly } => {
            let when = if *is_newly { " that did not before" } else { "" };
            format!("{} {} Pending{when}", count(*pods, "pod"), verb(*pods, "stays", "stay"))
        }
        Found::Deleted(nodes) => {
            format!("{} {} deleted", count(*nodes, "node"), verb(*nodes, "is", "are"))
        }
        Found::Incomplete { unread, held, unpriced } => incomplete(unread, *held, *unpriced),
        Found::Estimate(estimated) => match estimated {
            Estimated::Creates(creates) => {
                format!("the price of {} to create is an estimate", count(*creates, "node"))
            }
            Estimated::Before => "the current cost is an estimate".to_owned(),
            Estimated::After => "the cost after the plan is an estimate".to_owned(),
            Estimated::FirstSide => "the cost before the change is an estimate".to_owned(),
            Estimated::SecondSide => "the cost after the change is an estimate".to_owned(),
            Estimated::BothSides => "the costs before and after the change are estimates".to_owned(),
        },
        Found::UnknownIncrease { unpriced } => {
            format!("monthly cost increases by an unknown amount: {} to create has no known price", {
                count(*unpriced, "node")
            })
        }
        Found::Increase { planned, highest } => increase(*planned, *highest, limit),
    }
}

fn incomplete(unread: &[String], held: usize, unpriced: usize) -> String {
    let held = (held > 0).then(|| format!("{} {} held back", count(held, "pod"), verb(held, "is", "are")));
    let unpriced = (unpriced > 0)
        .then(|| format!("{} {} no known price", count(unpriced, "node"), verb(unpriced, "has", "have")));
    let unread = unread.iter().map(|what| format!("not in the plan: {what}"));
    unread.chain(held).chain(unpriced).collect::<Vec<String>>().join("; ")
}

/// Describes the increase. An amount that would look equal to the limit is shown with cents.
fn increase(planned: Rise, highest: Rise, limit: MicroUsd) -> String {
    let said = |rise: Rise| {
        let sureness = Sureness::of(rise.is_estimate);
        let short = dollars(rise.by, sureness);
        let is_like_limit = rise.by > limit && short == dollars(limit, sureness);
        if is_like_limit { dollars_exact(rise.by, sureness) } else { short }
    };
    let at_most = said(highest);
    match (planned.by.0 > 0, highest.by > planned.by) {
        (true, false) => format!("monthly cost increases by {}", said(planned)),
        (true, true) => {
            format!("monthly cost increases by {}, up to {at_most} if Azure substitutes", said(planned))
        }
        (false, _) => format!("the monthly cost may rise by up to {at_most} if Azure substitutes"),
    }
}

#[cfg(test)]
mod tests {
    use super::failed_gate;
    use crate::model::{MicroUsd, MicroUsdPerHour, Price};
    use crate::plan::Plan;
    use crate::plan::tests::world::example_plan;
    use crate::review::gate::{Gate, dollars_per_month};
    use crate::snapshot::{Gap, GapKind};

    /// Returns the messages of all gates except that of the cost.
    fn failed(plan: &Plan) -> Vec<String> {
        let gates = [Gate::Unplaced, Gate::Delete, Gate::Incomplete, Gate::Estimate];
        gates.iter().filter_map(|gate| gate.failed(plan)).map(|failed| failed_gate(&failed)).collect()
    }

    fn rises_above(plan: &Plan, dollars: &str) -> Option<String> {
        let most = dollars_per_month(dollars).expect("an amount");
        Gate::MonthlyIncrease(most).failed(plan).map(|failed| failed_gate(&failed))
    }

    #[test]
    fn each_gate_says_what_it_found() {
        let mut plan = example_plan();
        assert_eq!(failed(&plan), ["gate `--fail-on delete`: 1 node is deleted"]);
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
                "gate `--fail-on delete`: 1 node is deleted",
                "gate `--fail-on incomplete`: not in the plan: 2 documents of kind `Rollout`; 1 node has no known price",
                "gate `--fail-on estimate`: the cost after the plan is an estimate",
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
        let said = "gate `--max-monthly-increase $50`: monthly cost increases by $73";
        assert_eq!(rises_above(&plan, "50").as_deref(), Some(said));
        plan.evidence.report.cost_after.effective = MicroUsdPerHour(100_002);
        let said = "gate `--max-monthly-increase $73`: monthly cost increases by $73.01";
        assert_eq!(rises_above(&plan, "73").as_deref(), Some(said), "as dollars both would be $73");
        plan.evidence.report.cost_after.effective = MicroUsdPerHour(100_000);
        plan.evidence.report.cost_before.unpriced_nodes = 1;
        assert_eq!(
            rises_above(&plan, "73"),
            None,
            "a node of unknown price that goes makes the rise smaller"
        );
        for placement in plan.evidence.placements.values_mut() {
            placement.effective_price = Price::Unknown;
        }
        assert!(rises_above(&plan, "1000000").is_some_and(|because| because.contains("unknown amount")));
    }

    /// Limits every claim to the price of its first choice.
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
        let said = "gate `--max-monthly-increase $100`: monthly cost increases by $73, up to $365 if Azure substitutes";
        assert_eq!(rises_above(&plan, "100").as_deref(), Some(said));
        assert_eq!(rises_above(&plan, "365"), None);
        for placement in plan.evidence.placements.values_mut() {
            placement.is_price_max_estimate = true;
        }
        let estimated = "gate `--max-monthly-increase $0`: monthly cost increases by $73, up to ~$365 if Azure substitutes";
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
