//! The controller: nodes come and go by themselves in mode `auto`, and nothing happens in mode `observe`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::process::Child;

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");
const INFLATE: &str = "/apis/apps/v1/namespaces/default/deployments/inflate";
const POOLS: &str = "/apis/karpenter.sh/v1/nodepools";
const FLEET: &str = "/apis/nodeform.dev/v1alpha1/nodefleets/demo";

/// A world that goes on twenty times as fast, and a controller in it.
struct Running {
    program: Program,
    controller: Child,
    folder: tempfile::TempDir,
}

impl Running {
    /// Starts both, with this mode and number of pods.
    async fn of(mode: &str, replicas: usize) -> Self {
        Self::with("", mode, (replicas, "20")).await
    }

    /// The same with more documents, and another speed.
    async fn with(more: &str, mode: &str, (replicas, speed): (usize, &str)) -> Self {
        let world = WORLD.replace("replicas: 5", &format!("replicas: {replicas}")) + more;
        Self::of_world(&world, mode, speed).await
    }

    async fn of_world(world: &str, mode: &str, speed: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let fleet = format!(
            "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: demo}}\nspec: {{mode: {mode}}}\n"
        );
        let record = folder.path().join("record.jsonl").display().to_string();
        let program = Program::of(&format!("{world}{fleet}"), &["--speed", speed, "--record", &record]).await;
        let controller = controller(&program, folder.path());
        Self { program, controller, folder }
    }

    async fn scale(&self, replicas: usize) {
        let answer = self.program.patch(INFLATE, &json!({"spec": {"replicas": replicas}})).await;
        assert_eq!(answer.0, 200, "{}", answer.1);
    }

    async fn fleet(&self) -> Value {
        self.program.kube("GET", FLEET, &Value::Null).await.1
    }

    async fn listed(&self, path: &str) -> Vec<Value> {
        let (_, list) = self.program.kube("GET", path, &Value::Null).await;
        list["items"].as_array().cloned().unwrap_or_default()
    }

    async fn claims(&self) -> Vec<Value> {
        self.listed("/apis/karpenter.sh/v1/nodeclaims").await
    }

    /// Waits until this many of its pods run.
    async fn runs(&self, pods: usize) {
        self.program.wait_for(|state| running(state) == pods).await;
    }

    /// Waits until nothing of a node is left.
    async fn is_empty(&self) {
        self.program
            .wait(async || {
                let state = self.program.own("GET", "/sim/state", &Value::Null).await.1;
                let none = |kind: &str| state[kind].as_array().is_some_and(Vec::is_empty);
                none("virtualMachines") && none("networkInterfaces") && self.claims().await.is_empty()
            })
            .await;
    }

    fn said(&self) -> String {
        std::fs::read_to_string(log(self.folder.path())).unwrap_or_default()
    }

    async fn terminated(&mut self) {
        let id = self.controller.id().expect("it runs").to_string();
        let killed = std::process::Command::new("kill").args(["-TERM", &id]).status();
        assert!(killed.expect("kill runs").success());
        let ended = self.controller.wait().await.expect("it ends");
        assert!(ended.success(), "{}", self.said());
    }

    fn recorded(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("record.jsonl")).expect("it was written");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn judged(&self) {
        crate::specifications::judge(&self.folder.path().join("record.jsonl"));
    }
}

fn log(folder: &Path) -> PathBuf {
    folder.join("log")
}

fn controller(program: &Program, folder: &Path) -> Child {
    let arguments = ["controller", "--metrics-port", "0", "--health-probe-port", "0"];
    program.started(&arguments, &log(folder))
}

fn running(state: &Value) -> usize {
    let pods = state["pods"].as_array().expect("a list").iter();
    pods.filter(|pod| {
        pod["phase"] == "Running" && pod["name"].as_str().is_some_and(|name| name.contains("inflate"))
    })
    .count()
}

