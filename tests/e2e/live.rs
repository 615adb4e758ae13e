//! nodeform against a real API server and kube-scheduler, with a simulated Azure whose kubelets join that cluster: by hand
//! with `plan --live` and `apply`, then by the controller. Nothing is left over.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::binary;
use super::control_plane::ControlPlane;
use super::http::Api;

const WORLD: &str = include_str!("../live/world.yaml");
const PODS: &str = "/api/v1/namespaces/default/pods";
const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// How long anything may take, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(300);

/// A cluster, a cloud, and what nodeform needs to know of both.
struct Story {
    plane: ControlPlane,
    simulator: Child,
    announcement: Value,
    folder: tempfile::TempDir,
}

impl Story {
    fn begin(program: &Path) -> Self {
        let plane = ControlPlane::start(program);
        install(plane.api());
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("world")).expect("a folder");
        let settings =
            "apiVersion: nodeform.dev/v1alpha1\nkind: SimulatedAzure\nspec: {location: westeurope}\n";
        fs::write(path("world/azure.yaml"), settings).expect("it can be written");
        fs::write(path("kubeconfig"), plane.kubeconfig()).expect("it can be written");
        let mut simulator = Command::new(env!("CARGO_BIN_EXE_nodeform-azure-sim"))
            .args(["--speed", "20", "--world"])
            .arg(path("world"))
            .arg("--kubeconfig")
            .arg(path("kubeconfig"))
            .arg("--record")
            .arg(path("record.jsonl"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let output = simulator.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("the program announces itself");
        let announcement = serde_json::from_str(&line).expect("JSON");
        Self { plane, simulator, announcement, folder }
    }

    fn api(&self) -> &Api {
        self.plane.api()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
        command.args(arguments).env("XDG_STATE_HOME", self.folder.path()).env("NO_COLOR", "1");
        let variables = self.announcement["env"].as_object().expect("variables");
        command.envs(variables.iter().map(|(name, value)| (name, value.as_str().expect("text"))));
        command
    }

    /// Runs a command that is to succeed; returns what it printed.
    fn done(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(arguments).output().expect("it starts");
        let (printed, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{arguments:?}\n{printed}\n{said}");
        printed.into_owned()
    }

    fn items(&self, path: &str) -> Vec<Value> {
        self.api().get(path)["items"].as_array().cloned().unwrap_or_default()
    }

    /// Makes pods that ask for a core each.
    fn scale_up(&self, pods: usize) {
        for number in 0..pods {
            let pod = json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("inflate-{number}")},
                "spec": {"terminationGracePeriodSeconds": 0, "containers": [{
                    "name": "pause", "image": "mcr.microsoft.com/oss/kubernetes/pause:3.6",
                    "resources": {"requests": {"cpu": "1"}},
                }]},
            });
            let answer = self.api().create(PODS, &pod);
            assert!(answer.is_done(), "{}", answer.why());
        }
    }

    fn scale_down(&self) {
        self.api().delete_all(PODS);
        self.wait("no pod is left", || self.items(PODS).is_empty());
    }

    /// Waits until kube-scheduler has looked at every pod.
    fn waits_for_nodes(&self, pods: usize) {
        let unschedulable = |pod: &Value| {
            let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
            conditions.into_iter().any(|condition| condition["reason"] == "Unschedulable")
        };
        self.wait("pods are Unschedulable", || {
            self.items(PODS).iter().filter(|pod| unschedulable(pod)).count() == pods
        });
    }

    fn runs(&self, pods: usize) {
        self.wait("pods run", || {
            self.items(PODS).iter().filter(|pod| pod["status"]["phase"] == "Running").count() == pods
        });
    }

    fn wait(&self, what: &str, holds: impl Fn() -> bool) {
        let started = Instant::now();
        while !holds() {
            assert!(started.elapsed() < PATIENCE, "never: {what}\n{:#}", self.everything());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The names of what there is.
    fn everything(&self) -> Value {
        let names = |items: Vec<Value>| -> Vec<String> {
            items
                .iter()
                .map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned())
                .collect()
        };
        let state = self.state();
        let of_azure = |list: &str| -> Vec<String> {
            let items = state[list].as_array().into_iter().flatten();
            items.filter_map(|item| item["name"].as_str()).map(str::to_owned).collect()
        };
        json!({
            "nodes": names(self.items("/api/v1/nodes")), "claims": names(self.items(CLAIMS)), "pods": names(self.items(PODS)),
            "vms": of_azure("virtualMachines"), "nics": of_azure("networkInterfaces"), "disks": of_azure("disks"),
        })
    }

    /// The simulator's own account.
    fn state(&self) -> Value {
        let environment = self.announcement["environmentFile"].as_str().expect("a path");
        let environment: Value =
            serde_json::from_str(&fs::read_to_string(environment).expect("it is there")).expect("JSON");
        let url = environment["resourceManagerEndpoint"].as_str().expect("a URL");
        let output = Command::new("curl")
            .args(["-sS", "--fail", "--cacert", environment["caFile"].as_str().expect("a path")])
            .arg(format!("{url}sim/state"))
            .output()
            .expect("curl is there");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn only_the_system_node_is_left(&self) {
        let system = json!(["aks-system-12345678-vmss000000"]);
        let left = json!({"nodes": system, "claims": [], "pods": [], "vms": [], "nics": [], "disks": []});
        self.wait("nothing is left over", || self.everything() == left);
    }

    fn judge_exchanges(&self) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/arm-specs/validate_arm.py");
        if !script.exists() {
            assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "{} is required", script.display());
            return;
        }
        let record = self.folder.path().join("record.jsonl");
        let output = Command::new("python3").arg(script).arg("--warnings").arg(record).output();
        let output = output.expect("python3 runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

impl Drop for Story {
    fn drop(&mut self) {
        let _ = self.simulator.kill();
        let _ = self.simulator.wait();
    }
}

/// A process that ends with the value.
struct Running(Child, PathBuf);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        if thread::panicking() {
            // Written to the stream itself: the log is for whoever reads why the test failed.
            let _ = io::stderr().write_all(&fs::read(&self.1).unwrap_or_default());
        }
    }
}

