//! Measures a live cluster of a thousand nodes: reading it from a simulator on loopback, carrying out a plan for a thousand
//! nodes in memory, proposing one with three hundred removals and comparing it with a fresh one, and the demo as a newcomer
//! sees it.
//!
//! Nothing is asserted about time. Names of figures as arguments leave out the others.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures, and says what it measured"
)]

mod asked;
#[path = "../tests/live/review/forge.rs"]
#[expect(dead_code, reason = "stories of reviews use more of it")]
mod forge;
mod rows;

use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use nodeform::azure_sim::{Delivery, InMemory};
use nodeform::catalog::Catalog;
use nodeform::launch::Materials;
use nodeform::model::Region;
use nodeform::offline::{self, Request};
use nodeform::plan::file;
use nodeform::review::covers::covers;
use nodeform::review::{Now, Terms, approve};
use nodeform::rollout::Event;
use nodeform::sim::{Start, World, WorldDocuments};
use serde_json::{Value, json};

use asked::Asked;
use rows::Rows;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often the cluster is read; the median counts.
const RUNS: usize = 3;

const NODES: usize = 1_000;
const PODS: usize = 10_000;

/// How many of the nodes carry pods where the others are to go.
const BUSY: usize = 700;

/// The UID of the cluster's namespace `kube-system`, by which VMs are known as this cluster's.
const CLUSTER: &str = "22222222-3333-4444-8555-666666666666";

/// How a world in memory answers.
const AT_ONCE: Delivery = Delivery::Answered(Duration::ZERO);

/// When the world in memory begins.
const START: Timestamp = Timestamp::constant(1_767_603_600, 0);

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("machine: {cores} cores, {}", rows::processor());
    let asked = Asked::of_arguments();
    let mut figures = Rows::default();
    if asked.has("observe_1000_seconds") {
        observe(&mut figures);
    }
    if asked.has("apply_1000_cpu_seconds") {
        apply(&mut figures);
    }
    if asked.has("propose_seconds") || asked.has("covers_seconds") {
        propose(&mut figures);
    }
    if asked.has("demo_seconds") {
        let start = Instant::now();
        let demo = Command::new(env!("CARGO_BIN_EXE_nodeform")).arg("demo").stdout(Stdio::null()).status();
        assert!(demo.is_ok_and(|status| status.success()), "the demo comes to its end");
        figures.add("demo_seconds", start.elapsed().as_secs_f64(), "s");
    }
    figures.write(root);
}

/// A simulator that goes on until it is dropped.
struct Simulator {
    child: Child,
    variables: Vec<(String, String)>,
}

impl Simulator {
    /// Writes a world into a folder and starts it.
    fn of(folder: &Path, documents: &[Value]) -> Self {
        fs::create_dir_all(folder).expect("the target folder takes folders");
        let text: String = documents.iter().map(|document| format!("---\n{document}\n")).collect();
        fs::write(folder.join("world.yaml"), text).expect("the world can be written");
        Self::start(folder)
    }

