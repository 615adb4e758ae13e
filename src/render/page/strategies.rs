//! Fleets of several strategies side by side, with the lower bound of any fleet.
//!
//! The time that each took is not part of the plan; whoever measured it reports it.

use super::question::whole;
use super::shape::bytes;
use super::workloads::Pods;
use crate::model::{MicroUsdPerHour, ResourceName};
use crate::plan::fleet::FleetSum;
use crate::plan::strategies::StrategyFleet;
use crate::render::escape::sentence;
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, dollars, per_hour};
use crate::render::table::aligned;
use crate::render::view::PlanView;
use crate::solve::{Cost, Strategy};

/// A column of the table.
struct Column {
    title: &'static str,
    fleet: FleetSum,
    cost: Cost,
    /// `None` if unknown.
    unplaced: Option<usize>,
}

/// Returns the table as lines, if the plan has several strategies.
pub(crate) fn table(view: &PlanView<'_>) -> Vec<Line> {
    let rows = rows(view);
    if rows.is_empty() {
        return Vec::new();
    }
    let right: Vec<bool> = (0..rows[0].len()).map(|column| column > 0).collect();
    let style = |place: usize| if place == 0 { Style::Dim } else { Style::Plain };
    let mut lines = vec![Line::blank()];
    let text = aligned(&rows, &right);
    lines.extend(text.lines().enumerate().map(|(place, line)| Line::new(style(place), format!("  {line}"))));
    lines.extend(own(view).map(|own| Line::new(Style::Dim, format!("  {own}"))));
    lines.extend(left(view).into_iter().map(|text| Line::new(Style::Warning, format!("  {text}"))));
    lines
}

/// Returns the table as Markdown, if the plan has several strategies.
pub(crate) fn markdown(view: &PlanView<'_>) -> Option<String> {
    let rows = rows(view);
    let written: Vec<String> = rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    let (heading, rest) = written.split_first()?;
    let ruler = format!("|---|{}", "---:|".repeat(rows[0].len() - 1));
    let own = own(view)?;
    let left: String = left(view).iter().map(|text| format!("\n\n{}.", sentence(text))).collect();
    Some(format!("{heading}\n{ruler}\n{}\n\n{own}.{left}", rest.join("\n")))
}

/// Returns the heading and rows, and the notes below them, if the plan has several strategies.
pub(crate) fn cells(view: &PlanView<'_>) -> (Vec<Vec<String>>, Vec<String>) {
    let rows = rows(view);
    let said = if rows.is_empty() { Vec::new() } else { own(view).into_iter().chain(left(view)).collect() };
    (rows, said)
}

/// Describes which pods each strategy leaves Pending, and warns that costs cannot be compared if these differ.
fn left(view: &PlanView<'_>) -> Vec<String> {
    let strategies = &view.plan.evidence.strategies;
    let leaves = |one: &StrategyFleet| {
        let pods = Pods::of(view, &one.pending).named("");
        (!one.pending.is_empty()).then(|| format!("`{}` leaves Pending: {pods}", title(one.strategy)))
    };
    let mut said: Vec<String> = strategies.iter().filter_map(leaves).collect();
    let differ = strategies.windows(2).any(|pair| pair[0].pending != pair[1].pending);
    said.extend(
        differ
            .then(|| "The costs cannot be compared: the strategies leave different pods Pending".to_owned()),
    );
    said
}

/// Names the strategy whose changes the plan has.
fn own(view: &PlanView<'_>) -> Option<String> {
    let first = view.plan.evidence.strategies.first()?;
    Some(format!("The changes of this plan are those of `{}`", title(first.strategy)))
}

const fn title(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Cheapest => "cheapest",
        Strategy::Karpenter => "karpenter",
    }
}

fn columns(view: &PlanView<'_>) -> Vec<Column> {
    let evidence = &view.plan.evidence;
    let mut columns = Vec::new();
    if !evidence.world.absent.is_empty() {
        let fleet = FleetSum::today(view.plan);
        columns.push(Column { title: "today", fleet, cost: evidence.report.cost_before, unplaced: None });
    }
    columns.extend(evidence.strategies.iter().map(|one| {
        let StrategyFleet { strategy, fleet, cost, unplaced_pods, pending } = one;
        let unplaced = Some((*unplaced_pods).max(pending.len()));
        Column { title: title(*strategy), fleet: fleet.clone(), cost: *cost, unplaced }
    }));
    columns
}

/// Returns the heading and rows; empty for a plan of one strategy.
fn rows(view: &PlanView<'_>) -> Vec<Vec<String>> {
    if view.plan.evidence.strategies.is_empty() {
        return Vec::new();
    }
    let columns = columns(view);
    let bound = view.plan.evidence.report.bound;
    let row = |title: &str, cell: &dyn Fn(&Column) -> String, least: String| {
        let cells = columns.iter().map(cell);
        std::iter::once(title.to_owned()).chain(cells).chain([least]).collect::<Vec<String>>()
    };
    let least = |text: fn(MicroUsdPerHour, Sureness) -> String| {
        bound.map_or("not known".to_owned(), |bound| text(bound.least, Sureness::of(bound.is_estimate)))
    };
    let sure = |column: &Column| Sureness::of(column.cost.is_estimate);
    let by_month: fn(MicroUsdPerHour, Sureness) -> String = |rate, sure| dollars(rate.per_month(), sure);
    let vcpu = |column: &Column| {
        let cpu = &ResourceName::Cpu;
        cpu.show(whole(cpu, column.fleet.capacity.get(cpu)))
    };
    let allocatable = |column: &Column| {
        let memory = &ResourceName::Memory;
        bytes(whole(memory, column.fleet.allocatable.get(memory)))
    };
    let used = |column: &Column, name: &ResourceName| {
        column.fleet.used(name).map_or("-".to_owned(), |part| format!("{part}%"))
    };
    let (cpu, memory) = (&ResourceName::Cpu, &ResourceName::Memory);
    let none = String::new;
    let mut rows = vec![
        row("", &|column| column.title.to_owned(), "lower bound".to_owned()),
        row("nodes", &|column| column.fleet.nodes.to_string(), none()),
        row("vCPU", &vcpu, none()),
        row("allocatable memory", &allocatable, none()),
        row("$/hour", &|column| per_hour(column.cost.effective, sure(column)), least(per_hour)),
        row("$/month", &|column| by_month(column.cost.effective, sure(column)), least(by_month)),
        row("cpu requested", &|column| used(column, cpu), none()),
        row("memory requested", &|column| used(column, memory), none()),
    ];
    if columns.iter().any(|column| column.cost.unpriced_nodes > 0) {
        rows.push(row("nodes of unknown price", &|column| column.cost.unpriced_nodes.to_string(), none()));
    }
    if columns.iter().any(|column| column.unplaced.is_some_and(|pods| pods > 0)) {
        let pods = |column: &Column| column.unplaced.map_or("-".to_owned(), |pods| pods.to_string());
        rows.push(row("pods that stay Pending", &pods, none()));
    }
    rows
}
