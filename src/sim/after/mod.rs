//! Applies a plan in memory, without Azure and without a cluster.
//!
//! Synchronous and total. It applies exactly the plan, as if every step succeeded: it never chooses, and it never
//! corrects a plan.

mod daemon;
mod drivers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{
    ClaimName, Claimed, LabelKey, Node, NodeName, NodeStage, Pod, PodKey, PodPlace, Supposed, Wishes, label,
};
use crate::plan::{Adopt, Change, ChangeId, ClaimSpec, Create, NodeShape, OldNew, Plan, Step, Update};
use crate::snapshot::Snapshot;

/// Returns the world after all waves of the plan: created nodes run their pods and daemonsets, deleted nodes are gone,
/// adopted nodes have a claim. Pods of deleted nodes that the plan does not place become Pending.
#[must_use]
pub fn after(snapshot: &Snapshot, plan: &Plan) -> Snapshot {
    let mut world = World::of(snapshot);
    for wave in &plan.spec.waves {
        for (step, ids) in &wave.steps {
            for id in ids {
                world.take(*step, id, plan);
            }
        }
    }
    for (node, pods) in &plan.evidence.kept {
        world.bind(pods, node);
    }
    world.into_snapshot()
}

/// The world while the plan is applied.
struct World<'a> {
    seen: &'a Snapshot,
    nodes: BTreeMap<NodeName, Node>,
    pods: BTreeMap<PodKey, Pod>,
    made: BTreeSet<NodeName>,
}

impl<'a> World<'a> {
    fn of(seen: &'a Snapshot) -> Self {
        Self {
            seen,
            nodes: seen.nodes.iter().map(|node| (node.name.clone(), node.clone())).collect(),
            pods: seen.pods.iter().map(|pod| (pod.key.clone(), pod.clone())).collect(),
            made: BTreeSet::new(),
        }
    }

    fn take(&mut self, step: Step, id: &ChangeId, plan: &Plan) {
        let Some(planned) = plan.spec.changes.get(id) else { return };
        let change = &planned.change;
        let target = change.target().map(|target| &target.node);
        match step {
            Step::Create => {
                let claim = change
                    .create()
                    .and_then(|create| plan.spec.claims.get(&create.spec).map(|claim| (create, claim)));
                if let Some((create, claim)) = claim {
                    self.create(id, create, claim, plan);
                }
            }
            Step::Drain => target.into_iter().for_each(|node| self.drain(node)),
            Step::Delete => {
                if let Some(node) = target {
                    self.nodes.remove(node);
                }
            }
            Step::Adopt | Step::Update | Step::Forget => {
                if let Some(node) = target.and_then(|node| self.nodes.get_mut(node)) {
                    change_in_place(node, change);
                }
            }
        }
    }

    fn create(&mut self, id: &ChangeId, create: &Create, claim: &ClaimSpec, plan: &Plan) {
        let Some(placement) = plan.evidence.placements.get(id) else { return };
        let Some(shape) = plan.evidence.shapes.get(placement.shape) else { return };
        let node = joined(create, claim, shape, self.seen);
        let name = node.name.clone();
        self.nodes.insert(name.clone(), node);
        self.made.insert(name.clone());
        self.bind(&placement.pods, &name);
    }

    fn bind(&mut self, pods: &[PodKey], node: &NodeName) {
        // Placeholder pods only reserve capacity; they are never bound.
        for key in pods.iter().filter(|key| !key.is_placeholder()) {
            if let Some(pod) = self.pods.get_mut(key) {
                pod.place = PodPlace::Bound(node.clone());
            }
        }
    }

    /// Removes the daemonset pods of a node; other pods become Pending unless they were already bound to a node created
    /// earlier.
    fn drain(&mut self, node: &NodeName) {
        let here = |pod: &Pod| matches!(&pod.place, PodPlace::Bound(place) if place == node);
        self.pods.retain(|_, pod| !(pod.is_daemon && here(pod)));
        for pod in self.pods.values_mut().filter(|pod| here(pod)) {
            pod.place = PodPlace::Waiting;
        }
    }

