//! Nodes that Karpenter would disrupt, with the properties that matter.
//!
//! Never includes nodes that Karpenter does not manage, that are not initialized, that are being deleted, that ask not
//! to be disrupted, or that carry pods which may not be evicted; nor nodes that a pod is about to be bound to. Only a
//! running Karpenter knows that it nominated a node for a pending pod a moment ago; that is ignored.

use crate::model::{InstanceType, MicroUsdPerHour, Node, NodeStage, Pod, Pool};
use crate::solve::karpenter::leaving::wants_quiet;

use super::scene::Scene;
use super::{Method, cost};

/// A node that may be disrupted.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'a> {
    /// The node.
    pub(super) node: &'a Node,
    /// Its pool.
    pub(super) pool: &'a Pool,
    /// Its size, if its pool may buy it.
    pub(super) kind: Option<&'a InstanceType>,
    /// Its list price, if known.
    pub(super) price: Option<MicroUsdPerHour>,
    /// Its disruption cost, in units of [`cost::POD`].
    pub(super) cost: i64,
    /// Whether it carries no pod that would move elsewhere.
    pub(super) carries_nothing: bool,
}

/// Power of pods to block the disruption of their node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A pod that may not be evicted blocks it.
    Graceful,
    /// Such a pod blocks it unless the node has a termination grace period.
    Eventual,
}

/// Returns the nodes that may be disrupted, by name.
pub(super) fn all<'a>(scene: &Scene<'a, '_>, class: Class) -> Vec<Candidate<'a>> {
    scene.snapshot.nodes.iter().filter_map(|node| candidate(scene, class, node)).collect()
}

fn candidate<'a>(scene: &Scene<'a, '_>, class: Class, node: &'a Node) -> Option<Candidate<'a>> {
    let is_managed = node.claim.is_some() && node.stage == NodeStage::Initialized;
    if !is_managed || node.is_deleting || node.is_do_not_disrupt {
        return None;
    }
    let pool = scene.pool(node)?;
    scene.shelf(pool).filter(|shelf| !shelf.kinds.is_empty())?;
    let pods = scene.running(node);
    let has_end = node.claimed.termination_grace_period.is_some();
    let is_forced = class == Class::Eventual && has_end;
    if !is_forced && pods.iter().any(|pod| stays(scene, pod)) {
        return None;
    }
    let size = node.labels.get(crate::model::label::INSTANCE_TYPE);
    let kind = size.and_then(|size| scene.kind(pool, size));
    Some(Candidate {
        node,
        pool,
        kind,
        price: kind.and_then(|kind| cost::price(node, kind)),
        cost: cost::of_node(pods.iter().copied().filter(|pod| moves(pod))),
        carries_nothing: !pods.iter().any(|pod| moves(pod)),
    })
}

/// Returns whether a pod blocks the disruption of its node; pods of DaemonSets and static pods can as well.
fn stays(scene: &Scene<'_, '_>, pod: &Pod) -> bool {
    (pod.is_protected(scene.snapshot.at) && !pod.is_terminating)
        || pod.promised().is_some()
        || scene.guards.blocks(pod)
}

/// Returns whether a pod would move elsewhere; a pod of a StatefulSet does even while it is terminating.
pub(super) fn moves(pod: &Pod) -> bool {
    let comes_back =
        !pod.is_terminating || pod.workload.as_ref().is_some_and(|owner| &*owner.kind == "StatefulSet");
    comes_back && !pod.is_daemon
}

impl Candidate<'_> {
    /// Returns whether the node is empty by Karpenter's disruption cost: pods with a negative eviction cost do not
    /// count.
    pub(super) fn is_empty(&self) -> bool {
        self.cost <= cost::POD
    }

    /// Returns its price; an unknown price counts as zero.
    pub(super) fn amount(&self) -> i64 {
        self.price.map_or(0, |price| price.0)
    }

    /// Returns whether its removal by this method is not refused.
    pub(super) fn may_go(&self, scene: &Scene<'_, '_>, method: Method) -> bool {
        scene.refused.lets_go(&self.node.name, method.reason())
    }

    /// Returns whether its pool allows consolidation and its `consolidateAfter` has passed: Karpenter's condition
    /// `Consolidatable` is true, or will be once it is updated.
    pub(super) fn is_consolidatable(&self, scene: &Scene<'_, '_>) -> bool {
        let is_over = || match self.pool.disruption.consolidate_after {
            Some(_) => !wants_quiet(self.node, self.pool, scene.snapshot.at),
            None => false,
        };
        let is_asked = self.pool.replicas.is_none() && self.pool.disruption.consolidate_after.is_some();
        is_asked && (self.node.is_consolidatable || is_over())
    }
}

/// Sorts candidates in Karpenter's order of consolidation: the highest saving per disruption cost first, equal ones by
/// name.
pub(super) fn sort(candidates: &mut [Candidate<'_>]) {
    candidates.sort_by(|one, other| {
        let gain =
            |price: &Candidate<'_>, cost: &Candidate<'_>| i128::from(price.amount()) * i128::from(cost.cost);
        gain(other, one).cmp(&gain(one, other)).then_with(|| one.node.name.cmp(&other.node.name))
    });
}