#[tokio::test]
async fn pods_get_nodes_and_empty_nodes_go_without_a_command() {
    let mut running = Running::of("auto", 0).await;
    running.program.wait(async || running.fleet().await["status"]["plan"] != Value::Null).await;
    running.scale(5).await;
    running.runs(5).await;
    assert_eq!(running.claims().await.len(), 1, "{}", running.said());
    let pods = running.listed("/api/v1/namespaces/default/pods").await;
    let told = pods.iter().filter(|pod| pod["status"]["nominatedNodeName"].is_string());
    assert!(told.clone().count() > 0, "they were told their node before it took any: {pods:?}");
    told.for_each(|pod| assert_eq!(pod["status"]["nominatedNodeName"], pod["spec"]["nodeName"], "{pod}"));
    running.scale(0).await;
    running.is_empty().await;
    running.program.wait(async || running.fleet().await["status"]["inFlight"] == json!([])).await;
    running.terminated().await;
    let leases = running.listed("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases").await;
    let holders: Vec<&Value> = leases.iter().map(|lease| &lease["spec"]["holderIdentity"]).collect();
    assert_eq!(holders, [""], "{leases:?}");
    let (_, secrets) =
        running.program.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null).await;
    assert!(!secrets.to_string().contains("bootstrap-token-"), "{secrets}");
    let plans =
        running.listed("/apis/nodeform.dev/v1alpha1/nodeplans?labelSelector=%21nodeform.dev%2Fplan").await;
    let phases: Vec<&Value> = plans.iter().map(|plan| &plan["status"]["phase"]).collect();
    assert_eq!(phases, ["Done", "Done"], "{plans:?}");
    running.judged();
}

/// What is served on a port of this machine.
async fn served(port: u16, path: &str) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let answer = reqwest::get(format!("http://127.0.0.1:{port}{path}")).await.expect("it answers");
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    answer.text().await.expect("text")
}

#[tokio::test]
async fn what_happens_is_counted_and_served_as_prometheus_and_kubelets_ask_for_it() {
    let mut running = Running::of("auto", 0).await;
    running.program.wait(async || running.fleet().await["status"]["plan"] != Value::Null).await;
    running.terminated().await;
    let free = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let (metrics, health) = (free(), free());
    let (metrics_text, health_text) = (metrics.to_string(), health.to_string());
    let arguments = ["controller", "--metrics-port", &metrics_text, "--health-probe-port", &health_text];
    running.controller = running.program.started(&arguments, &log(running.folder.path()));
    running.scale(5).await;
    running.runs(5).await;
    let counted = "karpenter_pods_startup_duration_seconds_count 5";
    running
        .program
        .wait(async || served(metrics, "/metrics").await.lines().any(|line| line == counted))
        .await;
    let text = served(metrics, "/metrics").await;
    for line in [
        "karpenter_nodeclaims_created_total 1",
        "nodeform_changes_total{class=\"create\",outcome=\"done\"} 1",
        "# TYPE nodeform_plan_duration_seconds histogram",
        "# TYPE nodeform_fleet_cost_usd_per_hour gauge",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(served(health, path).await.trim(), "ok", "{path}");
    }
    running.terminated().await;
}

#[tokio::test]
async fn observe_writes_nothing_but_its_lease_and_the_status_of_the_fleet() {
    let mut running = Running::of("observe", 5).await;
    running.program.wait(async || running.fleet().await["status"]["plan"]["add"] == 1).await;
    running.terminated().await;
    let leases = running.listed("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases").await;
    let names: Vec<&Value> = leases.iter().map(|lease| &lease["metadata"]["name"]).collect();
    assert_eq!(names, ["nodeform-observe"]);
    assert!(running.claims().await.is_empty());
    assert!(running.listed("/apis/nodeform.dev/v1alpha1/nodeplans").await.is_empty());
    let writes: Vec<Value> = running
        .recorded()
        .into_iter()
        .filter(|exchange| !exchange.to_string().contains("\"method\":\"GET\""))
        .filter(|exchange| !exchange.to_string().contains("oauth2"))
        .collect();
    assert_eq!(writes, Vec::<Value>::new(), "only reads go to Azure");
}

