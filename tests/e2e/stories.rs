//! The worlds that are tried: every example, every world of `fixtures/worlds`, and the recorded ones with pools,
//! spreading, affinity, volumes and nodes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nodeform::manifests::Source;
use nodeform::model::{NodeSelector, Region};
use nodeform::offline::{self, Laid, Request};
use nodeform::sim;
use nodeform::snapshot::file::write;
use nodeform::snapshot::{Question, Snapshot};

use super::documents::Documents;
use super::karpenter_cases;

/// A world to plan.
pub(crate) struct Story {
    pub(crate) name: String,
    /// What is planned.
    request: Request,
    /// What is written of its objects.
    written: Vec<Source>,
}

/// What a plan makes of a world.
pub(crate) struct Planned {
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    pub(crate) documents: Documents,
}

impl Story {
    /// Returns whether it is one that users are shown.
    pub(crate) fn is_example(&self) -> bool {
        self.name.starts_with("examples/")
    }

    /// Returns whether the scheduler must bind all pods of it though it knows nothing of the plan.
    pub(crate) fn is_bound_alone(&self) -> bool {
        self.is_example() || self.name.starts_with(SPREAD)
    }

    /// Plans it, and has the plan judged.
    pub(crate) fn planned(&self) -> Planned {
        let world = offline::world(self.request.clone())
            .unwrap_or_else(|problems| panic!("{}: {problems:#?}", self.name));
        let planned = offline::plan(&world)
            .unwrap_or_else(|refused| panic!("{}: the judge objects: {:#?}", self.name, refused.findings));
        let (mut before, mut after) =
            (world.snapshot.clone(), sim::after(&world.snapshot, planned.plan.plan()));
        // Nobody stands in room that is kept.
        for snapshot in [&mut before, &mut after] {
            snapshot.pods.retain(|pod| !pod.key.is_placeholder());
        }
        Planned { before, after, documents: Documents::of(&self.written) }
    }
}

/// The most recorded worlds of a folder: `karpenter/replay` binds all of them.
const RECORDED_MAX: usize = 10;

