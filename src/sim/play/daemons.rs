//! DaemonSet controller: one pod on each node that matches and is tolerated.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::Scene;
use super::index::{Index, NodeView, PodView};
use super::pod::tolerates;
use super::replicas::{free_name, pod_of};
use super::scheduler::selects;
use crate::sim::cluster::{DAEMON_SETS, Grace, Name, PODS};
use crate::sim::json::{list, list_mut, number, set, text, text_or_empty};

/// Taints that the controller tolerates for every daemonset pod.
const TOLERATED: [(&str, &str); 7] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ("node.kubernetes.io/not-ready", "NoSchedule"),
];

pub(crate) fn reconcile(index: &Index, scene: &mut Scene<'_>) {
    let all: Vec<Arc<Value>> = scene.store.list(DAEMON_SETS).map(|(_, object)| Arc::clone(object)).collect();
    for daemon in all {
        if text(&daemon, "/metadata/deletionTimestamp").is_none() {
            one(index, scene, &daemon);
        }
    }
}

fn one(index: &Index, scene: &mut Scene<'_>, daemon: &Value) {
    let name = Name::of(daemon);
    let template = daemon_pod(daemon, &name, None);
    let wanted: BTreeSet<&String> = index
        .nodes
        .iter()
        .filter(|(node, view)| may_run(&template, node, view))
        .map(|(node, _)| node)
        .collect();
    let mut here: BTreeMap<String, Vec<(&Name, &PodView)>> = BTreeMap::new();
    for (pod, view) in index.owned_by(text_or_empty(daemon, "/metadata/uid")) {
        let node = view.node.clone().or_else(|| scene.store.get(PODS, pod).and_then(|pod| meant_for(pod)));
        here.entry(node.unwrap_or_default()).or_default().push((pod, view));
    }
    for node in &wanted {
        if !here.get(*node).is_some_and(|pods| pods.iter().any(|(_, pod)| pod.is_active())) {
            let pod_name = free_name(scene, &name.namespace, &format!("{}-", name.name));
            scene.store.create(PODS, daemon_pod(daemon, &pod_name, Some(node)), scene.now);
        }
    }
    for (node, pods) in &here {
        if !wanted.contains(node) {
            for (pod, _) in pods.iter().filter(|(_, pod)| pod.is_active()) {
                scene.store.delete(PODS, pod, Grace::default(), scene.now);
            }
        }
    }
    let current = wanted.iter().filter(|node| here.contains_key(**node)).count();
    let ready = here.values().flatten().filter(|(_, pod)| pod.is_active() && pod.is_ready).count();
    let generation = number(daemon, "/metadata/generation");
    scene.store.modify(DAEMON_SETS, &name, |object| {
        for (field, count) in [
            ("desiredNumberScheduled", wanted.len()),
            ("currentNumberScheduled", current),
            ("updatedNumberScheduled", current),
            ("numberReady", ready),
            ("numberAvailable", ready),
            ("numberMisscheduled", 0),
        ] {
            set(object, &["status", field], json!(count));
        }
        set(object, &["status", "observedGeneration"], json!(generation));
    });
}

/// Returns a daemonset's pod: for a node, or without one to check where it may run.
fn daemon_pod(daemon: &Value, name: &Name, node: Option<&str>) -> Value {
    let mut pod = pod_of(daemon, "apps/v1", "DaemonSet", name);
    if let Some(tolerations) = list_mut(&mut pod, &["spec", "tolerations"]) {
        tolerations.retain(|toleration| toleration.get("tolerationSeconds").is_none());
        tolerations.extend(
            TOLERATED.map(|(key, effect)| json!({"key": key, "operator": "Exists", "effect": effect})),
        );
    }
    if let Some(node) = node {
        let term = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]});
        let path = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
        set(&mut pod, &path, json!({"nodeSelectorTerms": [term]}));
    }
    pod
}

fn may_run(pod: &Value, node: &str, view: &NodeView) -> bool {
    let tolerations = list(pod, "/spec/tolerations");
    selects(pod, node, view)
        && view.taints.iter().all(|taint| {
            let effect = text_or_empty(taint, "/effect");
            !matches!(effect, "NoSchedule" | "NoExecute") || tolerates(tolerations, taint)
        })
}

/// Returns the node that a daemonset pod is targeted at.
fn meant_for(pod: &Value) -> Option<String> {
    let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    text(pod, path).map(str::to_owned)
}
