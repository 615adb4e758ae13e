//! The workload of one story: a namespace, a Deployment, and a NodePool whose nodes are for its pods alone.

use serde_json::{Value, json};

use super::bed::{CLAIMS, Eyes, POOLS};

/// A Deployment and its pool, of one name.
pub(super) struct Workload {
    pub(super) eyes: Eyes,
    pub(super) name: &'static str,
}

impl Workload {
    /// Makes both; `requirements` narrow what the pool's nodes may be.
    pub(super) fn new(eyes: Eyes, name: &'static str, requirements: &[Value]) -> Self {
        let workload = Self { eyes, name };
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        workload.eyes.make("/api/v1/namespaces", &namespace);
        workload.eyes.make(POOLS, &pool(name, requirements));
        let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
        workload.eyes.wait("the namespace has its service account", || {
            workload.eyes.api.ask("GET", &account, None).is_ok_and(|answer| answer.is_done())
        });
        workload.eyes.make(&format!("/apis/apps/v1/namespaces/{name}/deployments"), &deployment(name));
        workload
    }

    pub(super) fn scale(&self, pods: usize) {
        let path = format!("/apis/apps/v1/namespaces/{0}/deployments/{0}", self.name);
        self.eyes.api.merge(&path, &json!({"spec": {"replicas": pods}}));
    }

    pub(super) fn pods(&self) -> Vec<Value> {
        self.eyes.items(&format!("/api/v1/namespaces/{}/pods", self.name))
    }

    /// Waits until so many pods run, each on a node of its pool, and there are no others.
    pub(super) fn runs(&self, pods: usize) {
        self.eyes.wait(&format!("{pods} pods of {} run", self.name), || {
            let found = self.pods();
            let runs = |pod: &&Value| {
                pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
            };
            found.len() == pods && found.iter().filter(runs).count() == pods
        });
    }

    /// Scales, and waits until so many pods run.
    pub(super) fn scaled(&self, pods: usize) {
        self.scale(pods);
        self.runs(pods);
    }

    /// Waits until kube-scheduler has looked at so many pods and found no node.
    pub(super) fn waits_for_nodes(&self, pods: usize) {
        let unschedulable = |pod: &Value| {
            let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
            conditions.into_iter().any(|condition| condition["reason"] == "Unschedulable")
        };
        self.eyes.wait("pods are Unschedulable", || {
            self.pods().iter().filter(|pod| unschedulable(pod)).count() == pods
        });
    }

    /// The NodeClaims of its pool.
    pub(super) fn claims(&self) -> Vec<Value> {
        let mut claims = self.eyes.items(CLAIMS);
        claims.retain(|claim| claim["metadata"]["labels"]["karpenter.sh/nodepool"] == self.name);
        claims
    }

    /// Waits until so many nodes of its pool are there and none is coming or leaving.
    pub(super) fn has_nodes(&self, nodes: usize) {
        self.eyes.wait(&format!("{} has {nodes} nodes", self.name), || {
            let claims = self.claims();
            let stays = |claim: &Value| {
                let (annotations, status) = (&claim["metadata"]["annotations"], &claim["status"]);
                annotations["nodeform.dev/removal"].is_null()
                    && claim["metadata"]["deletionTimestamp"].is_null()
                    && status["nodeName"].is_string()
            };
            claims.len() == nodes && claims.iter().all(stays)
        });
    }

    /// The nodes of its pool, by their NodeClaims.
    pub(super) fn nodes(&self) -> Vec<String> {
        let claims = self.claims();
        claims.iter().filter_map(|claim| claim["status"]["nodeName"].as_str()).map(str::to_owned).collect()
    }
}

/// A NodePool of on-demand VMs of family D, or as `requirements` say, for the pods that tolerate it.
pub(super) fn pool(name: &str, requirements: &[Value]) -> Value {
    let mut all =
        vec![json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]})];
    all.extend_from_slice(requirements);
    let class = json!({"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"});
    let taints = json!([{"key": "story", "value": name, "effect": "NoSchedule"}]);
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
        "spec": {
            "template": {"spec": {
                "requirements": all, "nodeClassRef": class, "taints": taints, "expireAfter": "Never",
            }},
            "limits": {"cpu": "100"},
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s",
                "budgets": [{"nodes": "100%"}],
            },
        },
    })
}

/// A requirement of one value or more.
pub(super) fn one_of(key: &str, values: &[&str]) -> Value {
    json!({"key": key, "operator": "In", "values": values})
}

fn deployment(name: &str) -> Value {
    let labels = json!({"app": name});
    let container = json!({
        "name": "pause", "image": "mcr.microsoft.com/oss/kubernetes/pause:3.6",
        "resources": {"requests": {"cpu": "1"}},
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": name},
        "spec": {
            "replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {
                "terminationGracePeriodSeconds": 0, "containers": [container],
                "nodeSelector": {"karpenter.sh/nodepool": name},
                "tolerations": [{"key": "story", "value": name, "effect": "NoSchedule"}],
            }},
        },
    })
}
