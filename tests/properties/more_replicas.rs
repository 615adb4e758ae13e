//! More replicas never place fewer pods: worlds of pods that differ in nothing but spread, affinity and anti-affinity, under
//! limits of pools and of the fleet on CPU, memory and the number of nodes; small ones, ones of up to 2,000 replicas, and
//! fixed ones of many more.

use std::collections::BTreeMap;

use nodeform::model::{Effect, Operator, Pod, PodKey, label};
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

/// The most replicas of a workload, of worlds that are many.
const REPLICAS_MAX: usize = 2_000;

/// A workload: what it is called, its rules, its priority, what each of its pods needs, and how many replicas it has. Pods of
/// a world need the same: of larger ones fewer have a place.
#[derive(Clone, Debug)]
struct Workload {
    app: &'static str,
    ties: Vec<Tie>,
    priority: i32,
    cpu: &'static str,
    replicas: usize,
}

impl Workload {
    fn pods(&self) -> Vec<Pod> {
        let plain = pod(self.app).label("app", self.app).priority(self.priority).cpu(self.cpu);
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

/// Workloads of so many replicas each, those of the higher priority first.
fn workloads(
    replicas: impl Strategy<Value = usize> + Clone,
    cpu: &'static [&'static str],
) -> impl Strategy<Value = Vec<Workload>> {
    let one = move |own: usize| (ties(own), replicas.clone());
    let all = (one(0), one(1), one(2), select(cpu));
    (all, 1..=3_usize, 0..=3_usize).prop_map(|((first, second, third, cpu), count, above)| {
        let numbered = [first, second, third].into_iter().zip(APPS).take(count).enumerate();
        numbered
            .map(|(place, ((ties, replicas), app))| Workload {
                app,
                ties,
                priority: i32::from(place < above),
                cpu,
                replicas,
            })
            .collect()
    })
}

/// A few replicas, or many.
fn few_or_many() -> impl Strategy<Value = usize> + Clone {
    prop_oneof![2 => 0..60_usize, 1 => 60..REPLICAS_MAX / 2]
}

/// A pool with a limit on CPU, on memory, on the number of nodes, or without any.
fn limited_pool(name: &'static str) -> impl Strategy<Value = PoolBuilder> {
    let zones: [&'static [&'static str]; 3] = [
        &["westeurope-1"],
        &["westeurope-1", "westeurope-2"],
        &["westeurope-1", "westeurope-2", "westeurope-3"],
    ];
    let limit = prop_oneof![
        4 => select(&["8", "24", "64", "160"][..]).prop_map(|cpu| ("cpu", cpu)),
        3 => select(&["16Gi", "64Gi", "256Gi"][..]).prop_map(|memory| ("memory", memory)),
        3 => select(&["1", "2", "5", "7"][..]).prop_map(|nodes| ("nodes", nodes)),
        1 => Just(("", "")),
    ];
    (limit, select(zones.to_vec()), select(&[0_u32, 10][..])).prop_map(
        move |((what, limit), zones, weight)| {
            let pool = pool(name)
                .weight(weight)
                .requiring(label::ZONE, Operator::In, zones)
                .requiring(label::CAPACITY_TYPE, Operator::In, &["on-demand"])
                .requiring(label::SKU_FAMILY, Operator::In, &["D"]);
            match what {
                "" => pool,
                "nodes" => pool.nodes_max(limit.parse().expect("is a number")),
                what => pool.limit(what, limit),
            }
        },
    )
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

/// Fails where more replicas of a workload place fewer of its pods, or fewer of all pods of some priority and above.
fn none_fewer(
    world: &World,
    (workloads, which): (&[Workload], usize),
    more: usize,
) -> Result<(), TestCaseError> {
    let mut raised = workloads.to_vec();
    raised[which].replicas += more;
    let (before, after) = (placed(&with(world, workloads))?, placed(&with(world, &raised))?);
    let own = workloads[which].app;
    prop_assert!(after[own] >= before[own], "{own}: {before:?}, then {after:?}");
    for priority in 0..2 {
        let total = |placed: &BTreeMap<&str, usize>| -> usize {
            let counted = workloads.iter().filter(|workload| workload.priority >= priority);
            counted.map(|workload| placed[workload.app]).sum()
        };
        prop_assert!(total(&after) >= total(&before), "of {priority} and above: {before:?}, then {after:?}");
    }
    Ok(())
}

proptest! {
    // Worlds are small, and what is looked for is rare.
    #![proptest_config(ProptestConfig { cases: config().cases * 4, ..config() })]

    #[test]
    fn more_replicas_never_place_fewer_pods(
        pools in pools(),
        cores in proptest::option::weighted(0.2, 3..20_i64),
        nodes in proptest::option::weighted(0.15, 1..6_u64),
        workloads in workloads(0..10_usize, &["500m"]),
        which in proptest::prelude::any::<Index>(),
        more in prop_oneof![1..6_usize, 6..40_usize],
    ) {
        let which = which.index(workloads.len());
        none_fewer(&limited(pools, cores, nodes), (&workloads, which), more)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases * 2, ..config() })]

    #[test]
    fn more_of_up_to_2000_replicas_never_place_fewer_pods(
        first in limited_pool("default"),
        second in proptest::option::of(limited_pool("light")),
        cores in proptest::option::weighted(0.2, 8..100_i64),
        nodes in proptest::option::weighted(0.15, 2..9_u64),
        workloads in workloads(few_or_many(), &["250m", "500m", "1", "3"]),
        which in proptest::prelude::any::<Index>(),
        more in prop_oneof![1..40_usize, 40..REPLICAS_MAX / 2],
    ) {
        let pools = [first].into_iter().chain(second).collect();
        let which = which.index(workloads.len());
        none_fewer(&limited(pools, cores, nodes), (&workloads, which), more)?;
    }
}

