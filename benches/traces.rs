//! Plans the pods of workload traces and prints a table: all at once, and batch after batch in the order in which
//! they arrived, each on the fleet that the batches before it left.
//!
//! A machine of the Azure trace stands for one pod of its size. Pods that ask for a GPU are left out, and no pod
//! ever leaves. The bound of every row is that of all its pods at once.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nodeform::model::{MicroUsdPerHour, Pod};
use nodeform::offline::{self, World};
use nodeform::sim;
use nodeform::solve::{Solution, Strategy, bound};

use crate::rows::Rows;
use crate::worlds;

/// How many pods of each trace are planned.
const PODS: usize = 2000;

/// How many pods of a trace make a batch where the trace itself has no batches.
const BATCH: usize = 100;

/// A row of a trace.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// Seconds from the start of the trace.
    pub(crate) second: usize,
    /// Thousandths of a core.
    pub(crate) cpu: usize,
    /// MiB.
    pub(crate) memory: usize,
}

/// The traces: name, name in figures, file, and whether the pods of one second are a batch.
pub(crate) const TRACES: [(&str, &str, &str, bool); 2] = [
    ("Azure VMs", "azure_vm", "normalised_azure_vm_v1_dev.csv.gz", true),
    ("openb", "openb", "normalised_openb_default.csv", false),
];

/// Returns the rows of a trace in the order of the file, or nothing, loudly, where it is not beside the checkout.
pub(crate) fn arrivals(root: &Path, (name, file): (&str, &str)) -> Option<Vec<Arrival>> {
    let path = root.join("../shared/data/traces").join(file);
    let Some(text) = text(&path) else {
        println!("{name}: LEFT OUT: `{}` is not there", path.display());
        return None;
    };
    Some(rows(&text).collect())
}

/// Prints the table of the first 2,000 pods of each trace by arrival, and keeps its figures.
pub(crate) fn table(root: &Path, figures: &mut Rows) {
    println!(
        "  {:<34} {:>5} {:>5} {:>9} {:>10} {:>14} {:>7}",
        "trace", "pods", "nodes", "$/h", "over bound", "over Karpenter", "seconds"
    );
    for (name, short, file, is_batched) in TRACES {
        let Some(mut rows) = arrivals(root, (name, file)) else { continue };
        rows.sort_by_key(|row| row.second);
        rows.truncate(PODS);
        let all = world(&rows);
        let batches = batches(&rows, is_batched);
        let once = vec![rows.len()];
        let mut least = None;
        let ways = [
            ("all at once".to_owned(), "once", once),
            (format!("{} batches", batches.len()), "batches", batches),
        ];
        for (way, short_way, batches) in ways {
            let ours = carried(&all, &batches, Strategy::Cheapest);
            let theirs = carried(&all, &batches, Strategy::Karpenter);
            let least = *least.get_or_insert_with(|| ours.bound(&all));
            let (over_bound, over_karpenter) = (over(ours.cost(), least), over(ours.cost(), theirs.cost()));
            for (strategy, fleet, beside) in
                [("", &ours, Some(over_karpenter)), (", Karpenter", &theirs, None)]
            {
                println!(
                    "  {:<34} {:>5} {:>5} {:>9.2} {:>8.2} % {:>14} {:>7.1}{}",
                    format!("{name}, {way}{strategy}"),
                    rows.len(),
                    fleet.nodes(),
                    fleet.cost(),
                    over(fleet.cost(), least),
                    beside.map_or_else(String::new, |percent| format!("{percent:.2} %")),
                    fleet.seconds,
                    fleet.note(),
                );
            }
            let figure = format!("trace_{short}_{short_way}");
            figures.add(&format!("{figure}_over_bound_percent"), over_bound, "%");
            figures.add(&format!("{figure}_over_karpenter_percent"), over_karpenter, "%");
        }
    }
}

/// How much dearer one cost is than another, in percent.
#[expect(clippy::float_arithmetic, reason = "a figure for people")]
fn over(cost: f64, least: f64) -> f64 {
    (cost / least - 1.0) * 100.0
}

