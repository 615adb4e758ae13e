//! What the stories stand on: a whole control plane, a simulated Azure whose kubelets join it, and nodeform's commands.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::control_plane::{ControlPlane, Parts};
use super::super::http::Api;
use super::audit;

const WORLD: &str = include_str!("../../live/world.yaml");
pub(super) const NODES: &str = "/api/v1/nodes";
pub(super) const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
pub(super) const POOLS: &str = "/apis/karpenter.sh/v1/nodepools";
pub(super) const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// The node that is there from the start.
pub(super) const SYSTEM: &str = "aks-system-12345678-vmss000000";

/// How many times faster than this one Azure's clock goes.
const SPEED: &str = "20";

/// How long anything may take, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often is looked.
pub(super) const LOOK: Duration = Duration::from_millis(200);

/// A cluster, a cloud, and what nodeform needs to know of both.
pub(super) struct Bed {
    pub(super) plane: ControlPlane,
    simulator: Child,
    announcement: Value,
    folder: tempfile::TempDir,
}

impl Bed {
    pub(super) fn new(program: &Path) -> Self {
        let plane = ControlPlane::start(program, Parts::Whole);
        install(plane.api());
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("world")).expect("a folder");
        let settings =
            "apiVersion: nodeform.dev/v1alpha1\nkind: SimulatedAzure\nspec: {location: westeurope}\n";
        fs::write(path("world/azure.yaml"), settings).expect("it can be written");
        fs::write(path("kubeconfig"), plane.kubeconfig()).expect("it can be written");
        let mut simulator = Command::new(env!("CARGO_BIN_EXE_nodeform-azure-sim"))
            .args(["--speed", SPEED, "--world"])
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

    /// A path of the stories' own.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Looks at the cluster and at Azure, from a thread of its own.
    pub(super) fn eyes(&self) -> Eyes {
        Eyes {
            api: self.plane.another_api(),
            environment: PathBuf::from(self.announcement["environmentFile"].as_str().expect("a path")),
            audit_log: self.plane.audit_log(),
        }
    }

    /// A command of nodeform, as an administrator runs it.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
        command.args(arguments).env("XDG_STATE_HOME", self.folder.path()).env("NO_COLOR", "1");
        let variables = self.announcement["env"].as_object().expect("variables");
        command.envs(variables.iter().map(|(name, value)| (name, value.as_str().expect("text"))));
        command
    }

    /// Runs a command that is to succeed; returns what it printed.
    pub(super) fn done(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(arguments).output().expect("it starts");
        let (printed, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{arguments:?}\n{printed}\n{said}");
        printed.into_owned()
    }

    /// The exchanges with Azure so far.
    pub(super) fn recorded(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("record.jsonl")).expect("it was written");
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Judges the exchanges with Azure by its official specifications.
    pub(super) fn judge_exchanges(&self) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/arm-specs/validate_arm.py");
        if !script.exists() {
            assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "{} is required", script.display());
            let absent = format!("skipped: 1 recording is not judged, {} is absent", script.display());
            let _ = writeln!(io::stderr(), "{absent}");
            return;
        }
        let output =
            Command::new("python3").arg(script).arg("--warnings").arg(self.path("record.jsonl")).output();
        let output = output.expect("python3 runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = self.simulator.kill();
        let _ = self.simulator.wait();
    }
}

/// Says how long each part took: for people, nothing is asserted.
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// Says it of a part that ends here; returns its seconds.
    pub(super) fn ends(&mut self, part: &str) -> f64 {
        let seconds = self.0.elapsed().as_secs_f64();
        // Written to the stream itself: what a test that passes prints is not shown.
        let _ = writeln!(io::stderr(), "{:6.1} s  {part}", seconds);
        self.0 = Instant::now();
        seconds
    }
}

/// Looks at the cluster and at Azure.
pub(super) struct Eyes {
    pub(super) api: Api,
    environment: PathBuf,
    audit_log: PathBuf,
}

impl Eyes {
    pub(super) fn items(&self, path: &str) -> Vec<Value> {
        // An API server that is being started again answers nothing.
        let answer = self.api.ask("GET", path, None).ok().filter(super::super::http::Answer::is_done);
        answer.and_then(|answer| answer.body["items"].as_array().cloned()).unwrap_or_default()
    }

    /// Creates an object that nothing speaks against.
    pub(super) fn make(&self, list: &str, object: &Value) {
        let answer = self.api.create(list, object);
        assert!(answer.is_done(), "{list}: {}", answer.why());
    }

    /// Waits until something holds.
    pub(super) fn wait(&self, what: &str, holds: impl Fn() -> bool) {
        let started = Instant::now();
        while !holds() {
            assert!(started.elapsed() < PATIENCE, "never: {what}\n{:#}", self.everything());
            thread::sleep(LOOK);
        }
    }

    /// Waits until the controller has planned so many times more.
    pub(super) fn after_rounds(&self, rounds: usize) {
        let before = audit::readings(&self.audit_log);
        // The first may have begun before.
        self.wait("rounds come and go", || audit::readings(&self.audit_log) > before + rounds);
    }

