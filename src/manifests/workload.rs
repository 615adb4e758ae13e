//! Reads workloads: their pod template, and the desired number of pods.

use std::sync::Arc;

use crate::model::{NodeName, SchedulingRule, Strength, Workload, label};

use super::cursor::Cursor;
use super::job;
use super::kind::WorkloadKind;
use super::meta::{self, Meta};
use super::pod::{self, PodBody, selector, volumes};
use super::source::PODS_MAX;

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadObject {
    /// Kind, namespace and name.
    pub id: Workload,
    /// Its kind, for counting pods.
    pub kind: WorkloadKind,
    /// Its owner, if it has one.
    pub owner: Option<Workload>,
    /// The body of its pods.
    pub body: PodBody,
    /// The node named in its template.
    pub node: Option<NodeName>,
    /// Whether its pods are marked do-not-disrupt.
    pub is_do_not_disrupt: bool,
    /// Its desired number of pods.
    pub count: Count,
    /// Whether a cluster created it, rather than a person.
    pub is_made: bool,
    /// Whether only its existing pods count.
    pub is_as_it_runs: bool,
    /// The ordinal of the first pod of a StatefulSet.
    pub first_ordinal: i64,
}

/// Desired number of pods of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Pods; 0 for a DaemonSet.
    pub replicas: i64,
    /// Whether the object itself sets it, rather than a default or a computation.
    pub is_written: bool,
    /// Number of pods created together: those of one job, else one.
    pub pods_of_one: i64,
    /// How a CronJob or a suspended Job was counted.
    pub how: Option<String>,
}

impl Count {
    /// Creates a count that the object sets.
    #[must_use]
    pub const fn written(replicas: i64) -> Self {
        Self { replicas, is_written: true, pods_of_one: 1, how: None }
    }

    /// Reads `spec.replicas`; Kubernetes defaults to one.
    #[must_use]
    pub fn of_replicas(spec: Cursor<'_>) -> Self {
        let written = replicas(spec, "replicas");
        Self { is_written: written.is_some(), ..Self::written(written.unwrap_or(1)) }
    }
}

/// Reads a workload.
#[must_use]
pub fn read(object: Cursor<'_>, kind: WorkloadKind) -> Option<WorkloadObject> {
    let meta = Meta::read(object);
    // A PodTemplate has its template beside its metadata.
    let spec = if kind == WorkloadKind::Template { Some(object) } else { object.get("spec") };
    let Some(spec) = spec else {
        object.missing("spec", "a workload needs `spec.template`");
        return None;
    };
    let (holder, count) = match kind {
        WorkloadKind::Deployment
        | WorkloadKind::StatefulSet
        | WorkloadKind::ReplicaSet
        | WorkloadKind::ReplicationController
        | WorkloadKind::Rollout
        | WorkloadKind::Other => (spec, Count::of_replicas(spec)),
        WorkloadKind::DaemonSet | WorkloadKind::Template => (spec, Count::written(0)),
        WorkloadKind::Job => (spec, job::count(object, spec)),
        WorkloadKind::CronJob => {
            let job = nested(spec, "jobTemplate").and_then(|template| nested(template, "spec"))?;
            (job, job::peak(spec, job))
        }
        WorkloadKind::ScaledJob => {
            let job = nested(spec, "jobTargetRef")?;
            let pods_of_one = job::pods_at_once(job);
            (job, Count { is_written: false, pods_of_one, ..Count::written(0) })
        }
    };
    let ordinals = spec.get("ordinals").filter(|_| kind == WorkloadKind::StatefulSet);
    let first_ordinal =
        ordinals.and_then(|ordinals| ordinals.integer("start", 0..=2_147_483_647)).unwrap_or(0);
    let (mut body, node, is_do_not_disrupt) = template(holder)?;
    let templates = if kind == WorkloadKind::StatefulSet { volumes::templates(spec) } else { Vec::new() };
    if !templates.is_empty() {
        body.spec.volumes.extend(templates);
        body.spec.volumes.sort();
        body.spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    }
    judge_selector(spec, kind, &body);
    let meta = meta?;
    let id = identity(object, &meta)?;
    let owner = owner(&meta);
    Some(WorkloadObject {
        id,
        kind,
        owner,
        body,
        node,
        is_do_not_disrupt,
        count,
        is_made: meta.uid.is_some(),
        is_as_it_runs: false,
        first_ordinal,
    })
}

