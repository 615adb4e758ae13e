//! A plan as a tired reviewer reads it: the summary first, then the money, what was read, what changes, why,
//! and what is not done.
//!
//! Words and symbols are Terraform's, money is said as Infracost says it. Removals come first and by name;
//! what comes is grouped. By default it fits on a screen of 40 lines.

use std::collections::BTreeMap;

use super::line::{Line, Style};
use super::section::{Section, fit};
use super::view::{Counts, Group, GroupKey, PlanView};
use super::words::{count, some, verb};
use super::wrap::wrapped;
use super::{money, question, refused, strategies, whole};
use crate::catalog::NO_ZONE;
use crate::model::{ChangeClass, DisruptionReason, NodeName, ResourceName, Resources, label};
use crate::plan::{Change, PodsFor, Reason, World, at_most};
use crate::solve::NotDecided;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// At most [`LINES_MAX`] lines.
    Brief,
    /// Every node with its pods.
    All,
}

/// The most lines of a brief plan: what fits on a screen.
pub const LINES_MAX: usize = 40;

/// The most reasons of a brief plan.
const REASONS_MAX: usize = 5;

/// How many names stand in a line before the rest is counted.
const NAMES_IN_LINE: usize = 3;

/// Returns the plan as lines.
#[must_use]
pub fn plan_text(view: &PlanView<'_>, detail: Detail) -> Vec<Line> {
    let mut lines = vec![summary(view)];
    lines.extend(refused::line(view.plan).iter().flat_map(wrapped));
    lines.extend(question::head(view.plan).iter().flat_map(wrapped));
    lines.extend(cost(view));
    lines.extend(question::bill(view));
    lines.extend(strategies::table(view));
    let changes = match detail {
        Detail::Brief => changes(view),
        Detail::All => whole::changes(view),
    };
    let reasons = match detail {
        Detail::Brief => reasons(view),
        // Each change has its own reason there.
        Detail::All => Vec::new(),
    };
    let names = match detail {
        Detail::Brief => NAMES_IN_LINE,
        Detail::All => usize::MAX,
    };
    let titled = |title: &'static str| Some(Line::new(Style::Bold, title));
    let mut sections = vec![
        Section { title: None, items: read(view), most: 7 },
        Section { title: None, items: changes, most: 16 },
        Section { title: titled("Why:"), items: reasons, most: REASONS_MAX },
        Section { title: titled("Not done:"), items: not_done(view, names), most: 6 },
        Section { title: titled("Warnings:"), items: warnings(view), most: 4 },
    ];
    let room = match detail {
        // The last two lines say where the rest is.
        Detail::Brief => LINES_MAX.saturating_sub(lines.len() + 2),
        Detail::All => {
            sections.iter_mut().for_each(|section| section.most = usize::MAX);
            usize::MAX
        }
    };
    let leaves_out = fit(sections, room, &mut lines);
    if detail == Detail::Brief && (leaves_out || !view.plan.is_empty()) {
        lines.push(Line::blank());
        lines.push(Line::new(Style::Dim, more(view)));
    }
    lines
}

pub(super) fn summary(view: &PlanView<'_>) -> Line {
    let counts = view.counts();
    // What is only supposed must not be taken for a plan, not even by a program that looks for the word.
    let is_what_if = question::is_what_if(view.plan);
    let Counts { import, add, change, destroy, forget } = counts;
    if counts == Counts::default() {
        return Line::new(Style::Bold, if is_what_if { "What if: no changes." } else { "No changes." });
    }
    let part = |number: usize, what: &str| (number > 0).then(|| format!("{number} to {what}"));
    let parts = part(import, "import")
        .into_iter()
        .chain([format!("{add} to add"), format!("{change} to change"), format!("{destroy} to destroy")])
        .chain(part(forget, "forget"));
    let what = if is_what_if { "What if" } else { "Plan" };
    Line::new(Style::Bold, format!("{what}: {}.", parts.collect::<Vec<_>>().join(", ")))
}

