//! What depends on time and was not decided.

use std::collections::BTreeSet;

use crate::model::{ExpireAfter, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// Names what was not decided for the pools that have nodes, because the snapshot has no time.
#[must_use]
pub fn undecided(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<String> {
    let mut undecided = BTreeSet::new();
    if snapshot.at.is_some() {
        return undecided;
    }
    let used: BTreeSet<&PoolName> = snapshot.nodes.iter().filter_map(|node| node.pool.as_ref()).collect();
    for (name, pool) in policy.pools.iter().filter(|(name, _)| used.contains(name)) {
        if let ExpireAfter::Age(_) = pool.expire_after {
            undecided.insert(format!("`expireAfter` of pool `{name}`"));
        }
        if pool.disruption.consolidate_after.is_some_and(|quiet| !quiet.is_zero()) {
            undecided.insert(format!("`consolidateAfter` of pool `{name}`"));
        }
        if pool.disruption.budgets.iter().any(|budget| budget.window.is_some()) {
            undecided.insert(format!("schedules of the budgets of pool `{name}`"));
        }
    }
    undecided
}
