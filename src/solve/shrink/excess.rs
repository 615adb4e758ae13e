//! Which nodes a pool has beyond those that it asks for (`replicas`), in the order in which they go.
//!
//! Karpenter's order: what has not launched, then what carries nothing, then by what it costs to disrupt, and what asks
//! not to be disrupted last. Whether a node may go is not asked here.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{Node, NodeName, NodeStage, Pod, Pool, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::replicas;

/// What sorts the node first that goes first.
pub(super) type Turn = (bool, bool, bool, usize, NodeName);

/// Returns when it is a node's turn. What it costs to disrupt counts by the pods that must move.
pub(super) fn turn(node: &Node, pods: &[&Pod], at: Option<Timestamp>) -> Turn {
    let busy = pods.iter().filter(|pod| !pod.is_daemon).count();
    let is_protected = node.is_do_not_disrupt || pods.iter().any(|pod| pod.is_protected(at));
    (is_protected, node.stage != NodeStage::Launching, busy > 0, busy, node.name.clone())
}

/// Returns how many nodes each pool that asks for a number of them has beyond that.
pub(super) fn rooms(snapshot: &Snapshot, policy: &Policy) -> BTreeMap<PoolName, usize> {
    let room = |pool: &Pool| {
        let asked = replicas::asked(pool)?;
        Some((pool.name.clone(), replicas::present(snapshot, &pool.name).saturating_sub(asked)))
    };
    policy.pools.values().filter_map(room).collect()
}

/// Returns that a node may be one too many, for people; nothing for one that is only imagined.
pub(super) fn what(node: &Node, pool: &Pool, beyond: usize) -> Option<String> {
    let asked = replicas::asked(pool).filter(|_| beyond > 0 && !replicas::is_imagined(&node.name))?;
    let of = if asked == 1 { "node" } else { "nodes" };
    Some(format!("pool `{}` asks for {asked} {of} (`replicas`)", pool.name))
}