    /// Runs nodeform on its cluster, which succeeds, and returns how long it took.
    fn nodeform(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Duration {
        let start = Instant::now();
        let ran = Command::new(env!("CARGO_BIN_EXE_nodeform"))
            .args(arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs(variables.iter().copied())
            .output()
            .expect("the program starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        start.elapsed()
    }

    fn start(world: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_nodeform-azure-sim"))
            .arg("--world")
            .arg(world)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the simulator starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it is read");
        let announced: Value = serde_json::from_str(&line).expect("it announces itself");
        let variables = announced["env"].as_object().expect("variables").iter();
        let variables =
            variables.map(|(name, value)| (name.clone(), value.as_str().expect("text").to_owned()));
        Self { variables: variables.collect(), child }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Reads a cluster of a thousand VMs and ten thousand pods, and saves what was seen.
fn observe(figures: &mut Rows) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench-live");
    let simulator = Simulator::of(&folder.join("world"), &running_cluster(NODES));
    let file = folder.join("snapshot.json");
    let mut runs: Vec<(Duration, u64)> = (0..RUNS).map(|_| read(&simulator, &file)).collect();
    let saved: Value =
        serde_json::from_slice(&fs::read(&file).expect("it was saved")).expect("a snapshot is JSON");
    let vms = saved["azure"]["vms"].as_array().map_or(0, Vec::len);
    assert_eq!(vms, NODES, "every VM was seen");
    runs.sort();
    let (time, _) = runs[RUNS / 2];
    let peak = runs.iter().map(|(_, kib)| *kib).max().unwrap_or_default();
    figures.add("observe_1000_seconds", time.as_secs_f64(), "s");
    #[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
    figures.add("observe_1000_peak_mib", peak as f64 / 1024.0, "MiB");
}

/// Reads a cluster once: how long it took, and the most memory it held, as the kernel counts it. What comes in the last
/// two milliseconds may be missed.
fn read(simulator: &Simulator, file: &Path) -> (Duration, u64) {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_nodeform"))
        .args(["snapshot", "--live", "--out"])
        .arg(file)
        .envs(simulator.variables.iter().map(|(name, value)| (name, value)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let facts = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let status = loop {
        let text = fs::read_to_string(&facts).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        if let Some(status) = child.try_wait().expect("the program is ours") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "the cluster can be read");
    (start.elapsed(), peak)
}

/// Carries out a plan for a thousand nodes in memory: rollout and simulator together.
fn apply(figures: &mut Rows) {
    let documents = vec![settings(), node_pool(), node_class(), deployment()];
    let WorldDocuments { settings, faults, manifests } =
        WorldDocuments::read(documents).expect("the world is right");
    let skus = Catalog::embedded(&Region::new(&settings.location)).expect("the region is known").skus();
    let start = Start { settings, skus, manifests, faults, time: START, ..Start::default() };
    let mut world = World::new(start).expect("the world is right");
    let mut now = START + SignedDuration::from_secs(60);
    world.advance(now);
    let at = now;
    let seen = InMemory::work(&mut world, &mut now, async |memory| memory.line(|_| AT_ONCE).observe().await);
    let seen = seen.expect("a runtime").expect("the world can be read");
    let laid = seen.laid(Request::default(), at).expect("its objects are right");
    let laid = offline::world(Request { laid: Some(laid), ..Request::default() }).expect("it can be planned");
    let planned = offline::plan(&laid).expect("the judge agrees");
    let begun = BTreeSet::new();
    let seen = Now { snapshot: &laid.snapshot, policy: &laid.policy, begun: &begun };
    let plan = Arc::new(approve(planned.plan, seen, Terms::default()).expect("nothing stands in the way"));
    let nodes = plan.spec().changes.len();
    assert_eq!(nodes, NODES, "a node for each pod");
    let materials = Materials::of((&laid.snapshot, &laid.policy), plan.spec());
    let mut writes = 0_usize;
    let before = cpu_seconds();
    let ended = InMemory::work(&mut world, &mut now, async |memory| {
        let driver = memory.line(|_| AT_ONCE).driver(&plan, materials).await.expect("it can begin");
        driver
            .run(|event| writes += usize::from(matches!(event, Event::Began(action) if action.is_of_azure())))
            .await
    });
    let after = cpu_seconds();
    assert!(ended.expect("a runtime").is_so(), "the plan comes to its end");
    #[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
    {
        figures.add("apply_1000_writes_per_node", writes as f64 / nodes as f64, "");
        figures.add("apply_1000_cpu_seconds", after - before, "s");
    }
}

/// Proposes a plan that was saved: its files are written, committed and pushed to a Git server on loopback.
fn propose(figures: &mut Rows) {
    let folder = tempfile::tempdir().expect("a folder");
    let simulator = Simulator::of(&folder.path().join("world"), &running_cluster(BUSY));
    let plan = folder.path().join("plan.json").display().to_string();
    simulator.nodeform(&["plan", "--live", "--out", &plan], &[]);
    let saved: Value =
        serde_json::from_slice(&fs::read(&plan).expect("it was saved")).expect("a plan is JSON");
    assert_eq!(saved["summary"]["destroy"], NODES - BUSY, "what carries no pods goes: {}", saved["summary"]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut runs: Vec<Duration> = (0..RUNS)
        .map(|run| {
            let forge = runtime.block_on(forge::Forge::start());
            let cache = folder.path().join(format!("cache-{run}")).display().to_string();
            let variables = [("XDG_CACHE_HOME", cache.as_str()), ("NODEFORM_GIT_TOKEN", forge::TOKEN)];
            let repository = ["--git-repository", &forge.url(), "--allow-http"];
            let took = simulator.nodeform(&[&["propose", &plan][..], &repository].concat(), &variables);
            assert!(forge.branches().contains("nodeform/"), "{}", forge.branches());
            took
        })
        .collect();
    runs.sort();
    figures.add("propose_seconds", runs[RUNS / 2].as_secs_f64(), "s");
    compare(&plan, figures);
}

/// Compares a saved plan with itself, as whoever applies compares an approved one with a fresh one: all of it is kept.
fn compare(plan: &str, figures: &mut Rows) {
    let plan = file::read(&fs::read_to_string(plan).expect("it was saved")).expect("it is a plan");
    let mut runs: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let covered = covers(black_box(&plan), black_box(&plan));
            let took = start.elapsed();
            let kept = covered.approved.values().filter(|fate| fate.kept().is_some()).count();
            assert_eq!(kept, NODES - BUSY, "each removal is covered");
            took
        })
        .collect();
    runs.sort();
    figures.add("covers_seconds", runs[RUNS / 2].as_secs_f64(), "s");
}

/// The processor time of this process, as the kernel counts it: in hundredths of a second.
fn cpu_seconds() -> f64 {
    let facts = fs::read_to_string("/proc/self/stat").expect("Linux says it");
    // The name of the program stands in brackets and may hold blanks.
    let fields: Vec<&str> = facts.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks: u32 = fields[11..13].iter().map(|ticks| ticks.parse::<u32>().expect("a number")).sum();
    #[expect(clippy::float_arithmetic, reason = "figures for people")]
    let seconds = f64::from(ticks) / 100.0;
    seconds
}

fn settings() -> Value {
    json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedAzure",
        "spec": {"location": "westeurope", "familyQuota": 100_000, "quotas": {"cores": 100_000}}})
}

fn node_pool() -> Value {
    let only = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {"template": {"spec": {"expireAfter": "Never", "requirements": [
                only("node.kubernetes.io/instance-type", "Standard_D4s_v5"), only("karpenter.sh/capacity-type", "on-demand"),
                only("kubernetes.io/arch", "amd64"), only("kubernetes.io/os", "linux"),
            ], "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}}},
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "0s"}}})
}

fn node_class() -> Value {
    json!({"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", "metadata": {"name": "default"},
        "spec": {"imageFamily": "Ubuntu"}})
}

/// A thousand pods, each of which fills a node of its own.
fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": NODES, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "x", "resources": {"requests": {"cpu": "3"}}}]}}}})
}

/// Nodes that stand on VMs, their NodeClaims, and pods on the first of them.
fn running_cluster(busy: usize) -> Vec<Value> {
    let system =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": CLUSTER}});
    let mut documents = vec![settings(), system, node_pool(), node_class()];
    for number in 0..NODES {
        let (node, claim) = node_and_claim(number);
        documents.extend([node, claim]);
    }
    documents.extend((0..PODS).map(|number| {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("web-{number}"), "namespace": "default", "labels": {"app": "web"}},
            "spec": {"nodeName": name(number % busy), "containers": [{"name": "web", "image": "x",
                "env": [{"name": "HOME", "value": "/"}], "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
    }));
    documents
}

fn name(number: usize) -> String {
    format!("aks-general-{number:04}")
}

fn node_and_claim(number: usize) -> (Value, Value) {
    let provider = format!(
        "azure:///subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/mc_rg-demo_demo_westeurope/providers/Microsoft.Compute/virtualMachines/{}",
        name(number)
    );
    let labels = json!({
        "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "karpenter.sh/nodepool": "general",
        "karpenter.sh/capacity-type": "on-demand", "node.kubernetes.io/instance-type": "Standard_D4s_v5",
        "topology.kubernetes.io/region": "westeurope", "topology.kubernetes.io/zone": format!("westeurope-{}", 1 + number % 3),
        "kubernetes.io/hostname": name(number), "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
    });
    let room = json!({"cpu": "3860m", "memory": "12Gi", "pods": "110", "ephemeral-storage": "111G"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name(number), "labels": labels},
        "spec": {"providerID": provider}, "status": {"capacity": room, "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}]}});
    let claim = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": format!("general-{number:04}"), "labels": labels,
            "annotations": {"nodeform.dev/cluster": CLUSTER}},
        "spec": {"requirements": [], "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
        "status": {"providerID": provider, "nodeName": name(number)}});
    (node, claim)
}
