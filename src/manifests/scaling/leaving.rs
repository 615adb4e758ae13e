//! Which running pods go when a workload is scaled down: as its controller chooses them.

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

/// How far a pod's start has come; the first go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It has not started.
    Pending,
    /// Nobody knows.
    Unknown,
    /// It runs, or does not say.
    #[default]
    Running,
}

/// What Kubernetes looks at in a pod before it chooses one to go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    phase: Phase,
    is_ready: bool,
    /// `controller.kubernetes.io/pod-deletion-cost`.
    cost: i64,
    ready_since: Option<Timestamp>,
    /// The most restarts of a container.
    restarts: i64,
    created: Option<Timestamp>,
}

/// The annotation that says how dear a pod is beside others of its workload.
pub const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

impl Standing {
    /// Reads how a pod stands.
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

/// Takes away the pods that are too many for a workload, and returns which.
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

/// Returns the pods in the order in which a ReplicaSet lets them go: those without a node, those that wait,
/// those that are not ready, those that cost less, those that share their node with others, those that were
/// ready for less long, those that restarted more, the newer ones; last by name.
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
