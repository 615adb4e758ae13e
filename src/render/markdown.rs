//! A plan for the description or a comment of a pull request: the same words as on the terminal, within the size limit
//! of every forge.
//!
//! Never longer than [`UNITS_MAX`], whatever the plan contains. The least important parts are left out, and the last
//! line says which, and how to see them. Everything from the input is escaped by [`escape`](super::escape).

mod comparison;
mod part;
mod whole;

pub use whole::{plan_check_first, plan_markdown_whole, plan_sentences};

use super::escape::{code, is_kept, sentence, units};
use super::line::Line;
use super::page::additions::{kept, purpose};
use super::page::assumptions::{assumptions, guesses};
use super::page::cost::cost;
use super::page::evictions::evictions;
use super::page::headline::headline;
use super::page::not_done::not_done;
use super::page::pending::pending;
use super::page::preemptions::preemptions;
use super::page::removals::{self, Removed, in_place, removed};
use super::page::shape::{group_price, size_of_group, zone_name};
use super::page::{question, refused, strategies};
use super::terminal::warnings;
use super::view::{Group, GroupKey, PlanView};
use super::words::grouped;
use crate::snapshot::Gap;
use part::{Part, Rank};

/// Maximum length of the text in UTF-16 units, and so in characters: Azure DevOps allows 4,000 for a description, and
/// the rest is left for a title or a marker.
pub const UNITS_MAX: usize = 3900;

/// Maximum number of names in an item; the rest is counted.
const NAMES_IN_ITEM: usize = 3;

/// Header of the table of new nodes.
const CREATES: &str = "| Nodes | Pool | Size | Zone | Capacity type | Total | Cost | For |\n\
    | ---: | --- | --- | --- | --- | --- | ---: | --- |";

/// Returns the plan as Markdown; for two inputs side by side, the effect of the change between them.
#[must_use]
pub fn plan_markdown(view: &PlanView<'_>) -> String {
    match &view.plan.evidence.comparison {
        Some(comparison) => comparison::markdown(comparison, view),
        None => one_plan(view),
    }
}

fn one_plan(view: &PlanView<'_>) -> String {
    let mut head = vec![format!("**{}**", headline(view).text())];
    head.extend(refused::line(view.plan).map(|line| item(&line)));
    head.extend(items(question::head(view.plan)));
    let (cost, mut notes) = split_first(cost(view));
    head.extend(cost.map(|line| item(&line)));
    head.extend(evictions(view).iter().map(item));
    head.extend(strategies::markdown(view));
    notes.extend(question::bill(view));
    let counts = view.counts();
    let destroys = removed(view).into_iter().map(|node| destroyed(view, node)).collect();
    let mut parts = vec![
        Part::new("", Rank::Money, notes.iter().map(item).collect()).at_most(4),
        Part::new("Not in this plan", Rank::Missing, missing(view, Gap::brief)),
        Part::new("Check first", Rank::Missing, items(guesses(view))),
        Part::new("Destroy", Rank::Destroy, destroys).counting(counts.destroy),
        Part::new("Change in place", Rank::Change, in_place(view).iter().map(named).collect()),
        Part::new("Create", Rank::Create, creates(view)).in_table(CREATES).counting(counts.add),
        Part::new("On existing nodes", Rank::Kept, kept(view).iter().map(named).collect()),
        Part::new("Preemption", Rank::Kept, items(preemptions(view))),
        Part::new("Stays Pending", Rank::Pending, items(pending(view, None))),
        Part::new("Not done", Rank::NotDone, items(not_done(view, NAMES_IN_ITEM))),
        Part::new("Warnings", Rank::Warnings, items(warnings(view))),
        Part::new("Read and assumed", Rank::Read, items(assumptions(view))),
    ];
    page(&head, &mut parts, &more(view))
}

/// Writes the page, dropping its least important parts until it is short enough.
fn page(head: &[String], parts: &mut [Part], more: &str) -> String {
    let mut text = part::written(head, parts, more);
    while units(&text) > UNITS_MAX && part::drop_least(parts) {
        text = part::written(head, parts, more);
    }
    text
}

fn item(line: &Line) -> String {
    sentence(line.text().trim())
}

fn items(lines: Vec<Line>) -> Vec<String> {
    lines.iter().map(item).collect()
}

fn split_first(lines: Vec<Line>) -> (Option<Line>, Vec<Line>) {
    let mut lines = lines.into_iter();
    (lines.next(), lines.collect())
}

/// Lists what is missing from the plan and its sums because it could not be read; `said` shortens gaps if space is
/// limited.
fn missing(view: &PlanView<'_>, said: fn(&Gap) -> Gap) -> Vec<String> {
    let gaps = view.plan.evidence.world.gaps.iter().map(said);
    gaps.map(|gap| sentence(&format!("{}: {}", gap.what, gap.consequence))).collect()
}

/// Returns the line of an object without its symbol, which the heading implies.
fn named(line: &Line) -> String {
    let text: String = line.spans.iter().skip(1).map(|span| &*span.text).collect();
    sentence(text.trim_start_matches("node "))
}

/// Describes a removed node: what it is, its price and the reason.
fn destroyed(view: &PlanView<'_>, node: Removed<'_>) -> String {
    sentence(removals::sentence(view, node).trim_start_matches("node "))
}

/// Lists new nodes by group, the largest group first.
fn creates(view: &PlanView<'_>) -> Vec<String> {
    let groups = view.groups();
    let mut rows: Vec<(&GroupKey<'_>, &Group<'_>)> = groups.iter().collect();
    rows.sort_by(|(key, group), (other_key, other)| {
        (other.nodes.len(), key).cmp(&(group.nodes.len(), other_key))
    });
    rows.into_iter().map(|(key, group)| row(view, key, group)).collect()
}

fn row(view: &PlanView<'_>, key: &GroupKey<'_>, group: &Group<'_>) -> String {
    let GroupKey { pool, size, zone, capacity_type } = key;
    let number = |number: usize| grouped(u64::try_from(number).unwrap_or(u64::MAX));
    let cells = [
        number(group.nodes.len()),
        code(pool.as_str()),
        code(size.as_str()),
        sentence(&zone_name(zone.as_str())),
        capacity_type.to_string(),
        sentence(&size_of_group(view, group)),
        sentence(&group_price(group)),
        sentence(&purpose(view, group)),
    ];
    format!("| {} |", cells.join(" | "))
}

/// Returns the command that shows everything.
fn more(view: &PlanView<'_>) -> String {
    match view.file.filter(|file| is_kept(file) && !file.contains(' ')) {
        Some(file) => format!("`nodeform show {file} --all`"),
        None => "`nodeform show PLAN --all`, where PLAN is the file of `nodeform plan --out`".to_owned(),
    }
}

#[cfg(test)]
mod tests;
