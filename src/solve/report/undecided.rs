//! Reports what could not be evaluated without a time, and expired nodes if the strategy does not replace them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::model::{ExpireAfter, Node, NodeName, Pool, PoolName, Prefer};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// Maximum number of nodes that are named; the rest is counted.
const NAMES_MAX: usize = 3;

/// Lists what is not evaluated if the snapshot has no time: rules of pools that have nodes, and Azure's refusals.
#[must_use]
pub fn undecided(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<String> {
    let mut undecided = BTreeSet::new();
    if snapshot.at.is_some() {
        return undecided;
    }
    let used: BTreeSet<&PoolName> = snapshot.nodes.iter().filter_map(|node| node.pool.as_ref()).collect();
    for (name, pool) in policy.pools.iter().filter(|(name, _)| used.contains(name)) {
        let own = snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(name));
        undecided.extend(expiry(pool, own));
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

/// Returns which `expireAfter` applies to nodes of a pool: that of the pool, or of NodeClaims that differ from it.
fn expiry<'n>(pool: &Pool, mut own: impl Iterator<Item = &'n Node>) -> Option<String> {
    let name = &pool.name;
    if let ExpireAfter::Age(_) = pool.expire_after {
        return Some(format!("`expireAfter` of pool `{name}`"));
    }
    own.any(|node| matches!(most(node, pool), ExpireAfter::Age(_)))
        .then(|| format!("`expireAfter` of NodeClaims of pool `{name}`"))
}

/// Returns the age at which a node is replaced: its NodeClaim takes precedence over its pool.
fn most(node: &Node, pool: &Pool) -> ExpireAfter {
    node.claimed.expire_after.unwrap_or(pool.expire_after)
}

/// Lists expired nodes in whole sentences, for a strategy that does not replace them. Without a time there are none.
#[must_use]
pub fn too_old(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<String> {
    let Some(at) = snapshot.at else { return BTreeSet::new() };
    policy.pools.values().flat_map(|pool| expired(snapshot, pool, at)).collect()
}

/// Describes the expired nodes of the pool, grouped by their maximum age.
fn expired(snapshot: &Snapshot, pool: &Pool, at: Timestamp) -> Vec<String> {
    let own = snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(&pool.name));
    let mut old: BTreeMap<SignedDuration, BTreeSet<&NodeName>> = BTreeMap::new();
    for node in own.filter(|node| !node.is_deleting) {
        let ExpireAfter::Age(age) = most(node, pool) else { continue };
        if node.created.is_some_and(|created| at.duration_since(created) > age) {
            old.entry(age).or_default().insert(&node.name);
        }
    }
    old.into_iter().map(|(age, names)| are_older(pool, age, &names)).collect()
}

fn are_older(pool: &Pool, age: SignedDuration, names: &BTreeSet<&NodeName>) -> String {
    let first: Vec<String> = names.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (nodes, are) = if names.len() == 1 { ("node", "is") } else { ("nodes", "are") };
    format!(
        "{} {nodes} of pool `{}` {are} older than `expireAfter` {age:#} and {are} not replaced yet: \
         replacing for age is not planned by this strategy ({}{more})",
        names.len(),
        pool.name,
        first.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::{ExpireAfter, SignedDuration, too_old, undecided};
    use crate::plan::tests::world::example;

    #[test]
    fn without_a_time_expiry_is_not_decided_whether_the_pool_asks_for_it_or_only_a_claim() {
        let (mut snapshot, mut policy, _) = example();
        let month = ExpireAfter::Age(SignedDuration::from_hours(720));
        snapshot.at = None;
        let mut said = |pool, claim| {
            policy.pools.values_mut().for_each(|it| it.expire_after = pool);
            snapshot.nodes[0].claimed.expire_after = claim;
            let undecided = undecided(&snapshot, &policy);
            undecided.into_iter().filter(|what| what.contains("expireAfter")).collect::<Vec<_>>()
        };
        assert_eq!(said(month, None), ["`expireAfter` of pool `general`"]);
        assert_eq!(said(ExpireAfter::Never, Some(month)), ["`expireAfter` of NodeClaims of pool `general`"]);
        assert_eq!(said(ExpireAfter::Never, None), [""; 0]);
    }

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
        snapshot.nodes[0].claimed.expire_after = Some(ExpireAfter::Never);
        assert_eq!(too_old(&snapshot, &policy), [].into(), "the claim's word counts");
    }
}
