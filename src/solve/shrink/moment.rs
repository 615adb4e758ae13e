//! Time-dependent facts of a world: if two moments have the same facts, the same nodes may be removed.
//!
//! Covers every question about time that a rule asks. Never decides anything by the answers.

use jiff::Timestamp;

use crate::model::allowance::{Window, window};
use crate::model::{ChangeClass, DisruptionReason, Hold, Node, Pod, Pool};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::{empty, expiry, repair};

/// Reasons for removing nodes; nodes destroyed on request are checked elsewhere.
const REASONS: [DisruptionReason; 6] = [
    DisruptionReason::Unhealthy,
    DisruptionReason::Empty,
    DisruptionReason::Expired,
    DisruptionReason::Drifted,
    DisruptionReason::Excess,
    DisruptionReason::Underutilized,
];

/// The time-dependent facts.
#[derive(Debug, PartialEq, Eq)]
pub struct Moment {
    /// Whether there is a time at all.
    is_known: bool,
    /// Which budgets of each pool are active, and what holds its nodes back for each reason and each change.
    pools: Vec<(Vec<Window>, Vec<Option<Hold>>)>,
    /// Messages about each node's health, age and quiet time.
    nodes: Vec<[Option<String>; 3]>,
    /// Which pods with `karpenter.sh/do-not-disrupt` are still protected.
    protected: Vec<bool>,
    /// Which refusals still count.
    refused: Vec<bool>,
}

impl Moment {
    /// Returns the time-dependent facts of a world at a time, regardless of its own time.
    #[must_use]
    pub fn of(world: &Snapshot, policy: &Policy, at: Option<Timestamp>) -> Self {
        let of_pool = |pool: &Pool| {
            let windows = pool.disruption.budgets.iter().map(|budget| window(budget, at)).collect();
            let holds = &policy.fleet.holds;
            let of_removals = REASONS.iter().map(|reason| holds.on_removal(&pool.name, *reason, at));
            let of_changes = ChangeClass::ALL.iter().map(|class| holds.on_change(&pool.name, *class, at));
            (windows, of_removals.chain(of_changes).collect())
        };
        let of_node = |node: &Node| {
            let pool = node.pool.as_ref().and_then(|pool| policy.pools.get(pool));
            let expired = pool.and_then(|pool| expiry::what(node, pool, at));
            let busy = pool.and_then(|pool| empty::not_quiet(at, node, pool));
            [repair::what(node, at), expired, busy]
        };
        let asking = world.pods.iter().filter(|pod| pod.is_do_not_disrupt);
        Self {
            is_known: at.is_some(),
            pools: policy.pools.values().map(of_pool).collect(),
            nodes: world.nodes.iter().map(of_node).collect(),
            protected: asking.map(|pod: &Pod| pod.is_protected(at)).collect(),
            refused: world.refusals.iter().map(|refusal| at.is_some_and(|at| at < refusal.until)).collect(),
        }
    }
}
