//! Surplus nodes of static pools (beyond `replicas`), in order of removal.
//!
//! Karpenter's order: nodes that have not launched, then empty nodes, then by disruption cost; nodes that must not be
//! disrupted come last. Never checks whether a node may be removed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{Node, NodeName, NodeStage, Pod, Pool, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::replicas;

/// A sort key in order of removal.
pub(super) type Turn = (bool, bool, bool, usize, NodeName);

/// Returns the sort key of a node. Its disruption cost is the number of pods that must move.
pub(super) fn turn(node: &Node, pods: &[&Pod], at: Option<Timestamp>) -> Turn {
    let busy = pods.iter().filter(|pod| !pod.is_daemon).count();
    let is_protected = node.is_do_not_disrupt || pods.iter().any(|pod| pod.is_protected(at));
    (is_protected, node.stage != NodeStage::Launching, busy > 0, busy, node.name.clone())
}

/// Returns the number of surplus nodes of each static pool.
pub(super) fn rooms(snapshot: &Snapshot, policy: &Policy) -> BTreeMap<PoolName, usize> {
    let room = |pool: &Pool| {
        let asked = replicas::asked(pool)?;
        Some((pool.name.clone(), replicas::present(snapshot, &pool.name).saturating_sub(asked)))
    };
    policy.pools.values().filter_map(room).collect()
}

/// Returns a message that a node may be surplus; `None` for an imagined node.
pub(super) fn what(node: &Node, pool: &Pool, beyond: usize) -> Option<String> {
    let asked = replicas::asked(pool).filter(|_| beyond > 0 && !replicas::is_imagined(&node.name))?;
    let of = if asked == 1 { "node" } else { "nodes" };
    Some(format!("pool `{}` asks for {asked} {of} (`replicas`)", pool.name))
}
