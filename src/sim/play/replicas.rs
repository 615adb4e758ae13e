//! ReplicaSet and StatefulSet controllers.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Scene;
use super::index::{Index, PodView};
use super::sets::owner;
use crate::sim::cluster::{Grace, KindId, Name, PODS, REPLICA_SETS, STATEFUL_SETS, pod_defaults};
use crate::sim::json::{number, object, set, text, text_or_empty};

pub(crate) fn reconcile(index: &Index, scene: &mut Scene<'_>) {
    for (kind, each) in
        [(REPLICA_SETS, replica_set as fn(&Index, &mut Scene<'_>, &Value)), (STATEFUL_SETS, stateful_set)]
    {
        let all: Vec<Arc<Value>> = scene.store.list(kind).map(|(_, object)| Arc::clone(object)).collect();
        for workload in all {
            let uid = text_or_empty(&workload, "/metadata/uid");
            if index.changed_owners.contains(uid) && text(&workload, "/metadata/deletionTimestamp").is_none()
            {
                each(index, scene, &workload);
            }
        }
    }
}

/// Maximum number of pods of one workload: more than this world is meant for, but few enough for memory.
pub(crate) const PODS_MAX: i64 = 20_000;

fn replicas(workload: &Value) -> i64 {
    number(workload, "/spec/replicas").unwrap_or(1).clamp(0, PODS_MAX)
}

fn replica_set(index: &Index, scene: &mut Scene<'_>, workload: &Value) {
    let uid = text_or_empty(workload, "/metadata/uid");
    let wanted = usize::try_from(replicas(workload)).unwrap_or(0);
    let mut active: Vec<(&Name, &PodView)> = index.owned_by(uid).filter(|(_, pod)| pod.is_active()).collect();
    let prefix = format!("{}-", text_or_empty(workload, "/metadata/name"));
    for _ in active.len()..wanted {
        let name = free_name(scene, text_or_empty(workload, "/metadata/namespace"), &prefix);
        let pod = pod_of(workload, "apps/v1", "ReplicaSet", &name);
        scene.store.create(PODS, pod, scene.now);
    }
    // Unscheduled pods are deleted first, then pods that are not ready, as the controller ranks them.
    active.sort_by_key(|(name, pod)| (pod.node.is_some(), pod.is_ready, *name));
    for (name, _) in active.iter().take(active.len().saturating_sub(wanted)) {
        scene.store.delete(PODS, name, Grace::default(), scene.now);
    }
    count(scene, REPLICA_SETS, workload, &active);
}

/// Reconciles pods with ordinals. Each is created once its predecessor is ready, unless pod management is parallel.
fn stateful_set(index: &Index, scene: &mut Scene<'_>, workload: &Value) {
    let uid = text_or_empty(workload, "/metadata/uid");
    let namespace = text_or_empty(workload, "/metadata/namespace");
    let base = text_or_empty(workload, "/metadata/name");
    let first = number(workload, "/spec/ordinals/start").unwrap_or(0).clamp(0, PODS_MAX);
    let wanted = replicas(workload);
    let is_parallel = text(workload, "/spec/podManagementPolicy") == Some("Parallel");
    let names: BTreeSet<Name> =
        (first..first + wanted).map(|ordinal| Name::new(namespace, &format!("{base}-{ordinal}"))).collect();
    for ordinal in first..first + wanted {
        let name = Name::new(namespace, &format!("{base}-{ordinal}"));
        let is_ready = index.pods.get(&name).is_some_and(|pod| pod.is_ready && pod.is_active());
        if scene.store.get(PODS, &name).is_none() {
            let mut pod = pod_of(workload, "apps/v1", "StatefulSet", &name);
            set(&mut pod, &["metadata", "labels", "statefulset.kubernetes.io/pod-name"], json!(name.name));
            set(
                &mut pod,
                &["metadata", "labels", "apps.kubernetes.io/pod-index"],
                json!(ordinal.to_string()),
            );
            set(&mut pod, &["spec", "hostname"], json!(name.name));
            scene.store.create(PODS, pod, scene.now);
        }
        if !is_ready && !is_parallel {
            break;
        }
    }
    let surplus = index.owned_by(uid).filter(|(name, pod)| pod.is_active() && !names.contains(name));
    if let Some((name, _)) = surplus.max_by_key(|(name, _)| *name) {
        scene.store.delete(PODS, name, Grace::default(), scene.now);
    }
    let active: Vec<(&Name, &PodView)> = index.owned_by(uid).filter(|(_, pod)| pod.is_active()).collect();
    count(scene, STATEFUL_SETS, workload, &active);
}

fn count(scene: &mut Scene<'_>, kind: KindId, workload: &Value, active: &[(&Name, &PodView)]) {
    let ready = active.iter().filter(|(_, pod)| pod.is_ready).count();
    let generation = number(workload, "/metadata/generation");
    scene.store.modify(kind, &Name::of(workload), |object| {
        for (field, count) in
            [("replicas", active.len()), ("readyReplicas", ready), ("availableReplicas", ready)]
        {
            set(object, &["status", field], json!(count));
        }
        set(object, &["status", "observedGeneration"], json!(generation));
    });
}

/// Returns a name that no pod has.
pub(crate) fn free_name(scene: &Scene<'_>, namespace: &str, prefix: &str) -> Name {
    let mut attempt = 0_u32;
    loop {
        let about = format!("pod {prefix} {} {attempt}", scene.store.revision());
        let name = Name::new(namespace, &format!("{prefix}{}", scene.store.draw().suffix(&about, 5)));
        if scene.store.get(PODS, &name).is_none() {
            return name;
        }
        attempt += 1;
    }
}

/// Returns a pod from a workload's template.
pub(crate) fn pod_of(workload: &Value, api_version: &str, kind: &str, name: &Name) -> Value {
    let template = workload.pointer("/spec/template").cloned().unwrap_or_default();
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": template.get("metadata").cloned().unwrap_or_else(|| json!({})),
        "spec": template.get("spec").cloned().unwrap_or_else(|| json!({})),
    });
    let metadata = object(&mut pod, "metadata");
    metadata.remove("creationTimestamp");
    metadata.insert("name".to_owned(), json!(name.name));
    metadata.insert("namespace".to_owned(), json!(name.namespace));
    metadata.insert("ownerReferences".to_owned(), json!([owner(workload, api_version, kind)]));
    pod_defaults(&mut pod);
    pod
}