/// Returns kind, namespace and name of an object.
#[must_use]
pub fn identity(object: Cursor<'_>, meta: &Meta) -> Option<Workload> {
    let kind = Arc::clone(object.text("kind")?);
    Some(Workload { kind, namespace: meta.namespace.clone(), name: Arc::clone(&meta.name) })
}

/// Returns the controlling owner of an object, as a workload.
#[must_use]
pub fn owner(meta: &Meta) -> Option<Workload> {
    let owner = meta.owner.as_ref()?;
    let (kind, name) = (Arc::clone(&owner.kind), Arc::clone(&owner.name));
    Some(Workload { kind, namespace: meta.namespace.clone(), name })
}

/// Formats a workload as `Kind/namespace/name`.
#[must_use]
pub fn path(workload: &Workload) -> String {
    format!("{}/{}/{}", workload.kind, workload.namespace, workload.name)
}

fn nested<'a>(parent: Cursor<'a>, key: &str) -> Option<Cursor<'a>> {
    let field = parent.get(key);
    if field.is_none() {
        parent.missing(key, "it holds the pod template");
    }
    field
}

/// Adds a fault if the selector does not select the pods of its own template.
fn judge_selector(spec: Cursor<'_>, kind: WorkloadKind, body: &PodBody) {
    let selects = match kind {
        WorkloadKind::Deployment
        | WorkloadKind::StatefulSet
        | WorkloadKind::DaemonSet
        | WorkloadKind::ReplicaSet
        | WorkloadKind::Rollout => {
            selector::read(spec, "selector").is_none_or(|wanted| wanted.selects(&body.spec.labels))
        }
        WorkloadKind::ReplicationController => {
            let wanted = spec.text_map("selector");
            wanted.iter().all(|(key, value)| body.spec.labels.get(&***key) == Some(value))
        }
        WorkloadKind::Job
        | WorkloadKind::CronJob
        | WorkloadKind::ScaledJob
        | WorkloadKind::Template
        | WorkloadKind::Other => true,
    };
    if let (false, Some(place)) = (selects, spec.get("selector")) {
        place.fault(
            "does not select the labels of `spec.template.metadata.labels`",
            Some("give the template the labels that the selector asks for; the API server refuses it otherwise"),
        );
    }
}

/// Reads a number of pods.
#[must_use]
pub fn replicas(spec: Cursor<'_>, key: &str) -> Option<i64> {
    let count = spec.integer(key, 0..=2_147_483_647)?;
    if count > PODS_MAX {
        let hint = "Kubernetes itself supports 150000 pods in a cluster";
        spec.get(key)?.fault(format!("asks for {count} pods, more than {PODS_MAX}"), Some(hint));
        return None;
    }
    Some(count)
}

/// Reads `template`: the body of its pods, the node that it names, and whether it is marked do-not-disrupt.
fn template(spec: Cursor<'_>) -> Option<(PodBody, Option<NodeName>, bool)> {
    let Some(template) = spec.get("template") else {
        spec.missing("template", "a workload needs a pod template");
        return None;
    };
    let metadata = template.get("metadata");
    metadata.into_iter().for_each(|metadata| pod::selector::labels_of(metadata, "labels"));
    let labels = metadata.map(|metadata| meta::labels(metadata, "labels")).unwrap_or_default();
    let annotations = metadata.map(|metadata| metadata.text_map("annotations")).unwrap_or_default();
    let protection = annotations.iter().find(|(key, _)| &****key == label::DO_NOT_DISRUPT);
    let is_do_not_disrupt = protection.is_some_and(|(_, value)| meta::is_do_not_disrupt(value));
    let Some(pod) = template.get("spec") else {
        template.missing("spec", "a pod template needs `spec.containers`");
        return None;
    };
    let body = pod::read(pod, labels, None)?.grouped(&annotations);
    Some((body, pod::node(pod), is_do_not_disrupt))
}
