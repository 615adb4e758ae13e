//! A plan for the description or a comment of a pull request: the same words as on the terminal, in a size that
//! every forge takes.
//!
//! Never longer than [`UNITS_MAX`], whatever the plan holds; what is left out is the least important, and the
//! last line says what and how to see it. Everything that comes from the input passes [`escape`](super::escape).

mod comparison;
mod part;

use std::collections::BTreeSet;

use super::escape::{code, is_kept, sentence, units};
use super::line::Line;
use super::question;
use super::refused;
use super::strategies;
use super::terminal::{self, capacity, existing, group_price, zone_name};
use super::view::{Group, GroupKey, PlanView};
use super::words::grouped;
use crate::model::NodeName;
use crate::plan::{Change, Reason};
use part::{Part, Rank};

/// The most UTF-16 units of the text, and so the most characters: Azure DevOps takes 4,000 for a description, and
/// a little is left for a title or a marker.
pub const UNITS_MAX: usize = 3900;

/// The most reasons, as on the terminal.
const REASONS_MAX: usize = 5;

/// How many names stand in an item before the rest is counted.
const NAMES_IN_ITEM: usize = 3;

/// The head of the table of nodes to make.
const CREATES: &str = "| Nodes | Pool | Size | Zone | Bought | In all | Pods | Cost |\n\
    | ---: | --- | --- | --- | --- | --- | ---: | ---: |";

/// Returns the plan as Markdown; where two inputs stand side by side, what the change from one to the other does.
#[must_use]
pub fn plan_markdown(view: &PlanView<'_>) -> String {
    match &view.plan.evidence.comparison {
        Some(comparison) => comparison::markdown(comparison, view),
        None => one_plan(view),
    }
}

fn one_plan(view: &PlanView<'_>) -> String {
    let mut head = vec![format!("**{}**", terminal::summary(view).text())];
    head.extend(refused::line(view.plan).map(|line| item(&line)));
    head.extend(items(question::head(view.plan)));
    let (cost, mut notes) = split_first(terminal::cost(view));
    head.extend(cost.map(|line| item(&line)));
    head.extend(strategies::markdown(view));
    notes.extend(question::bill(view));
    let counts = view.counts();
    let mut parts = vec![
        Part::new("", Rank::Money, notes.iter().map(item).collect()).at_most(4),
        Part::new("Not in this plan", Rank::Missing, missing(view)),
        Part::new("Destroy", Rank::Destroy, destroys(view)).counting(counts.destroy),
        Part::new("Change in place", Rank::Change, in_place(view)),
        Part::new("Create", Rank::Create, creates(view)).in_table(CREATES).counting(counts.add),
        Part::new("Why", Rank::Why, items(terminal::reasons(view))).at_most(REASONS_MAX),
        Part::new("Not done", Rank::NotDone, items(terminal::not_done(view, NAMES_IN_ITEM))),
        Part::new("Warnings", Rank::Warnings, items(terminal::warnings(view))),
        Part::new("Read and assumed", Rank::Read, read(view)),
    ];
    page(&head, &mut parts, &more(view))
}

/// Writes the page, and gives up the least important of it until it is short enough.
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

/// What the plan does not speak of: what could not be read, and so what the sums leave out.
fn missing(view: &PlanView<'_>) -> Vec<String> {
    let gaps = view.plan.evidence.world.gaps.iter();
    gaps.map(|gap| sentence(&format!("{}: {}", gap.what, gap.consequence))).collect()
}

/// What was read and assumed, without what could not be read.
fn read(view: &PlanView<'_>) -> Vec<String> {
    let gaps: BTreeSet<String> = view.plan.evidence.world.gaps.iter().map(ToString::to_string).collect();
    let lines = terminal::read(view).into_iter().map(|line| line.text());
    lines.filter(|text| !gaps.contains(text)).map(|text| sentence(&text)).collect()
}

/// Removals by name, each with its reason.
fn destroys(view: &PlanView<'_>) -> Vec<String> {
    let mut removed: Vec<(&NodeName, &str, Option<&Reason>)> = view
        .plan
        .spec
        .changes
        .iter()
        .filter_map(|(id, planned)| {
            let target = &planned.change.delete()?.target.node;
            let replaced = if planned.change.create().is_some() { " is replaced" } else { "" };
            Some((target, replaced, view.plan.evidence.reasons.get(id)))
        })
        .collect();
    removed.sort();
    removed
        .into_iter()
        .map(|(node, replaced, reason)| {
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            sentence(&format!("{}{replaced}{reason}", existing(view, node).trim_start_matches("node ")))
        })
        .collect()
}

fn in_place(view: &PlanView<'_>) -> Vec<String> {
    let mut changed: Vec<(&NodeName, &str)> = Vec::new();
    for planned in view.plan.spec.changes.values() {
        match &planned.change {
            Change::Update(update) => changed.push((&update.target.node, "is updated in place")),
            Change::Adopt(adopt) => changed.push((&adopt.target.node, "gets a NodeClaim")),
            Change::Forget(forget) => changed.push((&forget.target.node, "is no longer managed")),
            Change::Create(_) | Change::Delete(_) | Change::Replace(_) | Change::NoOp(_) => {}
        }
    }
    changed.sort_unstable();
    changed.into_iter().map(|(node, what)| format!("{} {what}", code(node.as_str()))).collect()
}

/// Nodes to make by group, the most of them first.
fn creates(view: &PlanView<'_>) -> Vec<String> {
    let groups = view.groups();
    let mut rows: Vec<(&GroupKey<'_>, &Group<'_>)> = groups.iter().collect();
    rows.sort_by(|(key, group), (other_key, other)| {
        (other.nodes.len(), key).cmp(&(group.nodes.len(), other_key))
    });
    rows.into_iter().map(|(key, group)| row(key, group)).collect()
}

fn row(key: &GroupKey<'_>, group: &Group<'_>) -> String {
    let GroupKey { pool, size, zone, capacity_type } = key;
    let number = |number: usize| grouped(u64::try_from(number).unwrap_or(u64::MAX));
    let cells = [
        number(group.nodes.len()),
        code(pool.as_str()),
        code(size.as_str()),
        sentence(&zone_name(zone.as_str())),
        capacity_type.to_string(),
        sentence(&capacity(&group.capacity)),
        number(group.pods),
        sentence(&group_price(group)),
    ];
    format!("| {} |", cells.join(" | "))
}

/// The command that shows everything.
fn more(view: &PlanView<'_>) -> String {
    match view.file.filter(|file| is_kept(file) && !file.contains(' ')) {
        Some(file) => format!("`nodeform show {file} --all`"),
        None => "`nodeform show PLAN --all`, where PLAN is the file of `nodeform plan --out`".to_owned(),
    }
}

#[cfg(test)]
mod tests;
