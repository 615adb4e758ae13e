//! Applies user requests about single nodes to a snapshot: a node to replace counts as drifted, one to forget is not
//! disrupted.
//!
//! Both are then planned like any such node. Never decides whether a request can be fulfilled.

use std::collections::BTreeSet;

use crate::model::{Drift, Node, NodeName, NodeStage, Supposed, WhatIf, Wishes};

use super::Snapshot;

/// Returns the snapshot with the requests applied.
///
/// # Errors
/// Unknown nodes, and nodes that a request cannot apply to, each with a hint.
pub fn wish(mut snapshot: Snapshot, wishes: &Wishes) -> Result<Snapshot, Vec<(String, String)>> {
    let has_claims = snapshot.nodes.iter().any(|node| node.claim.is_some());
    let names: Vec<NodeName> = snapshot.nodes.iter().map(|node| node.name.clone()).collect();
    let supposed = snapshot.supposed.clone();
    let mut faults = Vec::new();
    let both: BTreeSet<&NodeName> = wishes.replace.intersection(&wishes.forget).collect();
    for node in both {
        let what = format!("node `{node}` cannot be both replaced and forgotten");
        faults.push((what, "leave out `--replace` or `--forget` for it".to_owned()));
    }
    let all = wishes.replace.iter().map(|node| ("--replace", node));
    for (flag, name) in all.chain(wishes.forget.iter().map(|node| ("--forget", node))) {
        let Some(node) = snapshot.nodes.iter_mut().find(|node| node.name == *name) else {
            faults.push(left_out(flag, name, &supposed).unwrap_or_else(|| unknown(flag, name, &names)));
            continue;
        };
        if let Some((why, hint)) = not_meant(node, has_claims, flag == "--replace") {
            faults.push((format!("`{flag}`: node `{name}` {why}"), hint.to_owned()));
            continue;
        }
        match flag == "--replace" {
            true => node.claimed.drift = Some(Drift::asked()),
            false => node.keep("it is to be forgotten (`--forget`)"),
        }
    }
    snapshot.supposed.wishes = wishes.clone();
    if faults.is_empty() { Ok(snapshot) } else { Err(faults) }
}

/// Returns the fault for a node that exists but is omitted by a what-if question.
fn left_out(flag: &str, name: &NodeName, supposed: &Supposed) -> Option<(String, String)> {
    let Supposed { absent, what_if, .. } = supposed;
    absent.iter().find(|absent| absent.node.name == *name)?;
    let WhatIf { from_scratch, without_zones } = what_if;
    let question = match (from_scratch.is_some(), without_zones.is_empty()) {
        (true, true) => "`--from-scratch`",
        (false, _) => "`--without-zone`",
        (true, false) => "`--from-scratch` or `--without-zone`",
    };
    let what = format!("`{flag}`: node `{name}` is planned as if it were not there ({question})");
    Some((what, format!("the two contradict each other: leave out `{flag}` for it, or {question}")))
}

fn unknown(flag: &str, name: &NodeName, names: &[NodeName]) -> (String, String) {
    let distance = |known: &&NodeName| strsim::damerau_levenshtein(known.as_str(), name.as_str());
    let hint = match names.iter().min_by_key(distance) {
        Some(nearest) if distance(&nearest) <= 3 => format!("the input has node `{nearest}`: is that meant?"),
        Some(_) => "`nodeform plan … --all` names the nodes of the input".to_owned(),
        None => "the input has no nodes: add those of a cluster, as `kubectl get nodes -o yaml` prints them"
            .to_owned(),
    };
    (format!("`{flag}`: there is no node `{name}`"), hint)
}

/// Returns why a request cannot apply to a node.
fn not_meant(node: &Node, has_claims: bool, is_replace: bool) -> Option<(&'static str, &'static str)> {
    if node.pool.is_none() {
        return Some(("belongs to no NodePool", "only nodes of NodePools are managed here"));
    }
    if node.claim.is_none() && (has_claims || is_replace) {
        return Some((
            "has no NodeClaim in the input",
            "add NodeClaims to the input: `kubectl get nodes,nodeclaims -o yaml`",
        ));
    }
    if node.is_deleting {
        return Some(("is being deleted already", "leave it out"));
    }
    (is_replace && node.stage != NodeStage::Initialized)
        .then_some(("has not come up yet", "wait until it has, or until Karpenter gives it up"))
}
