//! Difference of two snapshots, for people.

use super::line::{Line, Style};
use super::section::{Room, Section, fit};
use super::terminal::{Detail, LINES_MAX};
use super::wrap::COLUMNS_MAX;
use crate::snapshot::difference::{Changed, PodsChanged, SnapshotDifference, Way};

/// Returns the difference as lines; the first one is the summary.
#[must_use]
pub fn snapshot_difference(difference: &SnapshotDifference, detail: Detail) -> Vec<Line> {
    if difference.is_empty() {
        let text = match &difference.at {
            Some(times) => format!("No difference but when they were seen: {}.", seen(times)),
            None => "No difference.".to_owned(),
        };
        return vec![Line::new(Style::Bold, text)];
    }
    let SnapshotDifference { nodes, pods, configuration, others, catalog, at } = difference;
    let mut lines = vec![Line::new(Style::Bold, summary(difference))];
    let most = |number: usize| if detail == Detail::All { usize::MAX } else { number };
    let titled = Section::titled;
    let sold = catalog.iter().map(|(before, after)| row(Way::Changed, &format!("{before} → {after}"), ""));
    lines.extend(at.iter().map(|times| Line::new(Style::Dim, format!("Seen: {}", seen(times)))));
    let sections = vec![
        titled("Nodes:", nodes.iter().map(changed).collect(), most(12)),
        titled("Pods by workload:", pods.iter().map(pods_changed).collect(), most(12)),
        titled("Pools, classes and the fleet:", configuration.iter().map(changed).collect(), most(6)),
        titled("Budgets, volumes and the rest:", others.iter().map(changed).collect(), most(6)),
        titled("What Azure sells:", sold.collect(), usize::MAX),
    ];
    let room = if detail == Detail::All { usize::MAX } else { LINES_MAX - 2 };
    if fit(sections, Room { lines: room, columns: COLUMNS_MAX }, &mut lines) {
        lines.push(Line::blank());
        lines.push(Line::new(Style::Dim, "more: the same with `--all`"));
    }
    lines
}

/// Describes when each snapshot was taken.
fn seen((before, after): &(Option<String>, Option<String>)) -> String {
    let time = |at: &Option<String>| at.clone().unwrap_or_else(|| "at no known time".to_owned());
    format!("{} → {}", time(before), time(after))
}

fn summary(difference: &SnapshotDifference) -> String {
    let SnapshotDifference { nodes, pods, configuration, others, catalog, at: _ } = difference;
    let of = |way: Way| nodes.iter().filter(|node| node.way == way).count();
    let (before, after) =
        pods.iter().fold((0, 0), |(before, after), pods| (before + pods.before, after + pods.after));
    let mut parts = Vec::new();
    if !nodes.is_empty() {
        let (came, went, other) = (of(Way::Came), of(Way::Went), of(Way::Changed));
        parts.push(format!("nodes: {came} came, {went} went, {other} changed"));
    }
    if !pods.is_empty() {
        let noun = if pods.len() == 1 { "workload" } else { "workloads" };
        let counts = if before == after { String::new() } else { format!(": {before} → {after}") };
        parts.push(format!("pods of {} {noun}{counts}", pods.len()));
    }
    if !configuration.is_empty() {
        let noun = if configuration.len() == 1 { "object" } else { "objects" };
        parts.push(format!("{} {noun} of pools, classes and fleet", configuration.len()));
    }
    if !others.is_empty() {
        let noun = if others.len() == 1 { "other object" } else { "other objects" };
        parts.push(format!("{} {noun}", others.len()));
    }
    if catalog.is_some() {
        parts.push("another catalogue".to_owned());
    }
    format!("The snapshots differ: {}.", parts.join("; "))
}

fn row(way: Way, name: &str, what: &str) -> Line {
    let (symbol, style) = match way {
        Way::Came => ("+", Style::Add),
        Way::Went => ("-", Style::Remove),
        Way::Changed => ("~", Style::Change),
    };
    let what = if what.is_empty() { String::new() } else { format!("  {what}") };
    Line::new(style, format!("  {symbol} {name}{what}"))
}

fn changed(changed: &Changed) -> Line {
    let Changed { way, name, what } = changed;
    row(*way, name, &what.join(", "))
}

fn pods_changed(pods: &PodsChanged) -> Line {
    let PodsChanged { workload, before, after, moved, is_spec_changed } = pods;
    let way = match (before, after) {
        (0, _) => Way::Came,
        (_, 0) => Way::Went,
        (_, _) => Way::Changed,
    };
    let counted = |count: usize| format!("{count} {}", if count == 1 { "pod" } else { "pods" });
    let mut what = match way {
        Way::Came => counted(*after),
        Way::Went => counted(*before),
        Way::Changed if before == after => counted(*after),
        Way::Changed => format!("{before} → {}", counted(*after)),
    };
    if *moved > 0 {
        what.push_str(&format!(", {moved} in another place"));
    }
    if *is_spec_changed {
        what.push_str(", with another template");
    }
    row(way, workload, &what)
}
