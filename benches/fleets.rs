//! Measures planning of thousands of pods from values in memory: how long it takes, and how far above the proven
//! bound the fleets are, beside Karpenter's strategy for the same pods.
//!
//! Nothing is asserted about time or cost. Names of figures as arguments leave out the others.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures, and says what it measured"
)]

mod asked;
mod charts;
mod rows;
mod running;
mod traces;
mod worlds;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use nodeform::model::ExtraCost;
use nodeform::offline::{self, World};
use nodeform::solve::{Solution, Solver, Strategy, bound, solve};

use asked::Asked;
use rows::Rows;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often planning is timed; the median counts.
const RUNS: usize = 5;

/// How often two worlds are planned by turns.
const TURNS: usize = 25;

/// How many pods change before a fleet is planned again.
const CHANGED: usize = 100;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("machine: {cores} cores, {}; medians of {RUNS} runs", rows::processor());
    let asked = Asked::of_arguments();
    if asked.0 == [LARGE_ALONE] {
        return large_alone();
    }
    let mut figures = Rows::default();
    if asked.has("diverse_20k_seconds") {
        let (seconds, _) = timed(&worlds::on_types(worlds::diverse_pods(20_000)));
        figures.add("diverse_20k_seconds", seconds, "s");
    }
    if asked.has("impossible_ratio") {
        figures.add("impossible_ratio", impossible(), "");
    }
    if asked.has("preference_4k_seconds") {
        preferences(&mut figures);
    }
    if asked.has("consolidate_seconds") {
        let (seconds, _) = timed(&running::cluster(1000, 30_000));
        figures.add("consolidate_seconds", seconds, "s");
    }
    if asked.has("consolidated_over_bound_percent") {
        let world = running::cluster(1000, 5000);
        let (seconds, solution) = timed(&world);
        let over = over_bound(&world, &solution);
        println!("  1,000 nodes, 5,000 pods: {} nodes in {seconds:.2} s", nodes_after(&solution));
        figures.add("consolidated_over_bound_percent", over, "%");
    }
    if asked.has("preferring_cluster_seconds") {
        preferring_cluster(&mut figures);
    }
    large_rows(&mut figures, &asked);
    if asked.has("thinned_seconds") {
        thinned(&mut figures);
    }
    if asked.has("large_peak_mib") {
        figures.add("large_peak_mib", large_peak(), "MiB");
    }
    if asked.has("traces") {
        traces::table(root, &mut figures);
    }
    let mut worst = f64::MIN;
    type Make = fn(&Path) -> Vec<Named>;
    let all: [(&str, Make); 3] = [
        ("over_bound_plain_percent", plain),
        ("over_bound_zone_percent", zone),
        ("over_bound_300_percent", small),
    ];
    for (name, make) in all.into_iter().filter(|(name, _)| asked.has(name)) {
        let measured: Vec<Measured> = make(root).into_iter().map(measured).collect();
        let over = measured.iter().map(|world| world.over_bound).fold(f64::MIN, f64::max);
        worst = measured.iter().map(|world| world.over_karpenter).fold(worst, f64::max);
        figures.add(name, over, "%");
    }
    if asked.0.is_empty() {
        figures.add("over_karpenter_worst_percent", worst, "%");
    }
    figures.write(root);
}

/// Measures a small cluster of Helm charts, half of which have preferences.
fn preferring_cluster(figures: &mut Rows) {
    let world = charts::cluster(40, 60);
    let (seconds, solution) = timed(&world);
    let pods = world.snapshot.pods.len();
    println!("  40 nodes, {pods} pods: {} nodes in {seconds:.2} s", nodes_after(&solution));
    figures.add("preferring_cluster_seconds", seconds, "s");
    figures.add("preferring_cluster_over_bound_percent", over_bound(&world, &solution), "%");
}

/// Measures the large cluster: planned from nothing, judged, and planned again.
fn large_rows(figures: &mut Rows, asked: &Asked) {
    if asked.has("large_seconds") {
        let world = large();
        let (seconds, solution) = timed(&world);
        println!(
            "  {} nodes of 4,600, {} $/h",
            nodes_after(&solution),
            solution.report.cost_after.effective.0 / 1_000_000
        );
        figures.add("large_seconds", seconds, "s");
    }
    if asked.has("large_judged_seconds") {
        figures.add("large_judged_seconds", judged(&large()), "s");
    }
    if asked.has("replan_seconds") {
        figures.add("replan_seconds", replanned(large()), "s");
    }
}

/// Returns how long planning took, without the judge, and the fleet.
fn timed(world: &World) -> (f64, Solution) {
    let (seconds, mut solutions): (Vec<f64>, Vec<Solution>) = (0..RUNS).map(|_| timed_once(world)).unzip();
    (median(seconds), solutions.remove(0))
}

fn timed_once(world: &World) -> (f64, Solution) {
    let start = Instant::now();
    let solution = solve(&world.snapshot, &world.policy);
    (start.elapsed().as_secs_f64(), solution)
}

