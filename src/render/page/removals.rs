//! Removed nodes, each with its price, pods and reason, and nodes updated in place.

use crate::model::{NodeName, Price};
use crate::plan::{Change, ChangeId, Reason};
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, per_month};
use crate::render::view::PlanView;
use crate::render::words::count;

use super::shape::existing;

/// An existing node that the plan removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Removed<'a> {
    /// Its name.
    pub(crate) node: &'a NodeName,
    /// Whether the same change creates another in its place.
    pub(crate) is_replaced: bool,
    /// The change.
    pub(crate) id: &'a ChangeId,
}

/// Returns the removed nodes, by name.
pub(crate) fn removed<'a>(view: &PlanView<'a>) -> Vec<Removed<'a>> {
    let changes = view.plan.spec.changes.iter();
    let mut removed: Vec<Removed<'a>> = changes
        .filter_map(|(id, planned)| {
            let node = &planned.change.delete()?.target.node;
            Some(Removed { node, is_replaced: planned.change.create().is_some(), id })
        })
        .collect();
    removed.sort();
    removed
}

/// Returns a line for each removed node.
pub(crate) fn removals(view: &PlanView<'_>) -> Vec<Line> {
    let line = |removed: Removed<'_>| {
        let symbol = if removed.is_replaced { "+/- " } else { "  - " };
        Line::new(Style::Remove, symbol).with(Style::Plain, sentence(view, removed))
    };
    removed(view).into_iter().map(line).collect()
}

/// Describes a removed node: what it is, its price, number of pods and the reason.
pub(crate) fn sentence(view: &PlanView<'_>, removed: Removed<'_>) -> String {
    let Removed { node, is_replaced, id: _ } = removed;
    let replaced = if is_replaced { " is replaced" } else { "" };
    let why = why_removed(view, removed).map_or(String::new(), |why| format!(": {why}"));
    format!("{}{replaced}, {}{why}", existing(view, node), facts(view, node))
}

/// Explains why a node is removed.
pub(crate) fn why_removed(view: &PlanView<'_>, removed: Removed<'_>) -> Option<String> {
    // Pods being deleted leave regardless of the plan, so there are none that fit elsewhere.
    let is_left =
        |reason: &Reason| *reason == Reason::Underutilized && view.running_on(removed.node).next().is_none();
    view.plan.evidence.reasons.get(removed.id).map(|reason| match is_left(reason) {
        true => "all its pods are being deleted".to_owned(),
        false => why(reason),
    })
}

/// Describes the price of a node and the number of its pods, without those of DaemonSets.
pub(crate) fn facts(view: &PlanView<'_>, node: &NodeName) -> String {
    let pods = view.running_on(node).count();
    let pods = if pods == 0 { "no pods".to_owned() } else { count(pods, "pod") };
    let price = view.price(node);
    let price = price.known().map_or("price not known".to_owned(), |known| {
        per_month(known, Sureness::of(matches!(price, Price::Estimated(_))))
    });
    format!("{price}, {pods}")
}

/// Formats a reason, shortened if the line says the rest.
fn why(reason: &Reason) -> String {
    if *reason == Reason::Empty { "empty".to_owned() } else { reason.to_string() }
}

/// Returns a line for each node that is updated in place, adopted or forgotten, by name, each with the reason.
pub(crate) fn in_place(view: &PlanView<'_>) -> Vec<Line> {
    let mut changed: Vec<(&NodeName, &'static str, &'static str, &ChangeId)> = Vec::new();
    for (id, planned) in &view.plan.spec.changes {
        let (target, symbol, what) = match &planned.change {
            Change::Update(update) => (&update.target, "  ~ ", "is updated in place"),
            Change::Adopt(adopt) => (&adopt.target, "  i ", "gets a NodeClaim"),
            Change::Forget(forget) => (&forget.target, "  . ", "is no longer managed"),
            Change::Create(_) | Change::Delete(_) | Change::NoOp(_) => continue,
        };
        changed.push((&target.node, symbol, what, id));
    }
    changed.sort();
    let line = |(node, symbol, what, id): (&NodeName, &'static str, &str, &ChangeId)| {
        let reason = view.plan.evidence.reasons.get(id);
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        Line::new(Style::Change, symbol).with(Style::Plain, format!("node `{node}` {what}{reason}"))
    };
    changed.into_iter().map(line).collect()
}
