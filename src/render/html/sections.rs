//! Sections around the picture, in the terminal's words: above it the summary, below it waiting changes, the order in
//! which the plan is applied, and what it was made from.

use maud::{Markup, html};

use super::text::{line, list, paragraphs, sentence};
use crate::plan::{Change, ChangeId, HeldChange, Plan};
use crate::render::line::Line;
use crate::render::page::assumptions::{assumed_daemons, assumptions, doubts};
use crate::render::page::cost::cost;
use crate::render::page::evictions::evictions;
use crate::render::page::headline::headline;
use crate::render::page::not_done::not_done;
use crate::render::page::pending::pending;
use crate::render::page::preemptions::preemptions;
use crate::render::page::whole::word;
use crate::render::page::{question, refused, strategies};
use crate::render::terminal::warnings;
use crate::render::view::PlanView;
use crate::render::words::count;
use crate::snapshot::Gap;

/// Number of gaps and estimates shown without opening the list: as on a brief page of the terminal.
const DOUBTS_SHOWN: usize = 7;

/// Returns the first lines of the terminal's page: summary, cost, gaps and estimates.
pub(super) fn head(view: &PlanView<'_>) -> Markup {
    let mut first: Vec<Line> = refused::line(view.plan).into_iter().collect();
    first.extend(question::head(view.plan));
    let (rows, said) = strategies::cells(view);
    let bill: Vec<Vec<String>> = question::bill_rows(view).into_iter().map(Vec::from).collect();
    let not_in_it = if bill.is_empty() { None } else { question::not_in_it(view) };
    html! {
        h1 { (line(&headline(view))) }
        (paragraphs(&first))
        div class="money" { (paragraphs(&cost(view))) }
        (figures(&bill))
        (figures(&rows))
        @for text in &said { p class="dim" { (sentence(text)) } }
        (paragraphs(&not_in_it.into_iter().chain(evictions(view)).collect::<Vec<_>>()))
        (some(&doubts(view, Gap::clone)))
    }
}

/// Returns lines, the first of them shown and the rest collapsed.
pub(super) fn some(lines: &[Line]) -> Markup {
    let (shown, more) = lines.split_at(lines.len().min(DOUBTS_SHOWN));
    html! {
        (paragraphs(shown))
        @if !more.is_empty() {
            details { summary { "… and " (more.len()) " more" } (paragraphs(more)) }
        }
    }
}

/// Returns a table of figures with the first row as heading; empty without rows.
fn figures(rows: &[Vec<String>]) -> Markup {
    html! {
        @if let Some((head, rows)) = rows.split_first() {
            table class="figures" {
                thead { tr { @for cell in head { @if cell.is_empty() { td {} } @else { th scope="col" { (cell) } } } } }
                tbody { @for row in rows { tr {
                    @for (place, cell) in row.iter().enumerate() {
                        @if place == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                    }
                } } }
            }
        }
    }
}

/// Returns a heading and lines; empty without lines.
pub(super) fn section(title: &str, lines: &[Line]) -> Markup {
    html! { @if !lines.is_empty() { h3 { (title) } (list(lines)) } }
}

/// Returns the sections below the tables of nodes.
pub(super) fn rest(view: &PlanView<'_>) -> Markup {
    let mut read = assumptions(view);
    read.extend(assumed_daemons(view));
    html! {
        (section("Preemption", &preemptions(view)))
        (section("Stays Pending", &pending(view, Some(usize::MAX))))
        (holds(&view.plan.evidence.held))
        (section("Not done", &not_done(view, usize::MAX)))
        (section("Warnings", &warnings(view)))
        (waves(view.plan))
        (section("Read and assumed", &read))
    }
}

/// Lists held changes, each with its end time.
fn holds(held: &[HeldChange]) -> Markup {
    html! {
        @if !held.is_empty() {
            h3 { "Held: " (count(held.len(), "change")) }
            table aria-label="Held changes" {
                thead { tr { @for head in ["Node", "Pool", "Change", "Held by", "Until"] { th scope="col" { (head) } } } }
                tbody { @for HeldChange { node, pool, class, reason, because, until } in held { tr {
                    th scope="row" { (node.as_str()) }
                    td { (pool.as_ref().map_or("(no NodePool)", |pool| pool.as_str())) }
                    td { (class.as_str()) @if let Some(reason) = reason { " (" (reason.to_string().to_lowercase()) ")" } }
                    td { (sentence(because)) }
                    td { @match until { Some(until) => { (until.to_string()) }, None => { "unknown" } } }
                } } }
            }
        }
    }
}

/// Describes the order in which the plan is applied.
fn waves(plan: &Plan) -> Markup {
    let waves = &plan.spec.waves;
    html! {
        @if !waves.is_empty() {
            h3 { "In " (count(waves.len(), "wave")) }
            ol { @for wave in waves { li {
                @for (place, (step, ids)) in wave.steps.iter().enumerate() {
                    @if place > 0 { "; " }
                    (word(*step)) " " (ids.len()) ": "
                    @for (place, id) in ids.iter().enumerate() { @if place > 0 { ", " } code { (name(plan, id)) } }
                }
            } } }
        }
    }
}

/// Returns the name of a change's node.
fn name<'p>(plan: &'p Plan, id: &'p ChangeId) -> &'p str {
    match plan.spec.changes.get(id).map(|planned| &planned.change) {
        Some(Change::Create(create)) => &create.vm,
        Some(change) => change.target().map_or(&id.0, |target| target.node.as_str()),
        None => &id.0,
    }
}
