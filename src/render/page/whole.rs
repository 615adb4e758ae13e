//! Every single change of a plan, with its reason and its pods.

use super::removals::facts;
use super::shape::{existing, size_of, zone_name};
use crate::catalog::NO_ZONE;
use crate::model::{Price, label};
use crate::plan::{Change, ChangeId, OldNew, PlannedChange, Reason, Step, Update};
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, per_month};
use crate::render::view::{NewNodeView, PlanView};
use crate::render::words::count;

/// Returns the changes: removals first, then updates in place, new nodes, existing nodes that get pods, and the waves.
pub(crate) fn changes(view: &PlanView<'_>) -> Vec<Line> {
    let changes = &view.plan.spec.changes;
    let mut lines = Vec::new();
    let mut by_target: Vec<(&ChangeId, &PlannedChange)> =
        changes.iter().filter(|(_, planned)| planned.change.target().is_some()).collect();
    by_target.sort_by_key(|(id, planned)| {
        let is_kept = planned.change.delete().is_none();
        (is_kept, planned.change.target().map(|target| &target.node), *id)
    });
    for (id, planned) in by_target {
        lines.extend(to_existing(view, id, &planned.change));
    }
    let mut made: Vec<NewNodeView<'_>> = view.new_nodes().collect();
    made.sort_by_key(|node| (&node.claim.pool, &node.claim.primary, node.id));
    for node in made {
        lines.extend(new_node(view, &node));
    }
    for (node, pods) in &view.plan.evidence.kept {
        let text = format!("node `{node}` gets {}", count(pods.len(), "more pod"));
        lines.push(Line::new(Style::Dim, "  = ").with(Style::Plain, text));
        lines.extend(pods.iter().map(pod));
    }
    lines.extend(waves(view));
    lines
}

fn to_existing(view: &PlanView<'_>, id: &ChangeId, change: &Change) -> Vec<Line> {
    let Some(target) = change.target() else { return Vec::new() };
    let name = existing(view, &target.node);
    let (style, symbol, what) = match change {
        Change::Delete(_) => (Style::Remove, "  - ", "will be destroyed".to_owned()),
        Change::Update(_) => (Style::Change, "  ~ ", "will be updated in place".to_owned()),
        Change::Adopt(adopt) => {
            (Style::Change, "  i ", format!("will be adopted as NodeClaim `{}`", adopt.claim))
        }
        Change::Forget(_) => (Style::Change, "  . ", "will no longer be managed".to_owned()),
        Change::Create(_) | Change::NoOp(_) => return Vec::new(),
    };
    let facts = change.delete().map_or(String::new(), |_| format!(", {}", facts(view, &target.node)));
    let mut lines = vec![Line::new(style, symbol).with(Style::Plain, format!("{name} {what}{facts}"))];
    let reason = because(view.plan.evidence.reasons.get(id));
    lines.push(Line::new(Style::Dim, format!("      {reason}")));
    if let Change::Update(update) = change {
        lines.extend(fields(update));
    }
    lines
}

/// Formats the reason of a change, for its own line.
fn because(reason: Option<&Reason>) -> String {
    reason.map_or(String::new(), |reason| format!("because {reason}"))
}

/// Lists the labels, annotations and tags that an update changes.
pub(crate) fn fields(update: &Update) -> Vec<Line> {
    let Update { target: _, labels, annotations, tags } = update;
    let value = |value: &Option<std::sync::Arc<str>>| {
        value.as_ref().map_or("(absent)".to_owned(), |value| format!("`{value}`"))
    };
    let field = |kind: &str, key: &str, OldNew { old, new }: &OldNew| {
        Line::new(Style::Change, format!("      ~ {kind} `{key}`: {} → {}", value(old), value(new)))
    };
    let labels = labels.iter().map(|(key, change)| field("label", key.as_str(), change));
    let annotations = annotations.iter().map(|(key, change)| field("annotation", key, change));
    let tags = tags.iter().map(|(key, change)| field("tag", key, change));
    labels.chain(annotations).chain(tags).collect()
}

