//! Chooses the running pods that are deleted when a workload is scaled down, as its controller does.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::manifests::cursor::Cursor;
use crate::manifests::job::is_condition_true;
use crate::manifests::kind::WorkloadKind;
use crate::manifests::live::LivePod;
use crate::manifests::meta::Meta;
use crate::manifests::workload::WorkloadObject;
use crate::model::{NodeName, PodKey};

use super::Live;

/// Phase of a pod, in order of deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It has not started.
    Pending,
    /// Its phase is unknown.
    Unknown,
    /// It runs, or has no phase.
    #[default]
    Running,
}

/// State of a pod by which Kubernetes chooses pods to delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    phase: Phase,
    is_ready: bool,
    /// `controller.kubernetes.io/pod-deletion-cost`.
    cost: i64,
    ready_since: Option<Timestamp>,
    /// Maximum number of restarts of any container.
    restarts: i64,
    created: Option<Timestamp>,
}

/// The annotation with a pod's deletion cost relative to other pods of its workload.
pub const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

impl Standing {
    /// Reads the state of a pod.
    #[must_use]
    pub fn read(meta: &Meta, status: Option<Cursor<'_>>) -> Self {
        let cost = meta.annotations.get(DELETION_COST).and_then(|cost| cost.parse().ok()).unwrap_or(0);
        let Some(status) = status else { return Self { cost, created: meta.created, ..Self::default() } };
        let phase = match status.text("phase").map(|phase| &**phase) {
            Some("Pending") => Phase::Pending,
            Some("Unknown") => Phase::Unknown,
            Some(_) | None => Phase::Running,
        };
        let ready = status
            .items("conditions")
            .into_iter()
            .find(|condition| condition.text("type").is_some_and(|kind| &**kind == "Ready"));
        let restarts = status.items("containerStatuses").into_iter();
        Self {
            phase,
            is_ready: is_condition_true(status, "Ready"),
            cost,
            ready_since: ready.and_then(|condition| condition.time("lastTransitionTime")),
            restarts: restarts.filter_map(|one| one.integer("restartCount", 0..=i64::MAX)).max().unwrap_or(0),
            created: meta.created,
        }
    }
}

/// Removes the surplus pods of a workload, and returns them.
pub fn leave(workload: &WorkloadObject, pods: &mut Vec<Live>) -> Vec<PodKey> {
    let is_own = |pod: &LivePod| pod.workload.as_ref() == Some(&workload.id) && !pod.is_terminating;
    let own: Vec<&LivePod> = pods.iter().map(|(pod, _)| pod).filter(|pod| is_own(pod)).collect();
    let gone: Vec<PodKey> = if workload.kind == WorkloadKind::StatefulSet {
        let end = workload.first_ordinal.saturating_add(workload.count.replicas);
        let is_over = |pod: &&&LivePod| ordinal(pod).is_none_or(|ordinal| ordinal >= end);
        own.iter().filter(is_over).map(|pod| pod.key.clone()).collect()
    } else {
        let wanted = usize::try_from(workload.count.replicas).unwrap_or(usize::MAX);
        let excess = own.len().saturating_sub(wanted);
        ordered(own).into_iter().take(excess).map(|pod| pod.key.clone()).collect()
    };
    let gone_sorted: std::collections::BTreeSet<&PodKey> = gone.iter().collect();
    pods.retain(|(pod, _)| !gone_sorted.contains(&pod.key));
    gone
}

/// Returns the pods in the order in which a ReplicaSet deletes them: pods without a node, in an early phase, not ready,
/// with a lower deletion cost, with more other pods on their node, ready for a shorter time, with more restarts, newer;
/// last by name.
fn ordered(mut pods: Vec<&LivePod>) -> Vec<&LivePod> {
    let mut on_node: BTreeMap<Option<NodeName>, usize> = BTreeMap::new();
    for pod in &pods {
        *on_node.entry(pod.node.clone()).or_default() += 1;
    }
    pods.sort_by_cached_key(|pod| {
        let Standing { phase, is_ready, cost, ready_since, restarts, created } = &pod.standing;
        let beside = on_node.get(&pod.node).copied().unwrap_or(0);
        let health = (pod.node.is_some(), *phase, *is_ready, *cost);
        let age = (Reverse(*ready_since), Reverse(*restarts), Reverse(*created));
        (health, Reverse(beside), age, Arc::clone(&pod.key.name))
    });
    pods
}

fn ordinal(pod: &LivePod) -> Option<i64> {
    pod.key.name.rsplit_once('-')?.1.parse().ok()
}
