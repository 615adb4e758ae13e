//! Pods: each pending pod has one place or one reason for having none, and nothing else is placed.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{DisruptionReason, NodeName, PodKey, PodPlace};

/// Returns the pods that are placed wrongly, placed twice, or neither placed nor reported.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let places = places(case);
    let excused = excused(case);
    let mut found = Vec::new();
    let mut object = |pod: &PodKey, why: String| {
        found.push(Finding::new(Rule::Pods, format!("pod `{pod}`"), why));
    };
    for (pod, places) in &places {
        match case.pods.get(pod) {
            None => object(pod, format!("is placed on {}, but there is no such pod", places.join(" and "))),
            Some(known) => {
                if let PodPlace::Bound(node) = &known.place
                    && !is_going(case, node)
                {
                    object(pod, format!("is placed on {}, but runs on node `{node}`", places.join(" and ")));
                }
                if known.is_daemon {
                    object(pod, "is placed, but belongs to a DaemonSet, which places it itself".to_owned());
                }
            }
        }
        if places.len() > 1 {
            object(pod, format!("is placed {} times: on {}", places.len(), places.join(" and ")));
        }
        if excused.contains(pod) {
            object(pod, "is placed and reported as not placed".to_owned());
        }
    }
    for pod in &case.snapshot.pods {
        // Pods being deleted and pods of a DaemonSet need no place from the plan. A pod with
        // `karpenter.sh/do-not-disrupt` stays on a node being removed as long as it can.
        let waits = !pod.is_daemon
            && !pod.is_terminating
            && match &pod.place {
                PodPlace::Waiting => true,
                PodPlace::Bound(node) => is_going(case, node) && !pod.is_do_not_disrupt,
            };
        if waits && !places.contains_key(&pod.key) && !excused.contains(&pod.key) {
            object(&pod.key, "waits, and is neither placed nor reported as not placed".to_owned());
        }
    }
    let deletes = case.plan.spec.deletes().map(|(_, delete)| delete);
    let is_asked = |reason| matches!(reason, DisruptionReason::Destroyed | DisruptionReason::Deleted);
    let spared = deletes.filter(|delete| !is_asked(delete.reason));
    let needs_place: BTreeSet<&NodeName> = spared.map(|delete| &delete.target.node).collect();
    for pod in &case.snapshot.pods {
        if let PodPlace::Bound(node) = &pod.place
            && needs_place.contains(node)
            && excused.contains(&pod.key)
        {
            object(&pod.key, format!("has no place, and the plan removes node `{node}`, where it runs"));
        }
    }
    for (node, why) in unknown_nodes(case) {
        found.push(Finding::new(Rule::Pods, format!("node `{node}`"), why));
    }
    found
}

/// Returns whether pods on a node need another place: it is being deleted, or the plan removes it.
fn is_going(case: &Case<'_>, node: &NodeName) -> bool {
    case.removed.contains_key(node) || case.nodes.get(node).is_some_and(|node| node.is_deleting)
}

/// Returns every place of every pod that the plan places.
fn places<'a>(case: &Case<'a>) -> BTreeMap<&'a PodKey, Vec<String>> {
    let mut places: BTreeMap<&PodKey, Vec<String>> = BTreeMap::new();
    for (change, placement) in &case.plan.evidence.placements {
        for pod in &placement.pods {
            places.entry(pod).or_default().push(format!("new node of change `{change}`"));
        }
    }
    for (node, pods) in &case.plan.evidence.kept {
        for pod in pods {
            places.entry(pod).or_default().push(format!("node `{node}`"));
        }
    }
    places
}

/// Returns the pods that the plan reports as not placed.
fn excused<'a>(case: &Case<'a>) -> BTreeSet<&'a PodKey> {
    let report = &case.plan.evidence.report;
    let unplaced = report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    unplaced.chain(report.held.iter().flat_map(|held| &held.pods)).collect()
}

/// Returns the nodes that pods are placed on although they do not exist or are being removed.
fn unknown_nodes(case: &Case<'_>) -> Vec<(String, String)> {
    let used = case.plan.evidence.kept.iter().filter(|(_, pods)| !pods.is_empty());
    used.filter_map(|(node, _)| {
        let why = match case.nodes.get(node) {
            None => "pods are placed there, but there is no such node",
            Some(known) if known.is_deleting => "pods are placed there, but it is being deleted",
            Some(_) if case.removed.contains_key(node) => "pods are placed there, but the plan removes it",
            Some(_) => return None,
        };
        Some((node.to_string(), why.to_owned()))
    })
    .collect()
}