    fn into_snapshot(self) -> Snapshot {
        let Self { seen, mut nodes, mut pods, made } = self;
        pods.values_mut().for_each(|pod| pod.state.nominated = None);
        // Requests for single nodes are now done or refused.
        for node in nodes.values_mut() {
            node.claimed.drift.take_if(|drift| drift.is_asked());
        }
        let mut storage = seen.storage.clone();
        for node in made.iter().filter_map(|name| nodes.get(name)) {
            let drivers = drivers::of(node, seen);
            if !drivers.is_empty() {
                storage.drivers.insert(node.name.clone(), drivers);
            }
            pods.extend(daemon::pods_of(node, &seen.daemons).map(|pod| (pod.key.clone(), pod)));
        }
        Snapshot {
            at: seen.at,
            cluster: seen.cluster.clone(),
            nodes: nodes.into_values().collect(),
            pods: pods.into_values().collect(),
            daemons: seen.daemons.clone(),
            namespaces: seen.namespaces.clone(),
            storage,
            budgets: seen.budgets.clone(),
            groups: seen.groups.clone(),
            refusals: seen.refusals.clone(),
            catalog: seen.catalog.clone(),
            gaps: seen.gaps.clone(),
            assumptions: seen.assumptions.clone(),
            assumes_system_node: seen.assumes_system_node,
            supposed: Supposed { wishes: Wishes::default(), ..seen.supposed.clone() },
            // Victims are gone by now; preempted pods have another node or are Pending.
            preemptions: Vec::new(),
            quota: seen.quota.clone(),
            azure: None,
        }
    }
}

/// Returns a created node that has joined: named after its VM, without startup taints.
fn joined(create: &Create, claim: &ClaimSpec, shape: &NodeShape, seen: &Snapshot) -> Node {
    let mut labels = shape.labels.clone();
    labels.insert(LabelKey::new(label::HOSTNAME), create.vm.clone());
    Node {
        name: NodeName::new(&create.vm),
        claim: Some(create.claim.clone()),
        pool: Some(claim.pool.clone()),
        class: Some(claim.class.clone()),
        provider_id: Some(Arc::from(format!("azure:///simulated/virtualMachines/{}", create.vm))),
        uid: None,
        claim_uid: None,
        stage: NodeStage::Initialized,
        labels,
        taints: claim.taints.clone(),
        capacity: shape.capacity.clone(),
        allocatable: shape.allocatable.clone(),
        is_unschedulable: false,
        is_do_not_disrupt: claim
            .annotations
            .get(label::DO_NOT_DISRUPT)
            .is_some_and(|value| &**value == "true"),
        kept_because: None,
        is_deleting: false,
        created: seen.at,
        quiet_since: seen.at,
        is_consolidatable: false,
        claimed: Claimed {
            expire_after: Some(claim.expire_after),
            termination_grace_period: claim.termination_grace_period,
            ..Claimed::default()
        },
        troubles: Vec::new(),
    }
}

fn change_in_place(node: &mut Node, change: &Change) {
    match change {
        Change::Adopt(Adopt { claim, class, pool, .. }) => {
            node.claim = Some(ClaimName::new(claim.as_str()));
            node.class = Some(class.clone());
            node.pool = Some(pool.clone());
        }
        Change::Update(Update { labels, annotations, .. }) => {
            for (key, OldNew { old: _, new }) in labels {
                match new {
                    Some(value) => node.labels.insert(key.clone(), value.clone()),
                    None => node.labels.remove(key),
                };
            }
            if let Some(OldNew { old: _, new }) = annotations.get(label::DO_NOT_DISRUPT) {
                node.is_do_not_disrupt = new.as_deref() == Some("true");
            }
        }
        Change::Forget(_) => {
            node.claim = None;
            node.pool = None;
            node.labels.remove(label::NODE_POOL);
        }
        Change::Create(_) | Change::Delete(_) | Change::NoOp(_) => {}
    }
}

#[cfg(test)]
mod tests;
