//! The controller in mode `review`, by a real Git server and real `git`: routine work happens by itself; what moves or replaces
//! nodes is proposed, and carried out once people have merged it.

use serde_json::{Value, json};
use tokio::process::Child;

use super::Stage;
use super::forge::TOKEN;

pub(super) const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";
pub(super) const FLEET: &str = "/apis/nodeform.dev/v1alpha1/nodefleets/demo";
const POOL: &str = "/apis/karpenter.sh/v1/nodepools/general-purpose";
const REPLACE: &str = "nodeform/demo/replace";

impl Stage {
    /// Starts a controller that may use the repository.
    fn controls(&self) -> Child {
        self.controls_with(&[("NODEFORM_GIT_TOKEN", TOKEN)])
    }

    /// The same with these variables.
    pub(super) fn controls_with(&self, variables: &[(&str, &str)]) -> Child {
        self.controls_as("all", variables)
    }

    /// The same in a role.
    pub(super) fn controls_as(&self, role: &str, variables: &[(&str, &str)]) -> Child {
        let path = std::env::var("PATH").expect("a path");
        let cache = self.cache.path().join(role).display().to_string();
        let all = [&[("PATH", path.as_str()), ("XDG_CACHE_HOME", cache.as_str())], variables].concat();
        let none = ["--metrics-port", "0", "--health-probe-port", "0"];
        let head = ["controller", "--role", role, "--log-format", "text", "--allow-http"];
        let arguments = [&head, &none[..]].concat();
        self.program.started_with(&arguments, &all, &self.cache.path().join(format!("{role}.log")))
    }
}

/// A stage with a controller in mode `review`.
pub(super) struct Reviewed {
    pub(super) stage: Stage,
    pub(super) controller: Child,
}

impl Reviewed {
    async fn start() -> Self {
        let stage = Stage::of_slots().await;
        let git = json!({"repository": stage.forge.url()});
        Self::of(stage, git, &[("NODEFORM_GIT_TOKEN", TOKEN)]).await
    }

    /// Has a controller with these variables use this repository.
    pub(super) async fn of(stage: Stage, git: Value, variables: &[(&str, &str)]) -> Self {
        Self::in_role(stage, json!({"mode": "review", "git": git}), ("all", variables)).await
    }

    /// The same with a controller in a role, of a NodeFleet that says this.
    pub(super) async fn in_role(
        stage: Stage,
        spec: Value,
        (role, variables): (&str, &[(&str, &str)]),
    ) -> Self {
        let fleet = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"}, "spec": spec});
        let (status, answer) = stage.program.kube("POST", FLEETS, &fleet).await;
        assert_eq!(status, 201, "{answer}");
        let controller = stage.controls_as(role, variables);
        Self { stage, controller }
    }

    pub(super) async fn fleet(&self) -> Value {
        self.stage.program.kube("GET", FLEET, &Value::Null).await.1
    }

    /// Waits until the NodeFleet's status lists a review for which this holds.
    pub(super) async fn waits_for_review(&self, holds: impl Fn(&Value) -> bool) -> Value {
        let found = async || {
            let fleet = self.fleet().await;
            let reviews = fleet["status"]["reviews"].as_array().cloned().unwrap_or_default();
            reviews.into_iter().find(|review| holds(review))
        };
        self.stage.program.wait(async || found().await.is_some()).await;
        found().await.expect("it is listed")
    }

    /// Waits until a reviewed plan has ended so.
    pub(super) async fn ends(&self, folder: &str, phase: &str) {
        self.stage
            .program
            .wait(async || {
                let plans = self.plans_of(folder).await;
                plans.iter().any(|plan| plan["status"]["phase"] == *phase)
            })
            .await;
        assert_eq!(self.plans_of(folder).await.len(), 1);
    }

    pub(super) async fn plans_of(&self, folder: &str) -> Vec<Value> {
        let plans = self.stage.program.kube("GET", nodeform::ledger::PLANS, &Value::Null).await.1;
        let items = plans["items"].as_array().cloned().unwrap_or_default();
        items.into_iter().filter(|plan| plan["spec"]["folder"] == *folder).collect()
    }

    /// Starts pods that fill a node each, and waits until they run.
    pub(super) async fn fills(&self, slots: &[&str]) -> Vec<String> {
        for slot in slots {
            self.stage.start_pod(&format!("big-{slot}"), "3", &[slot]).await;
        }
        self.stage.runs(slots.len()).await;
        self.vms().await
    }

    /// Waits until what replaces all nodes is proposed; returns its folder.
    pub(super) async fn proposes(&self) -> String {
        self.drifts().await;
        let review = self.waits_for_review(|review| review["state"] == "Proposed").await;
        review["folder"].as_str().expect("a folder").to_owned()
    }

