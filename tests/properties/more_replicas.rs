//! More replicas never place fewer pods: worlds of pods that differ in nothing but spread, affinity and anti-affinity, under
//! limits of pools and of the fleet on CPU and on the number of nodes.

use std::collections::BTreeMap;

use nodeform::model::{Operator, Pod, PodKey, label};
use nodeform::solve::{Solution, solve};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_assert, prop_oneof, proptest};
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseError;

use crate::config;
use crate::support::build::{World, pod, world};
use crate::support::fleet::{PoolBuilder, pool};
use crate::support::judged::try_plan_of;
use crate::support::ties::Tie;

/// The workloads, by what they are called and labelled with.
const APPS: [&str; 3] = ["api", "db", "web"];

/// A workload: what it is called, its rules, its priority, and how many replicas it has.
#[derive(Clone, Debug)]
struct Workload {
    app: &'static str,
    ties: Vec<Tie>,
    priority: i32,
    replicas: usize,
}

impl Workload {
    fn pods(&self) -> Vec<Pod> {
        let plain = pod(self.app).label("app", self.app).priority(self.priority);
        self.ties.iter().fold(plain, |pod, tie| tie.apply(pod)).times(self.replicas)
    }
}

/// Rules of a workload about itself, and to stand beside one that comes before it.
fn ties(own: usize) -> impl Strategy<Value = Vec<Tie>> {
    let app = APPS[own];
    let domain = || select(&[label::ZONE, label::ZONE, label::CAPACITY_TYPE][..]);
    let key = || prop_oneof![3 => domain(), 1 => Just(label::HOSTNAME)];
    let one = prop_oneof![
        4 => (domain(), 1..3_u32).prop_map(move |(key, skew)| Tie::Spread {
            key, app, skew, domains: None, policies: (true, false)
        }),
        1 => (key(), select(APPS[..=own].to_vec())).prop_map(|(key, app)| Tie::Beside { key, app }),
        1 => key().prop_map(move |key| Tie::Apart { key, app, everywhere: false }),
    ];
    prop_oneof![1 => Just(Vec::new()), 3 => vec(one, 1..3)]
}

/// Workloads, those of the higher priority first.
fn workloads() -> impl Strategy<Value = Vec<Workload>> {
    let one = |own: usize| (ties(own), 0..10_usize);
    ((one(0), one(1), one(2)), 1..=3_usize, 0..=3_usize).prop_map(|((first, second, third), count, above)| {
        let numbered = [first, second, third].into_iter().zip(APPS).take(count).enumerate();
        numbered
            .map(|(place, ((ties, replicas), app))| Workload {
                app,
                ties,
                priority: i32::from(place < above),
                replicas,
            })
            .collect()
    })
}

fn pools() -> impl Strategy<Value = Vec<PoolBuilder>> {
    let limit = select(&["4", "6", "9", "14"][..]);
    let zones: [&'static [&'static str]; 3] = [
        &["westeurope-1", "westeurope-2"],
        &["westeurope-1"],
        &["westeurope-1", "westeurope-2", "westeurope-3"],
    ];
    let bought: [&'static [&'static str]; 2] = [&["on-demand"], &["on-demand", "spot"]];
    let nodes = proptest::option::weighted(0.25, select(&["1", "2", "3", "5"][..]));
    let one = (limit, nodes, select(zones.to_vec()), select(bought.to_vec()), select(&[0_u32, 10][..]));
    vec(one, 1..=2).prop_map(|pools| {
        let made = pools.into_iter().zip(["default", "light"]);
        made.map(|((limit, nodes, zones, bought, weight), name)| {
            let pool = pool(name)
                .weight(weight)
                .requiring(label::ZONE, Operator::In, zones)
                .requiring(label::CAPACITY_TYPE, Operator::In, bought)
                .requiring(label::SKU_FAMILY, Operator::In, &["D"]);
            let limited = pool.limit("cpu", limit);
            nodes.into_iter().fold(limited, |pool, nodes| pool.limit("nodes", nodes))
        })
        .collect()
    })
}

fn limited(pools: Vec<PoolBuilder>, cores: Option<i64>, nodes: Option<u64>) -> World {
    let built = pools.into_iter().fold(world(), World::pool);
    built.fleet(|it| {
        it.limits.cpu_milli = cores.map(|cores| cores * 1000);
        it.limits.nodes = nodes;
    })
}

fn with(world: &World, workloads: &[Workload]) -> World {
    workloads.iter().fold(world.clone(), |world, workload| world.pods(workload.pods()))
}

/// How many pods of each workload are placed.
fn placed(world: &World) -> Result<BTreeMap<&'static str, usize>, TestCaseError> {
    let solution: Solution = solve(&world.snapshot, &world.policy);
    try_plan_of(world, &solution).map_err(TestCaseError::fail)?;
    let kept = solution.target.kept.iter().flat_map(|kept| &kept.pods);
    let pods: Vec<&PodKey> = kept.chain(solution.target.new.iter().flat_map(|node| &node.pods)).collect();
    let of = |app: &str| pods.iter().filter(|pod| pod.name.split('-').next() == Some(app)).count();
    Ok(APPS.into_iter().map(|app| (app, of(app))).collect())
}

proptest! {
    // Worlds are small, and what is looked for is rare.
    #![proptest_config(ProptestConfig { cases: config().cases * 8, ..config() })]

    #[test]
    fn more_replicas_never_place_fewer_pods(
        pools in pools(),
        cores in proptest::option::weighted(0.2, 3..20_i64),
        nodes in proptest::option::weighted(0.15, 1..6_u64),
        workloads in workloads(),
        which in proptest::prelude::any::<Index>(),
        more in prop_oneof![1..6_usize, 6..40_usize],
    ) {
        let world = limited(pools, cores, nodes);
        let which = which.index(workloads.len());
        let mut raised = workloads.clone();
        raised[which].replicas += more;
        let (before, after) = (placed(&with(&world, &workloads))?, placed(&with(&world, &raised))?);
        let own = workloads[which].app;
        prop_assert!(after[own] >= before[own], "{own}: {before:?}, then {after:?}");
        for priority in 0..2 {
            let total = |placed: &BTreeMap<&str, usize>| -> usize {
                let counted = workloads.iter().filter(|workload| workload.priority >= priority);
                counted.map(|workload| placed[workload.app]).sum()
            };
            prop_assert!(total(&after) >= total(&before), "of {priority} and above: {before:?}, then {after:?}");
        }
    }
}