fn new_node(view: &PlanView<'_>, node: &NewNodeView<'_>) -> Vec<Line> {
    let primary = &node.claim.primary;
    let what = format!(
        "node `{}` of pool `{}`: {}, {}, {}: {}, {}",
        node.create.vm,
        node.claim.pool,
        primary.size,
        zone_name(primary.zone.as_str()),
        primary.capacity_type,
        size_of(view, node),
        price(node),
    );
    let reason = because(view.plan.evidence.reasons.get(node.id));
    let mut lines = vec![
        Line::new(Style::Add, "  + ").with(Style::Plain, what),
        Line::new(Style::Dim, format!("      {reason}")),
    ];
    lines.extend(substitutes(node));
    let taints: Vec<String> = node.claim.taints.iter().map(|taint| format!("`{taint}`")).collect();
    if !taints.is_empty() {
        lines.push(Line::new(Style::Plain, format!("      taints: {}", taints.join(", "))));
    }
    lines.extend(node.placement.pods.iter().map(pod));
    lines
}

fn price(node: &NewNodeView<'_>) -> String {
    let (list, effective) = (node.placement.list_price, node.placement.effective_price);
    let show = |price: Price| {
        price
            .known()
            .map_or("price not known".to_owned(), |rate| per_month(rate, Sureness::of(price.is_estimate())))
    };
    if list == effective {
        show(effective)
    } else {
        format!("{} ({} by the list)", show(effective), show(list))
    }
}

/// Describes the substitutes if Azure refuses the primary choice.
pub(crate) fn substitutes(node: &NewNodeView<'_>) -> Option<Line> {
    let primary = &node.claim.primary;
    let others = |key: &str| {
        let listed = node.claim.requirements.get(key).and_then(|requirement| requirement.listed());
        listed.map_or(0, |values| values.len().saturating_sub(1))
    };
    let is_listed = |key: &str, value: &str| {
        let listed = node.claim.requirements.get(key).and_then(|requirement| requirement.listed());
        listed.is_some_and(|values| values.contains(value))
    };
    // "No zone" is listed like a zone.
    let or_no_zone = primary.zone.as_str() != NO_ZONE && is_listed(label::ZONE, NO_ZONE);
    let part = |number: usize, noun: &str| (number > 0).then(|| count(number, &format!("other {noun}")));
    let parts: Vec<String> = part(others(label::INSTANCE_TYPE), "size")
        .into_iter()
        .chain(part(others(label::ZONE).saturating_sub(usize::from(or_no_zone)), "zone"))
        .chain(or_no_zone.then(|| "no zone".to_owned()))
        .chain(part(others(label::CAPACITY_TYPE), "capacity type"))
        .collect();
    let sureness = Sureness::of(node.placement.is_price_max_estimate);
    (!parts.is_empty()).then(|| {
        let cap = node.claim.price_max;
        let cap = cap.map_or(String::new(), |price| format!(", up to {}", per_month(price, sureness)));
        Line::new(Style::Dim, format!("      or, where Azure has none: {}{cap}", parts.join(", ")))
    })
}

fn pod(key: &crate::model::PodKey) -> Line {
    Line::new(Style::Plain, format!("      {key}"))
}

fn waves(view: &PlanView<'_>) -> Vec<Line> {
    let waves = &view.plan.spec.waves;
    if waves.len() < 2 {
        return Vec::new();
    }
    let mut lines = vec![Line::new(Style::Bold, format!("In {}:", count(waves.len(), "wave")))];
    for (place, wave) in waves.iter().enumerate() {
        let steps: Vec<String> =
            wave.steps.iter().map(|(step, ids)| format!("{} {}", word(*step), ids.len())).collect();
        lines.push(Line::new(Style::Plain, format!("  {}. {}", place + 1, steps.join(", "))));
    }
    lines
}

/// Returns the word for a step of a wave.
pub(crate) const fn word(step: Step) -> &'static str {
    match step {
        Step::Adopt => "adopt",
        Step::Update => "update",
        Step::Create => "create",
        Step::Drain => "drain",
        Step::Delete => "delete",
        Step::Forget => "forget",
    }
}