/// Returns how long the judge takes for the plan of a world, which it accepts.
fn judged(world: &World) -> f64 {
    let proposed = offline::propose(world);
    let run = |_| {
        let proposed = proposed.clone();
        let start = Instant::now();
        let planned = offline::judge(world, proposed).expect("the judge accepts the plan");
        let seconds = start.elapsed().as_secs_f64();
        assert!(
            planned.solution == solve(&world.snapshot, &world.policy),
            "the plan is the one that was proposed"
        );
        seconds
    };
    median((0..RUNS).map(run).collect())
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Pods that wish for more than a fleet pays for by itself: all of it, and as much as the default budget buys.
#[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
fn preferences(figures: &mut Rows) {
    let mut world = worlds::on_types(worlds::preference_pods(4000));
    let (_, solution) = timed(&world);
    let cost = solution.report.cost_after.effective.0 as f64 / 1e6;
    figures.add("preference_4k_usd_per_hour", cost, "USD/h");
    let met = solution.report.preferences.as_ref().map_or((0, 1), |wishes| (wishes.met, wishes.asked));
    figures.add("preference_4k_met_percent", met.0 as f64 / met.1 as f64 * 100.0, "%");
    world.policy.fleet.extra_cost = ExtraCost::Unlimited;
    let (seconds, solution) = timed(&world);
    println!("  all of them: {} nodes", solution.target.new.len());
    figures.add("preference_4k_seconds", seconds, "s");
}

/// Plans a fleet of which a twentieth lost most of its pods: how long that takes, and how many nodes go beside those.
fn thinned(figures: &mut Rows) {
    let (world, thin) = running::thinned(&running::large(0, 0, 30_000));
    let (seconds, solution) = timed(&world);
    let removed = &solution.target.removed;
    let beside = removed.iter().filter(|removal| !thin.contains(&removal.node)).count();
    println!(
        "  {} of {} nodes are nearly empty, {} go",
        thin.len(),
        world.snapshot.nodes.len(),
        removed.len()
    );
    figures.add("thinned_seconds", seconds, "s");
    figures.add("thinned_nodes_beside", beside as f64, "");
}

/// Plans a world, changes pods that wait, and plans again with what was kept: how long that took.
fn replanned(mut world: World) -> f64 {
    let solver = Solver::default();
    let mut before = solver.solve(&world.snapshot, &world.policy);
    let run = |run| {
        running::change(&mut world, CHANGED, run);
        let start = Instant::now();
        let solution = solver.solve(&world.snapshot, &world.policy);
        let seconds = start.elapsed().as_secs_f64();
        assert!(solution != before, "other pods wait");
        before = solution;
        seconds
    };
    median((0..RUNS).map(run).collect())
}

/// The argument with which this program plans the large world only, and says how much memory that took.
const LARGE_ALONE: &str = "large_alone";

fn large() -> World {
    running::large(4600, 140_000, 10_000)
}

/// Returns the most memory, in MiB, that a program held which makes the large world and plans it: the world itself,
/// the catalogue and what making them left behind are part of it.
fn large_peak() -> f64 {
    let program = std::env::current_exe().expect("a program knows its file");
    let output = Command::new(program).arg(LARGE_ALONE).output().expect("the program starts");
    assert!(output.status.success(), "the large world is planned");
    let text = String::from_utf8(output.stdout).expect("text");
    let kib = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().parse().ok()).expect("the program says what it held")
    };
    #[expect(clippy::float_arithmetic, reason = "a figure for people")]
    let (before, peak) = (kib("before:") / 1024.0, kib("peak:") / 1024.0);
    println!("  of which {before:.0} MiB were held before planning");
    peak
}

fn large_alone() {
    let world = large();
    println!("before:{}", held_kib("VmRSS:"));
    let solution = solve(&world.snapshot, &world.policy);
    assert!(nodes_after(&solution) > 0, "a large fleet has nodes");
    println!("peak:{}", held_kib("VmHWM:"));
}

/// Returns a figure of this process's memory, in KiB, as the kernel counts it.
fn held_kib(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").expect("Linux says what a process holds");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).expect("a figure in kB")
}

/// Returns how long pods take that fit nowhere beside others, over the others alone. Both are planned by turns: what else the
/// machine does then slows down both.
fn impossible() -> f64 {
    let alone = worlds::on_types(worlds::generic_pods(1000));
    let mut pods = worlds::generic_pods(1000);
    pods.extend(worlds::impossible_pods(15_000));
    let beside = worlds::on_types(pods);
    let run = |_| {
        let ((without, _), (with, solution)) = (timed_once(&alone), timed_once(&beside));
        let unplaced: usize = solution.report.unplaced.iter().map(|group| group.pods.len()).sum();
        assert_eq!(unplaced, 15_000, "impossible pods are placed nowhere");
        (without, with)
    };
    let (without, with): (Vec<f64>, Vec<f64>) = (0..TURNS).map(run).unzip();
    let (without, with) = (median(without), median(with));
    println!("  {without:.3} s without them, {with:.3} s beside them");
    #[expect(clippy::float_arithmetic, reason = "a figure for people")]
    let ratio = with / without;
    ratio
}