    pub(super) async fn vms(&self) -> Vec<String> {
        let state = self.stage.program.own("GET", "/sim/state", &Value::Null).await.1;
        let vms = state["virtualMachines"].as_array().cloned().unwrap_or_default();
        vms.iter().map(|vm| vm["name"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Has all nodes drift.
    pub(super) async fn drifts(&self) {
        let label = json!({"spec": {"template": {"metadata": {"labels": {"team": "another"}}}}});
        assert_eq!(self.stage.program.patch(POOL, &label).await.0, 200);
    }
}

#[tokio::test]
async fn routine_work_happens_by_itself_and_what_replaces_nodes_once_it_is_merged() {
    let reviewed = Reviewed::start().await;
    let stage = &reviewed.stage;
    let before = reviewed.fills(&["a", "b"]).await;
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

    // A freeze holds what is merged, says so, and lets it go on.
    let freeze = |freeze: Value| json!({"spec": {"freeze": freeze}});
    assert_eq!(stage.program.patch(FLEET, &freeze(json!([{"name": "friday"}]))).await.0, 200);
    stage.forge.squash(REPLACE);
    let waits = async || {
        let plans = reviewed.plans_of(&folder).await;
        plans.iter().any(|plan| plan["status"]["outcomes"].to_string().contains("`friday`"))
    };
    stage.program.wait(waits).await;
    assert_eq!(reviewed.vms().await, before);
    // People have reviewed it: what holds its nodes is the freeze alone.
    let holds = async || {
        let fleet = reviewed.fleet().await;
        let holds = fleet["status"]["holds"].as_array().cloned().unwrap_or_default();
        let of = |vm: &String| holds.iter().filter(|hold| hold["node"] == **vm).cloned().collect::<Vec<_>>();
        before.iter().map(of).collect::<Vec<Vec<Value>>>()
    };
    let is_frozen = |holds: &Vec<Value>| {
        let because =
            |hold: &Value| hold["because"].as_str().is_some_and(|because| because.contains("`friday`"));
        holds.len() == 1 && holds.iter().all(because)
    };
    stage.program.wait(async || holds().await.iter().all(is_frozen)).await;
    assert_eq!(stage.program.patch(FLEET, &freeze(json!([]))).await.0, 200);
    reviewed.ends(&folder, "Done").await;
    let after = reviewed.vms().await;
    assert_eq!(after.len(), 2, "{after:?}");
    assert!(after.iter().all(|vm| !before.contains(vm)), "{before:?} {after:?}");
    let status = stage.program.nodeform(&["status"], &[]).await;
    assert!(status.printed.contains(&folder), "{}", status.printed);
}

#[tokio::test]
async fn a_controller_that_is_killed_at_work_leaves_a_merged_plan_to_another_and_proposes_nothing_twice() {
    let mut reviewed = Reviewed::start().await;
    let before = reviewed.fills(&["a", "b", "c"]).await;
    let folder = reviewed.proposes().await;
    let proposed = reviewed.stage.forge.proposed(REPLACE);
    reviewed.controller.kill().await.expect("it runs");
    reviewed.controller = reviewed.stage.controls();
    let _beside = reviewed.stage.controls();
    reviewed.stage.forge.merge(REPLACE);
    let is_at_work = async |reviewed: &Reviewed| {
        let vms = reviewed.vms().await;
        before.iter().any(|vm| !vms.contains(vm))
    };
    reviewed.stage.program.wait(async || is_at_work(&reviewed).await).await;
    assert_eq!(reviewed.stage.forge.proposed(REPLACE), proposed, "what is proposed is not proposed again");
    reviewed.controller.kill().await.expect("it runs");
    reviewed.ends(&folder, "Done").await;
    reviewed.stage.runs(3).await;
    let after = reviewed.vms().await;
    assert_eq!(after.len(), 3, "{after:?}");
    assert!(after.iter().all(|vm| !before.contains(vm)), "{before:?} {after:?}");
}

#[tokio::test]
async fn while_the_repository_is_gone_routine_work_goes_on_and_a_merge_that_is_reverted_is_withdrawn() {
    let reviewed = Reviewed::start().await;
    let stage = &reviewed.stage;
    let freeze = json!({"spec": {"freeze": [{"name": "friday"}]}});
    let before = reviewed.fills(&["a", "b"]).await;
    let folder = reviewed.proposes().await;
    assert_eq!(stage.program.patch(FLEET, &freeze).await.0, 200);

    let stops = async || {
        let fleet = reviewed.fleet().await;
        fleet["status"]["stops"].to_string()
    };
    let served = stage.forge.served();
    let away = served.with_extension("away");
    std::fs::rename(&served, &away).expect("it can be moved");
    stage.program.wait(async || stops().await.contains("until the repository can be read")).await;
    stage.start_pod("big-c", "3", &["c"]).await;
    stage.runs(3).await;
    std::fs::rename(&away, &served).expect("it can be moved back");
    stage.program.wait(async || !stops().await.contains("until the repository can be read")).await;

    stage.forge.merge(REPLACE);
    stage.program.wait(async || !reviewed.plans_of(&folder).await.is_empty()).await;
    stage.forge.git(&["revert", "--no-edit", "--mainline", "1", "HEAD"]);
    stage.forge.git(&["push", "--quiet", "origin", "main"]);
    reviewed.ends(&folder, "Withdrawn").await;
    let after = reviewed.vms().await;
    assert!(before.iter().all(|vm| after.contains(vm)), "{before:?} {after:?}");
}
