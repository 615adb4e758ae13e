//! The kubelet of the node that is there from the start: it runs nodeform's Pods as processes, asks their probes, and says
//! what came of it. Two Pods share one machine here: each has ports of its own.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bed::{Bed, name};
use super::deployed::{Controller, NAMESPACE, SELECTOR};
use super::way::Way;

/// The kubelet.
pub(super) struct Kubelet<'a> {
    bed: &'a Bed,
    way: &'a Way,
    running: Vec<Running>,
}

/// A Pod whose process runs.
struct Running {
    controller: Controller,
    readiness: Probe,
    liveness: Probe,
    is_ready: bool,
}

/// A probe of a container, as the API server has completed it.
struct Probe {
    path: String,
    period: Duration,
    failures_max: u64,
    failed: u64,
    next: Instant,
}

impl Probe {
    fn of(container: &Value, field: &str) -> Self {
        let probe = &container[field];
        let seconds = |field: &str| Duration::from_secs(probe[field].as_u64().unwrap_or(0));
        Self {
            path: probe["httpGet"]["path"].as_str().expect("it asks by HTTP").to_owned(),
            period: seconds("periodSeconds"),
            failures_max: probe["failureThreshold"].as_u64().expect("it is completed"),
            failed: 0,
            next: Instant::now() + seconds("initialDelaySeconds"),
        }
    }

    /// Asks where it is time; returns whether it was answered.
    fn ask(&mut self, port: u16) -> Option<bool> {
        if self.next > Instant::now() {
            return None;
        }
        self.next = Instant::now() + self.period;
        let is_answered = answers(port, &self.path);
        self.failed = if is_answered { 0 } else { self.failed + 1 };
        Some(is_answered)
    }
}

fn answers(port: u16, path: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut answer = Vec::new();
    let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut answer));
    asked.is_ok() && String::from_utf8_lossy(&answer).lines().next().is_some_and(|line| line.contains(" 200"))
}

impl<'a> Kubelet<'a> {
    /// Runs nothing yet; `way` is that of its Pods to the API server.
    pub(super) const fn new(bed: &'a Bed, way: &'a Way) -> Self {
        Self { bed, way, running: Vec::new() }
    }

    /// Goes on with the processes of Pods that are Ready.
    pub(super) fn of(bed: &'a Bed, way: &'a Way, controllers: Vec<Controller>) -> Self {
        let eyes = bed.eyes();
        let running = controllers.into_iter().map(|controller| {
            let pod = eyes.api.get(&format!("/api/v1/namespaces/{NAMESPACE}/pods/{}", controller.pod));
            Running::of(controller, &pod, true)
        });
        Self { bed, way, running: running.collect() }
    }

    /// Looks once: starts the processes of Pods that are new, asks probes, ends those of Pods that are deleted.
    pub(super) fn look(&mut self) {
        let eyes = self.bed.eyes();
        let list = format!("/api/v1/namespaces/{NAMESPACE}/pods");
        for pod in eyes.items(&format!("{list}?{SELECTOR}")) {
            let path = format!("{list}/{}", name(&pod));
            let known = self.running.iter().position(|running| running.controller.pod == name(&pod));
            match (known, pod["metadata"]["deletionTimestamp"].is_string()) {
                (None, false) if pod["spec"]["nodeName"].is_string() => {
                    self.running.push(self.started(&pod));
                    eyes.api.merge(&format!("{path}/status"), &status(&pod, false));
                }
                (Some(known), true) => {
                    self.running.remove(known).controller.terminate();
                    let deleted = eyes.api.ask("DELETE", &format!("{path}?gracePeriodSeconds=0"), None);
                    assert!(deleted.is_ok_and(|deleted| deleted.is_done()), "{path}");
                }
                (Some(known), false) => {
                    if let Some(is_ready) = self.running[known].probed() {
                        eyes.api.merge(&format!("{path}/status"), &status(&pod, is_ready));
                    }
                }
                (None, _) => {}
            }
        }
    }

    /// The processes of the Pods that run, which go on.
    pub(super) fn into_controllers(self) -> Vec<Controller> {
        self.running.into_iter().map(|running| running.controller).collect()
    }

    fn started(&self, pod: &Value) -> Running {
        let mut controller = Controller::of(self.bed, self.way, pod);
        controller.start();
        Running::of(controller, pod, false)
    }
}

impl Running {
    fn of(controller: Controller, pod: &Value, is_ready: bool) -> Self {
        let container = &pod["spec"]["containers"][0];
        let (readiness, liveness) =
            (Probe::of(container, "readinessProbe"), Probe::of(container, "livenessProbe"));
        Self { controller, readiness, liveness, is_ready }
    }

    /// Asks both probes where it is time; returns whether it is ready, where that is news.
    fn probed(&mut self) -> Option<bool> {
        let port = self.controller.health;
        self.liveness.ask(port);
        let Probe { failed, failures_max, path, .. } = &self.liveness;
        assert!(failed < failures_max, "a kubelet would start {} again: {path}", self.controller.pod);
        let answered = self.readiness.ask(port)?;
        let is_ready = answered || self.is_ready && self.readiness.failed < self.readiness.failures_max;
        let is_news = is_ready != self.is_ready;
        self.is_ready = is_ready;
        is_news.then_some(is_ready)
    }
}

/// The status of a Pod whose container runs.
fn status(pod: &Value, is_ready: bool) -> Value {
    let scheduled = pod["status"]["conditions"].as_array().into_iter().flatten();
    let scheduled = scheduled.filter(|condition| condition["type"] == "PodScheduled").cloned();
    let ready = if is_ready { "True" } else { "False" };
    let made = [("Initialized", "True"), ("ContainersReady", ready), ("Ready", ready)];
    let made = made.map(|(kind, status)| json!({"type": kind, "status": status}));
    let conditions: Vec<Value> = scheduled.chain(made).collect();
    json!({"status": {"phase": "Running", "conditions": conditions}})
}
