//! Reasons, as text, why pods are unplaced and nodes are kept.
//!
//! Never decides anything.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, NodeName, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::fit::gates;
use crate::solve::shrink::empty;
use crate::solve::solution::{Held, Kept, Removal, Target, Unplaced};

use super::desk::Beyond;
use super::passes::Passed;
use super::refusal::LIMITS;
use super::refused::Refused;
use super::{Ignored, PodError};

/// Reason why no node is created for a pod whose node is being removed.
const STUCK: &str =
    "its node is going, and a PodDisruptionBudget never lets it be evicted: Karpenter makes nothing for it";

/// Groups the unplaced pods by reason.
pub(super) fn unplaced(passed: &Passed, refused: &Refused, beyond: Beyond) -> Vec<Unplaced> {
    let mut groups: BTreeMap<(String, String, Vec<String>), Vec<PodKey>> = BTreeMap::new();
    let mut add = |pod: &PodKey, rule: &str, because: &str, details: Vec<String>| {
        groups.entry((rule.to_owned(), because.to_owned(), details)).or_default().push(pod.clone());
    };
    for PodError { pod, reasons } in &passed.errors {
        let details = reasons.iter().map(|(pool, _, why)| format!("pool `{pool}`: {why}")).collect();
        // Users set limits, so a pool that fails only by a limit is the one to change.
        let limited = reasons.iter().find(|(_, rule, _)| *rule == LIMITS);
        match limited.or(reasons.first()) {
            Some((pool, rule, why)) => add(pod, rule, &format!("pool `{pool}`: {why}"), details),
            None => add(
                pod,
                "pools",
                "no NodePool of the input can create nodes: `nodeform init .` writes one",
                details,
            ),
        }
    }
    for Ignored { pod, because } in &passed.ignored {
        add(pod, "not scheduled", &format!("Karpenter passes it over: {because}"), Vec::new());
    }
    for pod in &passed.stuck {
        add(pod, "not scheduled", STUCK, Vec::new());
    }
    for (pod, because) in &beyond {
        add(pod, LIMITS, because, Vec::new());
    }
    for (pod, because) in &refused.pods {
        add(
            pod,
            "Kubernetes",
            &format!("Karpenter would place it, and the checker rejects: {because}"),
            Vec::new(),
        );
    }
    let unplaced = groups.into_iter().map(|((rule, because, details), mut pods)| {
        pods.sort();
        Unplaced { pods, rule, because, nearest: None, details }
    });
    let mut unplaced: Vec<Unplaced> = unplaced.collect();
    unplaced.sort_by(|one, other| one.pods.cmp(&other.pods));
    unplaced
}

/// Returns the pods that wait for a scheduling gate.
pub(super) fn held(snapshot: &Snapshot) -> Vec<Held> {
    let mut groups: BTreeMap<(String, String), Vec<PodKey>> = BTreeMap::new();
    for pod in &snapshot.pods {
        if pod.place != PodPlace::Waiting || pod.is_terminating || pod.is_daemon {
            continue;
        }
        if let Some(wait) = gates::why(&pod.spec) {
            groups.entry((wait.waits_for, wait.because)).or_default().push(pod.key.clone());
        }
    }
    let held = groups.into_iter().map(|((waits_for, because), mut pods)| {
        pods.sort();
        Held { pods, waits_for, because }
    });
    held.collect()
}

/// Returns the nodes that Karpenter would remove but that are kept, by name, with the reason.
pub(super) fn staying(refused: &Refused, removed: &[Removal]) -> Vec<(NodeName, String)> {
    let gone: BTreeSet<&NodeName> = removed.iter().map(|removal| &removal.node).collect();
    let mut staying: BTreeMap<&NodeName, &String> = BTreeMap::new();
    for ((node, _), because) in refused.removals.iter().filter(|((node, _), _)| !gone.contains(node)) {
        staying.entry(node).or_insert(because);
    }
    staying.into_iter().map(|(node, because)| (node.clone(), because.clone())).collect()
}

/// Returns why a drifted node is kept although budgets and pods allow its removal: Karpenter relies on NodeClaims.
pub(super) fn why_drifted_stays(snapshot: &Snapshot, name: &NodeName) -> &'static str {
    let is_told = |node: &Node| node.name == *name && node.claimed.drift.is_some();
    match snapshot.nodes.iter().any(is_told) {
        true => "Karpenter finds no place for its pods",
        false => "its NodeClaim does not say so, and Karpenter follows that",
    }
}

/// Returns the nodes of pools that carry no pods, if no pod of the input is bound, with the reason why they are kept.
pub(super) fn not_known_to_be_empty(snapshot: &Snapshot, target: &Target) -> Vec<(NodeName, String)> {
    let has_claims = snapshot.nodes.iter().any(|node| node.claim.is_some());
    let has_pods = snapshot.knows_running_pods();
    if has_pods {
        return Vec::new();
    }
    let is_bare = |node: &&Node| {
        let is_kept = |kept: &Kept| kept.node == node.name && kept.pods.is_empty();
        node.pool.is_some() && target.kept.iter().any(is_kept)
    };
    let bare = snapshot.nodes.iter().filter(is_bare);
    bare.filter_map(|node| Some((node.name.clone(), empty::unknown(node, has_claims, has_pods)?))).collect()
}

/// Adds the reasons for kept nodes that have none yet.
pub(super) fn add_staying(
    staying: &mut Vec<(NodeName, String)>,
    removed: &[Removal],
    more: Vec<(NodeName, String)>,
) {
    let gone = removed.iter().map(|removal| &removal.node);
    let mut said: BTreeSet<NodeName> = gone.chain(staying.iter().map(|(node, _)| node)).cloned().collect();
    staying.extend(more.into_iter().filter(|(node, _)| said.insert(node.clone())));
}
