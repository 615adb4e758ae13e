//! Karpenter's actions from now on: pods are bound to nodes that they fit, nodes are disrupted, and nodes are created
//! for the other pods.
//!
//! A node that pending pods will use is not empty: pods that fit existing nodes are bound before any disruption, as
//! kube-scheduler does while Karpenter still waits. Never builds a plan.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ClaimName, DisruptionReason, Drift, NodeName, Pod, PodKey, PodPlace, ResourceName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::solution::Removal;

use super::disruption::{Command, Made, Method, Sequence, sequence};
use super::passes::{Passed, passes};
use super::settle::Bought;
use super::store::Store;
use super::{Refused, Settings};

/// Reason why a drifted node of a static pool is kept.
const UNKNOWN: &str = "Karpenter would replace it as drifted, and its pool is static (`replicas`): its size is not known before it is launched";

/// Result of Karpenter's actions.
pub(super) struct Course {
    /// Removed nodes, by name.
    pub(super) removed: Vec<Removal>,
    /// New nodes, replacements first; nodes that are created and removed again are left out.
    pub(super) made: Vec<Bought>,
    /// Nodes of the pods that were pending or move, if these nodes exist.
    pub(super) places: BTreeMap<PodKey, NodeName>,
    /// Result of the last passes.
    pub(super) passed: Passed,
    /// Refused pods and removals.
    pub(super) refused: Refused,
}