#[tokio::test]
async fn a_controller_that_is_killed_and_started_again_comes_to_the_same_end() {
    let mut running = Running::of("auto", 5).await;
    running.program.wait(async || !running.claims().await.is_empty()).await;
    running.controller.kill().await.expect("it runs");
    running.controller = controller(&running.program, running.folder.path());
    running.runs(5).await;
    assert_eq!(running.claims().await.len(), 1, "{}", running.said());
    running.scale(0).await;
    let leaves = |claim: &Value| claim["metadata"]["annotations"]["nodeform.dev/removal"] != Value::Null;
    running.program.wait(async || running.claims().await.iter().any(leaves)).await;
    running.controller.kill().await.expect("it runs");
    running.controller = controller(&running.program, running.folder.path());
    running.is_empty().await;
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn a_removal_whose_plan_is_gone_counts_for_nothing_and_its_node_takes_pods_again() {
    let mut running = Running::of("auto", 5).await;
    running.runs(5).await;
    running.program.wait(async || running.fleet().await["status"]["inFlight"] == json!([])).await;
    running.controller.kill().await.expect("it runs");
    let claim = running.claims().await.remove(0);
    running.program.begin_removal(&claim).await;
    running.controller = controller(&running.program, running.folder.path());
    let none = [Value::Null, Value::Null, json!([])];
    running.program.wait(async || running.program.begun_removal(&claim).await == none).await;
    assert_eq!(names(&running.claims().await), names(&[claim]), "{}", running.said());
    running.scale(0).await;
    running.is_empty().await;
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn a_removal_whose_plan_is_deleted_meanwhile_is_finished_and_the_plan_written_down_again() {
    const PLANS: &str = "/apis/nodeform.dev/v1alpha1/nodeplans";
    let mut running = Running::of("auto", 5).await;
    running.runs(5).await;
    running.program.wait(async || running.fleet().await["status"]["inFlight"] == json!([])).await;
    running.scale(0).await;
    let mark =
        |claim: &Value| claim["metadata"]["annotations"]["nodeform.dev/removal"].as_str().map(str::to_owned);
    running.program.wait(async || running.claims().await.iter().any(|claim| mark(claim).is_some())).await;
    let mark = running.claims().await.first().and_then(mark).expect("it goes");
    let plan = mark.split('/').next().expect("a plan");
    for object in running.listed(PLANS).await {
        let name = object["metadata"]["name"].as_str().expect("a name");
        running.program.kube("DELETE", &format!("{PLANS}/{name}"), &Value::Null).await;
    }
    running.is_empty().await;
    running.program.wait(async || running.fleet().await["status"]["inFlight"] == json!([])).await;
    let (_, known) = running.program.kube("GET", &format!("{PLANS}/{plan}"), &Value::Null).await;
    assert_eq!(known["status"]["phase"], "Done", "{known}\n{}", running.said());
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn nodes_of_a_pool_that_is_deleted_stay_and_are_its_own_again_when_it_is_back() {
    let mut running = Running::of("auto", 5).await;
    running.runs(5).await;
    let path = format!("{POOLS}/general-purpose");
    let (_, mut pool) = running.program.kube("GET", &path, &Value::Null).await;
    assert_eq!(running.program.kube("DELETE", &path, &Value::Null).await.0, 200);
    running.scale(0).await;
    running.runs(0).await;
    let rounds = running.said().matches("carrying out").count();
    // Ten rounds and more.
    tokio::time::sleep(std::time::Duration::from_secs(8)).await;
    assert_eq!(running.claims().await.len(), 1, "{}", running.said());
    assert_eq!(running.said().matches("carrying out").count(), rounds, "{}", running.said());
    for field in ["resourceVersion", "uid", "creationTimestamp", "generation"] {
        pool["metadata"].as_object_mut().expect("an object").remove(field);
    }
    assert_eq!(running.program.kube("POST", POOLS, &pool).await.0, 201);
    running.is_empty().await;
    running.terminated().await;
}

/// The names of its NodeClaims.
fn names(claims: &[Value]) -> Vec<String> {
    claims.iter().filter_map(|claim| claim["metadata"]["name"].as_str()).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_node_that_somebody_deletes_is_drained_and_removed_and_its_pods_get_another() {
    let mut running = Running::of("auto", 5).await;
    running.runs(5).await;
    let before = names(&running.claims().await);
    let node = running.claims().await[0]["status"]["nodeName"].as_str().expect("it has one").to_owned();
    let path = format!("/api/v1/nodes/{node}");
    assert_eq!(running.program.kube("DELETE", &path, &Value::Null).await.0, 200);
    running
        .program
        .wait(async || {
            let claims = names(&running.claims().await);
            claims.len() == 1 && claims != before
        })
        .await;
    running.runs(5).await;
    assert_eq!(running.program.kube("GET", &path, &Value::Null).await.0, 404);
    running.program.wait(async || running.fleet().await["status"]["inFlight"] == json!([])).await;
    let plans =
        running.listed("/apis/nodeform.dev/v1alpha1/nodeplans?labelSelector=%21nodeform.dev%2Fplan").await;
    let classes: Vec<&Value> =
        plans.iter().filter_map(|plan| plan["spec"]["changes"]["byClass"].get("delete-pool")).collect();
    assert_eq!(classes, [&json!(1)], "the ledger has it: {plans:?}");
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn a_node_claim_that_somebody_deletes_waits_in_observe_and_goes_in_auto() {
    let mut running = Running::of("auto", 5).await;
    running.runs(5).await;
    running.program.patch(FLEET, &json!({"spec": {"mode": "observe"}})).await;
    running.program.wait(async || running.fleet().await["status"]["mode"] == "observe").await;
    running.scale(0).await;
    running.runs(0).await;
    let name = names(&running.claims().await).remove(0);
    running.program.kube("DELETE", &format!("/apis/karpenter.sh/v1/nodeclaims/{name}"), &Value::Null).await;
    let said = "nothing is done in mode `observe`";
    running.program.wait(async || running.fleet().await["status"]["holds"].to_string().contains(said)).await;
    assert_eq!(running.claims().await.len(), 1, "{}", running.said());
    running.program.patch(FLEET, &json!({"spec": {"mode": "auto"}})).await;
    running.is_empty().await;
    running.program.wait(async || running.fleet().await["status"]["holds"] == json!([])).await;
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn sizes_whose_vms_never_join_are_explained_and_others_are_taken_meanwhile() {
    let mut running = Running::with("", "auto", (0, "120")).await;
    let faults = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedFaults",
        "spec": {"faults": [{"kind": "NeverJoins", "times": 2}]}});
    assert_eq!(running.program.own("POST", "/sim/faults", &faults).await.1, json!({"added": 1}));
    running.scale(5).await;
    let said = "did not join within 15 minutes and was removed";
    running.program.wait(async || running.fleet().await["status"]["holds"].to_string().contains(said)).await;
    running.runs(5).await;
    let state = running.program.own("GET", "/sim/state", &Value::Null).await.1;
    assert_eq!(state["virtualMachines"].as_array().map(Vec::len), Some(1), "{state}");
    assert_eq!(running.claims().await.len(), 1, "{}", running.said());
    let silent = running.said().matches(said).count();
    assert_eq!(silent, 2, "{}", running.said());
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn pods_that_fit_nowhere_stand_in_the_status_with_the_reason_while_all_else_goes_on() {
    let giant = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: giant, namespace: default}\nspec: {containers: [{name: c, \
                 image: i, resources: {requests: {memory: 900Ti}}}]}\n";
    let mut running = Running::with(giant, "auto", (5, "20")).await;
    running.runs(5).await;
    running.program.wait(async || running.fleet().await["status"]["inFlight"] == json!([])).await;
    running.program.wait(async || running.fleet().await["status"]["waiting"][0]["pods"] == 1).await;
    let status = running.fleet().await["status"].clone();
    assert_eq!(status["waiting"][0]["example"], "default/giant", "{status}");
    assert!(status["waiting"][0]["because"].to_string().contains("memory"), "{status}");
    assert_eq!(status["plan"]["pending"], 1, "{status}");
    assert_eq!(running.said().matches("pods stay Pending").count(), 1, "{}", running.said());
    running.terminated().await;
}

#[tokio::test]
async fn creates_that_azure_refuses_stand_in_the_status_with_its_code_until_they_succeed() {
    let mut running = Running::with("", "auto", (0, "60")).await;
    let faults = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedFaults",
        "spec": {"faults": [{"kind": "ZoneFull"}]}});
    assert_eq!(running.program.own("POST", "/sim/faults", &faults).await.1, json!({"added": 1}));
    let only = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let requirements = [
        only("node.kubernetes.io/instance-type", "Standard_D8ls_v5"),
        only("topology.kubernetes.io/zone", "westeurope-1"),
        only("karpenter.sh/capacity-type", "on-demand"),
    ];
    let patch = json!({"spec": {"template": {"spec": {"requirements": requirements}}}});
    let patched = running.program.patch(&format!("{POOLS}/general-purpose"), &patch).await;
    assert_eq!(patched.0, 200, "{}", patched.1);
    running.scale(5).await;
    running
        .program
        .wait(async || running.fleet().await["status"]["holds"].to_string().contains("next attempt for pool"))
        .await;
    let status = running.fleet().await["status"].clone();
    assert_eq!(status["holds"][0]["class"], "create", "{status}");
    assert!(status["holds"][0]["because"].to_string().contains("AllocationFailed"), "{status}");
    assert!(status["holds"][0]["until"].is_string(), "{status}");
    running.terminated().await;
}

#[tokio::test]
async fn what_azure_refuses_is_not_asked_for_again_while_the_pool_has_other_offerings() {
    let world = crate::program::without_usages(WORLD)
        .replacen("  location: westeurope\n", "  location: westeurope\n  quotas: {lowPriorityCores: 0}\n", 1)
        .replace("values: [on-demand]", "values: [spot, on-demand]");
    let mut running = Running::of_world(&world, "auto", "60").await;
    running.runs(5).await;
    let record = std::fs::read_to_string(running.folder.path().join("record.jsonl")).expect("it records");
    let refused = record.lines().filter(|line| line.contains("LowPriorityCores")).count();
    assert_eq!(refused, 1, "all spot is left alone once Azure has refused one");
    let claims = running.claims().await;
    let bought = |claim: &Value| claim["metadata"]["labels"]["karpenter.sh/capacity-type"].clone();
    assert!(claims.iter().all(|claim| bought(claim) == "on-demand"), "{claims:?}");
    running.terminated().await;
}

const CLASS: &str = "/apis/karpenter.azure.com/v1beta1/aksnodeclasses/default";

fn tags_of(claim: &Value) -> String {
    let vm = claim["status"]["providerID"].as_str().expect("an id").trim_start_matches("azure://").to_owned();
    format!("{vm}/providers/Microsoft.Resources/tags/default?api-version=2024-07-01")
}

#[tokio::test]
async fn tags_and_labels_that_differ_come_back_in_place_without_a_command() {
    let world = WORLD.replacen(
        "    spec:\n      requirements:",
        "    metadata: {labels: {team: web}}\n    spec:\n      requirements:",
        1,
    );
    let mut running = Running::of_world(&world, "auto", "60").await;
    running.runs(5).await;
    running.program.wait(async || running.claims().await[0]["status"]["nodeName"].is_string()).await;
    let before = running.claims().await;
    let node = format!("/api/v1/nodes/{}", before[0]["status"]["nodeName"].as_str().expect("a node"));
    assert_eq!(running.program.kube("GET", &node, &Value::Null).await.1["metadata"]["labels"]["team"], "web");
    let (tags, lost) =
        (json!({"spec": {"tags": {"stage": "live"}}}), json!({"metadata": {"labels": {"team": null}}}));
    assert_eq!(running.program.patch(CLASS, &tags).await.0, 200);
    assert_eq!(running.program.patch(&node, &lost).await.0, 200);
    let program = &running.program;
    program
        .wait(async || {
            let label =
                program.kube("GET", &node, &Value::Null).await.1["metadata"]["labels"]["team"].clone();
            let tags = program.arm("GET", &tags_of(&before[0]), None).await.1;
            label == "web" && tags["properties"]["tags"]["stage"] == "live"
        })
        .await;
    assert_eq!(names(&running.claims().await), names(&before), "no node is replaced");
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn tags_that_nobody_may_write_are_a_hold_and_nodes_go_all_the_same() {
    let allowed = nodeform::sim::SimulatedAzure::default().permissions;
    let allowed = allowed.iter().filter(|action| **action != "Microsoft.Resources/tags/write");
    let allowed = json!(allowed.collect::<Vec<_>>());
    let world = WORLD.replacen(
        "  location: westeurope\n",
        &format!("  location: westeurope\n  permissions: {allowed}\n"),
        1,
    );
    let mut running = Running::of_world(&world, "auto", "60").await;
    running.runs(5).await;
    assert_eq!(running.program.patch(CLASS, &json!({"spec": {"tags": {"stage": "live"}}})).await.0, 200);
    let holds = async |running: &Running| running.fleet().await["status"]["holds"].to_string();
    running.program.wait(async || holds(&running).await.contains("Microsoft.Resources/tags/write")).await;
    assert!(holds(&running).await.contains(r#""class":"update""#), "{}", holds(&running).await);
    running.scale(0).await;
    running.is_empty().await;
    assert!(!running.recorded().iter().any(|exchange| exchange["method"] == "PATCH"), "nobody asks in vain");
    let plans = running.listed("/apis/nodeform.dev/v1alpha1/nodeplans").await;
    let plans = plans.iter().filter(|plan| plan["status"]["phase"].is_string());
    assert_eq!(plans.count(), 2, "what comes and what goes");
    running.terminated().await;
}

#[tokio::test]
async fn a_node_whose_vm_cannot_be_deleted_is_a_hold_and_goes_once_it_can() {
    let mut running = Running::of_world(WORLD, "auto", "120").await;
    running.runs(5).await;
    running.program.wait(async || running.fleet().await["status"]["inFlight"] == json!([])).await;
    let faults = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedFaults",
        "spec": {"faults": [{"kind": "Refused", "times": 12, "when": {"method": "DELETE", "resource": "virtualMachines"}}]}});
    assert_eq!(running.program.own("POST", "/sim/faults", &faults).await.1, json!({"added": 1}));
    running.scale(0).await;
    let held = async |running: &Running| running.fleet().await["status"]["holds"].to_string();
    running.program.wait(async || held(&running).await.contains("removing this node failed")).await;
    running.is_empty().await;
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn a_size_whose_vm_never_joined_is_left_alone_by_a_controller_that_starts_anew() {
    let mut running = Running::with("", "auto", (0, "60")).await;
    let faults = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedFaults",
        "spec": {"faults": [{"kind": "NeverJoins", "times": 1}]}});
    assert_eq!(running.program.own("POST", "/sim/faults", &faults).await.1, json!({"added": 1}));
    running.scale(5).await;
    running.runs(5).await;
    let held = async |running: &Running| {
        let holds = running.fleet().await["status"]["holds"].clone();
        let holds = holds.as_array().into_iter().flatten();
        holds.filter(|hold| hold["because"].to_string().contains("did not join")).cloned().collect::<Vec<_>>()
    };
    let before = held(&running).await;
    assert_eq!(before.len(), 1, "{}", running.said());
    running.terminated().await;
    // Its plan has ended and its NodeClaim has another VM: only the ledger says it.
    running.program.patch(&format!("{FLEET}/status"), &json!({"status": {"holds": []}})).await;
    running.controller = controller(&running.program, running.folder.path());
    running.program.wait(async || !held(&running).await.is_empty()).await;
    let after = held(&running).await;
    assert_eq!(after[0]["node"], before[0]["node"]);
    running.terminated().await;
    running.judged();
}

#[tokio::test]
async fn a_faulty_pool_beside_a_good_one_is_said_and_stops_nothing_else() {
    let faulty = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: faulty}\nspec: {template: {spec: {\
                  requirements: [{key: kubernetes.io/arch, operator: Sometimes, values: [amd64]}], \
                  nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}}}}\n";
    let mut running = Running::with(faulty, "auto", (5, "20")).await;
    running.runs(5).await;
    let said = "NodePool/faulty: `spec.template.spec.requirements[0].operator`";
    running.program.wait(async || running.fleet().await["status"]["stops"].to_string().contains(said)).await;
    let path = format!("{POOLS}/faulty");
    assert_eq!(running.program.kube("DELETE", &path, &Value::Null).await.0, 200);
    running.program.wait(async || running.fleet().await["status"]["stops"] == json!([])).await;
    running.terminated().await;
}

