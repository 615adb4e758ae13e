//! Which nodes Karpenter would disrupt at all, and what of them counts.
//!
//! Nodes that it does not manage, that are not ready for pods yet, that are going, that ask not to be disrupted or
//! carry pods that may not be evicted are none, nor are those that kube-scheduler has promised to a pod. That Karpenter
//! itself nominated a node for a pending pod a moment ago is known to a running one only and not looked at.

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
    /// Its size, where its pool may buy it.
    pub(super) kind: Option<&'a InstanceType>,
    /// What it costs by the list, where that is known.
    pub(super) price: Option<MicroUsdPerHour>,
    /// What it costs to disrupt it, in units of [`cost::POD`].
    pub(super) cost: i64,
    /// Whether it carries no pod that would be placed elsewhere.
    pub(super) carries_nothing: bool,
}

/// How much pods have to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// One that may not be evicted keeps its node.
    Graceful,
    /// It does so unless the node's drain has an end.
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

/// Returns whether a pod keeps its node: those of daemonsets and of the node itself may as well.
fn stays(scene: &Scene<'_, '_>, pod: &Pod) -> bool {
    (pod.is_protected(scene.snapshot.at) && !pod.is_terminating)
        || pod.promised().is_some()
        || scene.guards.blocks(pod)
}

/// Returns whether a pod would be placed elsewhere: one of a StatefulSet also while it is being deleted.
pub(super) fn moves(pod: &Pod) -> bool {
    let comes_back =
        !pod.is_terminating || pod.workload.as_ref().is_some_and(|owner| &*owner.kind == "StatefulSet");
    comes_back && !pod.is_daemon
}

impl Candidate<'_> {
    /// Returns whether nothing is lost with it, in Karpenter's measure: pods that would rather go do not count.
    pub(super) fn is_empty(&self) -> bool {
        self.cost <= cost::POD
    }

    /// Returns its price; one that is not known counts as nothing.
    pub(super) fn amount(&self) -> i64 {
        self.price.map_or(0, |price| price.0)
    }

    /// Returns whether nobody refuses that it goes this way.
    pub(super) fn may_go(&self, scene: &Scene<'_, '_>, method: Method) -> bool {
        scene.refused.lets_go(&self.node.name, method.reason())
    }

    /// Returns whether its pool lets it go for want of use, and it was quiet for long enough: so Karpenter's
    /// condition `Consolidatable` says, or will as soon as it is written.
    pub(super) fn is_consolidatable(&self, scene: &Scene<'_, '_>) -> bool {
        let is_over = || match self.pool.disruption.consolidate_after {
            Some(_) => !wants_quiet(self.node, self.pool, scene.snapshot.at),
            None => false,
        };
        let is_asked = self.pool.replicas.is_none() && self.pool.disruption.consolidate_after.is_some();
        is_asked && (self.node.is_consolidatable || is_over())
    }
}

/// Sorts candidates as Karpenter consolidates them: what saves most for what it costs to disrupt comes first, equal
/// ones by name.
pub(super) fn sort(candidates: &mut [Candidate<'_>]) {
    candidates.sort_by(|one, other| {
        let gain =
            |price: &Candidate<'_>, cost: &Candidate<'_>| i128::from(price.amount()) * i128::from(cost.cost);
        gain(other, one).cmp(&gain(one, other)).then_with(|| one.node.name.cmp(&other.node.name))
    });
}