/// The numbers of replicas for which fixed worlds are planned: some of which several fleets can be compared, and many more.
const FIXED: [usize; 5] = [1_000, 19_999, 20_000, 100_000, 500_000];

fn over(key: &'static str) -> Vec<Tie> {
    vec![Tie::Spread { key, app: "web", skew: 1, domains: None, policies: (true, false) }]
}

/// Pods of one core of `web`, with these rules, and beside them another workload in a pool of its own without limits.
fn beside_another(pool_of_web: PoolBuilder, ties: &[Tie], replicas: usize) -> World {
    beside_pods_of(batch(), (pool_of_web, ties, replicas), 6)
}

fn batch() -> PoolBuilder {
    pool("batch").weight(10).label("team", "data").taint("batch", Effect::NoSchedule)
}

fn beside_pods_of(
    batch: PoolBuilder,
    (pool_of_web, ties, replicas): (PoolBuilder, &[Tie], usize),
    others: usize,
) -> World {
    let of_web = Workload { app: "web", ties: ties.to_vec(), priority: 0, cpu: "1", replicas };
    let etl = pod("etl").cpu("2").tolerating("batch").selecting("team", "data");
    with(&limited(vec![pool_of_web, batch], None, None), &[of_web]).pods(etl.times(others))
}

/// Fails unless as many pods are placed of each number of replicas, and so many.
#[track_caller]
fn always_placed<const N: usize>(numbers: [usize; N], web: usize, world: impl Fn(usize) -> World) {
    let placed = numbers.map(|replicas| placed(&world(replicas)).expect("is right")["web"]);
    assert_eq!(placed, [web; N]);
}

fn in_two_zones() -> PoolBuilder {
    let zones = ["westeurope-1", "westeurope-2"];
    let pool = pool("apps").requiring(label::ZONE, Operator::In, &zones);
    pool.requiring(label::CAPACITY_TYPE, Operator::In, &["on-demand"])
}

#[test]
fn a_limit_on_cpu_lets_as_many_of_a_spread_over_zones_in_however_many_wait() {
    always_placed(FIXED, 56, |replicas| {
        beside_another(in_two_zones().limit("cpu", "64"), &over(label::ZONE), replicas)
    });
}

#[test]
fn a_limit_on_nodes_lets_as_many_of_a_spread_over_zones_in_however_many_wait() {
    always_placed(FIXED, 91, |replicas| {
        beside_another(in_two_zones().nodes_max(7), &over(label::ZONE), replicas)
    });
}

#[test]
fn a_limit_on_memory_lets_as_many_of_a_spread_over_hosts_in_however_many_wait() {
    always_placed(FIXED, 12, |replicas| {
        beside_another(in_two_zones().limit("memory", "100Gi"), &over(label::HOSTNAME), replicas)
    });
}

#[test]
fn limits_of_the_fleet_let_as_many_in_however_many_wait() {
    always_placed(FIXED, 56, |replicas| {
        let world = beside_another(in_two_zones(), &over(label::ZONE), replicas);
        world.fleet(|it| it.limits.cpu_milli = Some(64_000))
    });
}

#[test]
fn a_zone_that_a_limit_leaves_few_places_in_lets_as_many_in_elsewhere_however_many_wait() {
    let pool_in = |name: &str, zone: &str| {
        pool(name).requiring(label::ZONE, Operator::In, &[zone]).requiring(
            label::CAPACITY_TYPE,
            Operator::In,
            &["on-demand"],
        )
    };
    always_placed([1_000, 19_999, 20_000], 61, |replicas| {
        let of_web = Workload { app: "web", ties: over(label::ZONE), priority: 0, cpu: "1", replicas };
        let pools = vec![pool_in("near", "westeurope-1").limit("cpu", "32"), pool_in("far", "westeurope-2")];
        with(&limited(pools, None, None), &[of_web])
    });
}

/// A node in a third zone would count for the spread, whatever its taints: here there is none.
#[test]
fn pods_that_no_limit_binds_take_no_place_from_others_however_many_wait() {
    let zones = ["westeurope-1", "westeurope-2"];
    let placed = [1, 1_000, 20_000].map(|others| {
        let batch = batch().requiring(label::ZONE, Operator::In, &zones);
        let of_web = (in_two_zones().limit("cpu", "64"), &over(label::ZONE)[..], 20_000);
        placed(&beside_pods_of(batch, of_web, others)).expect("is right")["web"]
    });
    assert_eq!(placed, [56; 3]);
}
