//! Comparison of two plans for the reviewer of a change: first how the fleets and their costs differ, then the pods
//! that cause it, pods that no longer fit, and the changed text.

use std::collections::BTreeSet;

use super::line::{Line, Style};
use super::money::{self, Sureness};
use super::page::headline::left_pending;
use super::page::pending::unplaced as why_unplaced;
use super::page::shape::zone_name;
use super::patch::Patch;
use super::section::{Room, Section, fit};
use super::terminal::{Detail, LINES_MAX, gaps_of, plan_text};
use super::view::PlanView;
use super::words::{count, some, verb};
use crate::model::{ResourceName, Resources};
use crate::plan::comparison::{
    Comparison, Counts, ExistingDifference, Fate, FileWay, GroupDifference, NodeKind, Side,
    WorkloadDifference, WorkloadSum,
};
use crate::plan::summary::pending;
use crate::snapshot::Gap;

/// Maximum number of lines of changed text on a page.
const PATCH_LINES_MAX: usize = 24;

/// Maximum number of lines above the changed text.
const HEAD_LINES_MAX: usize = LINES_MAX - 10;

/// Maximum number of names in a line; the rest is counted.
const NAMES_IN_LINE: usize = 3;

/// Returns a comparison as lines, with the changed text if available: a saved plan does not contain it.
#[must_use]
pub fn comparison_text(
    comparison: &Comparison,
    view: &PlanView<'_>,
    patches: &[Patch],
    detail: Detail,
) -> Vec<Line> {
    let mut lines = vec![summary(comparison, view), cost(comparison)];
    if comparison.is_empty() {
        lines.push(Line::blank());
        lines.push(Line::new(Style::Plain, sides(comparison)));
        return lines;
    }
    let most = |number: usize| if detail == Detail::All { usize::MAX } else { number };
    let text_lines: usize = patches.iter().map(|patch| patch.lines.len()).sum();
    // If all changed text is shown, its headings already name the files.
    let files =
        if (1..=most(PATCH_LINES_MAX)).contains(&text_lines) { Vec::new() } else { files(comparison) };
    let section = Section::titled;
    let sections = vec![
        Section {
            items: vec![Line::new(Style::Plain, sides(comparison))],
            most: usize::MAX,
            ..Section::default()
        },
        section("Nodes, when each plan is done:", nodes(comparison), most(12)),
        section("No longer placed:", unplaced(comparison, most(NAMES_IN_LINE)), most(4)),
        section("Pods:", workloads(comparison), most(8)),
        section("New warnings:", warnings(comparison, gaps_of(detail)), most(4)),
        section("Solved:", solved(comparison, most(NAMES_IN_LINE)), most(3)),
        section("Files:", files, most(6)),
    ];
    let room = if detail == Detail::All { usize::MAX } else { HEAD_LINES_MAX };
    let mut leaves_out = fit(sections, Room { lines: room, columns: view.columns }, &mut lines);
    leaves_out |= text(patches, most(PATCH_LINES_MAX), &mut lines);
    lines.push(Line::blank());
    match detail {
        Detail::All => {
            let title = format!("The plan of `{}`, whole:", comparison.after.name);
            lines.push(Line::new(Style::Bold, title));
            lines.push(Line::blank());
            lines.extend(plan_text(view, Detail::All));
        }
        Detail::Brief => {
            lines.push(Line::new(Style::Plain, plan_of(comparison, view)));
            if leaves_out {
                lines.push(Line::new(Style::Dim, "more: the same with `--all`"));
            }
        }
    }
    lines
}

/// Returns the first line: the difference of the fleets in Terraform's words, and the pods that stay Pending after the
/// second plan.
#[must_use]
pub fn summary(comparison: &Comparison, view: &PlanView<'_>) -> Line {
    let left = pending(view.plan).len();
    let Counts { add, change, destroy } = comparison.nodes.counts;
    let text = match (comparison.is_empty(), left) {
        (true, 0) => "No changes.".to_owned(),
        (true, left) => {
            format!(
                "No difference: {} {} Pending on both sides.",
                count(left, "pod"),
                verb(left, "stays", "stay")
            )
        }
        (false, left) => {
            format!("Plan: {add} to add, {change} to change, {destroy} to destroy.{}", left_pending(left))
        }
    };
    Line::new(Style::Bold, text)
}