pub(super) fn cost(view: &PlanView<'_>) -> Vec<Line> {
    let (before, after) = (view.plan.evidence.report.cost_before, view.plan.evidence.report.cost_after);
    let unpriced_new =
        view.new_nodes().filter(|node| node.placement.effective_price.known().is_none()).count();
    let mut change = money::change(before, after, unpriced_new);
    if question::is_what_if(view.plan) {
        change = change.replacen(" will ", " would ", 1);
    }
    let mut lines = vec![Line::new(Style::Plain, change)];
    let at_most = at_most(view.plan).and_then(|most| money::up_to(after, most));
    lines.extend(at_most.map(|text| Line::new(Style::Plain, text)));
    let prices = &view.plan.evidence.world.fleet.prices;
    let asides = [money::list_change(before, after, prices), money::commitments(prices)];
    let bound = view.plan.evidence.report.bound.map(|bound| money::bound(after, bound));
    let headroom = view.plan.evidence.report.headroom.map(money::headroom);
    lines.extend(headroom.map(|text| Line::new(Style::Plain, text)));
    let honoring = view.plan.evidence.report.honoring.as_ref().map(money::honoring);
    lines.extend(honoring.map(|text| Line::new(Style::Plain, text)));
    let slack = view.plan.evidence.report.slack.map(money::slack);
    let preferences = super::preferences::cost(view);
    let asides = asides.into_iter().flatten().chain(slack).chain(preferences).chain(bound);
    lines.extend(asides.map(|text| Line::new(Style::Dim, text)));
    let unpriced = before.unpriced_nodes.max(after.unpriced_nodes);
    if unpriced > 0 {
        let text = format!(
            "The price of {} is not known and in no sum ({} before, {} after)",
            count(unpriced, "node"),
            before.unpriced_nodes,
            after.unpriced_nodes
        );
        lines.push(Line::new(Style::Warning, text));
        let why = why_unpriced(view);
        let more = why.len().saturating_sub(NAMES_IN_LINE);
        let mut shown: Vec<String> = why.into_iter().take(NAMES_IN_LINE).collect();
        shown.extend((more > 0).then(|| format!("{more} more")));
        if !shown.is_empty() {
            lines.push(Line::new(Style::Warning, format!("  {}", shown.join("; "))));
        }
    }
    lines
}

/// Says of the nodes that exist and have no price why.
fn why_unpriced(view: &PlanView<'_>) -> Vec<String> {
    let world = &view.plan.evidence.world;
    let has_no_price = |size: &str| {
        let mut prices = world.prices.iter().filter(|vm| vm.size.as_str() == size);
        prices.any(|vm| vm.price.known().is_none())
    };
    let why = |node: &crate::model::Node| match node.labels.get(label::INSTANCE_TYPE) {
        None => Some(format!("node `{}` has no label `{}`", node.name, label::INSTANCE_TYPE)),
        Some(size) if has_no_price(size) => {
            Some(format!("of size `{size}` of node `{}` no price is known", node.name))
        }
        Some(_) => None,
    };
    let absent = world.absent.iter().map(|absent| &absent.node);
    world.nodes.iter().chain(absent).filter_map(why).collect()
}

