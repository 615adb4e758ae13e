//! NodePools, AKSNodeClasses and CRDs that were deleted while nodes still use them: the nodes are kept, no others are
//! created, and this is reported.
//!
//! Never reports an object as gone that could not be listed or that is invalid.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, NodeName};
use crate::offline::World;

/// The CRD without which nothing is known about nodes.
const CLAIMS: &str = "nodeclaims.karpenter.sh";

/// Returns the deleted objects that nodes still use, as one sentence each that names the nodes.
#[must_use]
pub fn gone(world: &World) -> Vec<String> {
    let World { snapshot, policy, faulty, .. } = world;
    let is_unread = |word: &str| snapshot.gaps.iter().any(|gap| gap.is_of_kind(word));
    let is_faulty = |kind: &str, name: &str| faulty.iter().any(|it| it.object == format!("{kind}/{name}"));
    let of_pools = || snapshot.nodes.iter().filter(|node| node.pool.is_some() && !node.is_deleting);
    let mut gone: BTreeMap<String, Vec<&NodeName>> = BTreeMap::new();
    for node in of_pools() {
        let Some(name) = &node.pool else { continue };
        let Some(pool) = policy.pools.get(name) else {
            if !is_unread("nodepools") && !is_faulty("NodePool", name.as_str()) {
                gone.entry(format!("NodePool `{name}`")).or_default().push(&node.name);
            }
            continue;
        };
        let is_assumed = policy.classes.get(&pool.class).is_none_or(|class| class.is_assumed);
        if is_assumed && !is_unread("aksnodeclasses") && !is_faulty("AKSNodeClass", pool.class.as_str()) {
            let class = format!("AKSNodeClass `{}` of NodePool `{name}`", pool.class);
            gone.entry(class).or_default().push(&node.name);
        }
    }
    let kinds = snapshot.azure.iter().flat_map(|facts| &facts.obstacles.kinds);
    if kinds.into_iter().any(|kind| &**kind == CLAIMS) {
        let nodes: Vec<&NodeName> = of_pools().map(|node: &Node| &node.name).collect();
        if !nodes.is_empty() {
            gone.insert("the kind NodeClaim".to_owned(), nodes);
        }
    }
    gone.into_iter().map(|(what, nodes)| said(&what, nodes)).collect()
}

fn said(what: &str, nodes: Vec<&NodeName>) -> String {
    const NAMED_MAX: usize = 5;
    let nodes: BTreeSet<&NodeName> = nodes.into_iter().collect();
    let mut named: Vec<String> = nodes.iter().take(NAMED_MAX).map(|node| format!("`{node}`")).collect();
    if nodes.len() > NAMED_MAX {
        named.push(format!("{} more", nodes.len() - NAMED_MAX));
    }
    let (noun, have, it, they, are) = match nodes.len() {
        1 => ("node", "has", "its NodeClaim", "it stays", "it is"),
        _ => ("nodes", "have", "their NodeClaims", "they stay", "they are"),
    };
    format!(
        "{what} is gone while {noun} {} {have} it: {they} as {are}, and no other is created; create it again, or delete {it}",
        named.join(", ")
    )
}
