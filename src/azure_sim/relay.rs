//! Connects kubelets of simulated VMs to a real API server: they boot in the simulator's own small cluster, the shadow,
//! and the relay mirrors their actions to the real one.
//!
//! ```text
//!  real: bootstrap tokens ─▶ shadow ─▶ kubelets join ─▶ real: Nodes, their status, what the cloud provider adds
//!  real: pods on nodes of these kubelets ─▶ they run, and are gone once they are deleted
//!  real: Leases of nodes, renewed as long as their kubelets live
//! ```
//!
//! Must never make nodeform's decisions, nor write anything that kubelets and AKS's cloud provider do not write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::host::Host;
use crate::cluster::{
    Cluster, ClusterFailure, ClusterFailureKind, Deletion, Preconditions, WriteGate, Writer,
};
use crate::sim::{Request, Response};

/// Polling interval of both sides.
const LOOK: Duration = Duration::from_millis(200);

/// Interval at which a kubelet renews its node's Lease, and the Lease's duration in seconds: the kubelet's defaults.
const RENEW: Duration = Duration::from_secs(10);
const LEASE_SECONDS: u32 = 40;
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

const NODES: &str = "/api/v1/nodes";
const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";
const TOKENS: &str = "fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken";
/// Taints that a kubelet and the cloud provider remove.
const PASSING: [&str; 2] = ["node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized"];

/// The connection between the simulated and the real cluster.
pub(super) struct Relay {
    host: Arc<Host>,
    token: String,
    real: Writer,
    /// Nodes that kubelets have registered, by name, with the last sent status.
    registered: BTreeMap<String, Value>,
    /// Nodes that were ever registered here: these kubelets run only their pods.
    joined: BTreeSet<String>,
    /// Bootstrap tokens that the shadow already has.
    tokens: BTreeSet<String>,
    /// Last renewal of each node's Lease.
    renewed: BTreeMap<String, Instant>,
    /// Nodes that existed before any kubelet joined: those of AKS's own pools.
    others: Option<BTreeSet<String>>,
}

impl Relay {
    /// Creates a relay. `token` is the credential for the shadow.
    pub(super) fn new(host: Arc<Host>, token: String, real: Cluster) -> Self {
        let real = real.writing(&WriteGate::always_open());
        Self {
            host,
            token,
            real,
            registered: BTreeMap::new(),
            joined: BTreeSet::new(),
            tokens: BTreeSet::new(),
            renewed: BTreeMap::new(),
            others: None,
        }
    }