/// What the plan was made from, and how far that can be trusted.
pub(super) fn read(view: &PlanView<'_>) -> Vec<Line> {
    let evidence = &view.plan.evidence;
    let world = &evidence.world;
    let assumed = world.daemons.iter().filter(|daemon| daemon.is_assumed).count();
    let mut parts: Vec<String> =
        world.documents.map(|documents| count(documents, "document")).into_iter().collect();
    parts.push(count(world.pod_count(), "pod"));
    let absent = world.absent.len();
    let not_there = if absent > 0 { format!(" ({absent} supposed not there)") } else { String::new() };
    parts.push(count(world.nodes.len() + absent, "node") + &not_there);
    let mut daemons = count(world.daemons.len(), "daemonset");
    if assumed > 0 {
        daemons += &format!(" ({assumed} assumed)");
    }
    parts.push(daemons);
    let at = evidence.seen_at.map_or(String::new(), |at| format!(", at {at}"));
    let mut lines = vec![
        Line::new(Style::Plain, format!("Read: {}{at}", parts.join(", "))),
        Line::new(Style::Plain, format!("Prices and sizes: {}{}", world.catalog, overlays(world))),
    ];
    for gap in &world.gaps {
        lines.push(Line::new(Style::Warning, gap.to_string()));
    }
    for assumption in &world.assumptions {
        lines.push(Line::new(Style::Plain, format!("Assumed: {} ({})", assumption.what, assumption.why)));
    }
    let silent = evidence.report.without_requests;
    if silent > 0 {
        let says = verb(silent, "says", "say");
        let text = format!("{} {says} nothing of what to reserve and may crowd a node", count(silent, "pod"));
        lines.push(Line::new(Style::Warning, text));
    }
    lines
}

/// Names the overlays by which sizes differ from the catalogue.
fn overlays(world: &World) -> String {
    let names: Vec<_> = world.overlays.iter().map(|overlay| &overlay.name).collect();
    match names.len() {
        0 => String::new(),
        several => {
            format!(", changed by {} {}", verb(several, "NodeOverlay", "NodeOverlays"), some(&names, 5))
        }
    }
}

/// Removals by name, then what changes in place, then what comes, by group.
fn changes(view: &PlanView<'_>) -> Vec<Line> {
    let mut removed = Vec::new();
    let mut others = Vec::new();
    for planned in view.plan.spec.changes.values() {
        match &planned.change {
            Change::Delete(delete) => removed.push((&delete.target.node, "  - ")),
            Change::Replace(replace) => removed.push((&replace.delete.target.node, "+/- ")),
            Change::Update(update) => others.push((&update.target.node, "  ~ ", "is updated in place")),
            Change::Adopt(adopt) => others.push((&adopt.target.node, "  i ", "gets a NodeClaim")),
            Change::Forget(forget) => others.push((&forget.target.node, "  . ", "is no longer managed")),
            Change::Create(_) | Change::NoOp(_) => {}
        }
    }
    removed.sort();
    others.sort();
    let mut lines: Vec<Line> = removed
        .into_iter()
        .map(|(node, symbol)| Line::new(Style::Remove, symbol).with(Style::Plain, existing(view, node)))
        .collect();
    lines.extend(others.into_iter().map(|(node, symbol, what)| {
        Line::new(Style::Change, symbol).with(Style::Plain, format!("node `{node}` {what}"))
    }));
    lines.extend(view.groups().iter().map(|(key, group)| created(key, group)));
    lines
}

/// Names a node that exists and says what it is.
pub(super) fn existing(view: &PlanView<'_>, name: &NodeName) -> String {
    let Some(node) = view.node(name) else {
        return format!("node `{name}`");
    };
    let value = |key: &str| node.labels.get(key).map(ToString::to_string);
    let pool = node.pool.as_ref().map(|pool| format!("pool `{pool}`"));
    let known: Vec<String> = [
        pool,
        value(label::INSTANCE_TYPE),
        value(label::ZONE).map(|zone| zone_name(&zone)),
        value(label::CAPACITY_TYPE),
    ]
    .into_iter()
    .flatten()
    .collect();
    if known.is_empty() { format!("node `{name}`") } else { format!("node `{name}` ({})", known.join(", ")) }
}

fn created(key: &GroupKey<'_>, group: &Group<'_>) -> Line {
    let GroupKey { pool, size, zone, capacity_type } = key;
    let text = format!(
        "{} in `{pool}`: {size}, {}, {capacity_type}: {}, {}, {}",
        count(group.nodes.len(), "node"),
        zone_name(zone.as_str()),
        capacity(&group.capacity),
        held_there(group),
        group_price(group),
    );
    Line::new(Style::Add, "  + ").with(Style::Plain, text)
}

