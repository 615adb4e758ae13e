//! Drifted nodes: they do differ from what is asked for, and every pod of theirs may be evicted and has a sure place.
//!
//! Pods keep no node whose NodeClaim says for how long it drains at most. What a node has beyond its pool's template
//! is nobody's business.

use super::case::Case;
use super::underused;

use crate::model::{Node, NodeStage, Pod, Pool, label};
use crate::policy::CLASS_HASH_VERSION;

/// Returns why a node may not be removed as drifted.
pub(super) fn faults(case: &Case<'_>, node: &Node) -> Vec<String> {
    let mut faults = Vec::new();
    let pool = node.pool.as_ref().and_then(|name| case.pool(name));
    if node.claim.is_none() || node.stage != NodeStage::Initialized {
        faults.push("is removed as drifted, but has no NodeClaim or never came up".to_owned());
    }
    if !pool.is_some_and(|pool| differs(case, node, pool)) {
        faults.push("is removed as drifted, but is as its pool and its class ask for".to_owned());
    }
    let is_bounded = node.claimed.termination_grace_period.is_some();
    let pods: Vec<&Pod> = case.running_on(&node.name).iter().copied().filter(|pod| !pod.is_daemon).collect();
    for pod in pods {
        let kept = (!is_bounded).then(|| underused::kept(case, pod)).flatten();
        let why = kept.or_else(|| underused::on_its_way(case, &pod.key));
        faults.extend(why.map(|why| format!("is removed as drifted, but pod `{}` {why}", pod.key)));
    }
    faults
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
    let is_set_by_others =
        |key: &str| label::WELL_KNOWN.contains(&key) || label::WELL_KNOWN_AZURE.contains(&key);
    let breaks = pool.requirements.iter().any(|(key, asked)| match node.labels.get(key) {
        Some(value) => !asked.accepts(value),
        None => !is_set_by_others(key.as_str()) && !asked.accepts_absence(),
    });
    let lacks_label = pool.labels.iter().any(|(key, value)| node.labels.get(key) != Some(value));
    let lacks_taint = pool.taints.iter().any(|taint| !node.taints.contains(taint));
    breaks || lacks_label || lacks_taint
}
