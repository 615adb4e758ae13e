//! Alternatives for a new node, as restricted by pods elsewhere and by limits.

use std::collections::BTreeSet;

use super::topology::{over, pods};
use super::world::{PodWith, World, any_pool, node, on, pod, pool, resources, toleration};
use crate::model::{
    Effect, MicroUsd, Operator, Pod, Pool, Requirement, ResourceName, Strength, Taint, label,
};
use crate::solve::{NewNode, Solution};

/// Returns a pool whose nodes take only batch pods, and a batch pod.
fn batch() -> (Pool, Pod) {
    let taint = Taint::new("batch", "", Effect::NoSchedule);
    let pool = Pool { taints: vec![taint], weight: 10, ..any_pool("batch") };
    let pool = pool.requires(label::ARCH, Requirement::one("amd64"));
    let pod = pod("etl").cpu("3").tolerates(toleration("batch", None, None));
    (pool.requires("team", Requirement::one("data")), pod.selects("team", "data"))
}

/// Returns a world with web pods, spread over zones 1 and 2 of their own pool, and a batch pod.
fn world(change: impl Fn(&mut crate::model::PodSpec)) -> World {
    let (pool_of_batch, etl) = batch();
    let two_zones = Requirement::new(Operator::In, ["eastus-1", "eastus-2"]);
    World::of(vec![pool("apps").requires(label::ZONE, two_zones), pool_of_batch])
        .pods(pods("web", 8, |spec| {
            spec.spread.push(over(label::ZONE, "web"));
            change(spec);
        }))
        .pods([etl])
}

fn of_batch(solution: &Solution) -> &NewNode {
    solution.target.new.iter().find(|node| node.pool.as_str() == "batch").expect("a node is made")
}

/// Returns the zones in which the batch node may be created, and its possible capacity types.
fn choices(world: &World) -> (BTreeSet<String>, BTreeSet<String>) {
    let solution = world.solve();
    assert!(solution.report.unplaced.is_empty(), "{:?}", solution.report.unplaced);
    let node = of_batch(&solution);
    let own = [(&node.zone, node.capacity_type)];
    let others = node.substitutes.iter().map(|other| (&other.zone, other.capacity_type));
    own.into_iter().chain(others).map(|(zone, bought)| (zone.to_string(), bought.to_string())).unzip()
}

#[test]
fn a_zone_is_fixed_wherever_pods_elsewhere_are_spread_over_it_and_count_the_node() {
    let (zones, bought) = choices(&world(|_| {}));
    assert_eq!(zones.len(), 1, "{zones:?}");
    assert_eq!(bought.len(), 2, "only the zone is counted: {bought:?}");
}

#[test]
fn a_zone_is_open_where_no_required_spread_counts_the_node() {
    let is_open = |change: fn(&mut crate::model::PodSpec)| choices(&world(change)).0.len() > 1;
    assert!(is_open(|spec| spec.spread[0].strength = Strength::Preferred));
    assert!(is_open(|spec| spec.spread[0].honors_node_taints = true));
    assert!(is_open(|spec| spec.node_selector.add(label::NODE_POOL.into(), Requirement::one("apps"))));
    assert!(is_open(|spec| spec.spread = vec![over(label::HOSTNAME, "web")]));
    // A spread that ignores its pods' node selector counts every node.
    assert!(!is_open(|spec| {
        spec.node_selector.add(label::NODE_POOL.into(), Requirement::one("apps"));
        spec.spread[0].honors_node_affinity = false;
    }));
}

#[test]
fn pods_that_run_count_as_well() {
    let (pool_of_batch, etl) = batch();
    let running = pods("web", 2, |spec| spec.spread.push(over(label::ZONE, "web")));
    let world = World::of(vec![pool("default"), pool_of_batch])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods(running.into_iter().map(|pod| on("n1", pod)))
        .pods([etl]);
    assert_eq!(choices(&world).0.len(), 1);
}

#[test]
fn a_capacity_type_is_fixed_where_pods_elsewhere_are_spread_over_it() {
    let by_type = |spec: &mut crate::model::PodSpec| {
        spec.spread =
            vec![crate::model::SpreadConstraint { max_skew: 8, ..over(label::CAPACITY_TYPE, "web") }];
    };
    let (zones, bought) = choices(&world(by_type));
    assert!(zones.len() > 1 && bought.len() == 1, "{zones:?} {bought:?}");
}

#[test]
fn a_node_that_would_begin_to_count_as_a_host_stays_where_it_is() {
    // Only nodes in zone 2 are hosts for these pods, so the choices for a batch node must not mix zone 2 with others.
    let world = world(|spec| {
        spec.spread = vec![over(label::HOSTNAME, "web")];
        spec.node_selector.add(label::ZONE.into(), Requirement::one("eastus-2"));
        spec.spread[0].max_skew = 8;
    });
    let (zones, _) = choices(&world);
    let is_host = |zone: &String| zone == "eastus-2";
    assert!(zones.iter().all(is_host) || !zones.iter().any(is_host), "{zones:?}");
}

#[test]
fn a_choice_stays_within_the_limits_with_the_other_nodes_as_planned() {
    let within = |world: World| {
        let solution = world.solve();
        let new = &solution.target.new;
        assert_eq!(new.len(), 2, "{new:?}");
        let planned: i64 = new.iter().map(|node| node.capacity.get(&ResourceName::Cpu)).sum();
        let sizes: BTreeSet<&str> =
            new.iter().flat_map(|node| &node.substitutes).map(|other| other.size.as_str()).collect();
        (planned, sizes.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let two = || [pod("a").cpu("13").memory("10Gi"), pod("b").cpu("3").memory("10Gi")];
    let limited = |cpu: &str| Pool { limits: resources(&[("cpu", cpu)]), ..pool("default") };
    let (planned, sizes) = within(World::of(vec![limited("20")]).pods(two()));
    assert_eq!(planned, 20_000);
    assert_eq!(sizes, ["Standard_D16s_v5", "Standard_D4s_v5", "Standard_E4s_v5", "Standard_NC4as_T4_v3"]);
    let (_, sizes) = within(World::of(vec![limited("24")]).pods(two()));
    assert!(sizes.contains(&"Standard_D8s_v5".to_owned()), "{sizes:?}");
    let mut world = World::of(vec![pool("default")]).pods(two());
    world.policy.fleet.limits.cost_per_month = Some(MicroUsd(730 * (768_000 + 192_000 + 1_000)));
    let (_, sizes) = within(world);
    assert!(!sizes.iter().any(|size| size.contains("D8s") || size.contains("E4s")), "{sizes:?}");
}