/// Says how many pods a group carries, and for how many more it has room that is kept.
pub(super) fn held_there(group: &Group<'_>) -> String {
    match (group.pods, group.headroom) {
        (pods, 0) => count(pods, "pod"),
        (0, room) => format!("headroom for {}", count(room, "pod")),
        (pods, room) => format!("{} and headroom for {}", count(pods, "pod"), count(room, "pod")),
    }
}

/// Returns a zone as people call it: Azure's placement without one is no zone.
pub(super) fn zone_name(zone: &str) -> String {
    if zone == NO_ZONE { "no zone".to_owned() } else { zone.to_owned() }
}

/// Says what nodes have: vCPU, memory, and devices if there are any.
pub(super) fn capacity(capacity: &Resources) -> String {
    let mut parts = vec![
        format!("{} vCPU", ResourceName::Cpu.show(capacity.get(&ResourceName::Cpu))),
        ResourceName::Memory.show(capacity.get(&ResourceName::Memory)),
    ];
    for (name, amount) in capacity.iter().filter(|(_, amount)| *amount > 0) {
        match name {
            ResourceName::Other(device) => parts.push(format!("{} {device}", name.show(amount))),
            ResourceName::Cpu
            | ResourceName::Memory
            | ResourceName::EphemeralStorage
            | ResourceName::Pods => {}
        }
    }
    parts.join(", ")
}

pub(super) fn group_price(group: &Group<'_>) -> String {
    let sum = money::per_month(group.price, money::Sureness::of(group.is_estimate));
    match group.unpriced {
        0 => sum,
        unpriced if unpriced == group.nodes.len() => "price not known".to_owned(),
        unpriced => format!("{sum} without {} of unknown price", count(unpriced, "node")),
    }
}

/// The reasons that explain most nodes, removals first.
pub(super) fn reasons(view: &PlanView<'_>) -> Vec<Line> {
    let evidence = &view.plan.evidence;
    let mut removed: BTreeMap<String, Vec<&NodeName>> = BTreeMap::new();
    for (id, planned) in &view.plan.spec.changes {
        if let (Some(target), Some(reason)) = (planned.change.target(), evidence.reasons.get(id)) {
            removed.entry(reason.to_string()).or_default().push(&target.node);
        }
    }
    let mut lines: Vec<(usize, String)> = removed
        .into_iter()
        .map(|(reason, mut nodes)| {
            nodes.sort();
            (nodes.len(), format!("  {}: {reason}", some(&nodes, NAMES_IN_LINE)))
        })
        .collect();
    lines.sort_by(|one, other| (other.0, &one.1).cmp(&(one.0, &other.1)));
    let mut made: Vec<(usize, String)> =
        view.groups().iter().map(|(key, group)| made_for(view, key, group)).collect();
    made.sort_by(|one, other| (other.0, &one.1).cmp(&(one.0, &other.1)));
    let kept = waiting_on_kept(view);
    lines
        .into_iter()
        .chain(made)
        .map(|(_, text)| text)
        .chain(kept)
        .map(|text| Line::new(Style::Plain, text))
        .collect()
}