    /// Sends a request of the simulator's own.
    pub(super) fn own(&self, path: &str, body: Option<&Value>) -> Value {
        let environment: Value =
            serde_json::from_str(&fs::read_to_string(&self.environment).expect("it is there")).expect("JSON");
        let url = environment["resourceManagerEndpoint"].as_str().expect("a URL");
        let mut command = Command::new("curl");
        command.args(["-sS", "--fail", "--cacert", environment["caFile"].as_str().expect("a path")]);
        if let Some(body) = body {
            command.args(["-H", "content-type: application/json", "-d", &body.to_string()]);
        }
        let output = command.arg(format!("{url}{path}")).output().expect("curl is there");
        assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    /// The names of what there is.
    pub(super) fn everything(&self) -> Value {
        let state = self.own("sim/state", None);
        let of_azure = |list: &str| -> Vec<String> {
            let items = state[list].as_array().into_iter().flatten();
            items.filter_map(|item| item["name"].as_str()).map(str::to_owned).collect()
        };
        let of_pods = |pod: &Value| {
            format!("{} on {} ({})", name(pod), pod["spec"]["nodeName"], pod["status"]["phase"])
        };
        let pods: Vec<String> = self.items("/api/v1/pods").iter().map(of_pods).collect();
        json!({
            "nodes": names(&self.items(NODES)), "claims": names(&self.items(CLAIMS)), "pods": pods,
            "vms": of_azure("virtualMachines"), "nics": of_azure("networkInterfaces"), "disks": of_azure("disks"),
            "fleet": self.items(FLEETS).iter().map(|fleet| fleet["status"].clone()).collect::<Vec<Value>>(),
        })
    }

    /// Each VM has one NIC, one disk, one Node and one NodeClaim, and none of these is there without it; nothing is going.
    pub(super) fn is_settled(&self) -> bool {
        let (nodes, claims) = (self.items(NODES), self.items(CLAIMS));
        if claims.len() + 1 != nodes.len() {
            return false;
        }
        let state = self.own("sim/state", None);
        let count = |list: &str| state[list].as_array().map_or(0, Vec::len);
        let vms: Vec<&str> = state["virtualMachines"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|vm| vm["name"].as_str())
            .collect();
        let of_vms = |names: Vec<String>| {
            names.len() == vms.len() && names.iter().all(|name| vms.contains(&name.as_str()))
        };
        let others = nodes.iter().filter(|node| name(node) != SYSTEM).map(name).collect();
        let of_claims = claims.iter().filter_map(|claim| claim["status"]["nodeName"].as_str());
        of_vms(others)
            && of_vms(of_claims.map(str::to_owned).collect())
            && count("networkInterfaces") == vms.len()
            && count("disks") == vms.len()
            && claims.len() == vms.len()
            && nodes.iter().chain(&claims).all(|object| object["metadata"]["deletionTimestamp"].is_null())
    }

    /// Nothing of any node is left, and nothing is in flight.
    pub(super) fn only_the_system_node_is_left(&self) {
        self.wait("nothing is left over", || self.is_settled() && names(&self.items(NODES)) == [SYSTEM]);
    }
}

/// The name of an object.
pub(super) fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// The names of objects.
pub(super) fn names(objects: &[Value]) -> Vec<String> {
    objects.iter().map(name).collect()
}

/// Installs the kinds, the class and the node that is there from the start.
fn install(api: &Api) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
    for file in fs::read_dir(folder).expect("it is there") {
        let text = fs::read_to_string(file.expect("it can be listed").path()).expect("it can be read");
        let kind: Value = serde_yaml::from_str(&text).expect("YAML");
        let answer = api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &kind);
        assert!(answer.is_done(), "{}", answer.why());
    }
    let served = [
        POOLS,
        "/apis/karpenter.azure.com/v1beta1/aksnodeclasses",
        CLAIMS,
        "/apis/nodeform.dev/v1alpha1/nodeplans",
        "/apis/nodeform.dev/v1alpha1/nodeplanchunks",
        FLEETS,
        "/api/v1/namespaces/default/serviceaccounts/default",
        "/api/v1/namespaces/kube-system/serviceaccounts/default",
    ];
    let started = Instant::now();
    while !served.iter().all(|path| api.ask("GET", path, None).is_ok_and(|answer| answer.is_done())) {
        assert!(started.elapsed() < PATIENCE, "the kinds and the service accounts are there");
        thread::sleep(LOOK);
    }
    for document in serde_yaml::Deserializer::from_str(WORLD) {
        let object: Value = serde::Deserialize::deserialize(document).expect("YAML");
        let list = match object["kind"].as_str().expect("a kind") {
            "Node" => NODES,
            "AKSNodeClass" => "/apis/karpenter.azure.com/v1beta1/aksnodeclasses",
            _ => continue,
        };
        let answer = api.create(list, &object);
        assert!(answer.is_done(), "{}", answer.why());
        if list == NODES {
            api.merge(&format!("{list}/{}/status", name(&object)), &json!({"status": object["status"]}));
        }
    }
}
