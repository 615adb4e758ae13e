//! A plan as one bar per node: its requests before and after, as drawn by `show --graph`.

use std::collections::{BTreeMap, BTreeSet};

use super::bar::{AFTER, BEFORE, BOTH, FREE, Share, percent, with_bar};
use super::fit;
use super::table::{price, size as short};
use crate::model::{Node, NodeName, PodKey, PodPlace, Price, ResourceName, Resources, label};
use crate::plan::{Change, Plan};
use crate::render::line::{Line, Style, plain_text};
use crate::render::page::cost::cost;
use crate::render::page::headline::headline;
use crate::render::view::{NewNodeView, PlanView};
use crate::render::wrap::wrapped;

/// Minimum and maximum width of a bar.
const BAR: (usize, usize) = (5, 30);
/// Width of `100% → 100%` next to a bar.
const PERCENT: usize = 11;
/// Maximum width of a name.
const NAME_MAX: usize = 40;

/// A node before and after.
struct Drawn {
    mark: &'static str,
    style: Style,
    name: String,
    size: String,
    price: Price,
    cpu: Share,
    memory: Share,
}

/// Returns the plan as one bar per node, in lines as wide as the view.
#[must_use]
pub fn plan_graph(view: &PlanView<'_>) -> Vec<Line> {
    let mut lines = vec![headline(view)];
    lines.extend(cost(view).iter().flat_map(|line| wrapped(line, view.columns)));
    let rows = drawn(view);
    if rows.is_empty() {
        lines.extend([Line::blank(), Line::new(Style::Dim, "no nodes, before or after")]);
        return lines;
    }
    let widest = |of: fn(&Drawn) -> &str| rows.iter().map(|row| fit::width(of(row))).max().unwrap_or(0);
    let (name, size) = (widest(|row| &row.name).clamp(4, NAME_MAX), widest(|row| &row.size).max(4));
    let prices = rows.iter().map(|row| price(row.price).len()).max().unwrap_or(0).max(3);
    // Mark, gaps, and the spaces between a bar and its percentage.
    let fixed = |name: usize| 4 + name + 2 + size + 2 + 2 * (1 + PERCENT + 2) + prices;
    let name = name.min(view.columns.saturating_sub(fixed(0) + 2 * BAR.0)).max(12);
    let bar = (view.columns.saturating_sub(fixed(name)) / 2).clamp(BAR.0, BAR.1);
    let column = bar + 1 + PERCENT;
    let titles = format!(
        "    {}  {}  {}  {}  {}",
        fit::left("node", name),
        fit::left("size", size),
        fit::left("CPU", column),
        fit::left("memory", column),
        fit::right("$/h", prices)
    );
    lines.extend([Line::blank(), Line::new(Style::Bold, titles)]);
    lines.extend(rows.iter().map(|row| {
        let line = Line::new(
            row.style,
            format!("{:>3} {}  ", row.mark, fit::left(&fit::name(&row.name, name), name)),
        );
        let line = line.with(Style::Plain, fit::left(&row.size, size) + "  ");
        let line = with_share(line, row, row.cpu, bar).with(Style::Plain, "  ");
        let line = with_share(line, row, row.memory, bar);
        line.with(Style::Plain, format!("  {}", fit::right(&price(row.price), prices)))
    }));
    let legend = format!(
        "{BOTH} requested before and after  {BEFORE} before  {AFTER} after  {FREE} free, of what is allocatable"
    );
    lines.extend([Line::blank(), Line::new(Style::Dim, legend)]);
    lines
}

/// Returns the same as a code block for a Markdown page: code contains no mentions, links or HTML.
#[must_use]
pub fn plan_graph_markdown(plan: &Plan) -> String {
    let lines = plan_graph(&PlanView::new(plan, None));
    // A name of the input may contain backticks; three of them at the start of a line would end the block.
    let text = plain_text(&lines).replace('`', "'");
    format!("```text\n{text}```\n")
}

fn with_share(line: Line, row: &Drawn, share: Share, bar: usize) -> Line {
    let Share { before, after, of } = share;
    let said = match row.mark {
        "+" => format!("→ {}", percent(after, of)),
        "-" => format!("{} →", percent(before, of)),
        _ if before == after => percent(before, of),
        _ => format!("{} → {}", percent(before, of), percent(after, of)),
    };
    let line = match of {
        ..=0 => line.with(Style::Dim, fit::left("?", bar)),
        _ => with_bar(line, share, bar),
    };
    line.with(Style::Plain, format!(" {}", fit::left(&said, PERCENT)))
}

