//! The HTML of a large plan: how long it takes to write, how large it is, and how long Chromium takes to open it.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nodeform::plan::file;
use nodeform::render::{PlanView, plan_html};

use crate::dump;
use crate::rows::Rows;

/// A cluster of 1,000 nodes and 30,000 pods.
const CLUSTER: dump::Cluster = dump::Cluster { nodes: 1000, running: 29_800, waiting: 200 };

/// How often something is done; an odd number has a middle.
const RUNS: usize = 5;

/// Measures the page of a plan of the cluster.
pub(crate) fn page(root: &Path, figures: &mut Rows) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (dump, plan, page) =
        (folder.join("page.json"), folder.join("page-plan.json"), folder.join("page.html"));
    let mut out = BufWriter::new(File::create(&dump).expect("the target folder takes files"));
    dump::json(CLUSTER, &mut out).expect("the dump can be written");
    drop(out);
    let inputs = [root.join("examples/quickstart/nodepool.yaml"), dump];
    let planned = super::command(&inputs).arg("--out").arg(&plan).output().expect("the program starts");
    assert!(planned.status.success(), "planning succeeds");
    let text = fs::read_to_string(&plan).expect("the plan was saved");
    let plan = file::read(&text).expect("our own plan");
    let mut html = String::new();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            html = plan_html(&PlanView::new(&plan, None));
            start.elapsed()
        })
        .collect();
    times.sort();
    figures.add("report_seconds", times[RUNS / 2].as_secs_f64(), "s");
    #[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
    figures.add("report_mib", html.len() as f64 / f64::from(1 << 20), "MiB");
    fs::write(&page, html).expect("the target folder takes files");
    open(root, &page, figures);
}

/// Opens the page in Chromium; left out, loudly, where Chromium or what drives it is missing.
fn open(root: &Path, page: &Path, figures: &mut Rows) {
    let mut command = Command::new("node");
    command.arg(root.join("tests/report/open.mjs")).arg(root.join("target/tools/report"));
    command.arg("/usr/bin/chromium").arg(page).arg(RUNS.to_string());
    let opened = command.output().ok().filter(|opened| opened.status.success());
    let seconds = opened.and_then(|opened| String::from_utf8(opened.stdout).ok()?.trim().parse().ok());
    match seconds {
        Some(seconds) => figures.add("report_open_seconds", seconds, "s"),
        None => println!("report_open_seconds: LEFT OUT, 1 page: `.ci/tools` brings what opens it"),
    }
}