/// Installs the kinds, and what of the world is no workload.
fn install(api: &Api) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
    for file in fs::read_dir(folder).expect("it is there") {
        let text = fs::read_to_string(file.expect("it can be listed").path()).expect("it can be read");
        let kind: Value = serde_yaml::from_str(&text).expect("YAML");
        let answer = api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &kind);
        assert!(answer.is_done(), "{}", answer.why());
    }
    let served = [
        "/apis/karpenter.sh/v1/nodepools",
        "/apis/karpenter.azure.com/v1beta1/aksnodeclasses",
        CLAIMS,
        "/apis/nodeform.dev/v1alpha1/nodeplans",
        "/apis/nodeform.dev/v1alpha1/nodefleets",
    ];
    let started = Instant::now();
    while !served.iter().all(|path| api.ask("GET", path, None).is_ok_and(|answer| answer.is_done())) {
        assert!(started.elapsed() < PATIENCE, "the kinds are served");
        thread::sleep(Duration::from_millis(50));
    }
    for document in serde_yaml::Deserializer::from_str(WORLD) {
        let object: Value = serde::Deserialize::deserialize(document).expect("YAML");
        let list = match object["kind"].as_str().expect("a kind") {
            "Node" => "/api/v1/nodes",
            "NodePool" => "/apis/karpenter.sh/v1/nodepools",
            "AKSNodeClass" => "/apis/karpenter.azure.com/v1beta1/aksnodeclasses",
            _ => continue,
        };
        let answer = api.create(list, &object);
        assert!(answer.is_done(), "{}", answer.why());
        if list == "/api/v1/nodes" {
            let name = object["metadata"]["name"].as_str().expect("a name");
            api.merge(&format!("{list}/{name}/status"), &json!({"status": object["status"]}));
        }
    }
}

#[test]
fn nodes_come_and_go_in_a_real_cluster_by_hand_and_by_themselves() {
    let Some(program) = binary::built() else { return };
    let story = Story::begin(&program);

    story.scale_up(5);
    story.waits_for_nodes(5);
    let plan = story.folder.path().join("plan.json").display().to_string();
    let printed = story.done(&["plan", "--live", "--out", &plan]);
    assert!(printed.contains("Plan: 1 to add, 0 to change, 0 to destroy."), "{printed}");
    let printed = story.done(&["apply", &plan]);
    assert!(printed.ends_with("\nApply complete! Nodes: 1 added, 0 destroyed, 0 not done.\n"), "{printed}");
    story.runs(5);
    let printed = story.done(&["plan", "--live"]);
    assert!(printed.starts_with("No changes."), "{printed}");
    story.scale_down();
    story.done(&["apply", "--auto-approve"]);
    story.only_the_system_node_is_left();

    let fleet = json!({
        "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "main"}, "spec": {"mode": "auto"},
    });
    let answer = story.api().create("/apis/nodeform.dev/v1alpha1/nodefleets", &fleet);
    assert!(answer.is_done(), "{}", answer.why());
    let log = story.folder.path().join("controller.log");
    let output = fs::File::create(&log).expect("it can be written");
    let controller = story
        .command(&["controller", "--metrics-port", "0", "--health-probe-port", "0"])
        .stdout(output.try_clone().expect("a file has two handles"))
        .stderr(output)
        .spawn()
        .expect("it starts");
    let controller = Running(controller, log);
    story.scale_up(5);
    story.runs(5);
    let claims = story.items(CLAIMS);
    assert_eq!(claims.len(), 1, "{claims:#?}");
    story.scale_down();
    story.only_the_system_node_is_left();
    drop(controller);
    story.judge_exchanges();
}
