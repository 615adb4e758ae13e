//! Measures whole commands of the release build, prints the medians, and writes them to `target/figures.json`.
//!
//! Nothing is asserted about time. `cargo bench` runs it; the trace's part is left out, loudly, where the
//! trace is not beside the checkout.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures, and says what it measured"
)]

mod dump;
mod page;
mod rows;

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rows::Rows;
use serde_json::Value;

/// How often a command is run; an odd number has a middle.
const RUNS: usize = 7;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("machine: {} cores, {}; {RUNS} runs each, medians", cores, rows::processor());
    let mut figures = Rows::default();
    let seconds = plan_seconds(&[root.join("examples/quickstart")]);
    figures.add("quickstart_seconds", seconds, "s");
    openb(root, &mut figures);
    dumps(root, &mut figures);
    page::page(root, &mut figures);
    figures.write(root);
}

/// The pods of the openb trace on the embedded catalogue of East US.
fn openb(root: &Path, figures: &mut Rows) {
    let trace = root.join("../shared/data/traces/normalised_openb_default.csv");
    let Ok(trace) = File::open(&trace) else {
        println!("openb: LEFT OUT, 1 world: `{}` is not there", trace.display());
        return;
    };
    let manifests = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("openb.yaml");
    let output = File::create(&manifests).expect("the target folder takes files");
    let made = Command::new(env!("CARGO_BIN_EXE_trace_manifests")).stdin(trace).stdout(output).status();
    assert!(made.is_ok_and(|status| status.success()), "the trace becomes manifests");
    let inputs = [root.join("fixtures/openb/pools.yaml"), manifests];
    figures.add("openb_seconds", plan_seconds(&inputs), "s");
    let plan = plan_json(&inputs);
    let evidence = &plan["evidence"];
    let nodes = evidence["placements"].as_object().expect("a plan says what its nodes hold").len();
    let cost =
        evidence["report"]["costAfter"]["effective"].as_i64().expect("a plan says what the fleet costs");
    let groups = evidence["report"]["unplaced"].as_array().expect("a plan says which pods fit nowhere");
    let unplaced: usize =
        groups.iter().map(|group| group["pods"].as_array().expect("a group has pods").len()).sum();
    #[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
    {
        figures.add("openb_nodes", nodes as f64, "nodes");
        figures.add("openb_usd_per_hour", cost as f64 / 1e6, "USD/h");
        figures.add("openb_unplaced_pods", unplaced as f64, "pods");
    }
}

/// A cluster whose dump is about 40 MB of YAML.
const CLUSTER: dump::Cluster = dump::Cluster { nodes: 960, running: 23_490, waiting: 200 };

/// The dump of a cluster of 23,690 pods, as YAML and as JSON.
fn dumps(root: &Path, figures: &mut Rows) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (yaml, json) = (folder.join("dump.yaml"), folder.join("dump.json"));
    let file = |path: &Path| BufWriter::new(File::create(path).expect("the target folder takes files"));
    dump::yaml(CLUSTER, &mut file(&yaml)).expect("the dump can be written");
    dump::json(CLUSTER, &mut file(&json)).expect("the dump can be written");
    let pools = root.join("examples/quickstart/nodepool.yaml");
    for (path, names) in [
        (yaml, ["dump_yaml_mb", "dump_yaml_seconds", "dump_yaml_peak_mib"]),
        (json, ["dump_json_mb", "dump_json_seconds", "dump_json_peak_mib"]),
    ] {
        let bytes = fs::metadata(&path).expect("the dump is there").len();
        let inputs = [pools.clone(), path];
        #[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
        figures.add(names[0], bytes as f64 / 1e6, "MB");
        figures.add(names[1], plan_seconds(&inputs), "s");
        #[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
        figures.add(names[2], peak_kib(&inputs) as f64 / 1024.0, "MiB");
    }
}

/// The most memory that planning these inputs held, as the kernel counts it; looked up while it runs, so that
/// what comes in the last two milliseconds may be missed.
fn peak_kib(inputs: &[PathBuf]) -> u64 {
    let mut child = command(inputs).stdout(Stdio::null()).spawn().expect("the program starts");
    let facts = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("the program is ours").is_none() {
        let text = fs::read_to_string(&facts).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

fn command(inputs: &[PathBuf]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
    command.arg("plan").args(inputs).args(["--location", "eastus"]);
    command
}

/// The median wall time of planning these inputs, from start to exit, the judge included.
fn plan_seconds(inputs: &[PathBuf]) -> f64 {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let status = command(inputs).stdout(Stdio::null()).status().expect("the program starts");
            assert!(status.success(), "planning succeeds");
            start.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2].as_secs_f64()
}

fn plan_json(inputs: &[PathBuf]) -> Value {
    let output = command(inputs).args(["-o", "json"]).output().expect("the program starts");
    serde_json::from_slice(&output.stdout).expect("a plan is JSON")
}
