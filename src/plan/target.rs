//! Plan narrowed to targets: only their changes and what these need, like Terraform's `-target`.
//!
//! Omissions are reported: their pods are held back, their nodes stay, and the cost is that of the remaining plan.

use std::collections::{BTreeMap, BTreeSet};

use super::change::ChangeId;
use super::evidence::Placement;
use super::propose::{Ground, Proposal};
use super::spec::PlannedChange;
use crate::model::{Node, NodeName, PodKey, PodPlace, Target};
use crate::solve::Held;

/// Omissions of a narrowed plan.
#[derive(Clone, Debug, Default)]
pub(super) struct LeftOut {
    /// The omitted changes.
    pub(super) changes: BTreeSet<ChangeId>,
    /// Pods whose new node is omitted.
    pub(super) held: Option<Held>,
}

/// Returns the part of a proposal that is neither a target nor needed by one; nothing without targets.
pub(super) fn left_out(ground: Ground<'_>, proposal: &Proposal, targets: &BTreeSet<Target>) -> LeftOut {
    if targets.is_empty() {
        return LeftOut::default();
    }
    let moved = pods_of_targets(ground, targets);
    let is_wanted = |(id, planned): &(&ChangeId, &PlannedChange)| {
        let carries = |placement: &Placement| placement.pods.iter().any(|pod| moved.contains(pod));
        is_target(proposal, planned, targets) || proposal.placements.get(*id).is_some_and(carries)
    };
    let wanted: BTreeSet<&ChangeId> = proposal.changes.iter().filter(is_wanted).map(|(id, _)| id).collect();
    let wanted = with_needed(ground, proposal, wanted);
    let changes: BTreeSet<ChangeId> =
        proposal.changes.keys().filter(|id| !wanted.contains(id)).cloned().collect();
    let placed = changes.iter().filter_map(|id| proposal.placements.get(id));
    let stays = |key: &&PodKey| {
        let pod = ground.snapshot.pods.iter().find(|pod| pod.key == **key);
        pod.is_some_and(|pod| runs_on(ground, &pod.place))
    };
    let pods = placed.flat_map(|placement| &placement.pods).filter(|pod| !stays(pod));
    let mut pods: Vec<PodKey> = pods.cloned().collect();
    pods.sort();
    let held = (!pods.is_empty()).then(|| Held {
        pods,
        waits_for: "`--target`".to_owned(),
        because: "the new nodes that they would go to are not among the targets".to_owned(),
    });
    LeftOut { changes, held }
}

/// Adds what moving pods need: their new node and the removal of their old one.
pub(super) fn with_needed<'p>(
    ground: Ground<'_>,
    proposal: &'p Proposal,
    mut wanted: BTreeSet<&'p ChangeId>,
) -> BTreeSet<&'p ChangeId> {
    let removing: BTreeMap<&NodeName, &ChangeId> = proposal
        .changes
        .iter()
        .filter_map(|(id, planned)| Some((&planned.change.delete()?.target.node, id)))
        .collect();
    let leaves: BTreeMap<&PodKey, &ChangeId> = ground
        .snapshot
        .pods
        .iter()
        .filter_map(|pod| match &pod.place {
            PodPlace::Bound(node) => Some((&pod.key, *removing.get(node)?)),
            PodPlace::Waiting => None,
        })
        .collect();
    let pairs: Vec<(&ChangeId, &ChangeId)> = proposal
        .placements
        .iter()
        .flat_map(|(id, placement)| placement.pods.iter().map(move |pod| (id, pod)))
        .filter_map(|(id, pod)| Some((id, *leaves.get(pod)?)))
        .collect();
    loop {
        let before = wanted.len();
        for (create, delete) in &pairs {
            if wanted.contains(create) || wanted.contains(delete) {
                wanted.extend([*create, *delete]);
            }
        }
        if wanted.len() == before {
            return wanted;
        }
    }
}

/// Returns whether a pod runs on a node that is not being deleted: it stays there if its move is omitted.
pub(super) fn runs_on(ground: Ground<'_>, place: &PodPlace) -> bool {
    match place {
        PodPlace::Bound(name) => {
            ground.snapshot.nodes.iter().any(|node| node.name == *name && !node.is_deleting)
        }
        PodPlace::Waiting => false,
    }
}

fn is_target(proposal: &Proposal, planned: &PlannedChange, targets: &BTreeSet<Target>) -> bool {
    let is_named = |name: &str| targets.contains(&Target::Node(NodeName::new(name)));
    let change = &planned.change;
    let existing = change.target().is_some_and(|there| {
        let pool = there.pool.clone().map(Target::NodePool);
        is_named(there.node.as_str()) || pool.is_some_and(|pool| targets.contains(&pool))
    });
    existing
        || change.create().is_some_and(|create| {
            let pool = proposal.claims.get(&create.spec).map(|claim| Target::NodePool(claim.pool.clone()));
            is_named(create.claim.as_str())
                || is_named(&create.vm)
                || pool.is_some_and(|pool| targets.contains(&pool))
        })
}

/// Returns the pods on targeted nodes: changes of these nodes need the pods' new nodes.
fn pods_of_targets<'a>(ground: Ground<'a>, targets: &BTreeSet<Target>) -> BTreeSet<&'a PodKey> {
    let is_target = |node: &&Node| {
        targets.contains(&Target::Node(node.name.clone()))
            || node.pool.clone().is_some_and(|pool| targets.contains(&Target::NodePool(pool)))
    };
    let nodes: BTreeSet<&NodeName> =
        ground.snapshot.nodes.iter().filter(is_target).map(|node| &node.name).collect();
    let runs_there = |place: &PodPlace| match place {
        PodPlace::Bound(node) => nodes.contains(node),
        PodPlace::Waiting => false,
    };
    ground.snapshot.pods.iter().filter(|pod| runs_there(&pod.place)).map(|pod| &pod.key).collect()
}

/// Returns the targets of a destroy plan that are nodes without a NodePool: they are never removed.
#[must_use]
pub fn foreign(plan: &super::Plan, targets: &BTreeSet<Target>) -> Vec<NodeName> {
    let nodes = plan.evidence.world.nodes.iter().filter(|node| node.pool.is_none());
    let names = nodes.map(|node| node.name.clone());
    let is_meant = |name: &NodeName| targets.contains(&Target::Node(name.clone()));
    if plan.spec.wishes.destroy { names.filter(is_meant).collect() } else { Vec::new() }
}

/// Returns the targets that match no pool or node of the input and no node of the plan.
#[must_use]
pub fn unknown<'t>(plan: &super::Plan, targets: &'t BTreeSet<Target>) -> Vec<&'t Target> {
    let known = names(plan);
    targets.iter().filter(|target| !known.contains(target)).collect()
}

/// Returns all valid targets of a plan: pools, including deleted pools that still have nodes, existing nodes and new
/// nodes.
#[must_use]
pub fn names(plan: &super::Plan) -> BTreeSet<Target> {
    let world = &plan.evidence.world;
    let mut known: BTreeSet<Target> =
        world.pools.iter().map(|pool| Target::NodePool(pool.name.clone())).collect();
    known.extend(world.nodes.iter().map(|node| Target::Node(node.name.clone())));
    known.extend(world.nodes.iter().filter_map(|node| node.pool.clone()).map(Target::NodePool));
    for (_, create, _) in plan.spec.creates() {
        known.extend([create.claim.as_str(), &create.vm].map(|name| Target::Node(NodeName::new(name))));
    }
    known
}
