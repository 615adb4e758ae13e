//! Composes two successive targets into one: applies the changes of the second to the first, as if they had been
//! planned together.
//!
//! Never decides anything.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::came_off;
use crate::solve::demand::Demand;
use crate::solve::headroom::layout;
use crate::solve::solution::{Kept, NewNode, Removal, Solution, Target};

use super::trial::Scene;
use super::{fuller, imagined};

/// Returns the first solution with the changes of the second, which was planned for the world after it (`between`).
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
    // Nodes that budgets hold still exist, and the second step may use them.
    let used: BTreeSet<&NodeName> =
        second.target.kept.iter().filter(|kept| !kept.pods.is_empty()).map(|kept| &kept.node).collect();
    let mut removed: Vec<Removal> = first.target.removed;
    removed.retain(|removal| !used.contains(&removal.node));
    removed.extend(second.target.removed.into_iter().filter(|removal| !is_made(&removal.node)));
    removed.sort_by(|one, other| one.node.cmp(&other.node));
    // Held nodes are removed in both.
    removed.dedup_by(|one, other| one.node == other.node);
    let kept = kept(first.target.kept, second.target.kept, is_made);
    let mut report = second.report;
    report.staying.retain(|(node, _)| !is_made(node));
    report.cost_before = first.report.cost_before;
    report.slack = report.slack.or(first.report.slack);
    // There is nothing to evaluate for imagined nodes.
    report.undecided = first.report.undecided;
    Solution { target: Target { kept, new, removed }, report }
}

/// Removes the headroom, which the second step lays out again.
fn without_room(room: &Demand, target: &mut Target) {
    for kept in &mut target.kept {
        kept.pods.retain(|pod| !pod.is_placeholder());
    }
    target.new.iter_mut().for_each(|node| layout::take_off(node, room));
}

/// Returns a node that was created for headroom as created for its current pods; `None` if it has none.
fn opened(room: &Demand, mut node: NewNode) -> Option<NewNode> {
    let Some(before) = node.opened_for.clone().filter(PodKey::is_placeholder) else { return Some(node) };
    let alike = room.shape_of(&before).map_or(&[][..], |shape| &shape.pods);
    node.opened_for = Some(layout::opener(&node, alike)?);
    Some(node)
}

/// Merges the pods placed on existing nodes: a pod that moves twice goes directly to its last node. Pods on nodes that
/// the first target creates are listed with those.
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
