//! First sentences for a reviewer: nodes deleted and created, saving or cost, pods that restart, and the plan's expiry.

use jiff::Timestamp;

use crate::model::ChangeClass;
use crate::plan::{Counts, Plan};
use crate::render::escape::code_whole;
use crate::render::money::by_month;
use crate::render::page::headline::left_pending;
use crate::render::page::moved::Moved;
use crate::render::page::question;
use crate::render::words::{count, grouped, verb};
use crate::review::proposal::class;

/// Returns the title.
pub(super) fn title(plan: &Plan) -> String {
    let cluster = plan.spec.execution.as_ref().and_then(|execution| execution.cluster.id.rsplit('/').next());
    let cluster = cluster.map_or(String::new(), |name| format!(" for cluster {}", code_whole(name)));
    let class = class(plan).map_or(String::new(), |class| format!(": {}", purpose(class)));
    format!("# Plan{cluster}{class}")
}

/// Describes a class by its name and effect.
fn purpose(class: ChangeClass) -> String {
    let purpose = match class {
        ChangeClass::Create => "create nodes",
        ChangeClass::RemoveEmpty => "delete empty nodes",
        ChangeClass::MovePods => "move pods to fewer or cheaper nodes",
        ChangeClass::Replace => "replace nodes",
        ChangeClass::DeletePool => "delete the nodes of a pool",
        ChangeClass::Update => "update nodes in place",
        ChangeClass::Adopt | ChangeClass::Forget => "change what is managed",
    };
    format!("{purpose} (`{class}`)")
}

/// Returns the first sentences, for a fleet of this many nodes, as plain text.
pub(super) fn sentences(plan: &Plan, nodes: usize, moved: &[Moved<'_>]) -> String {
    let mut said = format!("{}. {}. ", nodes_of(Counts::of(plan), nodes), money(plan));
    if question::is_what_if(plan) {
        said.insert_str(0, "What if: ");
    }
    said.push_str(&restarts(moved));
    said.push_str(&left_pending(crate::plan::summary::pending(plan).len()));
    said.extend(plan.spec.expires_at.map(|at| format!(" Valid until {}.", short(at))));
    said
}

fn nodes_of(counts: Counts, nodes: usize) -> String {
    let Counts { import, add, change, destroy, forget } = counts;
    if counts == Counts::default() {
        return "No node changes".to_owned();
    }
    let of = grouped(u64::try_from(nodes).unwrap_or(u64::MAX));
    let is = |number: usize| verb(number, "is", "are");
    let deleted = match destroy {
        0 => "No node is deleted".to_owned(),
        some => format!("{} of {of} {} {} deleted", number(some), verb(nodes, "node", "nodes"), is(some)),
    };
    let created = match add {
        0 => "none is created".to_owned(),
        some => format!("{} {} created", number(some), is(some)),
    };
    let others = [(change, "updated in place"), (import, "adopted"), (forget, "no longer managed")];
    let others = others.into_iter().filter(|(number, _)| *number > 0);
    let others = others.map(|(some, what)| format!("{} {} {what}", number(some), is(some)));
    [deleted, created].into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

fn number(number: usize) -> String {
    grouped(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Describes the change of the monthly cost.
fn money(plan: &Plan) -> String {
    let report = &plan.evidence.report;
    let (before, after) = (report.cost_before, report.cost_after);
    let unpriced = before.unpriced_nodes.max(after.unpriced_nodes);
    let unpriced = match unpriced {
        0 => String::new(),
        some => format!(", without {} of unknown price", count(some, "node")),
    };
    format!("{}{unpriced}", by_month(before, after))
}

/// Escapes nodeform's own words with amounts for Markdown.
pub(super) fn escaped(text: &str) -> String {
    text.replace('~', "\\~").replace('$', "\\$")
}

/// Describes the fate of the pods on deleted nodes: those that a controller recreates restart.
fn restarts(moved: &[Moved<'_>]) -> String {
    let (lost, moved): (Vec<&Moved<'_>>, Vec<&Moved<'_>>) = moved.iter().partition(|pod| pod.is_lost());
    let lost = match lost.len() {
        0 => String::new(),
        some => {
            let (has, is) = (verb(some, "has", "have"), verb(some, "is", "are"));
            format!(" {} {has} no controller and {is} lost.", count(some, "pod"))
        }
    };
    if moved.is_empty() {
        return format!("No pod restarts.{lost}");
    }
    let single = moved.iter().filter(|pod| pod.is_single()).count();
    let single = match (single, moved.len()) {
        (0, _) => String::new(),
        (1, 1) => ", and has one replica".to_owned(),
        (1, _) => ", 1 of them has one replica".to_owned(),
        (some, all) if some == all => ", each of them has one replica".to_owned(),
        (some, _) => format!(", {} of them have one replica", number(some)),
    };
    let waits = moved.iter().filter(|pod| pod.to.is_none()).count();
    let waits = match waits {
        0 => String::new(),
        some => format!(
            " {} of the {} {} no room and {} Pending.",
            number(some),
            number(moved.len()),
            verb(some, "finds", "find"),
            verb(some, "stays", "stay")
        ),
    };
    format!(
        "{} {}{single}.{waits}{lost}",
        count(moved.len(), "pod"),
        verb(moved.len(), "restarts", "restart")
    )
}

/// Formats a time for people: `29 Nov 08:00 UTC`.
fn short(at: Timestamp) -> String {
    at.strftime("%-d %b %H:%M UTC").to_string()
}
