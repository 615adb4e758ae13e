//! Validates the result of two steps as the single change that is applied.
//!
//! Pods that the first step placed were already running when the second was planned, and their share of limits was
//! taken: here everything is checked again for the final state. Never repairs anything.

use std::collections::BTreeMap;

use crate::model::{Node, NodeName, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::came_off::{self, Fleet};
use crate::solve::demand::{Demand, Shape};
use crate::solve::fit::limits::Ledger;
use crate::solve::headroom::layout;
use crate::solve::pack::finish::Shapes;
use crate::solve::price::{self, Uncommitted};
use crate::solve::solution::{NewNode, Solution, Target};
use crate::solve::topology::census::Running;
use crate::solve::{existing, ledger, overruled};

use super::trial::{Scene, marked};

/// Returns whether a solution respects pool weights, rules between pods, node capacity and required choices of claims.
pub(in crate::solve) fn is_right(scene: &Scene<'_>, snapshot: &Snapshot, solution: &Solution) -> bool {
    let Target { new, .. } = &solution.target;
    let is_overfull = |node: &NewNode| !node.requests.fit_in(&node.allocatable);
    if new.iter().any(is_overfull) {
        return false;
    }
    // Rules between pods ignore headroom.
    let mut new = new.clone();
    new.iter_mut().for_each(|node| layout::take_off(node, scene.room));
    let new = &new;
    let world = &marked(snapshot, &solution.target.removed_names());
    let demand = &Demand::of(world, scene.topology);
    let lacks_choice =
        |node: &NewNode| node.variety.among.iter().any(|other| !node.substitutes.contains(other));
    let shapes = &came_off::shapes_of(demand, new);
    let opened = new
        .iter()
        .zip(shapes)
        .filter_map(|(node, shapes)| Some((node, opener(scene, demand, (node, shapes))?)));
    !new.iter().any(lacks_choice)
        && hold_theirs(scene, demand, new.iter().zip(shapes))
        && overruled::count((scene.supply, scene.topology), &left(scene, snapshot.nodes.iter(), new), opened)
            == 0
        && binds_all(scene, (world, demand), (&solution.target, (new, shapes)))
}

/// Returns the shape of the pod or placeholder that a node was opened for.
fn opener<'s>(
    scene: &Scene<'s>,
    demand: &'s Demand,
    (node, shapes): (&NewNode, &Shapes),
) -> Option<&'s Shape> {
    demand.shapes.get(shapes.opened_for).or_else(|| scene.room.shape_of(node.opened_for.as_ref()?))
}

/// Returns whether new nodes hold their pods as what is bought: the second step treats them as existing nodes, which
/// may take more.
fn hold_theirs<'n>(
    scene: &Scene<'_>,
    demand: &Demand,
    mut new: impl Iterator<Item = (&'n NewNode, &'n Shapes)>,
) -> bool {
    new.all(|(node, shapes)| {
        let bought = scene.supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
        let Some((pool, kind, usable)) = bought else { return true };
        let mut site = pool.site_with(kind, usable, &node.labels);
        site.seat(shapes.pods.iter().map(|shape| ((), &demand.shapes[*shape].ask))).is_empty()
    })
}

/// Returns the remaining limits beside these existing nodes and these nodes to create.
pub(in crate::solve) fn left<'n>(
    scene: &Scene<'_>,
    nodes: impl Iterator<Item = &'n Node> + Clone,
    new: &[NewNode],
) -> Ledger {
    let Scene { policy, market, book, supply, .. } = *scene;
    let there = price::cost(nodes.clone(), market, book).effective;
    let mut left = ledger::opened(market.limiting(policy), nodes, &Uncommitted(Vec::new()), there);
    for node in new {
        let bought = supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
        if let Some((pool, kind, _)) = bought {
            let charges = ledger::charges(&left, pool.pool, node.vm(kind.kind));
            left.take(&charges, 1);
        }
    }
    left
}

/// Returns whether Kubernetes would bind all pods to the nodes in the target.
fn binds_all(
    scene: &Scene<'_>,
    (world, demand): (&Snapshot, &Demand),
    (target, (new, shapes)): (&Target, (&[NewNode], &[Shapes])),
) -> bool {
    let Scene { policy, supply, topology, daemons, .. } = *scene;
    let placed: BTreeMap<&NodeName, &Vec<PodKey>> =
        target.kept.iter().map(|kept| (&kept.node, &kept.pods)).collect();
    let mut nodes = existing::standing(world, daemons, topology);
    let of_kept = came_off::numbers(demand, placed.values().copied().flatten());
    for standing in &mut nodes {
        let pods = placed.get(&standing.node.name).map(|pods| pods.as_slice()).unwrap_or_default();
        let known = pods.iter().filter_map(|pod| Some((pod.clone(), *of_kept.get(pod)?)));
        (standing.placed, standing.shapes) = known.unzip();
    }
    let fleet = Fleet { supply, policy, nodes: &nodes, new, shapes };
    fleet.refused(demand, &Running::of(topology, &nodes)).is_empty()
        && fleet.uneven(demand, (topology, world)).is_empty()
}
