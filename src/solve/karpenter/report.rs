//! Why pods have no place and nodes stay, in words for people.
//!
//! Nothing is decided here.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::fit::gates;
use crate::solve::solution::{Held, Removal, Unplaced};

use super::desk::Beyond;
use super::passes::Passed;
use super::refused::Refused;
use super::{Ignored, PodError};

/// Why nothing is made for a pod whose node is going.
const STUCK: &str =
    "its node is going, and a PodDisruptionBudget never lets it be evicted: Karpenter makes nothing for it";

/// Groups the pods that are placed nowhere by why that is.
pub(super) fn unplaced(passed: &Passed, refused: &Refused, beyond: Beyond) -> Vec<Unplaced> {
    let mut groups: BTreeMap<(String, String, Vec<String>), Vec<PodKey>> = BTreeMap::new();
    let mut add = |pod: &PodKey, rule: &str, because: &str, details: Vec<String>| {
        groups.entry((rule.to_owned(), because.to_owned(), details)).or_default().push(pod.clone());
    };
    for PodError { pod, reasons } in &passed.errors {
        let details = reasons.iter().map(|(pool, _, why)| format!("pool `{pool}`: {why}")).collect();
        match reasons.first() {
            Some((pool, rule, why)) => add(pod, rule, &format!("pool `{pool}`: {why}"), details),
            None => add(pod, "pools", "there is no pool that nodes may be made of", details),
        }
    }
    for Ignored { pod, because } in &passed.ignored {
        add(pod, "not scheduled", &format!("Karpenter passes it over: {because}"), Vec::new());
    }
    for pod in &passed.stuck {
        add(pod, "not scheduled", STUCK, Vec::new());
    }
    for (pod, because) in &beyond {
        add(pod, "limits", because, Vec::new());
    }
    for (pod, because) in &refused.pods {
        add(
            pod,
            "Kubernetes",
            &format!("Karpenter would place it, and the judge refuses: {because}"),
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

/// Returns the pods that wait for a gate.
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

/// Returns the nodes that Karpenter would remove and that stay, by name, with why.
pub(super) fn staying(refused: &Refused, removed: &[Removal]) -> Vec<(NodeName, String)> {
    let gone: BTreeSet<&NodeName> = removed.iter().map(|removal| &removal.node).collect();
    let mut staying: BTreeMap<&NodeName, &String> = BTreeMap::new();
    for ((node, _), because) in refused.removals.iter().filter(|((node, _), _)| !gone.contains(node)) {
        staying.entry(node).or_insert(because);
    }
    staying.into_iter().map(|(node, because)| (node.clone(), because.clone())).collect()
}