fn nodes_after(solution: &Solution) -> usize {
    solution.target.kept.len() + solution.target.new.len()
}

/// Returns how far a fleet is above the bound, in percent.
#[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
fn over_bound(world: &World, solution: &Solution) -> f64 {
    let bound = bound::bound(&world.snapshot, &world.policy, solution).expect("all sizes have a price");
    (solution.report.cost_after.effective.0 as f64 / bound.least.0 as f64 - 1.0) * 100.0
}

/// A world with a name for the table.
type Named = (String, World);

/// Worlds of 2,000 pods and more; a trace of fewer is in the table of traces.
fn plain(root: &Path) -> Vec<Named> {
    let mut all = vec![
        ("plain, 2,000 of the benchmark's sizes".to_owned(), worlds::on_types(worlds::generic_pods(2000))),
        ("plain, 3,000 of workloads".to_owned(), worlds::on_azure(worlds::workloads((3000, 1), 1, false))),
        ("plain, 8,000 of workloads".to_owned(), worlds::on_azure(worlds::workloads((8000, 1), 2, false))),
    ];
    all.extend(sampled(root, (2000, 1)).into_iter().filter(|(_, world)| world.snapshot.pods.len() >= 2000));
    all
}

fn zone(_: &Path) -> Vec<Named> {
    vec![
        ("zone, 2,000 of workloads".to_owned(), worlds::on_azure(worlds::workloads((2000, 1), 3, true))),
        ("zone, 6,000 of workloads".to_owned(), worlds::on_azure(worlds::workloads((6000, 1), 4, true))),
    ]
}

fn small(root: &Path) -> Vec<Named> {
    let mut all = vec![
        ("300 of workloads".to_owned(), worlds::on_azure(worlds::workloads((300, 4), 5, false))),
        ("300 of workloads, by zone".to_owned(), worlds::on_azure(worlds::workloads((300, 4), 6, true))),
    ];
    all.extend(sampled(root, (300, 4)));
    all
}

/// So many pods of each trace, as far as the traces are beside the checkout; those of the small sizes times a factor.
fn sampled(root: &Path, (count, factor): (usize, usize)) -> Vec<Named> {
    let mut all = Vec::new();
    for (name, _, file, is_small) in traces::TRACES {
        let factor = if is_small { factor } else { 1 };
        let Some(rows) = traces::arrivals(root, (name, file)) else { continue };
        let rows: Vec<(usize, usize)> =
            rows.iter().map(|row| (row.cpu * factor, row.memory * factor)).collect();
        // Evenly over the whole trace: arrivals beside each other are often one batch.
        let step = (rows.len() / count).max(1);
        let pods = worlds::trace_pods(rows.into_iter().step_by(step).take(count));
        all.push((format!("{} of {name}", pods.len()), worlds::on_azure(pods)));
    }
    all
}

/// How a world came out, in percent.
struct Measured {
    over_bound: f64,
    over_karpenter: f64,
}

#[expect(clippy::cast_precision_loss, clippy::float_arithmetic, reason = "figures for people")]
fn measured((name, mut world): Named) -> Measured {
    let (seconds, solution) = timed(&world);
    let start = Instant::now();
    let bound = bound::bound(&world.snapshot, &world.policy, &solution).expect("all sizes have a price");
    let bound_seconds = start.elapsed().as_secs_f64();
    offline::plan(&world).expect("the judge agrees with the fleet");
    world.strategy = Strategy::Karpenter;
    let other = offline::plan(&world).expect("the judge agrees with Karpenter's fleet").solution;
    let unplaced = |solution: &Solution| -> usize {
        solution.report.unplaced.iter().map(|group| group.pods.len()).sum()
    };
    let cost = |solution: &Solution| solution.report.cost_after.effective.0 as f64 / 1e6;
    let (ours, theirs, least) = (cost(&solution), cost(&other), bound.least.0 as f64 / 1e6);
    let over = |least: f64| (ours / least - 1.0) * 100.0;
    println!(
        "  {name}: {} nodes, {ours:.2} $/h in {seconds:.2} s, {:.2} % over the bound (found in {bound_seconds:.1} s), \
         Karpenter {} nodes, {theirs:.2} $/h; unplaced {} and {}",
        solution.target.new.len(),
        over(least),
        other.target.new.len(),
        unplaced(&solution),
        unplaced(&other),
    );
    let is_comparable = unplaced(&solution) == unplaced(&other);
    Measured { over_bound: over(least), over_karpenter: if is_comparable { over(theirs) } else { f64::MIN } }
}
