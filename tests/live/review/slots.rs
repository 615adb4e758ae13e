//! A fleet of a node for each slot, so that who may go where is known.

use serde_json::{Value, json};

use super::{Stage, WORLD, done};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
/// The label by which pods name slots.
const SLOT: &str = "example.com/slot";
/// The slots whose nodes can go.
pub(super) const SLOTS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Pods of the test's own workloads that run or wait, with their nodes.
fn pods(state: &Value) -> usize {
    state["pods"].as_array().map_or(0, |pods| pods.iter().filter(|pod| pod["phase"] == "Running").count())
}

impl Stage {
    /// A world with a pool whose nodes have a slot each, and room for many to go at once.
    pub(super) async fn of_slots() -> Self {
        let requirement = "        - {key: example.com/slot, operator: In, values: [a, b, c, d, e, k]}\n";
        let world = WORLD
            .replace("replicas: 5", "replicas: 0")
            .replace("      nodeClassRef:\n", &format!("{requirement}      nodeClassRef:\n"))
            .replace(
                "    consolidateAfter: 0s\n",
                "    consolidateAfter: 0s\n    budgets: [{nodes: \"100%\"}]\n",
            );
        assert!(world.contains(requirement) && world.contains("100%"));
        Self::of(&world).await
    }

    /// Starts a pod of a deployment that goes to any of these slots.
    pub(super) async fn start_pod(&self, name: &str, cpu: &str, slots: &[&str]) {
        let term = json!({"matchExpressions": [{"key": SLOT, "operator": "In", "values": slots}]});
        let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}});
        let containers = json!([{"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}]);
        let body = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": 1, "selector": {"matchLabels": {"app": name}},
                "template": {"metadata": {"labels": {"app": name}}, "spec": {"affinity": affinity, "containers": containers}},
            },
        });
        let (status, answer) = self.program.kube("POST", DEPLOYMENTS, &body).await;
        assert_eq!(status, 201, "{answer}");
    }

    /// Ends the pod of a deployment.
    pub(super) async fn end_pod(&self, name: &str) {
        let target = format!("{DEPLOYMENTS}/{name}");
        let (status, answer) = self.program.patch(&target, &json!({"spec": {"replicas": 0}})).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Waits until so many pods run.
    pub(super) async fn runs(&self, count: usize) {
        self.program.wait_for(|state| pods(state) == count).await;
    }

    /// Makes a node for each slot, and one that stays; pods of 6 cores are on all.
    pub(super) async fn fill(&self) {
        self.fill_of(&SLOTS).await;
    }

    /// Makes a node for each of these slots, and one that stays.
    pub(super) async fn fill_of(&self, slots: &[&str]) {
        for slot in slots.iter().chain(&["k"]) {
            self.start_pod(&format!("big-{slot}"), "6", &[*slot]).await;
        }
        self.propose(&["--class", "create"]).await;
        self.forge.merge("nodeform/demo/create");
        done(&self.apply().await);
        let nodes = slots.len() + 1;
        self.runs(nodes).await;
        assert_eq!(self.machines().await, (nodes, nodes));
    }

    /// Says what the ledger says of the last plan: its phase, and how many changes came to what.
    pub(super) async fn ledger(&self) -> (String, Value) {
        let path = "/apis/nodeform.dev/v1alpha1/nodeplans";
        let (_, plans) = self.program.kube("GET", path, &Value::Null).await;
        let mut plans: Vec<Value> = plans["items"].as_array().cloned().unwrap_or_default();
        plans.sort_by_key(|plan| plan["status"]["startedAt"].as_str().unwrap_or_default().to_owned());
        let status = plans.pop().unwrap_or_default()["status"].clone();
        (status["phase"].as_str().unwrap_or_default().to_owned(), status["counts"].clone())
    }
}
