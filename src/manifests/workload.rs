//! Deployments, StatefulSets, DaemonSets and Jobs: their template, and how many pods they want.

use std::sync::Arc;

use crate::model::{Namespace, NodeName, SchedulingRule, Strength, label};

use super::cursor::Cursor;
use super::kind::WorkloadKind;
use super::meta::{self, Meta};
use super::pod::{self, PodBody, selector};
use super::source::PODS_MAX;

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadObject {
    /// The kind.
    pub kind: WorkloadKind,
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
    /// What its pods are.
    pub body: PodBody,
    /// The node that its template names.
    pub node: Option<NodeName>,
    /// Whether its pods ask not to be disrupted.
    pub is_do_not_disrupt: bool,
    /// How many pods it wants; 0 for a DaemonSet.
    pub replicas: i64,
    /// The ordinal of the first pod of a StatefulSet.
    pub first_ordinal: i64,
}

/// Reads a workload.
#[must_use]
pub fn read(object: Cursor<'_>, kind: WorkloadKind) -> Option<WorkloadObject> {
    let meta = Meta::read(object);
    let Some(spec) = object.get("spec") else {
        object.missing("spec", "a workload needs `spec.template`");
        return None;
    };
    let replicas = match kind {
        WorkloadKind::Deployment | WorkloadKind::StatefulSet => replicas(spec, "replicas").unwrap_or(1),
        WorkloadKind::DaemonSet => 0,
        WorkloadKind::Job => job_pods(object, spec),
    };
    let first_ordinal = match kind {
        WorkloadKind::StatefulSet => {
            let ordinals = spec.get("ordinals");
            ordinals.and_then(|ordinals| ordinals.integer("start", 0..=2_147_483_647)).unwrap_or(0)
        }
        WorkloadKind::Deployment | WorkloadKind::DaemonSet | WorkloadKind::Job => 0,
    };
    let (mut body, node, is_do_not_disrupt) = template(spec)?;
    if kind == WorkloadKind::StatefulSet && !spec.items("volumeClaimTemplates").is_empty() {
        body.spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    }
    if kind != WorkloadKind::Job
        && let Some(wanted) = selector::read(spec, "selector")
        && !wanted.selects(&body.spec.labels)
        && let Some(place) = spec.get("selector")
    {
        place.fault(
            "does not select the labels of `spec.template.metadata.labels`",
            Some("give the template the labels that the selector asks for; the API server refuses it otherwise"),
        );
    }
    let Meta { name, namespace, .. } = meta?;
    Some(WorkloadObject { kind, namespace, name, body, node, is_do_not_disrupt, replicas, first_ordinal })
}

fn replicas(spec: Cursor<'_>, key: &str) -> Option<i64> {
    let count = spec.integer(key, 0..=2_147_483_647)?;
    if count > PODS_MAX {
        let hint = "Kubernetes itself supports 150000 pods in a cluster";
        spec.get(key)?.fault(format!("asks for {count} pods, more than {PODS_MAX}"), Some(hint));
        return None;
    }
    Some(count)
}

/// Returns how many pods a Job runs at once: its parallelism, and no more than are still to be completed.
fn job_pods(object: Cursor<'_>, spec: Cursor<'_>) -> i64 {
    let parallelism = replicas(spec, "parallelism").unwrap_or(1);
    let completions = spec.integer("completions", 0..=2_147_483_647);
    let status = object.get("status");
    let succeeded = status.and_then(|status| status.integer("succeeded", 0..=2_147_483_647)).unwrap_or(0);
    let is_finished = status.is_some_and(|status| {
        ["Complete", "Failed"].iter().any(|condition| is_condition_true(status, condition))
    });
    if is_finished || spec.flag("suspend") {
        return 0;
    }
    // Without `completions` the first success ends a Job of several pods: nothing more is started.
    let left = match completions {
        Some(completions) => completions.saturating_sub(succeeded).max(0),
        None if succeeded > 0 => 0,
        None => parallelism,
    };
    parallelism.min(left)
}

/// Returns whether `status.conditions` says that a condition is true.
#[must_use]
pub fn is_condition_true(status: Cursor<'_>, condition: &str) -> bool {
    status.items("conditions").into_iter().any(|item| {
        item.text("type").is_some_and(|text| &**text == condition)
            && item.text("status").is_some_and(|text| &**text == "True")
    })
}

/// Reads `template`: what its pods are, the node that it names, and whether it asks for no disruption.
fn template(spec: Cursor<'_>) -> Option<(PodBody, Option<NodeName>, bool)> {
    let Some(template) = spec.get("template") else {
        spec.missing("template", "a workload needs a pod template");
        return None;
    };
    let metadata = template.get("metadata");
    let labels = metadata.map(|metadata| meta::labels(metadata, "labels")).unwrap_or_default();
    let is_do_not_disrupt = metadata.is_some_and(|metadata| {
        let annotations = metadata.text_map("annotations");
        let value = annotations.into_iter().find(|(key, _)| &***key == label::DO_NOT_DISRUPT);
        value.is_some_and(|(_, value)| meta::is_do_not_disrupt(&value))
    });
    let Some(pod) = template.get("spec") else {
        template.missing("spec", "a pod template needs `spec.containers`");
        return None;
    };
    let body = pod::read(pod, labels, None)?;
    Some((body, pod::node(pod), is_do_not_disrupt))
}

/// The label by which a Deployment tells its ReplicaSets apart.
pub const TEMPLATE_HASH: &str = "pod-template-hash";
