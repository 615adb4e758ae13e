//! What holds of every packing: the order of the input decides nothing, and no limit is passed.

use nodeform::model::{Operator, Pod, ResourceName, label};
use nodeform::solve::{Solution, solve};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::TestCaseError;

use super::support::build::World;
use super::support::judged::try_plan_of;
use super::support::{daemon, node, pod, pool, sizes, world};

/// Up to forty pods of many sizes, of which one in ten each wants a zone, an architecture, a port of its node.
fn some_pods() -> impl Strategy<Value = Vec<Pod>> {
    let one = (1_i64..=30, 1_i64..=24, 0_u8..10, any::<bool>());
    vec(one, 0..40).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        numbered
            .map(|(number, (cpu, memory, wish, is_urgent))| {
                let pod = pod(&format!("p-{number:02}"))
                    .cpu(&format!("{}m", cpu * 250))
                    .memory(&format!("{memory}Gi"))
                    .priority(i32::from(is_urgent));
                match wish {
                    0 => pod.zone("2"),
                    1 => pod.selecting(label::ARCH, "arm64"),
                    2 => pod.port(8080),
                    _ => pod,
                }
                .build()
            })
            .collect()
    })
}

/// Solves, and has the plan judged: every pod is placed once or named as left over, and nodes hold what they carry.
fn packed(world: &World) -> Result<Solution, TestCaseError> {
    let solution = solve(&world.snapshot, &world.policy);
    try_plan_of(world, &solution).map_err(TestCaseError::fail)?;
    let kept = solution.target.kept.iter().flat_map(|kept| &kept.pods);
    let new = solution.target.new.iter().flat_map(|node| &node.pods);
    let unplaced = solution.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    let mut named: Vec<_> = kept.chain(new).chain(unplaced).collect();
    named.sort();
    let mut all: Vec<_> = world.snapshot.pods.iter().map(|pod| &pod.key).collect();
    all.sort();
    prop_assert_eq!(named, all);
    for node in &solution.target.new {
        prop_assert!(node.requests.fit_in(&node.allocatable));
        let pods = world.snapshot.pods.iter().filter(|pod| node.pods.contains(&pod.key));
        let sum = pods.fold(node.daemon_requests.clone(), |sum, pod| sum.plus(&pod.spec.requests));
        prop_assert_eq!(&sum, &node.requests);
        prop_assert!(node.opened_for.as_ref().is_some_and(|pod| node.pods.contains(pod)));
    }
    Ok(solution)
}

proptest! {
    // Small worlds of one kind: three times as many as of others.
    #![proptest_config(ProptestConfig { cases: super::config().cases * 3, ..super::config() })]

    #[test]
    fn the_order_of_the_input_does_not_matter(
        (pods, shuffled) in some_pods().prop_flat_map(|pods| (Just(pods.clone()), Just(pods).prop_shuffle())),
    ) {
        let on_demand = pool("default").requiring(label::CAPACITY_TYPE, Operator::In, &["on-demand"]);
        let there = node("n1").of_pool("default").size("Standard_D4s_v5");
        let mut world = world().pool(on_demand).daemon(daemon("agent")).node(there);
        world.snapshot.pods = pods;
        let solution = packed(&world)?;
        world.snapshot.pods = shuffled;
        prop_assert_eq!(solution, packed(&world)?);
    }

    #[test]
    fn limits_hold_whatever_waits(pods in some_pods(), cpu in 0_i64..60, nodes in 0_u64..8) {
        let limited = pool("default").limit("cpu", &cpu.to_string()).nodes_max(nodes);
        let solution = packed(&world().pool(limited).pods(pods))?;
        let size = |name| sizes::instance_type_named(name).capacity.get(&ResourceName::Cpu);
        let bought: i64 = solution.target.new.iter().map(|node| size(node.size.as_str())).sum();
        prop_assert!(bought <= cpu * 1000 && solution.target.new.len() as u64 <= nodes);
    }
}
