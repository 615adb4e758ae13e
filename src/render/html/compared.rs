//! Fleets of two inputs side by side, each after its plan.
//!
//! A plan contains the whole second fleet, but only the differences of the first. The pods on the first fleet's nodes
//! are unknown, and their boxes say so.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::fleet::{Fate, Fleet, Node, Side, vcpus};
use super::pods::Amounts;
use super::sections::{section, some};
use super::text::{line, paragraphs, sentence};
use crate::model::{CapacityType, MicroUsdPerHour, PoolName, Price, Resources, SkuName, Zone};
use crate::plan::comparison::{Comparison, Fate as Faring, GroupDifference, NodeKind};
use crate::render::comparison as lines;
use crate::render::page::question;
use crate::render::view::PlanView;
use crate::snapshot::Gap;

/// Note that the pods of a side are unknown.
const UNKNOWN: &str = "The plan file does not hold the pods of the first fleet: its boxes show nodes alone.";

/// Reads the fleets of a comparison.
pub(super) fn fleet<'a>(view: &PlanView<'a>, comparison: &'a Comparison) -> Fleet<'a> {
    let Fleet { mut nodes, mut pods, .. } = Fleet::of(view);
    for node in &mut nodes {
        // A change that either plan makes to a node is no difference between the two.
        (node.fate, node.because) = (Fate::Kept, None);
        node.before = if node.after == Side::Absent { Side::Absent } else { Side::Unknown };
    }
    pods.iter_mut().for_each(|pod| pod.before = pod.after);
    let mut places: BTreeMap<&str, usize> =
        nodes.iter().enumerate().map(|(place, node)| (node.name, place)).collect();
    for difference in &comparison.nodes.existing {
        let name = difference.node.as_str();
        let place = *places.entry(name).or_insert(nodes.len());
        if place == nodes.len() {
            nodes.push(of_kind(name, &difference.kind, Price::Unknown));
        }
        let node = &mut nodes[place];
        node.because.clone_from(&difference.because);
        fare(node, difference.before, difference.after);
    }
    for group in &comparison.nodes.groups {
        for (names, fate) in [(&group.added, Fate::Created), (&group.otherwise, Fate::Updated)] {
            for place in names.iter().filter_map(|name| places.get(&**name)) {
                nodes[*place].fate = fate;
                if fate == Fate::Created {
                    nodes[*place].before = Side::Absent;
                }
            }
        }
        nodes.extend(group.removed.iter().map(|name| {
            let node = of_kind(name, &group.kind, price_before(group));
            Node { fate: Fate::Deleted, before: Side::Unknown, ..node }
        }));
    }
    whole(nodes, pods)
}

/// Sets the fate of an existing node from its state on both sides.
fn fare(node: &mut Node<'_>, before: Faring, after: Faring) {
    let is_there = |faring: Faring, side: &Side| match (faring.is_there(), side) {
        (false, _) => Side::Absent,
        (true, Side::Holds(held, others)) => Side::Holds(held.clone(), *others),
        (true, Side::Absent | Side::Unknown) => Side::Unknown,
    };
    node.after = is_there(after, &node.after);
    node.before = is_there(before, &Side::Unknown);
    node.fate = match (before.is_there(), after.is_there()) {
        (true, false) => Fate::Deleted,
        (false, true) => Fate::Created,
        (true, true) | (false, false) => Fate::Updated,
    };
}

/// Sorts the nodes that exist on either side, and renumbers the places of pods.
fn whole<'a>(nodes: Vec<Node<'a>>, mut pods: Vec<super::pods::Pod<'a>>) -> Fleet<'a> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.retain(|place| nodes[*place].before != Side::Absent || nodes[*place].after != Side::Absent);
    order.sort_by_key(|place| (nodes[*place].fate, nodes[*place].name));
    let new: BTreeMap<usize, usize> = order.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    for pod in &mut pods {
        pod.after = pod.after.renumbered(&new);
        pod.before = pod.after;
    }
    let nodes = order.into_iter().map(|place| nodes[place].clone()).collect();
    Fleet { nodes, pods, is_compared: true }
}

/// Returns a node of which only the kind is known.
fn of_kind<'a>(name: &'a str, kind: &'a NodeKind, price: Price) -> Node<'a> {
    let NodeKind { pool, size, zone, capacity_type } = kind;
    let size = size.as_ref().map_or("", SkuName::as_str);
    Node {
        name,
        fate: Fate::Kept,
        pool: pool.as_ref().map(PoolName::as_str),
        size,
        zone: zone.as_ref().map_or("", Zone::as_str),
        capacity_type: capacity_type.map_or("", CapacityType::as_str),
        vcpus: vcpus(&Resources::none(), size),
        allocatable: Amounts::default(),
        price,
        before: Side::Absent,
        after: Side::Absent,
        said: Vec::new(),
        because: None,
    }
}

/// Returns the price of a node of the first fleet: all nodes of a group cost the same.
fn price_before(group: &GroupDifference) -> Price {
    let nodes = i64::try_from(group.before).unwrap_or(i64::MAX);
    match group.price_before.0.checked_div(nodes).map(MicroUsdPerHour) {
        Some(rate) if !group.is_unpriced && group.is_estimate => Price::Estimated(rate),
        Some(rate) if !group.is_unpriced => Price::Listed(rate),
        Some(_) | None => Price::Unknown,
    }
}

/// Returns the first lines of the terminal's page.
pub(super) fn head(view: &PlanView<'_>, comparison: &Comparison) -> Markup {
    html! {
        h1 { (line(&lines::summary(comparison, view))) }
        (paragraphs(&question::head(view.plan)))
        div class="money" { p { (line(&lines::cost(comparison))) } }
        p { (sentence(&lines::sides(comparison))) }
        p { (sentence(&lines::plan_of(comparison, view))) }
        (some(&lines::warnings(comparison, Gap::clone)))
        p class="dim" { (UNKNOWN) }
    }
}

/// Returns the differences, as the terminal lists them.
pub(super) fn rest(comparison: &Comparison) -> Markup {
    html! {
        (section("Nodes, when each plan is done", &lines::nodes(comparison)))
        (section("No longer placed", &lines::unplaced(comparison, usize::MAX)))
        (section("Pods", &lines::workloads(comparison)))
        (section("Solved", &lines::solved(comparison, usize::MAX)))
        (section("Files", &lines::files(comparison)))
    }
}