/// Returns the sentence about the difference in monthly cost.
#[must_use]
pub fn cost(comparison: &Comparison) -> Line {
    let Comparison { cost_before: before, cost_after: after, .. } = comparison;
    Line::new(Style::Plain, money::change(*before, *after, comparison.more_unpriced()))
}

/// Describes the two inputs.
#[must_use]
pub fn sides(comparison: &Comparison) -> String {
    let Comparison { before, after, files, .. } = comparison;
    let (added, removed) = files
        .iter()
        .fold((0, 0), |(added, removed), file| (added + file.lines_added, removed + file.lines_removed));
    let text = match files.len() {
        0 => "no text differs".to_owned(),
        number => {
            let differs = verb(number, "differs", "differ");
            format!("{} {differs}, lines: +{added} -{removed}", count(number, "file"))
        }
    };
    format!("Compared: {} → {}; {text}", side(before), side(after))
}

fn side(side: &Side) -> String {
    let Side { name, commit } = side;
    match commit.as_ref().map(|commit| commit.get(..7).unwrap_or(commit)) {
        Some(short) if !name.starts_with(short) => format!("`{name}` ({short})"),
        Some(_) | None => format!("`{name}`"),
    }
}

/// Lists existing nodes by name, deleted ones first, then groups of new ones.
pub(super) fn nodes(comparison: &Comparison) -> Vec<Line> {
    let mut existing: Vec<(u8, Line)> = comparison.nodes.existing.iter().map(existing).collect();
    existing.sort_by_key(|(rank, _)| *rank);
    let groups = comparison.nodes.groups.iter().map(group);
    existing.into_iter().map(|(_, line)| line).chain(groups).collect()
}

fn existing(difference: &ExistingDifference) -> (u8, Line) {
    let ExistingDifference { node, kind, before, after, because } = difference;
    let (rank, style, symbol, what) = match (before.is_there(), after.is_there()) {
        (true, false) if *after == Fate::Absent => (0, Style::Remove, "  - ", "is not in the second input"),
        (true, false) => (0, Style::Remove, "  - ", "goes"),
        (false, true) if *before == Fate::Absent => (2, Style::Add, "  + ", "is not in the first input"),
        (false, true) => (2, Style::Add, "  + ", "kept; deleted without the change"),
        (true, true) | (false, false) => (1, Style::Change, "  ~ ", "is changed in place"),
    };
    let because = because.as_ref().map_or(String::new(), |because| format!(": {because}"));
    let text = format!("node `{node}`{} {what}{because}", bracketed(kind));
    (rank, Line::new(style, symbol).with(Style::Plain, text))
}

