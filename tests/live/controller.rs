//! The controller as a process over HTTPS: what is served on its ports, what it sends, and what becomes of it when it is
//! killed. All else that it does is told in `memory`, where time jumps.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::process::Child;

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");
const INFLATE: &str = "/apis/apps/v1/namespaces/default/deployments/inflate";
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
        let folder = tempfile::tempdir().expect("a folder");
        let world = WORLD.replace("replicas: 5", &format!("replicas: {replicas}"));
        let fleet = format!(
            "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: demo}}\nspec: {{mode: {mode}}}\n"
        );
        let record = folder.path().join("record.jsonl").display().to_string();
        let program = Program::of(&format!("{world}{fleet}"), &["--speed", "20", "--record", &record]).await;
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
