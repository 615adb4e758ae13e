//! A controller in a world in memory: the real reader, executor and loop, in time that jumps to whatever happens next.
//!
//! A story is `#[tokio::test(start_paused = true)]`: `Story::of("auto", 5).await` starts a world with a controller in it,
//! `kube`, `patch` and `own` do what a person does, `wait` and `runs` let time go by until something is so, and
//! `tokio::time::sleep` lets it go by anyhow. `story.process().line.deliver(…)` says what becomes of the controller's requests:
//! late, cut, unanswered, swallowed. Nothing may wait for a real clock, a socket or a process: time stands still meanwhile.

mod approvals;
mod causes;
mod deadlines;
mod lies;
mod owned;
mod refused;
mod stories;
mod winding;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use nodeform::apply::Stop;
use nodeform::azure_sim::{Delivery, InMemory, Line, named};
use nodeform::catalog::Catalog;
use nodeform::controller::{Controller, Health, Metrics, Repository, run};
use nodeform::model::Region;
use nodeform::offline::Catalogs;
use nodeform::sim::{Request, Response, Start, World, WorldDocuments};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;

const WORLD: &str = include_str!("../world.yaml");
const INFLATE: &str = "/apis/apps/v1/namespaces/default/deployments/inflate";
pub(crate) const FLEET: &str = "/apis/nodeform.dev/v1alpha1/nodefleets/demo";
pub(crate) const POOLS: &str = "/apis/karpenter.sh/v1/nodepools";
pub(crate) const CLASS: &str = "/apis/karpenter.azure.com/v1beta1/aksnodeclasses/default";
pub(crate) const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// What is sold in a world: a round over few sizes is planned in a tenth of the time.
const SIZES: [&str; 8] = [
    "Standard_D2s_v5",
    "Standard_D4s_v5",
    "Standard_D8s_v5",
    "Standard_D16s_v5",
    "Standard_D8s_v3",
    "Standard_D8as_v5",
    "Standard_D8ls_v5",
    "Standard_D8ds_v5",
];

/// When every world begins.
const START: &str = "2026-01-05T09:00:00Z";

/// How long an answer takes.
pub(crate) const PROMPT: Delivery = Delivery::Answered(Duration::from_millis(20));

/// How long anything may take, of the world's clock.
const PATIENCE: Duration = Duration::from_secs(2 * 3_600);

/// A world, and a controller in it.
pub(crate) struct Story {
    pub(crate) world: InMemory,
    catalogs: Catalogs,
    process: Option<Process>,
    started: usize,
    said: Said,
    folder: tempfile::TempDir,
    _hears: DefaultGuard,
}

/// A process that is a controller.
pub(crate) struct Process {
    /// Its way to the world.
    pub(crate) line: Line,
    pub(crate) health: Arc<Health>,
    pub(crate) metrics: Arc<Metrics>,
    stop: Stop,
    running: JoinHandle<()>,
}