/// Returns the deleted nodes, then the new ones, then those that stay, each by name.
fn drawn(view: &PlanView<'_>) -> Vec<Drawn> {
    let requests = Requests::of(view);
    let mut gone: BTreeSet<&NodeName> = BTreeSet::new();
    let mut updated: BTreeSet<&NodeName> = BTreeSet::new();
    for planned in view.plan.spec.changes.values() {
        match &planned.change {
            Change::Delete(delete) => gone.insert(&delete.target.node),
            Change::Update(update) => updated.insert(&update.target.node),
            Change::Adopt(adopt) => updated.insert(&adopt.target.node),
            Change::Forget(forget) => updated.insert(&forget.target.node),
            Change::Create(_) | Change::NoOp(_) => false,
        };
    }
    let nodes = || view.plan.evidence.world.nodes.iter();
    let mut rows: Vec<Drawn> = Vec::new();
    let going = nodes().filter(|node| gone.contains(&node.name));
    rows.extend(going.map(|node| existing(view, node, &requests, ("-", Style::Remove))));
    let mut new: Vec<Drawn> = view.new_nodes().map(|node| created(node, &requests)).collect();
    new.sort_by(|one, other| one.name.cmp(&other.name));
    rows.extend(new);
    let staying = nodes().filter(|node| !gone.contains(&node.name));
    rows.extend(staying.map(|node| {
        let is_updated = updated.contains(&node.name);
        existing(view, node, &requests, if is_updated { ("~", Style::Change) } else { ("", Style::Plain) })
    }));
    rows
}

fn existing(
    view: &PlanView<'_>,
    node: &Node,
    requests: &Requests<'_>,
    (mark, style): (&'static str, Style),
) -> Drawn {
    let nothing = Resources::none();
    let before = requests.before.get(&node.name).unwrap_or(&nothing);
    let after = if mark == "-" { &nothing } else { requests.after.get(&node.name).unwrap_or(&nothing) };
    let size = node.labels.get(label::INSTANCE_TYPE).map_or("?", |size| size);
    Drawn {
        mark,
        style,
        name: fit::harmless(node.name.as_str()),
        size: fit::harmless(short(size)),
        price: view.price(&node.name),
        cpu: share(&ResourceName::Cpu, before, after, &node.allocatable),
        memory: share(&ResourceName::Memory, before, after, &node.allocatable),
    }
}

fn created(node: NewNodeView<'_>, requests: &Requests<'_>) -> Drawn {
    let placed = node.placement.pods.iter().filter_map(|pod| requests.of_pod(pod));
    let after = placed.fold(node.shape.daemon_requests.clone(), |sum, pod| sum.plus(pod));
    let nothing = Resources::none();
    Drawn {
        mark: "+",
        style: Style::Add,
        name: fit::harmless(&node.create.vm),
        size: fit::harmless(short(node.claim.primary.size.as_str())),
        price: node.placement.effective_price,
        cpu: share(&ResourceName::Cpu, &nothing, &after, &node.shape.allocatable),
        memory: share(&ResourceName::Memory, &nothing, &after, &node.shape.allocatable),
    }
}

fn share(name: &ResourceName, before: &Resources, after: &Resources, of: &Resources) -> Share {
    Share { before: before.get(name), after: after.get(name), of: of.get(name) }
}

/// Requests of pods: of each, and on each existing node before and after.
struct Requests<'a> {
    view: &'a PlanView<'a>,
    before: BTreeMap<&'a NodeName, Resources>,
    after: BTreeMap<&'a NodeName, Resources>,
}

impl<'a> Requests<'a> {
    fn of(view: &'a PlanView<'a>) -> Self {
        let mut requests = Self { view, before: BTreeMap::new(), after: BTreeMap::new() };
        let evidence = &view.plan.evidence;
        let kept: BTreeSet<&PodKey> = evidence.kept.values().flatten().collect();
        for group in &evidence.world.pods {
            let PodPlace::Bound(node) = &group.place else { continue };
            let Some(spec) = evidence.world.pod_specs.get(group.spec) else { continue };
            // A pod nominated to the node does not run there yet.
            let is_promised = group.state.nominated.as_ref() == Some(node);
            let stays = |name: &&std::sync::Arc<str>| {
                let key = PodKey { namespace: group.namespace.clone(), name: (*name).clone() };
                !kept.contains(&key)
            };
            let all = spec.requests.times(group.names.len());
            if !is_promised {
                add(&mut requests.before, node, &all);
            }
            if !group.is_terminating {
                let staying = group.names.iter().filter(stays).count();
                add(&mut requests.after, node, &spec.requests.times(staying));
            }
        }
        for (node, pods) in &evidence.kept {
            for pod in pods {
                let found = requests.of_pod(pod).cloned().unwrap_or_default();
                add(&mut requests.after, node, &found);
            }
        }
        requests
    }

    fn of_pod(&self, pod: &PodKey) -> Option<&'a Resources> {
        let group = self.view.group(pod)?;
        Some(&self.view.plan.evidence.world.pod_specs.get(group.spec)?.requests)
    }
}

fn add<'a>(sums: &mut BTreeMap<&'a NodeName, Resources>, node: &'a NodeName, more: &Resources) {
    sums.entry(node).or_insert_with(Resources::none).add(more);
}
