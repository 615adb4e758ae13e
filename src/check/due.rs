//! Nodes that are due: they really are drifted, expired, unhealthy or excess, and each of their pods may be evicted and
//! has a safe place.
//!
//! Pods never protect an unhealthy node, nor one whose NodeClaim has a termination grace period. Labels and taints that
//! a node has beyond its pool's template are ignored.

use super::case::Case;
use super::underutilized;
use crate::model::{DisruptionReason, ExpireAfter, LabelKey, Node, NodeStage, Pod, Pool, Trouble, label};
use crate::policy::CLASS_HASH_VERSION;

/// Returns why a node may not be removed for this reason.
pub(super) fn faults(case: &Case<'_>, node: &Node, reason: DisruptionReason) -> Vec<String> {
    let mut faults = Vec::new();
    let called = reason.to_string().to_lowercase();
    let Some(pool) = node.pool.as_ref().and_then(|name| case.pool(name)) else { return faults };
    let has_come_up = node.claim.is_some() && node.stage == NodeStage::Initialized;
    // An excess node may be removed in any state.
    if !has_come_up && reason != DisruptionReason::Excess {
        faults.push(format!("is removed as {called}, but has no NodeClaim or never came up"));
    }
    let is_so = match reason {
        DisruptionReason::Drifted => differs(case, node, pool),
        DisruptionReason::Expired => is_too_old(case, node, pool),
        DisruptionReason::Unhealthy => {
            faults.extend(too_many(case, pool));
            is_unhealthy(case, node)
        }
        DisruptionReason::Excess => is_one_too_many(case, pool),
        DisruptionReason::Empty
        | DisruptionReason::Underutilized
        | DisruptionReason::Destroyed
        | DisruptionReason::Deleted => true,
    };
    if !is_so {
        faults.push(format!("is removed as {called}, which it is not"));
    }
    let is_bounded = node.claimed.termination_grace_period.is_some();
    let asks_pods = !is_bounded && reason != DisruptionReason::Unhealthy;
    let pods: Vec<&Pod> = case.running_on(&node.name).iter().copied().filter(|pod| !pod.is_daemon).collect();
    for pod in pods {
        let kept = asks_pods.then(|| underutilized::kept(case, pod)).flatten();
        let why = kept.or_else(|| underutilized::on_its_way(case, &pod.key));
        faults.extend(why.map(|why| format!("is removed as {called}, but pod `{}` {why}", pod.key)));
    }
    faults
}

fn is_one_too_many(case: &Case<'_>, pool: &Pool) -> bool {
    let own = |node: &&Node| node.pool.as_ref() == Some(&pool.name) && !node.is_deleting;
    let there = case.snapshot.nodes.iter().filter(own).count();
    pool.replicas.is_some_and(|asked| u64::try_from(there).unwrap_or(u64::MAX) > asked)
}

fn is_too_old(case: &Case<'_>, node: &Node, pool: &Pool) -> bool {
    let most = match node.claimed.expire_after.unwrap_or(pool.expire_after) {
        ExpireAfter::Age(most) => most,
        ExpireAfter::Never => return false,
    };
    let age = node.created.zip(case.snapshot.at).map(|(created, at)| at.duration_since(created));
    age.is_some_and(|age| age >= most)
}

/// Returns whether the Azure provider calls a node unhealthy: not ready for ten minutes, or failed by Azure. A VM that
/// lost its Node is unhealthy too.
fn is_unhealthy(case: &Case<'_>, node: &Node) -> bool {
    if node.uid.is_none() && node.claimed.is_lost && node.claimed.lost_since.is_some() {
        return true;
    }
    let lasted = |trouble: &Trouble| {
        let seconds =
            trouble.since.zip(case.snapshot.at).map(|(since, at)| at.duration_since(since).as_secs());
        seconds.unwrap_or(-1)
    };
    node.troubles.iter().any(|trouble| match (&*trouble.kind, &*trouble.status) {
        ("Ready", _) => lasted(trouble) >= 600,
        ("kubernetes.azure.com/NodeHealthy", "False") | ("PreemptionScheduled", "True") => {
            lasted(trouble) >= 0
        }
        _ => false,
    })
}

/// Reports a pool with more than a fifth of its nodes, rounded up, unhealthy: then no single node is at fault.
fn too_many(case: &Case<'_>, pool: &Pool) -> Option<String> {
    let of_pool = || case.snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(&pool.name));
    let all = of_pool().count();
    let unhealthy = of_pool().filter(|node| node.claim.is_some() && is_unhealthy(case, node)).count();
    (unhealthy > all.div_ceil(5)).then(|| {
        format!("is repaired, but {unhealthy} of the {all} nodes of pool `{}` are unhealthy", pool.name)
    })
}

fn differs(case: &Case<'_>, node: &Node, pool: &Pool) -> bool {
    if node.claimed.drift.is_some() || node.class.as_ref().is_some_and(|class| *class != pool.class) {
        return true;
    }
    let class = case.policy.classes.get(&pool.class).filter(|class| !class.is_assumed);
    let (stamp, hash) = (node.claimed.class_stamp.as_ref(), class.map(|class| &class.hash));
    if stamp.is_some_and(|stamp| {
        &*stamp.version == CLASS_HASH_VERSION && hash.is_some_and(|hash| stamp.hash != *hash)
    }) {
        return true;
    }
    let of_pool =
        node.claimed.pool_stamp.as_ref().filter(|stamp| &*stamp.version == Pool::TEMPLATE_HASH_VERSION);
    let hash = pool.template_hash();
    if of_pool.is_some_and(|stamp| stamp.hash != hash) {
        return true;
    }
    // Labels that a node of this template lost are restored in place.
    let is_given = |key: &LabelKey| of_pool.is_some() && pool.labels.contains_key(key);
    let is_set_by_others =
        |key: &str| label::WELL_KNOWN.contains(&key) || label::WELL_KNOWN_AZURE.contains(&key);
    let asked = pool.requirements.iter().filter(|(key, _)| !is_given(key));
    let breaks = asked.into_iter().any(|(key, asked)| match node.labels.get(key) {
        Some(value) => !asked.accepts(value),
        None => !is_set_by_others(key.as_str()) && asked.listed().is_some() && !asked.accepts_absence(),
    });
    let lacks_label =
        pool.labels.iter().any(|(key, value)| !is_given(key) && node.labels.get(key) != Some(value));
    let lacks_taint = pool.taints.iter().any(|taint| !node.taints.contains(taint));
    breaks || lacks_label || lacks_taint
}
