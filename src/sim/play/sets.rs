//! Deployment controller: manages ReplicaSets.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Scene;
use super::index::Index;
use super::pod::controller;
use crate::sim::agenda::second;
use crate::sim::cluster::{DEPLOYMENTS, Name, REPLICA_SETS, set_condition};
use crate::sim::draw::Draw;
use crate::sim::json::{is_true, number, set, text, text_or_empty, unset};

const HASH_LABEL: &str = "pod-template-hash";

pub(crate) fn reconcile(_index: &Index, scene: &mut Scene<'_>) {
    let all: Vec<Arc<Value>> = scene.store.list(DEPLOYMENTS).map(|(_, object)| Arc::clone(object)).collect();
    for deployment in all {
        if text(&deployment, "/metadata/deletionTimestamp").is_none() {
            one(scene, &deployment);
        }
    }
}

fn one(scene: &mut Scene<'_>, deployment: &Value) {
    let uid = text_or_empty(deployment, "/metadata/uid");
    let namespace = text_or_empty(deployment, "/metadata/namespace");
    let wanted = number(deployment, "/spec/replicas").unwrap_or(1);
    let sets: Vec<Arc<Value>> = scene
        .store
        .list(REPLICA_SETS)
        .filter(|(name, set)| name.namespace == namespace && controller(set) == Some(uid))
        .map(|(_, set)| Arc::clone(set))
        .collect();
    let template = deployment.pointer("/spec/template").cloned().unwrap_or_default();
    let current = sets.iter().find(|set| has_template(set, &template)).cloned();
    let current = match current {
        Some(current) => current,
        None if is_true(deployment, "/spec/paused") && !sets.is_empty() => return,
        None => scene.store.create(REPLICA_SETS, new_set(deployment, &template), scene.now),
    };
    scale(scene, &current, wanted);
    // Older sets are scaled down as the new set's pods become ready.
    let ready = number(&current, "/status/readyReplicas").unwrap_or(0);
    let mut room = wanted.saturating_sub(ready).max(0);
    for set in sets.iter().filter(|set| set.pointer("/metadata/uid") != current.pointer("/metadata/uid")) {
        let kept = number(set, "/spec/replicas").unwrap_or(0).min(room);
        room -= kept;
        scale(scene, set, kept);
    }
    update_status(scene, deployment, &sets, &current);
}

/// Returns whether a ReplicaSet has this pod template, ignoring the hash label.
fn has_template(set: &Value, template: &Value) -> bool {
    let mut own = set.pointer("/spec/template").cloned().unwrap_or_default();
    unset(&mut own, &["metadata", "labels", HASH_LABEL]);
    let strip = |mut template: Value| {
        unset(&mut template, &["metadata", "creationTimestamp"]);
        template
    };
    strip(own) == strip(template.clone())
}

fn new_set(deployment: &Value, template: &Value) -> Value {
    let name = text_or_empty(deployment, "/metadata/name");
    let hash = Draw::new(0).suffix(&template.to_string(), 10);
    let mut template = template.clone();
    set(&mut template, &["metadata", "labels", HASH_LABEL], json!(hash));
    let mut selector = deployment.pointer("/spec/selector").cloned().unwrap_or_else(|| json!({}));
    set(&mut selector, &["matchLabels", HASH_LABEL], json!(hash));
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{name}-{hash}"), "namespace": text_or_empty(deployment, "/metadata/namespace"),
            "labels": template.pointer("/metadata/labels"),
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [owner(deployment, "apps/v1", "Deployment")],
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    })
}

/// Returns a reference to the controller of an object.
pub(crate) fn owner(object: &Value, api_version: &str, kind: &str) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind,
        "name": text_or_empty(object, "/metadata/name"), "uid": text_or_empty(object, "/metadata/uid"),
        "controller": true, "blockOwnerDeletion": true,
    })
}

fn scale(scene: &mut Scene<'_>, set_object: &Value, replicas: i64) {
    if number(set_object, "/spec/replicas") != Some(replicas) {
        scene.store.modify(REPLICA_SETS, &Name::of(set_object), |object| {
            set(object, &["spec", "replicas"], json!(replicas));
        });
    }
}

fn update_status(scene: &mut Scene<'_>, deployment: &Value, sets: &[Arc<Value>], current: &Value) {
    let fresh = |set: &Value| scene.store.get(REPLICA_SETS, &Name::of(set)).cloned();
    let current_uid = text_or_empty(current, "/metadata/uid");
    let mut all: Vec<Arc<Value>> = sets.iter().filter_map(|set| fresh(set)).collect();
    if !all.iter().any(|set| text(set, "/metadata/uid") == Some(current_uid)) {
        all.extend(fresh(current));
    }
    let sum =
        |field: &str| all.iter().filter_map(|set| number(set, &format!("/status/{field}"))).sum::<i64>();
    let updated = all
        .iter()
        .find(|set| text(set, "/metadata/uid") == Some(current_uid))
        .and_then(|set| number(set, "/status/replicas"))
        .unwrap_or(0);
    let (replicas, ready) = (sum("replicas"), sum("readyReplicas"));
    let wanted = number(deployment, "/spec/replicas").unwrap_or(1);
    let generation = number(deployment, "/metadata/generation");
    let now = scene.now;
    scene.store.modify(DEPLOYMENTS, &Name::of(deployment), |object| {
        for (field, count) in [
            ("replicas", replicas),
            ("readyReplicas", ready),
            ("availableReplicas", ready),
            ("updatedReplicas", updated),
            ("unavailableReplicas", wanted.saturating_sub(ready).max(0)),
        ] {
            set(object, &["status", field], json!(count));
        }
        set(object, &["status", "observedGeneration"], json!(generation));
        let is_available = if ready >= wanted { "True" } else { "False" };
        set_condition(
            object,
            json!({"type": "Available", "status": is_available, "lastTransitionTime": second(now)}),
        );
    });
}
