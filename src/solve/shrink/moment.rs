//! What time decides of a world: of two moments at which it decides the same, the same may go.
//!
//! Every question that a rule asks about the time is asked here too. Nothing is decided by the answers.

use jiff::Timestamp;

use crate::model::allowance::{Window, window};
use crate::model::{ChangeClass, DisruptionReason, Hold, Node, Pod, Pool};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::{empty, expiry, repair};

/// Why nodes may go; what is destroyed on request asks elsewhere.
const REASONS: [DisruptionReason; 6] = [
    DisruptionReason::Unhealthy,
    DisruptionReason::Empty,
    DisruptionReason::Expired,
    DisruptionReason::Drifted,
    DisruptionReason::Excess,
    DisruptionReason::Underutilized,
];

/// What time decides.
#[derive(Debug, PartialEq, Eq)]
pub struct Moment {
    /// Whether there is a time at all.
    is_known: bool,
    /// Which budgets of each pool hold, and what keeps its nodes back for each reason and from each change.
    pools: Vec<(Vec<Window>, Vec<Option<Hold>>)>,
    /// What is said of each node for the sake of its health, its age, and how long it was quiet.
    nodes: Vec<[Option<String>; 3]>,
    /// Which of the pods that ask not to be disrupted still do.
    protected: Vec<bool>,
    /// Which refusals still count.
    refused: Vec<bool>,
}

impl Moment {
    /// Returns what a time decides of a world, whatever its own time is.
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
