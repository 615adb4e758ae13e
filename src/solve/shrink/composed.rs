//! Two targets, one after the other, as one: what the second changes of the first, as if it had been meant at once.
//!
//! Nothing is decided here but which substitutes of a node still serve when it gets more pods.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::demand::{Demand, Shape};
use crate::solve::existing;
use crate::solve::headroom::layout;
use crate::solve::pack::finish::{chosen_labels, keys_wanted};
use crate::solve::solution::{Kept, NewNode, Removal, Solution, Substitute, Target};

use super::imagined;
use super::trial::{Scene, marked};

/// Returns the first solution as the second, for the world after it, changes it. `between` is that world.
pub(in crate::solve) fn composed(
    scene: &Scene<'_>,
    between: &Snapshot,
    (mut first, second): (Solution, Solution),
) -> Solution {
    without_room(scene.room, &mut first.target);
    let names: BTreeMap<NodeName, usize> =
        (0..first.target.new.len()).map(|number| (imagined::name(number), number)).collect();
    let is_made = |node: &NodeName| names.contains_key(node);
    let removed_again: BTreeSet<usize> =
        second.target.removed.iter().filter_map(|removal| names.get(&removal.node).copied()).collect();
    let mut more: BTreeMap<usize, &[PodKey]> = BTreeMap::new();
    for kept in &second.target.kept {
        if let Some(number) = names.get(&kept.node).filter(|_| !kept.pods.is_empty()) {
            more.insert(*number, &kept.pods);
        }
    }
    let of_first = first.target.new.into_iter().enumerate();
    let of_first = of_first.filter(|(number, _)| !removed_again.contains(number));
    let mut new: Vec<NewNode> = of_first
        .map(|(number, node)| match more.get(&number) {
            Some(pods) => with_more(scene, (between, imagined::name(number)), node, pods),
            None => node,
        })
        .filter_map(|node| opened(scene.room, node))
        .collect();
    new.extend(second.target.new);
    let mut removed: Vec<Removal> = first.target.removed;
    removed.extend(second.target.removed.into_iter().filter(|removal| !is_made(&removal.node)));
    removed.sort_by(|one, other| one.node.cmp(&other.node));
    // What is held goes in both.
    removed.dedup_by(|one, other| one.node == other.node);
    let kept = kept(first.target.kept, second.target.kept);
    let mut report = second.report;
    report.staying.retain(|(node, _)| !is_made(node));
    report.cost_before = first.report.cost_before;
    report.slack = report.slack.or(first.report.slack);
    // Of nodes that are only imagined nothing has to be decided.
    report.undecided = first.report.undecided;
    Solution { target: Target { kept, new, removed }, report }
}

/// Takes the room off that the second step lays out anew.
fn without_room(room: &Demand, target: &mut Target) {
    for kept in &mut target.kept {
        kept.pods.retain(|pod| !pod.is_placeholder());
    }
    target.new.iter_mut().for_each(|node| layout::take_off(node, room));
}

/// Returns a node that was made for room as made for what is there now; nothing where nothing is.
fn opened(room: &Demand, mut node: NewNode) -> Option<NewNode> {
    let Some(before) = node.opened_for.clone().filter(PodKey::is_placeholder) else { return Some(node) };
    let alike = room.shape_of(&before).map_or(&[][..], |shape| &shape.pods);
    node.opened_for = Some(layout::opener(&node, alike)?);
    Some(node)
}

/// Joins what goes to nodes that stay: a pod that moves on goes to its last place at once.
fn kept(first: Vec<Kept>, second: Vec<Kept>) -> Vec<Kept> {
    let moved: BTreeSet<PodKey> = second.iter().flat_map(|kept| kept.pods.iter().cloned()).collect();
    let stays: BTreeSet<NodeName> = second.iter().map(|kept| kept.node.clone()).collect();
    let mut pods: BTreeMap<NodeName, BTreeSet<PodKey>> = BTreeMap::new();
    for kept in first {
        let left = kept.pods.into_iter().filter(|pod| !moved.contains(pod)).collect();
        pods.insert(kept.node, left);
    }
    pods.retain(|node, _| stays.contains(node));
    for kept in second {
        if let Some(there) = pods.get_mut(&kept.node) {
            there.extend(kept.pods);
        }
    }
    pods.into_iter().map(|(node, pods)| Kept { node, pods: pods.into_iter().collect() }).collect()
}

/// Returns a node with more pods: what they ask for is added, and substitutes stay that hold all of them in the same
/// zone, bought the same way.
fn with_more(
    scene: &Scene<'_>,
    (between, name): (&Snapshot, NodeName),
    mut node: NewNode,
    pods: &[PodKey],
) -> NewNode {
    let (placeholders, pods): (Vec<PodKey>, Vec<PodKey>) =
        pods.iter().cloned().partition(PodKey::is_placeholder);
    layout::put(&mut node, placeholders, scene.room);
    if pods.is_empty() {
        return node;
    }
    let known: BTreeSet<&PodKey> = node.pods.iter().chain(&pods).collect();
    let mut world = marked(between, &BTreeSet::from([name]));
    for pod in world.pods.iter_mut().filter(|pod| pods.contains(&pod.key)) {
        pod.place = crate::model::PodPlace::Waiting;
    }
    world.pods.retain(|pod| known.contains(&pod.key));
    let demand = Demand::of(&world, scene.topology);
    for shape in &demand.shapes {
        for _ in shape.pods.iter().filter(|pod| pods.contains(pod)) {
            node.requests = node.requests.plus(&shape.ask.requests);
        }
    }
    settle(scene, &mut node, &demand.shapes);
    let mut substitutes = std::mem::take(&mut node.substitutes);
    substitutes.retain(|other| {
        (&other.zone, other.capacity_type) == (&node.zone, node.capacity_type)
            && holds(scene, &node, other, &demand.shapes)
    });
    node.substitutes = substitutes;
    node.pods.extend(pods);
    node.pods.sort();
    node
}

/// Gives a node values of labels that these pods leave it, where it must have one: what was open when it was made is
/// open to them too.
fn settle(scene: &Scene<'_>, node: &mut NewNode, shapes: &[Shape]) {
    let bought = scene.supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
    let Some((pool, kind, usable)) = bought else { return };
    let empty = pool.site(kind, usable);
    let mut site = pool.site_with(kind, usable, &node.labels);
    if shapes.iter().all(|shape| site.put(&shape.ask, shape.pods.len()).is_ok()) {
        let wanted = keys_wanted(shapes.iter().map(|shape| &shape.ask));
        node.labels.extend(chosen_labels(pool, (&empty, &site), &wanted));
    }
}

/// Returns whether a substitute of a node holds all these pods.
fn holds(scene: &Scene<'_>, node: &NewNode, other: &Substitute, shapes: &[Shape]) -> bool {
    let bought = scene.supply.bought(&node.pool, &other.size, (&other.zone, other.capacity_type));
    let Some((pool, kind, usable)) = bought else { return false };
    let mut site = pool.site_with(kind, usable, &node.labels);
    shapes.iter().all(|shape| {
        let count = shape.pods.len();
        existing::most(&site, &shape.ask) >= count && site.put(&shape.ask, count).is_ok()
    })
}
