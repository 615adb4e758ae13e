//! The controller in mode `review`, by a real Git server and real `git`: routine work happens by itself; what moves or replaces
//! nodes is proposed, and carried out once people have merged it.

use serde_json::{Value, json};
use tokio::process::Child;

use super::Stage;
use super::forge::TOKEN;

const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";
const FLEET: &str = "/apis/nodeform.dev/v1alpha1/nodefleets/demo";
const POOL: &str = "/apis/karpenter.sh/v1/nodepools/general-purpose";
const REPLACE: &str = "nodeform/demo/replace";

impl Stage {
    /// Starts a controller that may use the repository.
    fn controls(&self) -> Child {
        let path = std::env::var("PATH").expect("a path");
        let cache = self.cache.path().display().to_string();
        let variables =
            [("PATH", path.as_str()), ("XDG_CACHE_HOME", cache.as_str()), ("NODEFORM_GIT_TOKEN", TOKEN)];
        let none = ["--metrics-port", "0", "--health-probe-port", "0"];
        let arguments = [&["controller", "--log-format", "text", "--allow-http"], &none[..]].concat();
        self.program.started_with(&arguments, &variables, &self.cache.path().join("controller.log"))
    }
}

/// A stage with a controller in mode `review`.
struct Reviewed {
    stage: Stage,
    _controller: Child,
}

impl Reviewed {
    async fn start() -> Self {
        let stage = Stage::of_slots().await;
        let spec = json!({"mode": "review", "git": {"repository": stage.forge.url()}});
        let fleet = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"}, "spec": spec});
        let (status, answer) = stage.program.kube("POST", FLEETS, &fleet).await;
        assert_eq!(status, 201, "{answer}");
        let controller = stage.controls();
        Self { stage, _controller: controller }
    }

    async fn fleet(&self) -> Value {
        self.stage.program.kube("GET", FLEET, &Value::Null).await.1
    }

    /// Waits until the NodeFleet's status lists a review for which this holds.
    async fn waits_for_review(&self, holds: impl Fn(&Value) -> bool) -> Value {
        let found = async || {
            let fleet = self.fleet().await;
            let reviews = fleet["status"]["reviews"].as_array().cloned().unwrap_or_default();
            reviews.into_iter().find(|review| holds(review))
        };
        self.stage.program.wait(async || found().await.is_some()).await;
        found().await.expect("it is listed")
    }

    async fn vms(&self) -> Vec<String> {
        let state = self.stage.program.own("GET", "/sim/state", &Value::Null).await.1;
        let vms = state["virtualMachines"].as_array().cloned().unwrap_or_default();
        vms.iter().map(|vm| vm["name"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Has all nodes drift.
    async fn drifts(&self) {
        let label = json!({"spec": {"template": {"metadata": {"labels": {"team": "another"}}}}});
        assert_eq!(self.stage.program.patch(POOL, &label).await.0, 200);
    }
}

#[tokio::test]
async fn routine_work_happens_by_itself_and_what_replaces_nodes_once_it_is_merged() {
    let reviewed = Reviewed::start().await;
    let stage = &reviewed.stage;
    for slot in ["a", "b"] {
        stage.start_pod(&format!("big-{slot}"), "3", &[slot]).await;
    }
    stage.runs(2).await;
    let before = reviewed.vms().await;
    assert_eq!(before.len(), 2, "{before:?}");

    reviewed.drifts().await;
    let review = reviewed.waits_for_review(|review| review["state"] == "Proposed").await;
    assert_eq!(reviewed.vms().await, before, "nothing goes before it is merged");
    let branch = review["branch"].as_str().expect("a branch").to_owned();
    assert!(branch.starts_with(REPLACE), "{review}");
    let folder = review["folder"].as_str().expect("a folder").to_owned();

    // Routine work goes on beside it.
    stage.start_pod("big-c", "3", &["c"]).await;
    stage.runs(3).await;
    stage.end_pod("big-c").await;
    stage.program.wait(async || reviewed.vms().await.len() == 2).await;
    assert_eq!(reviewed.vms().await, before);

    stage.forge.squash(REPLACE);
    let plans = || async { stage.program.kube("GET", nodeform::ledger::PLANS, &Value::Null).await.1 };
    stage
        .program
        .wait(async || {
            let plans = plans().await;
            let items = plans["items"].as_array().cloned().unwrap_or_default();
            items.iter().any(|plan| plan["spec"]["folder"] == *folder && plan["status"]["phase"] == "Done")
        })
        .await;
    let after = reviewed.vms().await;
    assert_eq!(after.len(), 2, "{after:?}");
    assert!(after.iter().all(|vm| !before.contains(vm)), "{before:?} {after:?}");
    let status = stage.program.nodeform(&["status"], &[]).await;
    assert!(status.printed.contains(&folder), "{}", status.printed);
}
