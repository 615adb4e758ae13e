//! Nodes that a pass treats as being removed, and nodes that wait for `consolidateAfter`.
//!
//! Nodes that are being deleted are always treated so; a simulation without some other nodes adds those. Never decides
//! whether a removal is worthwhile.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::model::{Node, NodeName, NodeStage, Pool};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// No node.
static NONE: BTreeSet<NodeName> = BTreeSet::new();

/// Treatment of nodes that wait for `consolidateAfter`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Quiet {
    /// They take any pod, as in Karpenter's provisioning and in its replacement of drifted nodes.
    #[default]
    Overlooked,
    /// They take no pod that runs elsewhere and need not move, as in Karpenter's consolidation.
    Respected,
}

/// Nodes that a pass treats as being removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving<'a> {
    /// Nodes whose removal is simulated.
    pub(super) candidates: &'a BTreeSet<NodeName>,
    /// Treatment of nodes that wait for `consolidateAfter`.
    pub(super) quiet: Quiet,
}

impl Default for Leaving<'_> {
    fn default() -> Self {
        Self { candidates: &NONE, quiet: Quiet::default() }
    }
}

impl Leaving<'_> {
    /// Returns whether a node is being removed.
    pub(super) fn has(&self, node: &Node) -> bool {
        node.is_deleting || self.candidates.contains(&node.name)
    }

    /// Returns whether the pods of this node are moved voluntarily.
    pub(super) fn is_chosen(&self, node: &NodeName) -> bool {
        self.candidates.contains(node)
    }

    /// Returns the nodes that take no pod that need not move.
    pub(super) fn wanting_quiet<'s>(
        &self,
        snapshot: &'s Snapshot,
        policy: &Policy,
    ) -> BTreeSet<&'s NodeName> {
        let wants = |node: &&Node| {
            let pool = node.pool.as_ref().and_then(|pool| policy.pools.get(pool));
            pool.is_some_and(|pool| wants_quiet(node, pool, snapshot.at))
        };
        match self.quiet {
            Quiet::Overlooked => BTreeSet::new(),
            Quiet::Respected => snapshot.nodes.iter().filter(wants).map(|node| &node.name).collect(),
        }
    }
}

/// Returns whether a node still waits for its pool's `consolidateAfter`. If it is unknown since when, the status of its
/// claim decides.
pub(super) fn wants_quiet(node: &Node, pool: &Pool, at: Option<Timestamp>) -> bool {
    let Some(asked) = pool.disruption.consolidate_after.filter(|asked| !asked.is_zero()) else {
        return false;
    };
    if node.claim.is_none() || node.stage != NodeStage::Initialized {
        return false;
    }
    match node.quiet_since.zip(at) {
        Some((since, at)) => at.duration_since(since) < asked,
        None => !node.is_consolidatable,
    }
}
