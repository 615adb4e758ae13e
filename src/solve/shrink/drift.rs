//! Drift: how a node differs from its pool and node class.
//!
//! Karpenter's rules as far as the facts are known: the NodeClaim's own condition, the hash of the AKSNodeClass, labels
//! that the pool's requirements no longer accept, and missing labels and taints of the pool's template. Extra labels
//! and taints are no drift, because anyone may add them. Neither are labels that a node of the current template lost:
//! they are restored in place. Never checks whether a node may be removed.

use crate::model::{Drift, LabelKey, Node, NodeClass, NodeStage, Pool, label};
use crate::policy::{CLASS_HASH_VERSION, Policy};

/// Returns how the node differs, as a message; `None` if it does not. Nodes without a NodeClaim or not initialized yet
/// are not checked.
pub(super) fn what(node: &Node, pool: &Pool, policy: &Policy) -> Option<String> {
    if node.claim.is_none() || node.stage != NodeStage::Initialized {
        return None;
    }
    let class = node.class.as_ref().filter(|class| **class == pool.class);
    said(node.claimed.drift.as_ref())
        .or_else(|| stamped(node, policy.classes.get(class?)?))
        .or_else(|| template_changed(node, pool))
        .or_else(|| class_changed(node, pool))
        .or_else(|| not_required(node, pool))
        .or_else(|| unlike_template(node, pool))
}

fn said(drift: Option<&Drift>) -> Option<String> {
    if drift?.is_asked() {
        return Some("the user asks for its replacement".to_owned());
    }
    match &*drift?.reason {
        "" => Some("its NodeClaim says so".to_owned()),
        reason => Some(format!("its NodeClaim says `{reason}`")),
    }
}

/// Never compares hashes of different versions, or with a class that was not read.
fn stamped(node: &Node, class: &NodeClass) -> Option<String> {
    let stamp = node.claimed.class_stamp.as_ref()?;
    (!class.is_assumed && &*stamp.version == CLASS_HASH_VERSION && stamp.hash != class.hash)
        .then(|| format!("AKSNodeClass `{}` changed since it was created", class.name))
}

/// Detects changes of the pool's template that no label or taint shows.
fn template_changed(node: &Node, pool: &Pool) -> Option<String> {
    let stamp = node.claimed.pool_stamp.as_ref()?;
    (&*stamp.version == Pool::TEMPLATE_HASH_VERSION && stamp.hash != pool.template_hash())
        .then(|| format!("the template of its pool `{}` changed since it was created", pool.name))
}

fn class_changed(node: &Node, pool: &Pool) -> Option<String> {
    let class = node.class.as_ref().filter(|class| **class != pool.class)?;
    Some(format!("it was created with AKSNodeClass `{class}`, its pool now has `{}`", pool.class))
}

/// Labels that Karpenter or AKS sets may be missing because they were not recorded, and labels that accept any value
/// because no pod requested one; a custom label with listed values may not. A label that the pool itself sets is never
/// drift, whatever its requirements are: a new node would have it too.
fn not_required(node: &Node, pool: &Pool) -> Option<String> {
    let is_known = |key: &str| label::WELL_KNOWN.contains(&key) || label::WELL_KNOWN_AZURE.contains(&key);
    let comes_back = node.is_of_template(pool);
    let is_given = |key: &LabelKey| {
        pool.labels.get(key).is_some_and(|value| comes_back || node.labels.get(key) == Some(value))
    };
    let asked = pool.requirements.iter().filter(|(key, _)| !is_given(key));
    asked.into_iter().find_map(|(key, asked)| match node.labels.get(key) {
        Some(value) if asked.accepts(value) => None,
        Some(value) => Some(format!("its pool no longer accepts label `{key}: {value}`")),
        None if is_known(key.as_str()) || asked.listed().is_none() || asked.accepts_absence() => None,
        None => Some(format!("it has no label `{key}`, which its pool asks for")),
    })
}

fn unlike_template(node: &Node, pool: &Pool) -> Option<String> {
    let lacks = |(key, value): &(&LabelKey, &std::sync::Arc<str>)| node.labels.get(*key) != Some(*value);
    let lost = pool.labels.iter().filter(|_| !node.is_of_template(pool)).find(lacks);
    if let Some((key, value)) = lost {
        return Some(format!("its pool has label `{key}: {value}` and it does not"));
    }
    let taint = pool.taints.iter().find(|taint| !node.taints.contains(taint))?;
    Some(format!("its pool has taint `{taint}` and it does not"))
}
