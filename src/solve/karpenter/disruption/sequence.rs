//! Command after command until nothing is left to do, each applied to a copy of the cluster's state.
//!
//! Applied means: new nodes exist and take pods, as the cheapest size that holds their requests; each pod is on the
//! node where the pass placed it; removed nodes are gone. Never changes the cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, NodeName, Pod, PodKey, PodPlace, SkuName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::karpenter::shelf::Cheapest;
use crate::solve::karpenter::store::Store;
use crate::solve::karpenter::{Chosen, Claim, Refused, Settings, settle as labelling};
use crate::solve::market::Market;

use super::scene::Scene;
use super::{Command, candidate, first_of};

/// Maximum number of commands per node, so that sizes with contradictory labels and prices cannot cause an endless
/// sequence. With other sizes, a node is replaced once or twice.
const COMMANDS_PER_NODE: usize = 10;

/// Karpenter's commands in order, and the state of the cluster after the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The commands.
    pub commands: Vec<Command>,
    /// Nodes that they create, in order, including those that are removed again.
    pub made: Vec<Made>,
    /// State of the cluster after them.
    pub after: Snapshot,
}

/// A node that a command creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its generated name.
    pub node: NodeName,
    /// Its claim, with the sizes that hold its requests.
    pub claim: Claim,
    /// The offering that it became.
    pub way: Chosen,
}

/// Returns Karpenter's commands until it finds nothing more. Every command removes a node, makes the fleet cheaper, or
/// reduces the number of drifted nodes, so the sequence ends. It also ends at the replacement of a drifted node of a
/// static pool, which is unknown until it is launched.
#[must_use]
pub fn commands(snapshot: &Snapshot, policy: &Policy, settings: Settings) -> Sequence {
    let market = &Market::of(snapshot, policy);
    of((snapshot, &Store::of((snapshot, policy, market), settings)), settings, &Refused::default())
}

/// Returns the same with some decisions refused: those nodes are kept, and those pods are unplaced.
pub(in crate::solve::karpenter) fn of(
    (snapshot, store): (&Snapshot, &Store<'_>),
    settings: Settings,
    refused: &Refused,
) -> Sequence {
    let (mut after, mut commands, mut all) = (snapshot.clone(), Vec::new(), Vec::new());
    for _ in 0..COMMANDS_PER_NODE * (snapshot.nodes.len() + 1) {
        let scene = &Scene::of((&after, store), settings, refused);
        let Some(command) = first_of(scene) else { break };
        let launched = launched(scene, &command, commands.len() + 1);
        commands.push(command);
        let Some((made, nodes)) = launched else { break };
        all.extend(made);
        after = carried_out(after, commands.last(), nodes);
    }
    Sequence { commands, made: all, after }
}

/// Returns the nodes that a command creates; `None` if they are unknown until they are launched.
fn launched(scene: &Scene<'_, '_>, command: &Command, number: usize) -> Option<(Vec<Made>, Vec<Node>)> {
    let nodes = command.replacements.iter().enumerate().map(|(place, claim)| {
        let name = NodeName::new(format!("new-{number:04}-{place}"));
        launch(scene, claim, name)
    });
    nodes.collect()
}

/// Returns the node that a claim becomes: the cheapest size that holds its requests, in its cheapest offering.
fn launch(scene: &Scene<'_, '_>, claim: &Claim, name: NodeName) -> Option<(Made, Node)> {
    let pool = scene.policy.pools.get(&claim.pool)?;
    let shelf = scene.shelf(pool)?;
    let place = |size: &SkuName| {
        let place = shelf.place(size.as_str())?;
        let room = &shelf.kinds[place].allocatable;
        claim.requests.iter().all(|(resource, amount)| room.get(resource) >= amount).then_some(place)
    };
    let ways = shelf.ways(&claim.requirements, &scene.snapshot.catalog);
    let cheapest = claim.sizes.iter().filter_map(place).filter_map(|place| ways.cheapest(place));
    let Cheapest { kind: chosen, offering } = cheapest.min_by_key(|way| way.amount())?;
    let way = Chosen {
        size: chosen.name.clone(),
        zone: offering.zone.clone(),
        capacity_type: offering.capacity_type,
        price: offering.price,
    };
    let sizes = claim.sizes.iter().filter(|size| place(size).is_some()).cloned().collect();
    let mut asked = pool.node_requirements();
    asked.add_all(&claim.requirements);
    let labels = labelling::labels(&asked, &name, [&chosen.requirements, &offering.requirements]);
    let single = labels.iter().filter_map(|(key, value)| Some((key.clone(), value.single()?.clone())));
    let room = (&chosen.capacity, &chosen.allocatable);
    let node = Node::joined(pool, name.clone(), single.collect(), room, scene.snapshot.at);
    Some((Made { node: name, claim: Claim { sizes, ..claim.clone() }, way }, node))
}

/// Returns the state after a command. Evicted pods that were not placed are pending; those of DaemonSets are removed
/// with their node. For nodes that got pods, `consolidateAfter` starts again.
fn carried_out(mut world: Snapshot, command: Option<&Command>, made: Vec<Node>) -> Snapshot {
    let Some(command) = command else { return world };
    let gone: BTreeSet<&NodeName> = command.nodes.iter().collect();
    let new = made.iter().zip(&command.replacements).map(|(node, claim)| (&node.name, &claim.pods));
    let there = command.moved.iter().map(|(node, pods)| (node, pods));
    let places: BTreeMap<&PodKey, &NodeName> =
        new.chain(there).flat_map(|(node, pods)| pods.iter().map(move |pod| (pod, node))).collect();
    world.pods.retain(|pod| match &pod.place {
        PodPlace::Bound(node) if gone.contains(node) => candidate::moves(pod),
        PodPlace::Bound(_) | PodPlace::Waiting => true,
    });
    for pod in &mut world.pods {
        if matches!(&pod.place, PodPlace::Bound(node) if gone.contains(node)) {
            pod.place = PodPlace::Waiting;
            starts_anew(pod);
        }
    }
    world.nodes.retain(|node| !gone.contains(&node.name));
    world.nodes.extend(made.iter().cloned());
    settle(&mut world, &places);
    world.nodes.sort_by(|one, other| one.name.cmp(&other.name));
    world
}

/// Binds pods to nodes. For nodes that got pods, `consolidateAfter` starts again.
pub(in crate::solve::karpenter) fn settle(world: &mut Snapshot, places: &BTreeMap<&PodKey, &NodeName>) {
    for pod in &mut world.pods {
        if let Some(node) = places.get(&pod.key) {
            pod.place = PodPlace::Bound((*node).clone());
            starts_anew(pod);
        }
    }
    let busy: BTreeSet<&NodeName> = places.values().copied().collect();
    for node in world.nodes.iter_mut().filter(|node| busy.contains(&node.name)) {
        (node.quiet_since, node.is_consolidatable) = (world.at, false);
    }
}

/// Resets the state of a pod that moved: it is unknown for how long it now asks not to be disrupted.
const fn starts_anew(pod: &mut Pod) {
    (pod.is_terminating, pod.state.is_unready, pod.state.protected_until) = (false, false, None);
}
