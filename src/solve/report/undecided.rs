//! What depends on time and was not decided for want of one, and the nodes that are too old where that is not planned
//! with.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::model::{ExpireAfter, NodeName, Pool, PoolName, Prefer};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// How many nodes are named before the rest is counted.
const NAMES_MAX: usize = 3;

/// Names what was not decided where the snapshot has no time: for the pools that have nodes, and of what Azure refused.
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
    if policy.fleet.prefer == Prefer::Availability && !snapshot.refusals.is_empty() {
        undecided.insert("which of Azure's refusals still count".to_owned());
    }
    undecided
}

/// Names, in whole sentences, the nodes that are too old: for a way of planning that does not replace for age. Without
/// a time there are none.
#[must_use]
pub fn too_old(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<String> {
    let Some(at) = snapshot.at else { return BTreeSet::new() };
    policy.pools.values().filter_map(|pool| expired(snapshot, pool, at)).collect()
}

/// Says which nodes of the pool are older than it lets them become.
fn expired(snapshot: &Snapshot, pool: &Pool, at: Timestamp) -> Option<String> {
    let ExpireAfter::Age(age) = pool.expire_after else { return None };
    let is_older = |created: Timestamp, age: SignedDuration| at.duration_since(created) > age;
    let own = snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(&pool.name));
    let old = own.filter(|node| !node.is_deleting && node.created.is_some_and(|at| is_older(at, age)));
    let mut names: Vec<&NodeName> = old.map(|node| &node.name).collect();
    names.sort();
    let first: Vec<String> = names.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (nodes, are) = if names.len() == 1 { ("node", "is") } else { ("nodes", "are") };
    (!names.is_empty()).then(|| {
        format!(
            "{} {nodes} of pool `{}` {are} older than `expireAfter` {age:#} and {are} not replaced yet: \
             replacing for age is not planned by this strategy ({}{more})",
            names.len(),
            pool.name,
            first.join(", "),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{ExpireAfter, SignedDuration, too_old};
    use crate::plan::tests::world::example;

    #[test]
    fn nodes_that_are_too_old_are_named_where_there_is_a_time() {
        let (mut snapshot, mut policy, _) = example();
        for pool in policy.pools.values_mut() {
            pool.expire_after = ExpireAfter::Age(SignedDuration::from_hours(720));
        }
        snapshot.at = Some("2026-11-20T20:00:00Z".parse().expect("is a time"));
        assert_eq!(too_old(&snapshot, &policy), [].into());
        snapshot.nodes[0].created = Some("2026-10-01T20:00:00Z".parse().expect("is a time"));
        snapshot.nodes[1].created = Some("2026-11-01T20:00:00Z".parse().expect("is a time"));
        let said = format!(
            "1 node of pool `general` is older than `expireAfter` 720h and is not replaced yet: replacing for age \
             is not planned by this strategy (`{}`)",
            snapshot.nodes[0].name
        );
        assert_eq!(too_old(&snapshot, &policy), [said].into());
    }
}