    /// Relays until it is stopped. Failures are retried, because the API server may be temporarily unavailable.
    pub(super) async fn run(mut self) {
        loop {
            if let Err(error) = self.look().await {
                tracing::debug!("the API server cannot be played to: {error:#}");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn look(&mut self) -> anyhow::Result<()> {
        self.take_tokens().await?;
        self.give_nodes().await?;
        self.renew_leases().await?;
        self.run_pods().await
    }

    /// Copies bootstrap tokens to the shadow, which checks those of kubelets.
    async fn take_tokens(&mut self) -> anyhow::Result<()> {
        let mut found = BTreeSet::new();
        for secret in self.listed(SECRETS, TOKENS).await? {
            let name = name(&secret);
            if !self.tokens.contains(&name) {
                let metadata = json!({"name": name, "namespace": "kube-system"});
                let copy = json!({
                    "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": secret["type"], "data": secret["data"],
                });
                self.shadow("POST", SECRETS, &copy)?;
            }
            found.insert(name);
        }
        for gone in self.tokens.difference(&found) {
            self.shadow("DELETE", &format!("{SECRETS}/{gone}"), &Value::Null)?;
        }
        self.tokens = found;
        Ok(())
    }

    /// Registers joined nodes and updates registered ones.
    async fn give_nodes(&mut self) -> anyhow::Result<()> {
        let shadow = self.shadow("GET", NODES, &Value::Null)?;
        let nodes: Vec<&Value> = shadow["items"].as_array().into_iter().flatten().collect();
        for node in &nodes {
            let name = name(node);
            match self.registered.get(&name) {
                None => self.register(node).await?,
                Some(sent) if *sent == told(node) => continue,
                Some(_) => self.tell(&name, node).await?,
            }
            self.joined.insert(name.clone());
            self.registered.insert(name, told(node));
        }
        let there: BTreeSet<String> = nodes.iter().map(|node| name(node)).collect();
        let gone: Vec<String> =
            self.registered.keys().filter(|name| !there.contains(*name)).cloned().collect();
        for name in gone {
            // As AKS's cloud provider does: the node of a deleted VM is deleted, and removed once its finalizers allow
            // it.
            self.real.delete(&format!("{NODES}/{name}"), &Preconditions::default(), None).await?;
            self.registered.remove(&name);
        }
        Ok(())
    }

    async fn register(&self, node: &Value) -> Result<(), ClusterFailure> {
        let metadata = &node["metadata"];
        let object = json!({
            "apiVersion": "v1", "kind": "Node", "spec": node["spec"],
            "metadata": {
                "name": metadata["name"], "labels": metadata["labels"], "annotations": metadata["annotations"],
            },
        });
        self.real.create(NODES, &object).await?;
        let path = format!("{NODES}/{}", name(node));
        self.real.patch_status(&path, &json!({"status": node["status"]})).await?;
        Ok(())
    }

    /// Updates a node: its status and the fields of the cloud provider.
    async fn tell(&self, name: &str, node: &Value) -> Result<(), ClusterFailure> {
        let path = format!("{NODES}/{name}");
        // If the node was deleted in the meantime, it is not recreated.
        let Some(real) = self.real.cluster().get_optional(&path).await? else { return Ok(()) };
        let stays = |taint: &&Value| {
            let key = taint["key"].as_str().unwrap_or_default();
            !PASSING.contains(&key) || taints(node).any(|kept| kept["key"] == taint["key"])
        };
        let left: Vec<&Value> = taints(&real).filter(stays).collect();
        let patch = json!({
            "metadata": {"labels": node["metadata"]["labels"], "resourceVersion": real["metadata"]["resourceVersion"]},
            "spec": {"providerID": node["spec"]["providerID"], "taints": left},
        });
        self.real.merge_patch(&path, &patch).await?;
        self.real.patch_status(&path, &json!({"status": node["status"]})).await?;
        Ok(())
    }

    /// Renews the Leases of nodes with a running kubelet; otherwise Kubernetes considers a node dead.
    async fn renew_leases(&mut self) -> anyhow::Result<()> {
        let others = match self.others.take() {
            Some(others) => others,
            None => {
                let there = self.listed(NODES, "").await?;
                there.iter().map(name).filter(|name| !self.registered.contains_key(name)).collect()
            }
        };
        let live = self.registered.iter().filter(|(_, told)| is_ready(told)).map(|(name, _)| name.clone());
        let due: Vec<String> = live
            .chain(others.iter().cloned())
            .filter(|name| self.renewed.get(name).is_none_or(|renewed| renewed.elapsed() >= RENEW))
            .collect();
        self.others = Some(others);
        for name in due {
            self.renew_lease(&name).await?;
            self.renewed.insert(name, Instant::now());
        }
        Ok(())
    }

    async fn renew_lease(&self, node: &str) -> Result<(), ClusterFailure> {
        let now = self.host.clock.now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        let renewed = json!({"spec": {"renewTime": now}});
        match self.real.merge_patch(&format!("{LEASES}/{node}"), &renewed).await {
            Ok(_) => return Ok(()),
            Err(failure) if failure.kind == ClusterFailureKind::NotFound => {}
            Err(failure) => return Err(failure),
        }
        let Some(real) = self.real.cluster().get_optional(&format!("{NODES}/{node}")).await? else {
            return Ok(());
        };
        // The owner reference deletes the Lease with its node.
        let owner = json!({"apiVersion": "v1", "kind": "Node", "name": node, "uid": real["metadata"]["uid"]});
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": node, "namespace": "kube-node-lease", "ownerReferences": [owner]},
            "spec": {"holderIdentity": node, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": now},
        });
        self.real.create(LEASES, &lease).await?;
        Ok(())
    }

    /// Runs the pods that are bound to a node, and finishes the deletion of terminating ones.
    async fn run_pods(&self) -> anyhow::Result<()> {
        for pod in self.listed("/api/v1/pods", "fieldSelector=spec.nodeName%21%3D").await? {
            if !pod["spec"]["nodeName"].as_str().is_some_and(|node| self.joined.contains(node)) {
                continue;
            }
            let metadata = &pod["metadata"];
            let namespace = metadata["namespace"].as_str().unwrap_or("default");
            let path = format!("/api/v1/namespaces/{namespace}/pods/{}", name(&pod));
            if metadata["deletionTimestamp"].is_string() {
                let this = Preconditions {
                    uid: metadata["uid"].as_str().map(str::to_owned),
                    ..Preconditions::default()
                };
                let (Deletion::Accepted | Deletion::Gone) = self.real.delete(&path, &this, Some(0)).await?;
            } else if pod["status"]["phase"] == "Pending" {
                match self.real.patch_status(&path, &running(&pod, self.host.clock.now())).await {
                    Ok(_) => {}
                    Err(failure) if failure.kind == ClusterFailureKind::NotFound => {}
                    Err(failure) => return Err(failure.into()),
                }
            }
        }
        Ok(())
    }

    async fn listed(&self, path: &str, query: &str) -> anyhow::Result<Vec<Value>> {
        Ok(self.real.cluster().list(path, query).await?.items())
    }

    fn shadow(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let mut request =
            Request::new(method, path).header("authorization", &format!("Bearer {}", self.token));
        if !body.is_null() {
            request = request.json(body);
        }
        match self.host.request(&request) {
            Response::Answer(answer) => Ok(answer.value()),
            Response::Lost | Response::Silent | Response::Late(..) | Response::Watch(_) => {
                anyhow::bail!("the simulated cluster does not answer {path}")
            }
        }
    }
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

fn taints(node: &Value) -> impl Iterator<Item = &Value> {
    node["spec"]["taints"].as_array().into_iter().flatten()
}

/// Returns whether the last sent node was Ready.
fn is_ready(told: &Value) -> bool {
    let conditions = told[0]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Returns the parts of a node that kubelet and cloud provider set.
fn told(node: &Value) -> Value {
    json!([node["status"], node["spec"], node["metadata"]["labels"]])
}

/// Returns the status of a running pod.
fn running(pod: &Value, now: Timestamp) -> Value {
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let scheduled = pod["status"]["conditions"].as_array().into_iter().flatten();
    let scheduled = scheduled.filter(|condition| condition["type"] == "PodScheduled").cloned();
    let made = ["Initialized", "ContainersReady", "Ready"]
        .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": now}));
    let conditions: Vec<Value> = scheduled.chain(made).collect();
    json!({"status": {"phase": "Running", "startTime": now, "conditions": conditions}})
}