/// Computes Karpenter's actions.
pub(super) fn course(
    (snapshot, store): (&Snapshot, &Store<'_>),
    settings: Settings,
    refused: &Refused,
) -> Course {
    let first = passes((snapshot, store), settings, &refused.pods);
    let started = started(snapshot, &first.placed);
    // Pods that stay pending get nodes of their own, so Karpenter soon considers the rest without them.
    let mut aside = refused.clone();
    let waits = started.pods.iter().filter(|pod| pod.place == PodPlace::Waiting);
    aside.pods.extend(waits.map(|pod| (pod.key.clone(), String::new())));
    let sequence = match is_known(snapshot) {
        true => disrupted((&started, store), settings, &mut aside),
        false => Sequence { commands: Vec::new(), made: Vec::new(), after: started },
    };
    let Sequence { commands, made, after } = &sequence;
    let passed = match commands.is_empty() {
        true => first,
        false => passes((after, store), settings, &refused.pods),
    };
    let mut places = moved(snapshot, after);
    places.extend(passed.placed.iter().map(|(pod, node)| (pod.clone(), node.clone())));
    let replacements = made.iter().filter_map(|made| bought(made, after, store.policy, &places));
    let claims = passed.settled.iter().map(|settled| settled.bought.clone());
    let made = replacements.chain(claims).collect();
    let there: BTreeSet<&NodeName> = snapshot.nodes.iter().map(|node| &node.name).collect();
    places.retain(|_, node| there.contains(node));
    let refused = Refused { removals: aside.removals, ..refused.clone() };
    Course { removed: removed(snapshot, commands), made, places, passed, refused }
}

/// Returns Karpenter's disruption of nodes, without commands whose result is unknown.
fn disrupted(
    (started, store): (&Snapshot, &Store<'_>),
    settings: Settings,
    refused: &mut Refused,
) -> Sequence {
    loop {
        let sequence = sequence::of((started, store), settings, refused);
        // The new node of a static pool is unknown until it is launched.
        let open = sequence.commands.last().filter(|last| last.method == Method::StaticDrift);
        let Some(open) = open else { return sequence };
        for node in &open.nodes {
            refused.removal(node, open.method.reason(), UNKNOWN);
        }
    }
}

/// Returns whether the running pods are known: if no pod is bound to any node, they were not listed.
fn is_known(snapshot: &Snapshot) -> bool {
    snapshot.pods.iter().any(|pod| matches!(pod.place, PodPlace::Bound(_)))
}

/// Returns the snapshot in which the pods that fit existing nodes are bound. If no NodeClaim was read, every node of a
/// pool gets one.
fn started(snapshot: &Snapshot, placed: &BTreeMap<PodKey, NodeName>) -> Snapshot {
    let mut world = snapshot.clone();
    if world.nodes.iter().all(|node| node.claim.is_none()) {
        for node in world.nodes.iter_mut().filter(|node| node.pool.is_some()) {
            node.claim = Some(ClaimName::new(node.name.as_str()));
        }
    }
    let there: BTreeSet<&NodeName> = snapshot.nodes.iter().map(|node| &node.name).collect();
    let places = placed.iter().filter(|(_, node)| there.contains(node)).collect();
    sequence::settle(&mut world, &places);
    world
}

/// Returns the nodes of pods that were elsewhere or pending before.
fn moved(before: &Snapshot, after: &Snapshot) -> BTreeMap<PodKey, NodeName> {
    let known: BTreeMap<&PodKey, &PodPlace> = before.pods.iter().map(|pod| (&pod.key, &pod.place)).collect();
    let moved = after.pods.iter().filter_map(|pod| match &pod.place {
        PodPlace::Bound(node) if known.get(&pod.key) != Some(&&pod.place) => {
            Some((pod.key.clone(), node.clone()))
        }
        PodPlace::Bound(_) | PodPlace::Waiting => None,
    });
    moved.collect()
}

/// Returns a replacement with the pods that it has in the end; `None` if it is removed again, or has no pods.
fn bought(
    made: &Made,
    after: &Snapshot,
    policy: &Policy,
    places: &BTreeMap<PodKey, NodeName>,
) -> Option<Bought> {
    let Made { node, claim, way } = made;
    after.nodes.iter().find(|there| there.name == *node)?;
    let pool = policy.pools.get(&claim.pool)?;
    let mut pods: Vec<&Pod> = after.pods.iter().filter(|pod| places.get(&pod.key) == Some(node)).collect();
    pods.sort_by_cached_key(|pod| {
        let of = |name| std::cmp::Reverse(pod.spec.requests.get(&name));
        (of(ResourceName::Cpu), of(ResourceName::Memory), pod.key.clone())
    });
    let mut asked = pool.node_requirements();
    asked.add_all(&claim.requirements);
    Some(Bought {
        pool: claim.pool.clone(),
        size: way.size.clone(),
        zone: way.zone.clone(),
        capacity_type: way.capacity_type,
        asked,
        sizes: claim.sizes.clone(),
        opened_for: pods.first()?.key.clone(),
        has_more: pods.iter().any(|pod| !claim.pods.contains(&pod.key)),
        pods: pods.into_iter().map(|pod| pod.key.clone()).collect(),
    })
}

/// Returns the nodes of the snapshot that commands remove, by name. A node without running pods is removed as empty,
/// even if pending pods were placed there.
fn removed(snapshot: &Snapshot, commands: &[Command]) -> Vec<Removal> {
    let there: BTreeSet<&NodeName> = snapshot.nodes.iter().map(|node| &node.name).collect();
    let bound = snapshot.pods.iter().filter(|pod| !pod.is_daemon).map(|pod| &pod.place);
    let busy: BTreeSet<&NodeName> = bound
        .filter_map(|place| match place {
            PodPlace::Bound(node) => Some(node),
            PodPlace::Waiting => None,
        })
        .collect();
    let gone = commands.iter().flat_map(|command| command.nodes.iter().map(move |node| (command, node)));
    let drift: BTreeMap<&NodeName, &Drift> =
        snapshot.nodes.iter().filter_map(|node| Some((&node.name, node.claimed.drift.as_ref()?))).collect();
    let removed = gone.filter(|(_, node)| there.contains(node)).map(|(command, node)| {
        let reason = match command.method.reason() {
            DisruptionReason::Underutilized | DisruptionReason::Empty if !busy.contains(node) => {
                DisruptionReason::Empty
            }
            reason @ (DisruptionReason::Unhealthy
            | DisruptionReason::Expired
            | DisruptionReason::Excess
            | DisruptionReason::Drifted
            | DisruptionReason::Empty
            | DisruptionReason::Underutilized
            | DisruptionReason::Destroyed
            | DisruptionReason::Deleted) => reason,
        };
        let said = drift.get(node).filter(|_| reason == DisruptionReason::Drifted);
        let what = said.map(|drift| match &*drift.reason {
            "" => "its NodeClaim says so".into(),
            reason => format!("its NodeClaim says `{reason}`").into(),
        });
        Removal { node: node.clone(), reason, what }
    });
    let mut removed: Vec<Removal> = removed.collect();
    removed.sort_by(|one, other| one.node.cmp(&other.node));
    removed
}