#[tokio::test]
async fn beside_another_holder_of_the_lease_it_observes_and_goes_on_once_the_lease_is_free() {
    const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    let fleet = "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {name: demo}\nspec: {mode: auto}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record.jsonl").display().to_string();
    let program = Program::of(&format!("{WORLD}{fleet}"), &["--speed", "20", "--record", &record]).await;
    let spec = |holder: &str| {
        let now = nodeform::cluster::lease::micro_time(jiff::Timestamp::now());
        json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "acquireTime": now, "renewTime": now})
    };
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "karpenter-leader-election", "namespace": "kube-system"}, "spec": spec("karpenter-5c-x_1"),
    });
    assert_eq!(program.kube("POST", LEASES, &lease).await.0, 201);
    let path = format!("{LEASES}/karpenter-leader-election");
    let controller = controller(&program, folder.path());
    let mut running = Running { program, controller, folder };
    let renews = async {
        loop {
            let patch = json!({"spec": spec("karpenter-5c-x_1")});
            assert_eq!(running.program.patch(&path, &patch).await.0, 200);
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
    };
    let is_said = running.program.wait(async || {
        let status = running.fleet().await["status"].clone();
        let stops = status["stops"].to_string();
        let stalled = status["conditions"].as_array().into_iter().flatten();
        let mut stalled =
            stalled.filter(|condition| condition["type"] == "Stalled" && condition["status"] == "True");
        status["mode"] == "observe"
            && stalled.next().is_some()
            && stops.contains("`karpenter-5c-x_1` holds Lease `kube-system/karpenter-leader-election`")
    });
    tokio::select! {
        () = renews => {}
        () = is_said => {}
    }
    assert!(running.claims().await.is_empty(), "{}", running.said());
    assert_eq!(running.program.patch(&path, &json!({"spec": {"holderIdentity": ""}})).await.0, 200);
    running.runs(5).await;
    running.program.wait(async || running.fleet().await["status"]["stops"] == json!([])).await;
    running.terminated().await;
}
