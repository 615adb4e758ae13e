//! Empty nodes: those that carry only DaemonSet pods once everything is placed.
//!
//! A node that is not known to be empty is kept, with the reason. Budgets spread removals over time later; they do not
//! select nodes. Only if budgets allow no removal at all is a node kept until they do, and pods may use its capacity.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{DisruptionReason, Node, NodeName, NodeStage, Pod, Pool, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use crate::solve::demand::{Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::solution::Removal;

use super::{candidate, repair};

/// The empty nodes that are removed, and why others are kept.
#[derive(Clone, Debug, Default)]
pub struct Shrunk {
    /// Nodes to remove, by name.
    pub removed: Vec<Removal>,
    /// Nodes to remove as soon as budgets or the fleet allow any removal: until then they exist and cost money.
    pub held: Vec<Removal>,
    /// Empty nodes that are kept, by name.
    pub staying: Vec<(NodeName, String)>,
}

/// Decides about every empty node.
#[must_use]
pub fn shrink(snapshot: &Snapshot, policy: &Policy, nodes: &[Standing<'_>], demand: &Demand) -> Shrunk {
    let mut shrunk = Shrunk::default();
    let mut holding: BTreeMap<&PoolName, bool> = BTreeMap::new();
    let has_claims = snapshot.nodes.iter().any(|node| node.claim.is_some());
    let has_pods = snapshot.knows_running_pods();
    for standing in nodes {
        let is_candidate = standing.is_empty() && standing.placed.is_empty() && !standing.node.is_deleting;
        // Nodes of static pools exist regardless of pods.
        if !is_candidate || is_fixed(policy, standing.node) {
            continue;
        }
        match unknown(standing.node, has_claims, has_pods)
            .or_else(|| why_stays(snapshot, policy, standing))
            .or_else(|| wanted_by(standing, &demand.held_shapes))
        {
            Some(reason) => shrunk.staying.push((standing.node.name.clone(), reason)),
            None => {
                let Node { name, pool, .. } = standing.node;
                let removal = Removal { node: name.clone(), reason: DisruptionReason::Empty, what: None };
                let is_held = pool.as_ref().is_some_and(|pool| {
                    *holding.entry(pool).or_insert_with(|| holds(snapshot, policy, pool))
                });
                if is_held { shrunk.held.push(removal) } else { shrunk.removed.push(removal) }
            }
        }
    }
    shrunk
}

/// Returns whether budgets or the fleet currently allow no empty node of a pool to be removed, however few are leaving.
fn holds(snapshot: &Snapshot, policy: &Policy, pool: &PoolName) -> bool {
    let pool = policy.pools.get(pool);
    pool.is_some_and(|pool| candidate::ever(snapshot, policy, pool, DisruptionReason::Empty) == 0)
}

fn is_fixed(policy: &Policy, node: &Node) -> bool {
    let pool = node.pool.as_ref().and_then(|name| policy.pools.get(name));
    pool.is_some_and(|pool| pool.replicas.is_some() && !pool.is_deleting)
}

/// Returns why it is unknown which pods run on a node, or whether the node is managed.
pub(in crate::solve) fn unknown(node: &Node, has_claims: bool, has_pods: bool) -> Option<String> {
    // Unmanaged nodes are kept regardless of their pods, and that is reported elsewhere.
    if !has_pods && node.pool.is_some() {
        return Some(without_pods());
    }
    let is_stranger = has_claims && node.pool.is_some() && node.claim.is_none();
    is_stranger.then(|| "it has no NodeClaim, where others have theirs: adopt it first".to_owned())
}

fn without_pods() -> String {
    "cannot tell which nodes are empty: the input has no running pods. Add `kubectl get pods -A -o yaml`"
        .to_owned()
}

/// Returns why a node is kept because of its own or its pool's settings.
pub(super) fn why_stays(snapshot: &Snapshot, policy: &Policy, standing: &Standing<'_>) -> Option<String> {
    let Node { pool, stage, .. } = standing.node;
    let Some(name) = pool else {
        return Some("not managed by a NodePool; never removed".to_owned());
    };
    let Some(pool) = policy.pools.get(name) else {
        return Some(format!("its pool `{name}` is not in the input, so that its rules are not known"));
    };
    if pool.is_deleting {
        return Some(format!("its pool `{name}` is being deleted, which takes its nodes along"));
    }
    if pool.replicas.is_some() {
        return Some(format!("its pool `{name}` is static (`replicas`)"));
    }
    if let Some(why) = standing.node.why_kept() {
        return Some(why.to_owned());
    }
    if *stage != NodeStage::Initialized {
        return Some("it is not initialized yet".to_owned());
    }
    if let Some(why) = repair::unreachable(standing.node) {
        return Some(why);
    }
    if let Some(pod) = standing.bound.iter().find(|pod| pod.is_protected(snapshot.at)) {
        return Some(format!("its pod `{}` has `karpenter.sh/do-not-disrupt`", pod.key));
    }
    if let Some(pod) = standing.bound.iter().find(|pod| pod.promised().is_some()) {
        return Some(promised_to(snapshot, pod));
    }
    not_quiet(snapshot.at, standing.node, pool)
}

/// Reports that a pod is about to be bound to the node.
pub(super) fn promised_to(snapshot: &Snapshot, pod: &Pod) -> String {
    match snapshot.preemptions.iter().any(|preemption| preemption.pod == pod.key) {
        true => format!("pod `{}` takes the place of pods of a lower priority there", pod.key),
        false if pod.state.is_meant => {
            format!(
                "it was created for pod `{}`, which is about to be bound (`status.nominatedNodeName`)",
                pod.key
            )
        }
        false => format!("kube-scheduler has promised it to pod `{}` (`status.nominatedNodeName`)", pod.key),
    }
}

/// Returns why a node is not known to have been quiet for its pool's `consolidateAfter`.
pub(super) fn not_quiet(at: Option<Timestamp>, node: &Node, pool: &Pool) -> Option<String> {
    let name = &pool.name;
    let Some(quiet) = pool.disruption.consolidate_after else {
        return Some(format!("pool `{name}` says `consolidateAfter: Never`"));
    };
    if quiet.is_zero() || node.is_consolidatable {
        return None;
    }
    let (Some(at), Some(since)) = (at, node.quiet_since) else {
        let missing = if at.is_none() { "without a time (`--at`)" } else { "without its NodeClaim's status" };
        return Some(format!(
            "pool `{name}` waits {quiet:#} after the last change of pods, and {missing} that is not decided"
        ));
    };
    (at.duration_since(since) < quiet)
        .then(|| format!("pool `{name}` waits {quiet:#} after the last change of pods, which was at {since}"))
}

/// Returns which held pod may need the node.
pub(super) fn wanted_by(standing: &Standing<'_>, held: &[Shape]) -> Option<String> {
    let shape = held.iter().find(|shape| existing::why(standing, shape).is_ok())?;
    let first = shape.pods.first()?;
    Some(format!("pod `{first}` is not planned yet and may need it"))
}