fn made_for(view: &PlanView<'_>, key: &GroupKey<'_>, group: &Group<'_>) -> (usize, String) {
    let nodes = count(group.nodes.len(), "node");
    let reasons = group.nodes.iter().filter_map(|node| view.plan.evidence.reasons.get(node.id));
    if let Some(reason @ Reason::Replicas { .. }) = reasons.into_iter().next() {
        return (group.pods, format!("  {nodes} of {} in `{}`: {reason}", key.size, key.pool));
    }
    let opened = group.nodes.iter().filter_map(|node| node.placement.opened_for.as_ref());
    let first = opened.clone().filter(|pod| !pod.is_placeholder()).min().or_else(|| opened.min());
    let among = if group.pods == 1 { ":" } else { ", among them" };
    let opened = first.map_or(String::new(), |pod| format!("{among} `{pod}`"));
    let moved = group.nodes.iter().filter_map(|node| match view.plan.evidence.reasons.get(node.id) {
        Some(Reason::PodsWait { moved, .. }) => Some(moved),
        Some(_) | None => None,
    });
    let pods = PodsFor { pods: group.pods, moved: moved.sum() };
    let GroupKey { size, pool, .. } = key;
    let text = match group.pods {
        0 => format!("  {nodes} of {size} in `{pool}`: {} by CapacityBuffers", held_there(group)),
        _ => format!("  {nodes} of {size} in `{pool}`: {pods}{opened}"),
    };
    (group.pods, text)
}

fn waiting_on_kept(view: &PlanView<'_>) -> Option<String> {
    let kept = &view.plan.evidence.kept;
    let count_of = |pods: &[crate::model::PodKey]| pods.iter().filter(|pod| !pod.is_placeholder()).count();
    let pods: usize = kept.values().map(|pods| count_of(pods)).sum();
    let nodes: Vec<&NodeName> =
        kept.iter().filter(|(_, pods)| count_of(pods) > 0).map(|(node, _)| node).collect();
    (pods > 0).then(|| {
        format!(
            "  {} {} on nodes that stay: {}",
            count(pods, "more pod"),
            verb(pods, "fits", "fit"),
            some(&nodes, 3)
        )
    })
}

/// What is left undone, and why; the heaviest first.
pub(super) fn not_done(view: &PlanView<'_>, names: usize) -> Vec<Line> {
    let evidence = &view.plan.evidence;
    let report = &evidence.report;
    let mut lines = Vec::new();
    for unplaced in &report.unplaced {
        let nearest =
            unplaced.nearest.as_ref().map_or(String::new(), |nearest| format!("; nearest: {nearest}"));
        let is_room = unplaced.pods.iter().all(crate::model::PodKey::is_placeholder);
        let fits = if is_room { "fits" } else { verb(unplaced.pods.len(), "fits", "fit") };
        let what = count(unplaced.pods.len(), "pod");
        let what = if is_room { format!("headroom for {what}") } else { what };
        lines.push(Line::new(
            Style::Warning,
            format!(
                "  {what} {fits} nowhere: {} ({}: {}{nearest})",
                some(&unplaced.pods, names),
                unplaced.rule,
                unplaced.because,
            ),
        ));
    }
    for held in &report.held {
        let text = format!(
            "  {} {} back for {}: {} ({})",
            count(held.pods.len(), "pod"),
            verb(held.pods.len(), "is held", "are held"),
            held.waits_for,
            some(&held.pods, names),
            held.because,
        );
        lines.push(Line::new(Style::Warning, text));
    }
    lines.extend(nodes_that_stay(view, names));
    lines.extend(report.not_decided.iter().map(|NotDecided { pool, because, nodes }| {
        let (all, who) = (count(nodes.len(), "node"), some(nodes, names));
        Line::new(Style::Plain, format!("  Not decided: {all} of {pool}, {because}: {who}"))
    }));
    lines.extend(super::preferences::given_up(view));
    for (rule, pods) in &report.passed_over {
        let text =
            format!("  `{}` of {} is passed over: it is only wished for", rule.as_str(), count(*pods, "pod"));
        lines.push(Line::new(Style::Plain, text));
    }
    // With a time these are sentences of their own.
    let lacks = if evidence.seen_at.is_none() { "not decided without a time: " } else { "" };
    for undecided in &report.undecided {
        lines.push(Line::new(Style::Plain, format!("  {lacks}{undecided}")));
    }
    lines
}

