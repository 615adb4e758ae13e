//! Head of a what-if or narrowed plan: its assumptions and omissions, and today's cost next to the planned one.

use super::shape::bytes;
use crate::model::{ResourceName, WhatIf};
use crate::plan::Plan;
use crate::plan::fleet::FleetSum;
use crate::plan::summary::pending;
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, dollars, dollars_by};
use crate::render::view::PlanView;
use crate::render::words::{count, grouped, some, verb};

/// Maximum number of names in a line; the rest is counted.
const NAMES_IN_LINE: usize = 3;

/// Returns whether the plan has assumptions, so nothing of it "will" happen.
pub(crate) fn is_what_if(plan: &Plan) -> bool {
    !plan.spec.what_if.is_nothing()
}

/// Describes the assumptions and omissions of the plan.
pub(crate) fn head(plan: &Plan) -> Vec<Line> {
    let mut lines = Vec::new();
    if is_what_if(plan) {
        lines.push(Line::new(Style::Warning, supposed(plan)));
    }
    if plan.spec.wishes.destroy {
        let all = if plan.spec.targets.is_empty() {
            "all nodes of NodePools"
        } else {
            "the nodes that `--target` names"
        };
        let text = format!("Destroy: {all} go and none is created (`--destroy`)");
        lines.push(Line::new(Style::Warning, text));
    }
    if !plan.spec.wishes.deleted.is_empty() {
        let text =
            "Delete: deletes the nodes that somebody deletes, and creates none (`kubectl delete`)".to_owned();
        lines.push(Line::new(Style::Warning, text));
        return lines;
    }
    if !plan.spec.targets.is_empty() {
        let text = format!(
            "Partial: only changes of {} and what they need. `--target` is not for routine use: plan without \
             it afterwards",
            some(&plan.spec.targets, NAMES_IN_LINE),
        );
        lines.push(Line::new(Style::Warning, text));
    }
    lines
}

fn supposed(plan: &Plan) -> String {
    let WhatIf { from_scratch, without_zones } = &plan.spec.what_if;
    let world = &plan.evidence.world;
    let mut parts = Vec::new();
    if let Some(selector) = from_scratch {
        let flag = if selector.is_empty() {
            "--from-scratch".to_owned()
        } else {
            format!("--from-scratch={selector}")
        };
        parts.push(format!("`{flag}`"));
    }
    parts.extend(without_zones.iter().map(|zone| format!("`--without-zone {zone}`")));
    let (absent, all) = (world.absent.len(), world.absent.len() + world.nodes.len());
    let what = match absent {
        0 => {
            let zones: Vec<_> = without_zones.iter().collect();
            format!("buys nothing in {}", some(&zones, NAMES_IN_LINE))
        }
        _ => format!("ignores {} of {}", grouped(number(absent)), count(all, "existing node")),
    };
    format!("Hypothetical: {what} ({}). Not for applying.", parts.join(", "))
}

fn number(nodes: usize) -> u64 {
    u64::try_from(nodes).unwrap_or(u64::MAX)
}

/// Returns today's fleet and cost next to the planned ones, if nodes are assumed absent; for several strategies there
/// is a separate table.
pub(crate) fn bill(view: &PlanView<'_>) -> Vec<Line> {
    let rows = bill_rows(view);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::blank()];
    lines.extend(aligned(&rows));
    lines.extend(not_in_it(view));
    lines
}

/// Returns the heading and rows of that table.
pub(crate) fn bill_rows(view: &PlanView<'_>) -> Vec<[String; 4]> {
    let evidence = &view.plan.evidence;
    if evidence.world.absent.is_empty() || !evidence.strategies.is_empty() {
        return Vec::new();
    }
    let (today, planned) = (FleetSum::today(view.plan), FleetSum::planned(view.plan));
    let (before, after) = (evidence.report.cost_before, evidence.report.cost_after);
    let signed = |difference: i64, text: String| match difference {
        0 => "=".to_owned(),
        less if less < 0 => format!("-{text}"),
        _ => format!("+{text}"),
    };
    let number_of = |nodes: usize| i64::try_from(nodes).unwrap_or(i64::MAX);
    let mut rows: Vec<[String; 4]> = vec![["".into(), "today".into(), "planned".into(), "difference".into()]];
    let nodes = number_of(planned.nodes) - number_of(today.nodes);
    let row = |title: &str, one: String, other: String, difference: String| {
        [title.to_owned(), one, other, difference]
    };
    rows.push(row(
        "nodes",
        today.nodes.to_string(),
        planned.nodes.to_string(),
        signed(nodes, nodes.abs().to_string()),
    ));
    for name in [ResourceName::Cpu, ResourceName::Memory] {
        let is_cpu = name == ResourceName::Cpu;
        let title = if is_cpu { "vCPU" } else { "allocatable memory" };
        let all =
            |fleet: &FleetSum| if is_cpu { fleet.capacity.get(&name) } else { fleet.allocatable.get(&name) };
        // The difference of the displayed amounts, so that the reader's own subtraction agrees.
        let [one, other] = [&today, &planned].map(|fleet| whole(&name, all(fleet)));
        let shown = |amount: i64| if is_cpu { name.show(amount) } else { bytes(amount) };
        rows.push(row(title, shown(one), shown(other), signed(other - one, shown((other - one).abs()))));
    }
    let [old, new] = [before, after].map(|cost| cost.effective.per_month());
    let sureness = Sureness::of(before.is_estimate || after.is_estimate);
    rows.push(row("$/month", dollars(old, sureness), dollars(new, sureness), dollars_by(old, new, sureness)));
    for (title, name) in [("cpu requested", ResourceName::Cpu), ("memory requested", ResourceName::Memory)] {
        let [one, other] = [&today, &planned].map(|fleet| fleet.used(&name));
        let shown = |part: Option<i64>| part.map_or("-".to_owned(), |part| format!("{part}%"));
        let points = one.zip(other).map_or("-".to_owned(), |(one, other)| {
            signed(other - one, format!("{} points", (other - one).abs()))
        });
        rows.push(row(title, shown(one), shown(other), points));
    }
    rows
}

/// Reports the pods that the planned fleet does not run, so that it is not mistaken for cheaper than it is.
pub(crate) fn not_in_it(view: &PlanView<'_>) -> Option<Line> {
    let pods = pending(view.plan).len();
    (pods > 0).then(|| {
        let stay = verb(pods, "stays", "stay");
        let text = format!("  The planned fleet does not run {} that {stay} Pending", count(pods, "pod"));
        Line::new(Style::Warning, text)
    })
}

fn aligned(rows: &[[String; 4]]) -> Vec<Line> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let line = |row: &[String; 4]| {
        let [title, one, other, difference] = row;
        let [w0, w1, w2, w3] = widths;
        format!("  {title:<w0$}  {one:>w1$}  {other:>w2$}  {difference:>w3$}")
    };
    let style = |place: usize| if place == 0 { Style::Dim } else { Style::Plain };
    rows.iter().enumerate().map(|(place, row)| Line::new(style(place), line(row))).collect()
}

/// Rounds an amount summed over nodes: whole cores and GiB suffice to compare fleets.
pub(crate) fn whole(name: &ResourceName, amount: i64) -> i64 {
    let unit: i64 = match name {
        ResourceName::Cpu => 1000,
        ResourceName::Memory => 1 << 30,
        ResourceName::EphemeralStorage | ResourceName::Pods | ResourceName::Other(_) => 1,
    };
    (amount + unit / 2) / unit * unit
}
