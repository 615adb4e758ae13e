//! Which nodes a pass takes to be going, and which nodes want quiet.
//!
//! Nodes that are being deleted always go; a pass that tries what would be without some others takes those to go as
//! well. Nothing here decides whether that is a good idea.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::model::{Node, NodeName, NodeStage, Pool};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// No node.
static NONE: BTreeSet<NodeName> = BTreeSet::new();

/// What is made of nodes that wait for `consolidateAfter` to be over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Quiet {
    /// They take any pod: so Karpenter provisions, and so it replaces what drifted.
    #[default]
    Overlooked,
    /// They take no pod that runs elsewhere and need not move: so Karpenter consolidates.
    Respected,
}

/// Which nodes a pass takes to be going.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving<'a> {
    /// Nodes that are tried to be done without.
    pub(super) candidates: &'a BTreeSet<NodeName>,
    /// What is made of nodes that want quiet.
    pub(super) quiet: Quiet,
}

impl Default for Leaving<'_> {
    fn default() -> Self {
        Self { candidates: &NONE, quiet: Quiet::default() }
    }
}

impl Leaving<'_> {
    /// Returns whether a node goes.
    pub(super) fn has(&self, node: &Node) -> bool {
        node.is_deleting || self.candidates.contains(&node.name)
    }

    /// Returns whether the pods of this node are moved by choice.
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

/// Returns whether a node has not been quiet for as long as its pool asks. Where nobody knows since when it is, its
/// claim's word counts.
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