/// Returns all of them.
pub(crate) fn all() -> Vec<Story> {
    let mut stories = examples();
    stories.extend(spread_over_hosts());
    for folder in folders("fixtures/worlds") {
        let written = sources(&folder, &["world.yaml"]);
        let catalog = ("catalog.json".to_owned(), read(&root().join("fixtures/catalog.json")));
        let name = format!("fixtures/worlds/{}", last(&folder));
        stories.push(story(&name, written, Request { catalogs: vec![catalog].into(), ..eastus() }));
    }
    for folder in ["karpenter-cases", "karpenter-generated"] {
        let cases = karpenter_cases::cases(folder);
        for case in cases.iter().filter(|case| case.command == "solve").take(RECORDED_MAX) {
            let request = case.request();
            let written = request.sources.clone();
            let name = format!("fixtures/{folder}/{}", case.name);
            stories.push(Story { name, request, written });
        }
    }
    stories
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn eastus() -> Request {
    Request { location: Some(Region::new("eastus")), ..Request::default() }
}

fn story(name: &str, written: Vec<Source>, request: Request) -> Story {
    Story { name: name.to_owned(), request: Request { sources: written.clone(), ..request }, written }
}

/// A tainted node of a system agent pool: it counts where pods are spread over hosts.
const SYSTEM_NODE: &str = "
apiVersion: v1
kind: Node
metadata:
  name: aks-system-0
  labels:
    kubernetes.azure.com/mode: system
    kubernetes.io/arch: amd64
    kubernetes.io/hostname: aks-system-0
    kubernetes.io/os: linux
    node.kubernetes.io/instance-type: Standard_D4s_v5
    topology.kubernetes.io/region: eastus
    topology.kubernetes.io/zone: eastus-1
spec:
  taints:
  - {key: CriticalAddonsOnly, value: 'true', effect: NoSchedule}
status:
  capacity: {cpu: '4', memory: 16Gi, pods: '250'}
  allocatable: {cpu: 3860m, memory: 11776Mi, pods: '250'}
  conditions:
  - {type: Ready, status: 'True'}
";

/// Deployments that are spread over hosts, with and without `nodeTaintsPolicy: Honor`, and beside a tainted system node.
fn spread_over_hosts() -> Vec<Story> {
    let folder = root().join("fixtures/found/plans-15-composed-spread-scale-out");
    let request = || Request { without_system_daemons: true, ..eastus() };
    let files = ["in-honor.yaml", "in.yaml", "hostname-deployment.yaml", "hostname-scale-3-to-12.yaml"];
    let story = |file: &&str| {
        let written = sources(&folder, &[file]);
        let system = Source::new("system.yaml", SYSTEM_NODE);
        let beside = [written.clone(), vec![system]].concat();
        let name = format!("{SPREAD}{file}");
        [story(&name, written, request()), story(&format!("{name}, beside a system node"), beside, request())]
    };
    files.iter().flat_map(story).collect()
}

/// What the names begin with of stories about spread over hosts.
const SPREAD: &str = "spread over hosts/";

/// The stories of `examples/`, each asked as its own text asks it.
fn examples() -> Vec<Story> {
    folders("examples").iter().flat_map(|folder| example(folder)).collect()
}

fn example(folder: &Path) -> Vec<Story> {
    let name = format!("examples/{}", last(folder));
    let plain = |written| vec![story(&name, written, Request::default())];
    match last(folder).as_str() {
        // Recipes for pipelines: there is nothing to plan.
        "ci" => Vec::new(),
        "agent-pools" => {
            let question = Question { from_scratch: NodeSelector::parse("").ok(), ..Question::default() };
            vec![story(&name, manifests(folder), Request { question, ..Request::default() })]
        }
        "kustomize-overlays" => ["staging", "prod"]
            .map(|overlay| {
                let written = sources(&folder.join("rendered"), &[&format!("{overlay}.yaml")]);
                story(&format!("{name}/{overlay}"), written, Request::default())
            })
            .into(),
        "pull-request" => plain(manifests(&folder.join("head"))),
        "old-guide" => plain(manifests(&converted(folder))),
        "snapshot-with-change" => vec![with_change(&name, folder)],
        _ => plain(manifests(folder)),
    }
}

/// A snapshot of a cluster, with what a pull request changes and deletes.
fn with_change(name: &str, folder: &Path) -> Story {
    let [cluster, with, prune] =
        ["cluster.yaml", "web.yaml", "reports.yaml"].map(|file| sources(folder, &[file]));
    let seen = offline::snapshot(Request { sources: cluster.clone(), ..Request::default() });
    let seen = seen.unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
    let snapshot = Source::new("production.json", write(&seen));
    let laid = Some(Laid { snapshot, with: with.clone(), prune });
    let request = Request { laid, ..Request::default() };
    Story { name: name.to_owned(), request, written: [cluster, with].concat() }
}

/// A copy of a folder in which the guide is brought up to date, as its script does it.
fn converted(folder: &Path) -> PathBuf {
    let copy = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("e2e-old-guide");
    fs::create_dir_all(&copy).expect("the folder can be made");
    for source in manifests(folder) {
        fs::write(copy.join(last(Path::new(&source.name))), source.bytes).expect("a copy can be made");
    }
    let fixed = Command::new(env!("CARGO_BIN_EXE_nodeform"))
        .args(["validate", "--fix", "guide.yaml"])
        .current_dir(&copy)
        .output()
        .expect("the program starts");
    assert!(fixed.status.success(), "{}", String::from_utf8_lossy(&fixed.stderr));
    copy
}

fn folders(of: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(of)).expect("the folder is there");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    folders
}

fn manifests(folder: &Path) -> Vec<Source> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries.map(|entry| last(&entry.expect("an entry").path())).collect();
    names.retain(|name| name.ends_with(".yaml"));
    names.sort();
    sources(folder, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

fn sources(folder: &Path, names: &[&str]) -> Vec<Source> {
    let source = |name: &&str| Source::new(folder.join(name).display().to_string(), read(&folder.join(name)));
    names.iter().map(source).collect()
}

fn last(path: &Path) -> String {
    path.file_name().expect("it has a name").to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
