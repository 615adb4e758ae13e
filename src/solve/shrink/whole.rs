//! Whether what two steps came to is right as the one change that it is carried out as.
//!
//! What the first step placed ran already when the second was planned, and what it took of limits was taken: here all is
//! asked again of the end. Nothing is mended.

use std::collections::BTreeMap;

use crate::model::{NodeName, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::came_off::{self, Fleet};
use crate::solve::demand::Demand;
use crate::solve::fit::limits::Ledger;
use crate::solve::pack::finish::Shapes;
use crate::solve::price::{self, Uncommitted};
use crate::solve::solution::{NewNode, Solution, Target};
use crate::solve::{existing, ledger, overruled};

use super::trial::{Scene, marked};

/// Returns whether the order of pools, the rules between pods and what claims must list hold of a solution.
pub(in crate::solve) fn is_right(scene: &Scene<'_>, snapshot: &Snapshot, solution: &Solution) -> bool {
    let Target { new, removed, .. } = &solution.target;
    let world = &marked(snapshot, &removed.iter().map(|removal| removal.node.clone()).collect());
    let demand = &Demand::of(world, scene.topology);
    let lacks_choice =
        |node: &NewNode| node.variety.among.iter().any(|other| !node.substitutes.contains(other));
    let shapes = &came_off::shapes_of(demand, new);
    let opened = new
        .iter()
        .zip(shapes)
        .filter_map(|(node, shapes)| Some((node, demand.shapes.get(shapes.opened_for)?)));
    !new.iter().any(lacks_choice)
        && overruled::count(scene.supply, &left(scene, snapshot, new), opened) == 0
        && binds_all(scene, (world, demand), (&solution.target, shapes))
}

/// Returns what limits leave beside what there is and these nodes.
fn left(scene: &Scene<'_>, snapshot: &Snapshot, new: &[NewNode]) -> Ledger {
    let Scene { policy, market, book, supply, .. } = *scene;
    let there = price::cost(&snapshot.nodes, market, book).effective;
    let mut left = ledger::opened(policy, &snapshot.nodes, &Uncommitted(Vec::new()), there);
    for node in new {
        let bought = supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
        if let Some((pool, kind, _)) = bought {
            let charges = ledger::charges(&left, pool.pool, kind.kind, node.effective_price.known());
            left.take(&charges, 1);
        }
    }
    left
}

/// Returns whether Kubernetes would bind all pods where the target has them.
fn binds_all(
    scene: &Scene<'_>,
    (world, demand): (&Snapshot, &Demand),
    (target, shapes): (&Target, &[Shapes]),
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
    let fleet = Fleet { supply, policy, nodes: &nodes, new: &target.new, shapes };
    fleet.refused(demand, topology).is_empty()
}
