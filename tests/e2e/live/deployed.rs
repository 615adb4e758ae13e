//! nodeform as its chart installs it: by helm, which waits for its probes, each Pod's process run beside the cluster with that
//! Pod's variables and volumes, and a token of its service account bound to that Pod.

use std::fs;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use super::bed::{Bed, Eyes, FLEETS, LOOK, name};
use super::kubelet::Kubelet;
use super::volumes::Volumes;
use super::way::Way;

/// Where it is installed.
pub(super) const NAMESPACE: &str = "kube-system";
pub(super) const SELECTOR: &str = "labelSelector=app.kubernetes.io%2Finstance%3Dnodeform";

/// Returns helm and kubectl; without them, says what is left out.
pub(super) fn tools() -> Option<[PathBuf; 2]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/kubernetes");
    let tools = ["helm", "kubectl"].map(|tool| folder.join(tool));
    if tools.iter().all(|tool| tool.is_file()) {
        return Some(tools);
    }
    let missing = format!("there is no helm or kubectl in {}: `.ci/tools` puts them there", folder.display());
    assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "{missing}");
    // Written to the stream itself: what a test that passes prints is not shown.
    let _ = writeln!(io::stderr(), "LEFT OUT: the chart in a real cluster: {missing}");
    None
}

/// Has helm install the chart, and upgrade it to another value at once, each time until all its Pods are Ready; returns the
/// processes of those that are left.
pub(super) fn install(bed: &Bed, way: &Way, tools: &[PathBuf; 2]) -> Vec<Controller> {
    let linted = Command::new(&tools[0])
        .args(["lint", "--strict", "charts/nodeform", "charts/nodeform-crd"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("helm starts");
    assert!(linted.status.success(), "{}", String::from_utf8_lossy(&linted.stdout));
    // Strictly, by the API server: fields that it does not know are refused.
    apply(bed, tools, "server");
    let mut kubelet = Kubelet::new(bed, way);
    upgrade(bed, &tools[0], (&mut kubelet, &[]));
    let first = pods(&bed.eyes());
    upgrade(bed, &tools[0], (&mut kubelet, &["--set", "controller.resources.requests.cpu=210m"]));
    while pods(&bed.eyes()).len() > 2 {
        kubelet.look();
        thread::sleep(LOOK);
    }
    let second = pods(&bed.eyes());
    assert!(first.len() == 2 && second.iter().all(|pod| !first.contains(pod)), "{first:?} {second:?}");
    kubelet.into_controllers()
}

/// Has helm upgrade the chart to these values, until all Pods of before are gone and the processes of the new ones run; returns
/// these.
pub(super) fn upgraded(
    bed: &Bed,
    way: &Way,
    helm: &Path,
    (controllers, values): (Vec<Controller>, &[&str]),
) -> Vec<Controller> {
    let before: Vec<String> = controllers.iter().map(|controller| controller.pod.clone()).collect();
    let mut kubelet = Kubelet::of(bed, way, controllers);
    upgrade(bed, helm, (&mut kubelet, values));
    let eyes = bed.eyes();
    while pods(&eyes).iter().any(|pod| before.contains(pod)) {
        kubelet.look();
        thread::sleep(LOOK);
    }
    kubelet.into_controllers()
}

/// The names of the Pods of the chart.
fn pods(eyes: &Eyes) -> Vec<String> {
    eyes.items(&format!("/api/v1/namespaces/{NAMESPACE}/pods?{SELECTOR}")).iter().map(name).collect()
}

/// Runs helm until it has waited for all Pods, whose kubelet goes on meanwhile.
fn upgrade(bed: &Bed, helm: &Path, (kubelet, values): (&mut Kubelet<'_>, &[&str])) {
    let mut helm = Command::new(helm)
        .args(["upgrade", "--install", "--wait", "--timeout", "3m"])
        .args(["nodeform", "charts/nodeform", "--namespace", NAMESPACE, "--kubeconfig"])
        .arg(bed.path("kubeconfig"))
        .args(values)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("helm starts");
    while helm.try_wait().expect("it can be asked").is_none() {
        kubelet.look();
        thread::sleep(LOOK);
    }
    let ended = helm.wait_with_output().expect("it has ended");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}\n{:#}", bed.eyes().everything());
}

/// Has helm render all of the chart and kubectl apply it.
fn apply(bed: &Bed, [helm, kubectl]: &[PathBuf; 2], dry_run: &str) {
    let rendered = Command::new(helm)
        .args(["template", "nodeform", "charts/nodeform", "--namespace", NAMESPACE])
        .args(["--set", "review.enabled=true,review.tokenSecret.name=git"])
        .args(["--set", "proposer.enabled=true,proposer.git.tokenSecret.name=bot"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("helm starts");
    assert!(rendered.status.success(), "{}", String::from_utf8_lossy(&rendered.stderr));
    let file = bed.path("chart.yaml");
    fs::write(&file, &rendered.stdout).expect("it can be written");
    let applied = Command::new(kubectl)
        .arg("--kubeconfig")
        .arg(bed.path("kubeconfig"))
        .args(["apply", "--server-side", "--force-conflicts", "--validate=strict"])
        .args([&*format!("--dry-run={dry_run}"), "-f"])
        .arg(&file)
        .output()
        .expect("kubectl starts");
    let said = String::from_utf8_lossy(&applied.stderr);
    assert!(applied.status.success() && !said.contains("Warning"), "{dry_run}: {said}");
}

/// The process of one Pod.
pub(super) struct Controller {
    pub(super) pod: String,
    /// The port of its probes.
    pub(super) health: u16,
    command: Command,
    child: Option<Child>,
    log: PathBuf,
}

impl Controller {
    /// Prepares the process of a Pod; it is not started.
    pub(super) fn of(bed: &Bed, way: &Way, pod: &Value) -> Self {
        let eyes = bed.eyes();
        let metadata = &pod["metadata"];
        let pod_name = name(pod);
        let kubeconfig = bed.path(&format!("{pod_name}.kubeconfig"));
        let through = format!("https://{}", way.address);
        let text = bed.plane.kubeconfig_through(&token(&eyes, pod), &through);
        fs::write(&kubeconfig, text).expect("it can be written");
        let container = &pod["spec"]["containers"][0];
        let volumes = Volumes::of(bed, pod);
        let arguments = container["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        // A forge on this machine speaks plain HTTP.
        let arguments: Vec<&str> = arguments.chain(["--allow-http"]).collect();
        let mut command = bed.command(&arguments);
        for variable in container["env"].as_array().into_iter().flatten() {
            let field = variable["valueFrom"]["fieldRef"]["fieldPath"].as_str();
            let value = match field {
                Some("metadata.name") => metadata["name"].as_str(),
                Some("metadata.uid") => metadata["uid"].as_str(),
                Some(other) => panic!("the kubelet of this test does not know {other}"),
                None => variable["value"].as_str(),
            };
            let value = volumes.here(value.unwrap_or_default());
            command.env(variable["name"].as_str().expect("a name"), value);
        }
        // Two Pods share one machine here.
        let health = free_port();
        command.env("METRICS_PORT", "0").env("HEALTH_PROBE_PORT", health.to_string());
        command.env("KUBECONFIG", &kubeconfig);
        let log = bed.path(&format!("{pod_name}.log"));
        Self { pod: pod_name, health, command, child: None, log }
    }

    pub(super) fn start(&mut self) {
        let log = fs::File::options().create(true).append(true).open(&self.log).expect("it can be written");
        self.command
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file has two handles"))
            .stderr(log);
        self.child = Some(self.command.spawn().expect("it starts"));
    }

    /// Ends it without a chance to do anything.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Sends it a signal, by name.
    pub(super) fn signal(&self, signal: &str) {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &id]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{signal}");
    }

    /// Ends it in order.
    pub(super) fn terminate(&mut self) {
        self.signal("TERM");
        let ended = self.child.take().expect("it runs").wait().expect("it ends");
        assert!(ended.success(), "{}", self.said());
    }

    pub(super) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            // Written to the stream itself: the log is for whoever reads why the test failed.
            let _ = writeln!(io::stderr(), "{}:\n{}", self.pod, self.said());
        }
    }
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener.local_addr().expect("it listens").port()
}

/// A token of the Pod's service account that is good as long as the Pod is there.
fn token(eyes: &Eyes, pod: &Value) -> String {
    let account = pod["spec"]["serviceAccountName"].as_str().expect("it has one");
    let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]});
    let request = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": 7200, "boundObjectRef": bound},
    });
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token");
    let answer = eyes.api.create(&path, &request);
    answer.body["status"]["token"].as_str().unwrap_or_else(|| panic!("{}", answer.why())).to_owned()
}

/// Sets the mode of the one NodeFleet, which is made where it is not there.
pub(super) fn set_mode(eyes: &Eyes, mode: &str) {
    let path = format!("{FLEETS}/main");
    if eyes.api.ask("GET", &path, None).is_ok_and(|answer| answer.is_done()) {
        eyes.api.merge(&path, &json!({"spec": {"mode": mode}}));
    } else {
        let fleet = json!({
            "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "main"}, "spec": {"mode": mode},
        });
        eyes.make(FLEETS, &fleet);
    }
}
