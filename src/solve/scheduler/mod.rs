//! Simulates kube-scheduler on a small fleet: which pods it would leave Pending without knowing the plan.
//!
//! It binds one pod after the other to the emptiest node that takes it, so a pod that fits only one node may find that
//! node full. All pods that may be moved are bound again, in several orders. So the result does not depend on where
//! pods run today, and a fleet that passes still passes once it is created. Never decides anything.

mod floor;
mod slack;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::{NodeName, PodKey, PodPlace, ResourceName};
use crate::snapshot::Snapshot;

use super::daemons::Daemons;
use super::demand::{Demand, Shape};
use super::existing;
use super::shrink::imagined;
use super::shrink::trial::Scene;
use super::solution::Target;
use super::topology::Topology;
use floor::{Floor, Tie};

pub(super) use slack::{with_slack, with_slack_alone, worth};

/// Maximum number of pods and nodes of a fleet that is simulated. In a large fleet, one pod matters little compared
/// with the cost of a simulation, which is pods times nodes.
const SMALL: (usize, usize) = (300, 24);

/// The order in which pods are tried.
#[derive(Clone, Copy)]
enum Order {
    /// By priority, then in order of arrival, which is by name here.
    Queue,
    /// From the last to the first.
    Reversed,
    /// By cores, then by memory.
    LargestFirst,
}

/// The simulated runs: every order, with the first and the last of equally scored nodes (the scheduler picks one at
/// random).
const TRIED: [(Order, Tie); 6] = [
    (Order::Queue, Tie::First),
    (Order::Reversed, Tie::First),
    (Order::LargestFirst, Tie::First),
    (Order::Queue, Tie::Last),
    (Order::Reversed, Tie::Last),
    (Order::LargestFirst, Tie::Last),
];

/// Returns whether a fleet with this number of new nodes is simulated.
pub(super) fn is_small(snapshot: &Snapshot, new: usize) -> bool {
    let nodes = snapshot.nodes.len() + new;
    // With an assumed system node, even a single node can exceed it in a spread.
    let least = if snapshot.assumes_system_node { 1 } else { 2 };
    (least..=SMALL.1).contains(&nodes) && snapshot.pods.iter().filter(|pod| !pod.is_daemon).count() <= SMALL.0
}

/// Returns the pods that some order leaves unplaced once the target is reached, by shape: as many as in that shape's
/// worst order. Returns none if the fleet is not small.
pub(super) fn stranded(scene: &Scene<'_>, snapshot: &Snapshot, target: &Target) -> Vec<Shape> {
    if !is_small(snapshot, target.new.len()) {
        return Vec::new();
    }
    let world = unbound(imagined::after(scene, snapshot, target));
    let topology = Topology::of(&world);
    let daemons = Daemons::of(&world, &topology);
    let demand = Demand::of(&world, &topology);
    let standing = existing::standing(&world, &daemons, &topology);
    let empty = Floor::of(&topology, (standing, world.assumes_system_node), &demand.shapes);
    let mut worst: BTreeMap<usize, Vec<PodKey>> = BTreeMap::new();
    for (order, tie) in TRIED {
        for (shape, pods) in left(&mut empty.clone(), &queue(&demand.shapes, order), tie) {
            let before = worst.entry(shape).or_default();
            if pods.len() > before.len() {
                *before = pods;
            }
        }
    }
    worst.into_iter().map(|(shape, pods)| Shape { pods, ..demand.shapes[shape].clone() }).collect()
}

/// Returns how many pods some order leaves unplaced once the target is reached.
pub(super) fn count_stranded(scene: &Scene<'_>, snapshot: &Snapshot, target: &Target) -> usize {
    stranded(scene, snapshot, target).iter().map(|shape| shape.pods.len()).sum()
}

/// Returns the world with all movable pods pending, without unplaced pods and without nodes that are being deleted.
fn unbound(mut world: Snapshot) -> Snapshot {
    world.nodes.retain(|node| !node.is_deleting);
    let managed: BTreeMap<&NodeName, bool> =
        world.nodes.iter().map(|node| (&node.name, node.pool.is_some())).collect();
    world.pods.retain_mut(|pod| {
        let PodPlace::Bound(node) = &pod.place else { return false };
        let Some(is_managed) = managed.get(node) else { return false };
        if *is_managed && !pod.is_daemon && !pod.is_terminating && !pod.is_do_not_disrupt {
            pod.place = PodPlace::Waiting;
        }
        true
    });
    world
}

/// A pod with the index of its shape.
type Queued<'d> = (usize, &'d PodKey);

fn queue(shapes: &[Shape], order: Order) -> Vec<Queued<'_>> {
    let mut queue: Vec<Queued<'_>> = Vec::new();
    for (place, shape) in shapes.iter().enumerate() {
        queue.extend(shape.pods.iter().map(|pod| (place, pod)));
    }
    queue.sort_by_key(|(shape, pod)| (Reverse(shapes[*shape].priority), *pod));
    match order {
        Order::Queue => {}
        Order::Reversed => queue.reverse(),
        Order::LargestFirst => queue.sort_by_key(|(shape, _)| {
            let requests = &shapes[*shape].ask.requests;
            Reverse([ResourceName::Cpu, ResourceName::Memory].map(|name| requests.get(&name)))
        }),
    }
    queue
}

/// Binds pods until no more can be bound; returns the rest.
fn left(floor: &mut Floor<'_>, queue: &[Queued<'_>], tie: Tie) -> BTreeMap<usize, Vec<PodKey>> {
    let mut waiting: Vec<Queued<'_>> = queue.to_vec();
    loop {
        let before = waiting.len();
        waiting.retain(|(shape, _)| !floor.bind(*shape, tie));
        if waiting.is_empty() || waiting.len() == before {
            break;
        }
    }
    let mut left: BTreeMap<usize, Vec<PodKey>> = BTreeMap::new();
    for (shape, pod) in waiting {
        left.entry(shape).or_default().push(pod.clone());
    }
    left
}
