//! Outcome of soft preferences, in words.

use crate::model::{ExtraCost, Form, MicroUsdPerHour};
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, dollars, per_month};
use crate::render::view::PlanView;
use crate::render::words::{count, verb};
use crate::solve::{GivenUp, GivenUpBecause, Preferences};

/// Field with the cost limit of preferences.
const FIELD: &str = "`spec.preferences.maxExtraCostPercent`";

/// Describes the cost of the preferences that the plan meets, if any.
pub(crate) fn cost(view: &PlanView<'_>) -> Option<String> {
    let report = &view.plan.evidence.report;
    let Preferences { asked, met, without, with, .. } = report.preferences.as_ref()?;
    let more = (*with > *without).then_some(*with - *without)?;
    let sureness = Sureness::of(report.cost_after.is_estimate);
    let share = met * 100 / (*asked).max(1);
    Some(format!(
        "{} pays for preferred affinity and spread; {share} % of the preference weight is satisfied",
        per_month(more, sureness)
    ))
}

/// Describes the preferences that are not met, and why; the most important first.
pub(crate) fn given_up(view: &PlanView<'_>) -> Vec<Line> {
    let report = &view.plan.evidence.report;
    let Some(said) = &report.preferences else { return Vec::new() };
    let sureness = Sureness::of(report.cost_after.is_estimate);
    let line = |entry: &GivenUp| {
        let pods = count(entry.pods.len(), "pod");
        Line::new(Style::Plain, format!("  {} for {pods}: {}", what(entry), because(entry, said, sureness)))
    };
    said.given_up.iter().map(line).collect()
}

/// Describes the preferences of a pod that are not met, from a report about it alone.
pub(crate) fn of_pod(said: &Preferences) -> Vec<String> {
    let line = |entry: &GivenUp| format!("{}: {}", what(entry), because(entry, said, Sureness::Listed));
    said.given_up.iter().map(line).collect()
}

fn what(entry: &GivenUp) -> String {
    let GivenUp { what, weight, instead, .. } = entry;
    match instead {
        Some(Form::Evenly) => format!("`{what}` (weight {weight}) is an even spread instead"),
        Some(Form::Whole) | None => format!("`{what}` (weight {weight}) is given up"),
    }
}

fn because(entry: &GivenUp, said: &Preferences, sureness: Sureness) -> String {
    match entry.because {
        GivenUpBecause::TooDear => too_dear(said, sureness),
        GivenUpBecause::NotPossible if entry.instead.is_some() => "not all of them can be apart".to_owned(),
        GivenUpBecause::NotPossible => "no fleet that holds all pods can meet it".to_owned(),
        GivenUpBecause::Contradicts => {
            "it contradicts what the pods require, or what they prefer with more weight".to_owned()
        }
        GivenUpBecause::NotMetToday => {
            let are = verb(entry.pods.len(), "it is", "they are");
            format!("{are} moved from where it is not met either")
        }
    }
}

fn too_dear(said: &Preferences, sureness: Sureness) -> String {
    let limit = match said.limit {
        ExtraCost::Percent(0) => format!("nothing is bought for preferences ({FIELD})"),
        ExtraCost::Percent(percent) => format!("limit {percent} % ({FIELD})"),
        ExtraCost::Unlimited => return "it costs more than it may".to_owned(),
    };
    match said.all.map(|all| all - said.without).filter(|more| *more > MicroUsdPerHour::default()) {
        Some(more) => {
            let more = dollars(more.per_month(), sureness);
            format!("meeting all preferences would add {more}/month; {limit}")
        }
        None => format!("it costs more than it may; {limit}"),
    }
}
