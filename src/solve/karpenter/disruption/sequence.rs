//! Command after command until nothing more is done, each carried out on a picture of the cluster.
//!
//! Carried out means: what is made is there and takes pods, as the cheapest size that holds what is asked of it; each pod
//! is where the pass put it; and what went is gone. Nothing is done in the cluster.

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

/// How many commands there are at most for each node, so that sizes whose labels and prices contradict each other cannot
/// lead on without an end. With others a node is replaced once or twice.
const COMMANDS_PER_NODE: usize = 10;

/// The commands that Karpenter gives one after the other, and what the cluster is after the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The commands.
    pub commands: Vec<Command>,
    /// What they make, in their order, whether it is gone again or not.
    pub made: Vec<Made>,
    /// What there is after them.
    pub after: Snapshot,
}

/// A node that a command makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its name, which is made up.
    pub node: NodeName,
    /// What was asked for, with the sizes that hold it.
    pub claim: Claim,
    /// What it became.
    pub way: Chosen,
}

/// Returns what Karpenter does until it finds nothing more. Every command takes away a node, or makes the fleet cheaper, or
/// a node that drifted less, so that they end. What replaces a drifted node of a static pool is not known before it is
/// launched: there the sequence ends.
#[must_use]
pub fn commands(snapshot: &Snapshot, policy: &Policy, settings: Settings) -> Sequence {
    let market = &Market::of(snapshot, policy);
    of((snapshot, &Store::of((snapshot, policy, market), settings)), settings, &Refused::default())
}

/// Returns the same with some decisions refused: those nodes stay, and those pods are nowhere.
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

/// Returns what a command makes; `None` where that is not known before it is launched.
fn launched(scene: &Scene<'_, '_>, command: &Command, number: usize) -> Option<(Vec<Made>, Vec<Node>)> {
    let nodes = command.replacements.iter().enumerate().map(|(place, claim)| {
        let name = NodeName::new(format!("new-{number:04}-{place}"));
        launch(scene, claim, name)
    });
    nodes.collect()
}

/// Returns what a claim becomes: the cheapest size that holds what is asked of it, in its cheapest offering.
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

/// Returns what there is after a command. Pods that had to leave and were placed nowhere wait; those of daemonsets leave
/// with their node. Nodes that got pods are no longer quiet.
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

/// Binds pods to nodes. Nodes that got pods are no longer quiet.
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

/// A pod that moved starts anew: how long it asks to be left alone is not known any more.
const fn starts_anew(pod: &mut Pod) {
    (pod.is_terminating, pod.state.is_unready, pod.state.protected_until) = (false, false, None);
}