/// How many pods come together, batch after batch.
fn batches(rows: &[Arrival], is_batched: bool) -> Vec<usize> {
    if is_batched {
        return rows.chunk_by(|one, other| one.second == other.second).map(<[Arrival]>::len).collect();
    }
    rows.chunks(BATCH).map(<[Arrival]>::len).collect()
}

fn world(rows: &[Arrival]) -> World {
    worlds::on_azure(worlds::trace_pods(rows.iter().map(|row| (row.cpu, row.memory))))
}

/// A fleet after the last batch.
struct Fleet {
    solution: Solution,
    /// How long planning took, of all batches, without the judge.
    seconds: f64,
}

impl Fleet {
    fn nodes(&self) -> usize {
        self.solution.target.kept.len() + self.solution.target.new.len()
    }

    /// Dollars an hour.
    fn cost(&self) -> f64 {
        dollars(self.solution.report.cost_after.effective)
    }

    /// What any fleet for all pods at once costs at least, in dollars an hour, where this is the fleet for them.
    fn bound(&self, all: &World) -> f64 {
        let bound = bound::bound(&all.snapshot, &all.policy, &self.solution);
        dollars(bound.expect("all sizes have a price").least)
    }

    fn note(&self) -> String {
        let unplaced: usize = self.solution.report.unplaced.iter().map(|group| group.pods.len()).sum();
        if unplaced == 0 { String::new() } else { format!("  ({unplaced} pods fit nowhere)") }
    }
}

#[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "a figure for people")]
fn dollars(amount: MicroUsdPerHour) -> f64 {
    amount.0 as f64 / 1e6
}

/// Plans batch after batch, each plan judged and carried out before the next.
fn carried(all: &World, batches: &[usize], strategy: Strategy) -> Fleet {
    let mut world = World { strategy, ..all.clone() };
    let mut waiting: Vec<Pod> = std::mem::take(&mut world.snapshot.pods);
    let (mut seconds, mut last) = (0.0, None);
    for batch in batches {
        let rest = waiting.split_off((*batch).min(waiting.len()));
        world.snapshot.pods.append(&mut waiting);
        world.snapshot.pods.sort();
        waiting = rest;
        let start = Instant::now();
        let proposed = offline::propose(&world);
        #[expect(clippy::float_arithmetic, reason = "a figure for people")]
        {
            seconds += start.elapsed().as_secs_f64();
        }
        let planned = offline::judge(&world, proposed).expect("the judge agrees with the plan");
        world.snapshot = sim::after(&world.snapshot, planned.plan.plan());
        last = Some(planned.solution);
    }
    Fleet { solution: last.expect("a trace has pods"), seconds }
}

fn text(path: &Path) -> Option<String> {
    if !path.exists() {
        return None;
    }
    if path.extension().is_some_and(|extension| extension == "csv") {
        return fs::read_to_string(path).ok();
    }
    let mut child = Command::new("gzip").arg("-dc").arg(path).stdout(Stdio::piped()).spawn().ok()?;
    let mut text = String::new();
    child.stdout.take()?.read_to_string(&mut text).ok()?;
    child.wait().ok().filter(std::process::ExitStatus::success).map(|_| text)
}

/// Every row that asks for no GPU.
fn rows(text: &str) -> impl Iterator<Item = Arrival> + '_ {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().trim().split(',').collect();
    let place = |name: &str| names.iter().position(|there| *there == name);
    let (second, cpu, memory) = (place("arrival_s"), place("cpu_milli"), place("memory_mib"));
    let gpu = place("gpu");
    lines.filter_map(move |line| {
        let cells: Vec<&str> = line.trim().split(',').collect();
        let amount = |place: Option<usize>| cells.get(place?)?.parse::<usize>().ok();
        let has_gpu = amount(gpu).is_some_and(|gpus| gpus > 0);
        let arrival =
            || Some(Arrival { second: amount(second)?, cpu: amount(cpu)?, memory: amount(memory)? });
        if has_gpu { None } else { arrival() }
    })
}