/// Nodes that are going and nodes that could go and stay: first those that the budgets hold, then what
/// solving says.
fn nodes_that_stay(view: &PlanView<'_>, names: usize) -> Vec<Line> {
    let evidence = &view.plan.evidence;
    let mut held: BTreeMap<(&str, ChangeClass, Option<DisruptionReason>), Vec<&NodeName>> = BTreeMap::new();
    for change in &evidence.held {
        held.entry((&change.because, change.class, change.reason)).or_default().push(&change.node);
    }
    let mut staying: BTreeMap<&str, Vec<&NodeName>> = BTreeMap::new();
    for (node, because) in &evidence.report.staying {
        staying.entry(because).or_default().push(node);
    }
    let leaving = evidence.world.nodes.iter().filter(|node| node.is_deleting);
    let leaving: Vec<&NodeName> = leaving.map(|node| &node.name).collect();
    let leaving = (!leaving.is_empty()).then(|| {
        let is = verb(leaving.len(), "is", "are");
        format!("  {} {is} leaving already: {}", count(leaving.len(), "node"), some(&leaving, names))
    });
    let held = held.into_iter().map(|((because, class, reason), nodes)| {
        let (all, who) = (count(nodes.len(), "node"), some(&nodes, names));
        match reason {
            Some(reason) => {
                let reason = match reason == DisruptionReason::Destroyed {
                    true => "to be destroyed".to_owned(),
                    false => reason.to_string().to_lowercase(),
                };
                format!(
                    "  {all} {} for now though {reason}: {who} ({because})",
                    verb(nodes.len(), "stays", "stay")
                )
            }
            None => {
                format!("  {all} {} for `{class}`: {who} ({because})", verb(nodes.len(), "waits", "wait"))
            }
        }
    });
    let staying = staying.into_iter().map(|(because, nodes)| {
        let stays = verb(nodes.len(), "stays", "stay");
        let because = if nodes.len() == 1 { because.to_owned() } else { of_several(because) };
        format!("  {} {stays}: {} ({because})", count(nodes.len(), "node"), some(&nodes, names))
    });
    leaving.into_iter().chain(held).chain(staying).map(|text| Line::new(Style::Plain, text)).collect()
}

/// Says of several nodes what is said of each.
fn of_several(because: &str) -> String {
    const FORMS: [(&str, &str); 7] = [
        ("it is one too many", "they are too many"),
        ("it is ", "they are "),
        ("it has ", "they have "),
        ("it belongs ", "they belong "),
        ("it asks ", "they ask "),
        ("its pool ", "their pool "),
        ("its pod ", "their pod "),
    ];
    let form = FORMS.into_iter().find_map(|(one, many)| Some((many, because.strip_prefix(one)?)));
    let text = form.map_or_else(|| because.to_owned(), |(many, rest)| format!("{many}{rest}"));
    const INSIDE: [(&str, &str); 6] = [
        ("; it is ", "; they are "),
        (": adopt it first", ": adopt them first"),
        (": its NodeClaim says", ": their NodeClaims say"),
        (", and it is one too many", ", and they are too many"),
        ("; but its pods have", "; but their pods have"),
        ("made in its place, and its pool", "made in their place, and their pool"),
    ];
    INSIDE.into_iter().fold(text, |text, (one, many)| text.replace(one, many))
}

pub(super) fn warnings(view: &PlanView<'_>) -> Vec<Line> {
    let warnings = view.plan.evidence.report.warnings.iter();
    warnings
        .map(|warning| {
            let hint = warning.hint.as_ref().map_or(String::new(), |hint| format!("; hint: {hint}"));
            Line::new(Style::Warning, format!("  {}: {}{hint}", warning.object, warning.what))
        })
        .collect()
}

fn more(view: &PlanView<'_>) -> String {
    match view.file {
        Some(file) => format!("more: `nodeform show {file} --all`"),
        None => "more: `nodeform plan … --out plan.json`, then `nodeform show plan.json --all`".to_owned(),
    }
}

/// Says why a change is made, for its own line.
pub(super) fn because(reason: Option<&Reason>) -> String {
    reason.map_or(String::new(), |reason| format!("because {reason}"))
}
