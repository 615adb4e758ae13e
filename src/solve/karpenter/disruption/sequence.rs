//! Command after command until nothing more is done, each carried out on a picture of the cluster.
//!
//! Carried out means: what is made is there and takes pods, as the cheapest size that holds what is asked of it; each pod
//! is where the pass put it; and what went is gone. Nothing is done in the cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    ClaimName, Claimed, InstanceType, LabelKey, Node, NodeName, NodeStage, Offering, PodKey, PodPlace, Pool,
    Requirements,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::karpenter::{Claim, Settings, settle, shelf};
use crate::solve::market::Market;

use super::scene::Scene;
use super::{Command, candidate, first_of};

/// The commands that Karpenter gives one after the other, and what the cluster is after the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The commands.
    pub commands: Vec<Command>,
    /// What there is after them.
    pub after: Snapshot,
}

/// Returns what Karpenter does until it finds nothing more. Every command takes away a node, or makes the fleet cheaper, or
/// a node that drifted less, so that they end. What replaces a drifted node of a static pool is not known before it is
/// launched: there the sequence ends.
#[must_use]
pub fn commands(snapshot: &Snapshot, policy: &Policy, settings: Settings) -> Sequence {
    let market = &Market::of(snapshot, policy);
    let (mut after, mut commands) = (snapshot.clone(), Vec::new());
    loop {
        let scene = &Scene::of(&after, policy, market, settings);
        let Some(command) = first_of(scene) else { break };
        let made = made(scene, &command, commands.len() + 1);
        commands.push(command);
        let Some(made) = made else { break };
        after = carried_out(after, commands.last(), made);
    }
    Sequence { commands, after }
}

/// Returns the nodes that a command makes; `None` where one of them is not known before it is launched.
fn made(scene: &Scene<'_>, command: &Command, number: usize) -> Option<Vec<Node>> {
    let nodes = command.replacements.iter().enumerate().map(|(place, claim)| {
        let name = NodeName::new(format!("new-{number:04}-{place}"));
        launched(scene, claim, name)
    });
    nodes.collect()
}

/// Returns the node that a claim becomes: the cheapest size that holds what is asked of it, in its cheapest offering.
fn launched(scene: &Scene<'_>, claim: &Claim, name: NodeName) -> Option<Node> {
    let pool = scene.policy.pools.get(&claim.pool)?;
    let ways = claim.sizes.iter().filter_map(|size| {
        let kind = scene.kind(pool, size.as_str())?;
        let holds = claim.requests.iter().all(|(resource, amount)| kind.allocatable.get(resource) >= amount);
        shelf::cheapest_offering(kind, &claim.requirements, &scene.meetings).filter(|_| holds)
    });
    let way = ways.min_by_key(|way| way.amount())?;
    let mut asked = pool.node_requirements();
    asked.add_all(&claim.requirements);
    Some(joined(scene.snapshot, pool, (way.kind, way.offering), (&asked, name)))
}

fn joined(
    snapshot: &Snapshot,
    pool: &Pool,
    (kind, offering): (&InstanceType, &Offering),
    (asked, name): (&Requirements, NodeName),
) -> Node {
    let labels = settle::labels(asked, &name, [&kind.requirements, &offering.requirements]);
    let single = labels.iter().filter_map(|(key, value)| Some((key.clone(), value.single()?.clone())));
    Node {
        claim: Some(ClaimName::new(name.as_str())),
        pool: Some(pool.name.clone()),
        class: Some(pool.class.clone()),
        provider_id: None,
        stage: NodeStage::Initialized,
        labels: single.collect::<BTreeMap<LabelKey, _>>(),
        taints: pool.taints.clone(),
        capacity: kind.capacity.clone(),
        allocatable: kind.allocatable.clone(),
        is_unschedulable: false,
        is_do_not_disrupt: false,
        is_deleting: false,
        created: snapshot.at,
        quiet_since: snapshot.at,
        is_consolidatable: false,
        claimed: Claimed {
            expire_after: Some(pool.expire_after),
            termination_grace_period: pool.termination_grace_period,
            ..Claimed::default()
        },
        troubles: Vec::new(),
        name,
    }
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
        let is_displaced = matches!(&pod.place, PodPlace::Bound(node) if gone.contains(node));
        match places.get(&pod.key) {
            Some(node) => pod.place = PodPlace::Bound((*node).clone()),
            None if is_displaced => pod.place = PodPlace::Waiting,
            None => continue,
        }
        // It starts anew: how long it asks to be left alone is not known any more.
        (pod.is_terminating, pod.state.is_unready, pod.state.protected_until) = (false, false, None);
    }
    world.nodes.retain(|node| !gone.contains(&node.name));
    let busy: BTreeSet<&NodeName> = places.into_values().collect();
    for node in world.nodes.iter_mut().filter(|node| busy.contains(&node.name)) {
        (node.quiet_since, node.is_consolidatable) = (world.at, false);
    }
    world.nodes.extend(made);
    world.nodes.sort_by(|one, other| one.name.cmp(&other.name));
    world
}