fn bracketed(kind: &NodeKind) -> String {
    let NodeKind { pool, size, zone, capacity_type } = kind;
    let parts: Vec<String> = [
        pool.as_ref().map(|pool| format!("pool `{pool}`")),
        size.as_ref().map(ToString::to_string),
        zone.as_ref().map(|zone| zone_name(zone.as_str())),
        capacity_type.map(|bought| bought.to_string()),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn group(difference: &GroupDifference) -> Line {
    let GroupDifference { kind, before, after, changed, changed_fields, .. } = difference;
    let NodeKind { pool, size, zone, capacity_type } = kind;
    let what: Vec<String> = [
        size.as_ref().map(ToString::to_string),
        zone.as_ref().map(|zone| zone_name(zone.as_str())),
        capacity_type.map(|bought| bought.to_string()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let pool = pool.as_ref().map_or(String::new(), |pool| format!(" in `{pool}`"));
    let (style, symbol, number) = match before.cmp(after) {
        std::cmp::Ordering::Less => (Style::Add, "  + ", after - before),
        std::cmp::Ordering::Greater => (Style::Remove, "  - ", before - after),
        std::cmp::Ordering::Equal => (Style::Change, "  ~ ", if *changed > 0 { *changed } else { *after }),
    };
    let counts = if before == after { String::new() } else { format!(" ({before} → {after})") };
    let others = if *changed == 0 {
        String::new()
    } else {
        let fields: Vec<&str> = changed_fields.iter().map(|field| &**field).collect();
        let whose = if before == after { String::new() } else { format!("; {changed} of those in both") };
        format!("{whose}: other {}", fields.join(", "))
    };
    let nodes = count(number, "node");
    let text = format!("{nodes}{pool}: {}{counts}, {}{others}", what.join(", "), price(difference));
    Line::new(style, symbol).with(Style::Plain, text)
}

/// Describes the difference in a group's monthly cost.
fn price(difference: &GroupDifference) -> String {
    let GroupDifference { price_before, price_after, is_estimate, is_unpriced, .. } = difference;
    if *is_unpriced {
        return "price not known".to_owned();
    }
    let sureness = Sureness::of(*is_estimate);
    match price_before.cmp(price_after) {
        std::cmp::Ordering::Equal => "at the same price".to_owned(),
        std::cmp::Ordering::Less => {
            format!("+{}", money::per_month(*price_after - *price_before, sureness))
        }
        std::cmp::Ordering::Greater => {
            format!("-{}", money::per_month(*price_before - *price_after, sureness))
        }
    }
}

pub(super) fn workloads(comparison: &Comparison) -> Vec<Line> {
    let mut differences: Vec<&WorkloadDifference> = comparison.workloads.iter().collect();
    // Largest difference in CPU first; the list itself is sorted by name.
    let cpu = |sum: &Option<WorkloadSum>| sum.as_ref().map_or(0, |sum| sum.total.get(&ResourceName::Cpu));
    let weight = |difference: &&WorkloadDifference| cpu(&difference.before).abs_diff(cpu(&difference.after));
    differences.sort_by_key(|difference| std::cmp::Reverse(weight(difference)));
    differences.into_iter().map(workload).collect()
}

fn workload(difference: &WorkloadDifference) -> Line {
    let WorkloadDifference { namespace, kind, name, before, after, other_fields } = difference;
    let (style, symbol, mut text) = match (before, after) {
        (None, Some(after)) => (Style::Add, "  + ", alone(after)),
        (Some(before), None) => (Style::Remove, "  - ", alone(before)),
        (Some(before), Some(after)) => (Style::Change, "  ~ ", both(before, after)),
        (None, None) => (Style::Plain, "    ", String::new()),
    };
    if !other_fields.is_empty() {
        let fields: Vec<&str> = other_fields.iter().map(|field| &**field).collect();
        let gap = if text.is_empty() { "" } else { "; " };
        text += &format!("{gap}other {}", fields.join(", "));
    }
    Line::new(style, symbol).with(Style::Plain, format!("{kind} `{namespace}/{name}`: {text}"))
}

/// Formats the requests of pods.
fn asked(requests: &Resources) -> String {
    let shown = requests.iter().filter(|(name, amount)| *amount > 0 && **name != ResourceName::Pods);
    let parts: Vec<String> = shown.map(|(name, amount)| format!("{name} {}", name.show(amount))).collect();
    if parts.is_empty() { "nothing requested".to_owned() } else { parts.join(", ") }
}

fn alone(sum: &WorkloadSum) -> String {
    let WorkloadSum { pods, each, total } = sum;
    match (pods, each) {
        (None, _) => format!("on each node {}", asked(total)),
        (Some(1), _) => format!("1 pod; {}", asked(total)),
        (Some(pods), Some(each)) => {
            format!("{}; each {}; in all {}", count(*pods, "pod"), asked(each), asked(total))
        }
        (Some(pods), None) => format!("{}; in all {}", count(*pods, "pod"), asked(total)),
    }
}

fn both(before: &WorkloadSum, after: &WorkloadSum) -> String {
    let mut parts = Vec::new();
    match (before.pods, after.pods) {
        (None, None) => {
            if before.total != after.total {
                return format!("on each node {}", moved(&before.total, &after.total));
            }
            return String::new();
        }
        (old, new) if old == new => parts.extend(new.map(|pods| count(pods, "pod"))),
        (old, new) => {
            let old = old.map_or("one on each node".to_owned(), |pods| pods.to_string());
            let new = new.map_or("one on each node".to_owned(), |pods| count(pods, "pod"));
            parts.push(format!("{old} → {new}"));
        }
    }
    if let (Some(old), Some(new)) = (&before.each, &after.each)
        && old != new
    {
        parts.push(format!("each {}", moved(old, new)));
    }
    if before.total != after.total {
        parts.push(format!("in all {}", moved(&before.total, &after.total)));
    }
    parts.join("; ")
}

/// Describes the difference in requests by resource.
fn moved(before: &Resources, after: &Resources) -> String {
    let names: BTreeSet<&ResourceName> = before.iter().chain(after.iter()).map(|(name, _)| name).collect();
    let differing = names.into_iter().filter(|name| **name != ResourceName::Pods);
    let parts: Vec<String> = differing
        .map(|name| (name, before.get(name), after.get(name)))
        .filter(|(_, old, new)| old != new)
        .map(|(name, old, new)| format!("{name} {} → {}", name.show(old), name.show(new)))
        .collect();
    parts.join(", ")
}

pub(super) fn unplaced(comparison: &Comparison, names: usize) -> Vec<Line> {
    let lines = comparison.unplaced.iter().map(|unplaced| {
        let stays = verb(unplaced.pods.len(), "stays", "stay");
        let pods = count(unplaced.pods.len(), "pod");
        let named = some(&unplaced.pods, names);
        let text = format!("  {pods} {stays} Pending: {named}: {}", why_unplaced(unplaced));
        Line::new(Style::Warning, text)
    });
    lines.collect()
}

pub(super) fn warnings(comparison: &Comparison, said: fn(&Gap) -> Gap) -> Vec<Line> {
    let gaps = comparison.gaps.iter().map(|gap| format!("  {}", said(gap)));
    let warnings = comparison.warnings.iter().map(|warning| {
        let hint = warning.hint.as_ref().map_or(String::new(), |hint| format!("; hint: {hint}"));
        format!("  {}: {}{hint}", warning.object, warning.what)
    });
    let assumed = comparison.assumptions.iter();
    let assumed = assumed.map(|assumed| format!("  Assumed: {} ({})", assumed.what, assumed.why));
    assumed.chain(gaps).chain(warnings).map(|text| Line::new(Style::Warning, text)).collect()
}

pub(super) fn solved(comparison: &Comparison, names: usize) -> Vec<Line> {
    let placed = &comparison.placed;
    let fits = verb(placed.len(), "fits", "fit");
    let pods = (!placed.is_empty())
        .then(|| format!("  {} {fits} that did not: {}", count(placed.len(), "pod"), some(placed, names)));
    let gone =
        comparison.warnings_gone.iter().map(|warning| format!("  {}: {}", warning.object, warning.what));
    pods.into_iter().chain(gone).map(|text| Line::new(Style::Plain, text)).collect()
}

pub(super) fn files(comparison: &Comparison) -> Vec<Line> {
    let line = |file: &crate::plan::comparison::FileDifference| {
        let (style, symbol) = match file.way {
            FileWay::Added => (Style::Add, "  + "),
            FileWay::Removed => (Style::Remove, "  - "),
            FileWay::Changed => (Style::Change, "  ~ "),
        };
        let text = format!("`{}`: +{} -{}", file.path, file.lines_added, file.lines_removed);
        Line::new(style, symbol).with(Style::Plain, text)
    };
    comparison.files.iter().map(line).collect()
}

/// Appends at most this many lines of changed text; returns whether some is left out.
fn text(patches: &[Patch], most: usize, lines: &mut Vec<Line>) -> bool {
    let all: usize = patches.iter().map(|patch| patch.lines.len()).sum();
    if all == 0 {
        return false;
    }
    lines.push(Line::blank());
    lines.extend(patches.iter().flat_map(|patch| &patch.lines).take(most).cloned());
    let hidden = all.saturating_sub(most);
    if hidden > 0 {
        lines.push(Line::new(Style::Dim, format!("… and {} of text", count(hidden, "more line"))));
    }
    hidden > 0
}

/// Summarizes the second plan by itself, which a saved file contains.
pub(super) fn plan_of(comparison: &Comparison, view: &PlanView<'_>) -> String {
    let counts = view.counts();
    let from = match view.plan.evidence.world.nodes.len() {
        0 => "from no node at all".to_owned(),
        nodes => format!("from the {} of the input", count(nodes, "node")),
    };
    format!(
        "The plan of `{}` itself, {from}: {} to add, {} to change, {} to destroy.{}",
        comparison.after.name,
        counts.add,
        counts.change,
        counts.destroy,
        left_pending(pending(view.plan).len()),
    )
}
