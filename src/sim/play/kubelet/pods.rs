//! Kubelets running the pods of their nodes.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::sim::agenda::{Event, second};
use crate::sim::cluster::{KindId, Name, PODS, set_condition};
use crate::sim::json::{list, number, set, text, text_or_empty};
use crate::sim::play::pod::{controller, has_ended, is_terminating};
use crate::sim::play::{Play, Scene};

impl Play {
    /// Schedules the kubelets' actions for changed pods: starting or stopping them.
    pub(crate) fn start_and_stop(&self, scene: &mut Scene<'_>, dirty: &BTreeSet<(KindId, Name)>) {
        for (_, name) in dirty.iter().filter(|(kind, _)| *kind == PODS) {
            let Some(pod) = scene.store.get(PODS, name).cloned() else { continue };
            if !text(&pod, "/spec/nodeName").is_some_and(|node| self.is_alive(node)) {
                continue;
            }
            let uid = text_or_empty(&pod, "/metadata/uid").to_owned();
            if is_terminating(&pod) {
                let grace = number(&pod, "/metadata/deletionGracePeriodSeconds").unwrap_or(0).max(0);
                let usual = self.draw.within(&format!("stop {uid}"), self.durations.pod_stop);
                let wait = usual.min(SignedDuration::from_secs(grace));
                scene.agenda.after(scene.now, wait, Event::PodGone(uid));
            } else if text(&pod, "/status/phase") == Some("Pending")
                && text(&pod, "/status/startTime").is_none()
            {
                let now = scene.now;
                scene.store.modify(PODS, name, |pod| begin(pod, now));
                let wait = self.draw.within(&format!("start {uid}"), self.durations.pod_start);
                scene.agenda.after(scene.now, wait, Event::PodRuns(uid));
            }
        }
    }

    /// Returns whether a node's kubelet is alive: by its VM, or on an agent pool's node by its Ready condition.
    fn is_alive(&self, node: &str) -> bool {
        match self.machine_of_node.get(node).and_then(|vm_id| self.kubelets.get(vm_id)) {
            Some(kubelet) => !kubelet.is_stopped,
            None => self.index.nodes.get(node).is_some_and(|view| view.is_ready),
        }
    }

    /// Sets a pod to Running.
    pub(crate) fn pod_runs(&self, scene: &mut Scene<'_>, uid: &str) {
        let Some((name, pod)) = self.pod(scene, uid) else { return };
        if is_terminating(&pod) || !text(&pod, "/spec/nodeName").is_some_and(|node| self.is_alive(node)) {
            return;
        }
        let address = self.address(uid);
        let now = scene.now;
        scene.store.modify(PODS, &name, |pod| run(pod, &address, now));
        let is_job =
            list(&pod, "/metadata/ownerReferences").iter().any(|owner| text(owner, "/kind") == Some("Job"));
        if is_job && controller(&pod).is_some() {
            let wait = self.draw.within(&format!("job {uid}"), self.durations.job);
            scene.agenda.after(now, wait, Event::PodSucceeds(uid.to_owned()));
        }
    }

    /// Sets a Job's pod to Succeeded.
    pub(crate) fn pod_succeeds(&self, scene: &mut Scene<'_>, uid: &str) {
        let Some((name, pod)) = self.pod(scene, uid) else { return };
        if is_terminating(&pod) || text(&pod, "/status/phase") != Some("Running") {
            return;
        }
        let now = scene.now;
        scene.store.modify(PODS, &name, |pod| {
            set(pod, &["status", "phase"], json!("Succeeded"));
            for kind in ["Ready", "ContainersReady"] {
                set_condition(pod, condition(kind, "False", now));
            }
        });
    }

    /// Ends the containers of a terminating pod.
    pub(crate) fn pod_gone(&self, scene: &mut Scene<'_>, uid: &str) {
        let Some((name, pod)) = self.pod(scene, uid) else { return };
        let node = text_or_empty(&pod, "/spec/nodeName");
        if is_terminating(&pod) && (self.is_alive(node) || has_ended(&pod)) {
            scene.store.modify(PODS, &name, |pod| {
                set(pod, &["metadata", "deletionGracePeriodSeconds"], json!(0));
            });
        }
    }

    fn pod(&self, scene: &Scene<'_>, uid: &str) -> Option<(Name, std::sync::Arc<Value>)> {
        let name = self.index.pod_by_uid(uid)?;
        Some((name.clone(), scene.store.get(PODS, name)?.clone()))
    }

    /// Returns an address in the pod network.
    fn address(&self, uid: &str) -> String {
        let number = self.draw.below(&format!("address {uid}"), 60_000) + 256;
        format!("10.244.{}.{}", number / 256, number % 256)
    }
}

fn condition(kind: &str, status: &str, now: Timestamp) -> Value {
    json!({"type": kind, "status": status, "lastTransitionTime": second(now)})
}

/// Records that a kubelet has accepted a pod.
fn begin(pod: &mut Value, now: Timestamp) {
    set(pod, &["status", "startTime"], json!(second(now)));
    for (kind, status) in
        [("PodScheduled", "True"), ("Initialized", "True"), ("Ready", "False"), ("ContainersReady", "False")]
    {
        set_condition(pod, condition(kind, status, now));
    }
}

fn run(pod: &mut Value, address: &str, now: Timestamp) {
    let statuses: Vec<Value> = list(pod, "/spec/containers")
        .iter()
        .map(|container| {
            json!({
                "name": text(container, "/name"), "image": text(container, "/image"), "imageID": "",
                "ready": true, "started": true, "restartCount": 0,
                "state": {"running": {"startedAt": second(now)}},
            })
        })
        .collect();
    set(pod, &["status", "phase"], json!("Running"));
    set(pod, &["status", "podIP"], json!(address));
    set(pod, &["status", "podIPs"], json!([{"ip": address}]));
    set(pod, &["status", "containerStatuses"], json!(statuses));
    for kind in ["Ready", "ContainersReady"] {
        set_condition(pod, condition(kind, "True", now));
    }
}
