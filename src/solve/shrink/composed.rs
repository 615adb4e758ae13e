//! Two targets, one after the other, as one: what the second changes of the first, as if it had been meant at once.
//!
//! Nothing is decided here.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::came_off;
use crate::solve::demand::Demand;
use crate::solve::headroom::layout;
use crate::solve::solution::{Kept, NewNode, Removal, Solution, Target};

use super::trial::Scene;
use super::{fuller, imagined};

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
    let coming: BTreeSet<&PodKey> = more.values().copied().flatten().collect();
    let demand = Demand::of_these(between, scene.topology, |pod| coming.contains(&pod.key));
    let numbers = came_off::numbers(&demand, coming.into_iter());
    let with_more = |mut node: NewNode, pods: &[PodKey]| {
        fuller::add(scene, &mut node, &came_off::counted(&demand, &numbers, pods));
        let (placeholders, pods): (Vec<PodKey>, Vec<PodKey>) =
            pods.iter().cloned().partition(PodKey::is_placeholder);
        node.pods.extend(pods);
        layout::put(&mut node, placeholders, scene.room);
        node
    };
    let of_first = first.target.new.into_iter().enumerate();
    let of_first = of_first.filter(|(number, _)| !removed_again.contains(number));
    let mut new: Vec<NewNode> = of_first
        .map(|(number, node)| match more.get(&number) {
            Some(pods) => with_more(node, pods),
            None => node,
        })
        .filter_map(|node| opened(scene.room, node))
        .collect();
    new.extend(second.target.new);
    // What budgets hold is there still, and may be of use after all.
    let used: BTreeSet<&NodeName> =
        second.target.kept.iter().filter(|kept| !kept.pods.is_empty()).map(|kept| &kept.node).collect();
    let mut removed: Vec<Removal> = first.target.removed;
    removed.retain(|removal| !used.contains(&removal.node));
    removed.extend(second.target.removed.into_iter().filter(|removal| !is_made(&removal.node)));
    removed.sort_by(|one, other| one.node.cmp(&other.node));
    // What is held goes in both.
    removed.dedup_by(|one, other| one.node == other.node);
    let kept = kept(first.target.kept, second.target.kept, is_made);
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

/// Joins what goes to existing nodes: a pod that moves on goes to its last place at once. What goes to nodes that the first
/// target makes stands with those.
fn kept(first: Vec<Kept>, second: Vec<Kept>, is_made: impl Fn(&NodeName) -> bool) -> Vec<Kept> {
    let moved: BTreeSet<PodKey> = second.iter().flat_map(|kept| kept.pods.iter().cloned()).collect();
    let stays: BTreeSet<NodeName> = second.iter().map(|kept| kept.node.clone()).collect();
    let mut pods: BTreeMap<NodeName, BTreeSet<PodKey>> = BTreeMap::new();
    for kept in first {
        let left = kept.pods.into_iter().filter(|pod| !moved.contains(pod)).collect();
        pods.insert(kept.node, left);
    }
    pods.retain(|node, _| stays.contains(node));
    for kept in second.into_iter().filter(|kept| !is_made(&kept.node)) {
        if pods.contains_key(&kept.node) || !kept.pods.is_empty() {
            pods.entry(kept.node).or_default().extend(kept.pods);
        }
    }
    pods.into_iter().map(|(node, pods)| Kept { node, pods: pods.into_iter().collect() }).collect()
}
