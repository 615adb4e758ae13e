//! Job controller: creates pods that run to completion.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Scene;
use super::index::Index;
use super::replicas::{PODS_MAX, free_name, pod_of};
use crate::sim::agenda::second;
use crate::sim::cluster::{JOBS, Name, PODS, set_condition};
use crate::sim::json::{is_true, number, set, text, text_or_empty};

pub(crate) fn reconcile(index: &Index, scene: &mut Scene<'_>) {
    let all: Vec<Arc<Value>> = scene.store.list(JOBS).map(|(_, object)| Arc::clone(object)).collect();
    for job in all {
        let has_changed = index.changed_owners.contains(text_or_empty(&job, "/metadata/uid"));
        if has_changed && text(&job, "/metadata/deletionTimestamp").is_none() {
            one(index, scene, &job);
        }
    }
}

fn one(index: &Index, scene: &mut Scene<'_>, job: &Value) {
    let uid = text_or_empty(job, "/metadata/uid");
    let completions = number(job, "/spec/completions").unwrap_or(1);
    let parallelism = number(job, "/spec/parallelism").unwrap_or(1);
    let count = |holds: &dyn Fn(&super::index::PodView) -> bool| {
        i64::try_from(index.owned_by(uid).filter(|(_, pod)| holds(pod)).count()).unwrap_or(i64::MAX)
    };
    let succeeded = count(&|pod| pod.has_ended);
    let active = count(&|pod| pod.is_active());
    let ready = count(&|pod| pod.is_active() && pod.is_ready);
    let wanted = completions.saturating_sub(succeeded).min(parallelism).clamp(0, PODS_MAX);
    if !is_true(job, "/spec/suspend") {
        for _ in active..wanted {
            let prefix = format!("{}-", text_or_empty(job, "/metadata/name"));
            let name = free_name(scene, text_or_empty(job, "/metadata/namespace"), &prefix);
            let mut pod = pod_of(job, "batch/v1", "Job", &name);
            set(
                &mut pod,
                &["metadata", "labels", "batch.kubernetes.io/job-name"],
                json!(text(job, "/metadata/name")),
            );
            scene.store.create(PODS, pod, scene.now);
        }
    }
    let now = scene.now;
    scene.store.modify(JOBS, &Name::of(job), |object| {
        for (field, count) in [("active", active), ("ready", ready), ("succeeded", succeeded)] {
            set(object, &["status", field], json!(count));
        }
        if text(object, "/status/startTime").is_none() {
            set(object, &["status", "startTime"], json!(second(now)));
        }
        if succeeded >= completions && text(object, "/status/completionTime").is_none() {
            set(object, &["status", "completionTime"], json!(second(now)));
            set_condition(
                object,
                json!({"type": "Complete", "status": "True", "lastTransitionTime": second(now)}),
            );
        }
    });
}
