//! Two targets, one after the other, as one: what the second changes of the first, as if it had been meant at once.
//!
//! Nothing is decided here but which substitutes of a node still serve when it gets more pods.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, Pod, PodKey, Requirements};
use crate::snapshot::Snapshot;
use crate::solve::attempt::Fleet;
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::existing;
use crate::solve::ledger;
use crate::solve::overruled::{self, Opened};
use crate::solve::price::{self, Uncommitted};
use crate::solve::solution::{Kept, NewNode, Removal, Solution, Substitute, Target};
use crate::solve::supply::Usable;

use super::imagined;
use super::trial::{Scene, marked};

/// Returns the first solution as the second, for the world after it, changes it. `between` is that world.
pub(in crate::solve) fn composed(
    scene: &Scene<'_>,
    between: &Snapshot,
    (first, second): (Solution, Solution),
) -> Solution {
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
        .collect();
    new.extend(second.target.new);
    let mut removed: Vec<Removal> = first.target.removed;
    removed.extend(second.target.removed.into_iter().filter(|removal| !is_made(&removal.node)));
    removed.sort_by(|one, other| one.node.cmp(&other.node));
    let kept = kept(first.target.kept, second.target.kept);
    let mut report = second.report;
    report.staying.retain(|(node, _)| !is_made(node));
    report.cost_before = first.report.cost_before;
    Solution { target: Target { kept, new, removed }, report }
}

/// Returns whether a heavier pool has room for a pod that a new node of a lighter one was opened for: a step may have
/// freed what was taken when the step before needed it.
pub(in crate::solve) fn is_overruled(scene: &Scene<'_>, snapshot: &Snapshot, solution: &Solution) -> bool {
    let Scene { policy, market, book, supply, topology, .. } = *scene;
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let mut left = ledger::opened(policy, &snapshot.nodes, &Uncommitted(Vec::new()), there);
    for node in &solution.target.new {
        let Some(pool) = supply.pools.iter().find(|pool| pool.pool.name == node.pool) else { continue };
        if let Some(kind) = pool.kinds.iter().find(|kind| kind.kind.name == node.size) {
            let charges = ledger::charges(&left, pool.pool, kind.kind, node.effective_price.known());
            left.take(&charges, 1);
        }
    }
    let opened: BTreeMap<&PodKey, &Pod> = {
        let pods: BTreeSet<&PodKey> = solution.target.new.iter().map(|node| &node.opened_for).collect();
        snapshot.pods.iter().filter(|pod| pods.contains(&pod.key)).map(|pod| (&pod.key, pod)).collect()
    };
    let asks: Vec<Option<(Ask, bool)>> = solution
        .target
        .new
        .iter()
        .map(|node| {
            let pod = opened.get(&node.opened_for)?;
            let is_tied = !topology.roles(pod).is_empty() || !pod.spec.volumes.is_empty();
            Some((Ask::of(&pod.spec), is_tied))
        })
        .collect();
    let nodes = solution.target.new.iter().zip(&asks).filter_map(|(node, ask)| {
        let (ask, is_tied) = ask.as_ref()?;
        Some(Opened { node, ask, is_tied: *is_tied })
    });
    overruled::count(supply, &left, nodes) > 0
}

/// Returns whether Kubernetes would not bind some pod, now that two steps are one: what the first placed ran already
/// when the second was planned.
pub(in crate::solve) fn is_uneven(scene: &Scene<'_>, snapshot: &Snapshot, solution: &Solution) -> bool {
    let Scene { policy, supply, topology, daemons, .. } = *scene;
    let Target { kept, new, removed } = &solution.target;
    let world = marked(snapshot, &removed.iter().map(|removal| removal.node.clone()).collect());
    let placed: BTreeMap<&NodeName, &Vec<PodKey>> =
        kept.iter().map(|kept| (&kept.node, &kept.pods)).collect();
    let mut nodes = existing::standing(&world, daemons, topology);
    for standing in &mut nodes {
        standing.placed = placed.get(&standing.node.name).map(|pods| (*pods).clone()).unwrap_or_default();
    }
    let fleet = Fleet { supply, policy, nodes: &nodes, new };
    !fleet.refused(&Demand::of(&world, topology), topology).is_empty()
}

/// Returns whether some new node is no longer the choice that its pool asks for (`minValues`): what got more pods has
/// fewer substitutes.
pub(in crate::solve) fn lacks_choice(solution: &Solution) -> bool {
    let lacks = |node: &NewNode| node.variety.among.iter().any(|other| !node.substitutes.contains(other));
    solution.target.new.iter().any(lacks)
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
    let known: BTreeSet<&PodKey> = node.pods.iter().chain(pods).collect();
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
    let mut substitutes = std::mem::take(&mut node.substitutes);
    substitutes.retain(|other| {
        (&other.zone, other.capacity_type) == (&node.zone, node.capacity_type)
            && holds(scene, &node, other, &demand.shapes)
    });
    node.substitutes = substitutes;
    node.pods.extend(pods.iter().cloned());
    node.pods.sort();
    node
}

/// Returns whether a substitute of a node holds all these pods.
fn holds(scene: &Scene<'_>, node: &NewNode, other: &Substitute, shapes: &[Shape]) -> bool {
    let bought = scene.supply.pools.iter().find(|pool| pool.pool.name == node.pool).and_then(|pool| {
        let kind = pool.kinds.iter().find(|kind| kind.kind.name == other.size)?;
        let is_it = |usable: &&Usable<'_>| {
            usable.offering.zone == other.zone && usable.offering.capacity_type == other.capacity_type
        };
        Some(pool.site(kind, kind.offerings.iter().find(is_it)?))
    });
    let Some(mut site) = bought else { return false };
    let chosen = node.labels.iter().map(|(key, value)| (key.as_str(), &**value));
    site.labels.add_all(&Requirements::of_labels(chosen));
    shapes.iter().all(|shape| {
        let count = shape.pods.len();
        existing::most(&site, &shape.ask) >= count && site.put(&shape.ask, count).is_ok()
    })
}