/// What was logged.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics here").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Story {
    /// Starts both, with this mode and number of pods.
    pub(crate) async fn of(mode: &str, replicas: usize) -> Self {
        Self::with("", mode, replicas).await
    }

    /// The same with more documents.
    pub(crate) async fn with(more: &str, mode: &str, replicas: usize) -> Self {
        let world = WORLD.replace("replicas: 5", &format!("replicas: {replicas}")) + more;
        Self::of_world(&world, mode).await
    }

    /// The same of another world.
    pub(crate) async fn of_world(documents: &str, mode: &str) -> Self {
        let mut story = Self::without_controller(documents, mode).await;
        story.starts();
        story
    }

    /// A world in which nothing is done yet.
    pub(crate) async fn without_controller(documents: &str, mode: &str) -> Self {
        let fleet = format!(
            "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: demo}}\nspec: {{mode: {mode}}}\n"
        );
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&format!("{documents}{fleet}")).expect("they are YAML");
        let WorldDocuments { settings, faults, manifests } =
            WorldDocuments::read(documents).expect("they describe a world");
        let catalog = Catalog::embedded(&Region::new(&settings.location)).expect("the region is known");
        let mut skus = catalog.skus();
        skus.retain(|sku| SIZES.iter().any(|name| sku["name"] == *name));
        let sold = json!({"value": skus}).to_string();
        let catalogs = Catalogs::from(vec![("skus.json".to_owned(), sold)]);
        let time: Timestamp = START.parse().expect("a time");
        let start = Start { settings, skus, manifests, faults, time, ..Start::default() };
        let folder = tempfile::tempdir().expect("a folder");
        let world = World::new(start).expect("it is valid");
        let record = folder.path().join("record.jsonl");
        let world = InMemory::of(world, time, Some(&record)).expect("the file can be made");
        let said = Said::default();
        let writer = said.clone();
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
        let heard = Targets::new().with_target("nodeform", tracing::Level::INFO);
        let hears = tracing::subscriber::set_default(tracing_subscriber::registry().with(heard).with(layer));
        Self { world, catalogs, process: None, started: 0, said, folder, _hears: hears }
    }

    /// Starts a controller, beside those that run already.
    pub(crate) fn starts(&mut self) {
        let line = self.world.line(|_| PROMPT);
        let (cluster, azure) = (line.cluster().expect("a cluster"), line.azure().expect("Azure"));
        let named = self.world.seen(|world| named(world.settings()));
        self.started += 1;
        let (health, stop): (Arc<Health>, Stop) = (Arc::default(), Stop::default());
        let metrics = Arc::<Metrics>::default();
        let controller = Controller {
            cluster,
            azure,
            named,
            catalogs: self.catalogs.clone(),
            repository: Repository::default(),
            identity: format!("here_nodeform-{}-0", self.started),
            metrics: Arc::clone(&metrics),
            health: Arc::clone(&health),
            stop: stop.clone(),
        };
        let running = tokio::spawn(async move { run(&controller).await });
        self.process = Some(Process { line, health, metrics, stop, running });
    }

    /// The controller that was started last.
    pub(crate) fn process(&self) -> &Process {
        self.process.as_ref().expect("it was started")
    }

    /// How often the controller has planned.
    pub(crate) fn plans(&self) -> u64 {
        let text = self.process().metrics.text();
        let mut lines =
            text.lines().filter_map(|line| line.strip_prefix("nodeform_plan_duration_seconds_count "));
        lines.next().and_then(|count| count.parse().ok()).expect("a count")
    }

    /// Ends the controller as `kill -9` does: nothing that it still does reaches anybody.
    pub(crate) fn killed(&mut self) {
        let process = self.process.take().expect("it was started");
        process.line.deliver(|_| Delivery::Swallowed);
        process.running.abort();
    }

    /// Has the controller end in order.
    pub(crate) async fn terminated(&mut self) {
        let process = self.process.take().expect("it was started");
        process.stop.ask();
        process.running.await.expect("it ends without a panic");
    }

    /// What the controllers have logged.
    pub(crate) fn said(&self) -> String {
        String::from_utf8(self.said.0.lock().expect("nobody panics here").clone()).expect("UTF-8")
    }

    fn sent(&self, request: &Request) -> (u16, Value) {
        match self.world.request(request) {
            Response::Answer(answer) => (answer.status, answer.value()),
            other @ (Response::Lost | Response::Silent | Response::Late(..) | Response::Watch(_)) => {
                panic!("{request:?}: {other:?}")
            }
        }
    }

    fn asks_cluster(&self, method: &str, target: &str, (kind, body): (&str, &Value)) -> (u16, Value) {
        let token = self.world.seen(|world| world.credentials().cluster_token.reveal().to_owned());
        let request = Request::new(method, target).header("authorization", &format!("Bearer {token}"));
        self.sent(&if body.is_null() { request } else { request.json(body).header("content-type", kind) })
    }

    /// Asks the API server, as a person would.
    pub(crate) fn kube(&self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        self.asks_cluster(method, target, ("application/json", body))
    }

    pub(crate) fn patch(&self, target: &str, body: &Value) -> (u16, Value) {
        self.asks_cluster("PATCH", target, ("application/merge-patch+json", body))
    }

    /// Asks Azure, as a person with every right would.
    pub(crate) fn arm(&self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let (form, tenant) = self.world.seen(|world| {
            let (settings, secret) = (world.settings(), world.credentials().client_secret.reveal());
            let form = format!(
                "grant_type=client_credentials&client_id={}&client_secret={secret}\
                 &scope=https%3A%2F%2Fmanagement.azure.com%2F.default",
                settings.client
            );
            (form, settings.tenant.clone())
        });
        let mut request = Request::new("POST", &format!("/{tenant}/oauth2/v2.0/token"));
        request.body = form.into_bytes();
        let (_, token) = self.sent(&request);
        let token = token["access_token"].as_str().expect("a token").to_owned();
        let request = Request::new(method, target)
            .header("authorization", &format!("Bearer {token}"))
            .header("host", "127.0.0.1:8443");
        self.sent(&if body.is_null() { request } else { request.json(body) })
    }

    /// Removes an object as who forces it: its finalizers first.
    pub(crate) fn forced_away(&self, path: &str) {
        self.patch(path, &json!({"metadata": {"finalizers": null}}));
        self.kube("DELETE", path, &Value::Null);
        self.patch(path, &json!({"metadata": {"finalizers": null}}));
    }

    /// The names of VMs.
    pub(crate) fn vms(&self) -> Vec<String> {
        let state = self.state();
        let vms = state["virtualMachines"].as_array().into_iter().flatten();
        vms.filter_map(|vm| vm["name"].as_str()).map(str::to_owned).collect()
    }

    /// Asks the simulator itself.
    pub(crate) fn own(&self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let request = Request::new(method, target);
        self.sent(&if body.is_null() { request } else { request.json(body) })
    }

    /// Has this fault happen from now on.
    pub(crate) fn fault(&self, fault: &Value) {
        let faults = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedFaults",
            "spec": {"faults": [fault]}});
        assert_eq!(self.own("POST", "/sim/faults", &faults).1, json!({"added": 1}));
    }

    pub(crate) fn state(&self) -> Value {
        self.own("GET", "/sim/state", &Value::Null).1
    }

    pub(crate) fn scale(&self, replicas: usize) {
        let answer = self.patch(INFLATE, &json!({"spec": {"replicas": replicas}}));
        assert_eq!(answer.0, 200, "{}", answer.1);
    }

    pub(crate) fn fleet(&self) -> Value {
        self.kube("GET", FLEET, &Value::Null).1
    }

    pub(crate) fn listed(&self, path: &str) -> Vec<Value> {
        let (_, list) = self.kube("GET", path, &Value::Null);
        list["items"].as_array().cloned().unwrap_or_default()
    }

    pub(crate) fn claims(&self) -> Vec<Value> {
        self.listed(CLAIMS)
    }

    /// Lets time go by until something is so.
    pub(crate) async fn wait(&self, holds: impl Fn() -> bool) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !holds() {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
        if waited.await.is_err() {
            panic!("never came: {:#}\n{}", self.state(), self.said());
        }
    }

    /// Waits until this many of its pods run.
    pub(crate) async fn runs(&self, pods: usize) {
        self.wait(|| running(&self.state()) == pods).await;
    }

    /// Waits until no plan is under way.
    pub(crate) async fn rests(&self) {
        self.wait(|| self.fleet()["status"]["inFlight"] == json!([])).await;
    }

    /// Waits until nothing of a node is left.
    pub(crate) async fn is_empty(&self) {
        self.wait(|| {
            let state = self.state();
            let none = |kind: &str| state[kind].as_array().is_some_and(Vec::is_empty);
            none("virtualMachines") && none("networkInterfaces") && self.claims().is_empty()
        })
        .await;
    }

    /// What is left of a removal that has begun: mark, label and taints.
    pub(crate) fn begun_removal(&self, claim: &Value) -> [Value; 3] {
        let name = claim["metadata"]["name"].as_str().expect("a name");
        let (_, claim) = self.kube("GET", &format!("{CLAIMS}/{name}"), &Value::Null);
        let (_, node) = self.kube("GET", &format!("/api/v1/nodes/aks-{name}"), &Value::Null);
        let labels = &node["metadata"]["labels"];
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        [
            claim["metadata"]["annotations"]["nodeform.dev/removal"].clone(),
            labels["node.kubernetes.io/exclude-from-external-load-balancers"].clone(),
            taints.into_iter().filter(|taint| taint["key"] == "karpenter.sh/disrupted").collect(),
        ]
    }

    /// What Azure was asked, and what it answered.
    pub(crate) fn recorded(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("record.jsonl")).expect("it was written");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Judges what Azure was asked.
    pub(crate) fn judged(&self) {
        crate::specifications::judge(&self.folder.path().join("record.jsonl"));
    }
}

fn running(state: &Value) -> usize {
    let pods = state["pods"].as_array().expect("a list").iter();
    pods.filter(|pod| {
        pod["phase"] == "Running" && pod["name"].as_str().is_some_and(|name| name.contains("inflate"))
    })
    .count()
}

/// The names of NodeClaims.
pub(crate) fn names(claims: &[Value]) -> Vec<String> {
    claims.iter().filter_map(|claim| claim["metadata"]["name"].as_str()).map(str::to_owned).collect()
}
