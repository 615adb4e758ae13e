//! Details of one node, shown on Enter.

use super::fit;
use super::head::drawn;
use super::head::share;
use super::page::Moment;
use super::row::{PodRow, Row, Use};
use super::table::age;
use crate::model::ResourceName;
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, per_hour, per_month};
use crate::render::words::count;

/// Width of the bars.
const BAR: usize = 30;

/// Returns the lines about a node.
pub(super) fn detail(row: &Row, moment: Moment<'_>) -> Vec<Line> {
    let or =
        |text: &Option<String>, none: &str| text.as_deref().map_or_else(|| none.to_owned(), fit::harmless);
    let bought = row.bought.map_or("?", |bought| bought.as_str());
    let mut lines = vec![
        Line::new(Style::Bold, format!("node {}", fit::harmless(&row.name))),
        said("pool", &or(&row.pool, "none")),
        said("size", &format!("{}, {bought}, zone {}", or(&row.size, "?"), or(&row.zone, "?"))),
        said("stage", &stage(row, moment)),
        said("price", &price(row)),
        used("CPU", row.cpu, &ResourceName::Cpu),
        used("memory", row.memory, &ResourceName::Memory),
        said("pods", &pods(row)),
        Line::blank(),
    ];
    lines.extend(listed("planned", &row.planned, "nothing"));
    lines.extend(listed("held by", &row.held, "nothing"));
    lines.extend(listed("notes", &row.notes, "none"));
    lines.push(Line::blank());
    match &row.pod_list {
        None => lines.push(Line::new(Style::Warning, "pods could not be read")),
        Some(pods) => lines.extend(pods.iter().map(pod)),
    }
    lines.push(Line::blank());
    let name = fit::harmless(&row.name);
    lines.push(Line::new(Style::Dim, format!("more: `nodeform explain node/{name} --live`")));
    lines
}

fn said(what: &'static str, text: &str) -> Line {
    Line::new(Style::Dim, format!("  {what:<9}")).with(Style::Plain, text.to_owned())
}

fn listed(what: &'static str, texts: &[String], none: &str) -> Vec<Line> {
    if texts.is_empty() {
        return vec![said(what, none)];
    }
    let heads = std::iter::once(what).chain(std::iter::repeat(""));
    heads.zip(texts).map(|(what, text)| said(what, &fit::harmless(text))).collect()
}

fn stage(row: &Row, moment: Moment<'_>) -> String {
    let since = moment.age(row.created).map(|age| format!(", {age} old")).unwrap_or_default();
    format!("{}{since}", row.stage.word())
}

fn price(row: &Row) -> String {
    let sureness = Sureness::of(row.price.is_estimate());
    match row.price.known() {
        Some(rate) => format!("{}/h, {}", per_hour(rate, sureness), per_month(rate, sureness)),
        None => "unknown".to_owned(),
    }
}

fn used(what: &'static str, used: Use, name: &ResourceName) -> Line {
    let text = |amount: Option<i64>| amount.map_or_else(|| "?".to_owned(), |amount| name.show(amount));
    let line = drawn(Line::new(Style::Dim, format!("  {what:<9}")), used, BAR);
    let free = used.of.zip(used.requested).map(|(of, requested)| of - requested);
    let free = free.map(|free| format!(", {} free", name.show(free.max(0)))).unwrap_or_default();
    let all = format!(" {}, {} requested of {}{free}", share(used), text(used.requested), text(used.of));
    line.with(Style::Plain, all)
}

fn pods(row: &Row) -> String {
    let Some(pods) = &row.pod_list else { return "?".to_owned() };
    let daemons = pods.iter().filter(|pod| pod.is_daemon).count();
    let of = row.pods.of.map_or_else(|| "?".to_owned(), |of| of.to_string());
    format!("{} of {of}, {daemons} of DaemonSets or static", count(pods.len(), "pod"))
}

fn pod(pod: &PodRow) -> Line {
    let PodRow { key, cpu, memory, is_daemon, is_protected } = pod;
    let daemon = if *is_daemon { ", daemon" } else { "" };
    let protected = if *is_protected { ", do-not-disrupt" } else { "" };
    let style = if *is_daemon { Style::Dim } else { Style::Plain };
    let (cpu, memory) = (ResourceName::Cpu.show(*cpu), ResourceName::Memory.show(*memory));
    let key = fit::left(&fit::name(&fit::harmless(key), 50), 50);
    Line::new(style, format!("  {key}  {cpu:>6}  {memory:>8}{daemon}{protected}"))
}

/// Returns the time since something, in kubectl's format.
pub(super) fn ago(moment: Moment<'_>, since: Option<jiff::Timestamp>) -> Option<String> {
    Some(age(moment.now?.duration_since(since?)))
}
