//! Room that CapacityBuffers keep: it is said, and gives way to pods.

use nodeform::check::{Finding, Rule, check};
use nodeform::model::{
    Buffer, BufferName, BufferPods, MicroUsdPerHour, Namespace, ResourceName, Resources, Workload,
};
use nodeform::plan::Plan;
use nodeform::snapshot::Snapshot;
use nodeform::solve::{Headroom, Unplaced, solve};

use crate::support::build::World;
use crate::support::by_hand::by_hand;
use crate::support::judged::{assert_right, plan_of};
use crate::support::{node, pod, pool, world};

/// A node with room for three cores, and room for a pod of two that is kept there.
fn kept() -> (World, Plan) {
    let world = world()
        .pool(pool("default"))
        .node(node("busy").size("Standard_D4s_v5"))
        .pod(pod("old").cpu("500m").on("busy"))
        .pod(pod("room").cpu("2").placeholder(1));
    let solution = solve(&world.snapshot, &world.policy);
    let plan = plan_of(&world, &solution);
    assert_right(&world, &plan);
    (world, plan)
}

fn said((world, plan): &(World, Plan)) -> Vec<String> {
    let found: Vec<Finding> = check(&world.snapshot, &world.policy, plan);
    found.into_iter().filter(|it| it.rule == Rule::Headroom).map(|it| it.message).collect()
}

#[test]
fn room_that_nobody_speaks_of_is_seen() {
    let mut case = kept();
    assert_eq!(said(&case), [""; 0]);
    case.1.evidence.report.headroom = None;
    assert_eq!(said(&case), ["room for 1 pods is kept, and the plan does not say so"]);
    case.1.evidence.report.headroom =
        Some(Headroom { pods: 3, cost: MicroUsdPerHour(0), is_estimate: false });
    assert_eq!(said(&case), ["room for 1 pods is kept, and the plan speaks of 3"]);
    case.1.evidence.report.headroom =
        Some(Headroom { pods: 1, cost: MicroUsdPerHour(9_000_000), is_estimate: false });
    assert_eq!(said(&case), ["room is said to cost less than nothing, or more than the whole fleet"]);
}

#[test]
fn a_pod_that_goes_without_for_the_sake_of_room_is_seen() {
    let world = world()
        .pool(pool("default").nodes_max(1))
        .node(node("busy").size("Standard_D4s_v5"))
        .pod(pod("old").cpu("500m").on("busy"))
        .pod(pod("new").cpu("3"))
        .pod(pod("room").cpu("3").placeholder(1));
    let solution = solve(&world.snapshot, &world.policy);
    assert_right(&world, &plan_of(&world, &solution));
    let placeholder = "buffer:room-1";
    let (world, mut plan) = by_hand(world).keeping("busy", &[placeholder]).leaving(&["new"]).unjudged();
    plan.evidence.report.headroom = Some(Headroom { pods: 1, cost: MicroUsdPerHour(0), is_estimate: false });
    assert_eq!(
        said(&(world, plan)),
        ["has no place, and on node `busy` a CapacityBuffer keeps room that it needs"]
    );
}

#[test]
fn room_for_another_number_of_pods_than_a_buffer_asks_for_is_seen() {
    let (mut world, plan) = kept();
    let (namespace, name) = (Namespace::new("default"), BufferName::new("room"));
    let workload =
        Workload { kind: "CapacityBuffer".into(), namespace: namespace.clone(), name: "room".into() };
    for pod in world.snapshot.pods.iter_mut().filter(|pod| pod.key.is_placeholder()) {
        pod.workload = Some(workload.clone());
    }
    let buffer = Buffer {
        namespace: namespace.clone(),
        name: name.clone(),
        strategy: "buffer.x-k8s.io/active-capacity".into(),
        pods: BufferPods::Template("room".into()),
        replicas: Some(2),
        percent: None,
        limits: None,
    };
    world.policy.buffers.insert((namespace.clone(), name.clone()), buffer.clone());
    let before = world.snapshot.clone();
    let mut case = (world, plan);
    assert_eq!(said(&case), ["asks for room for 2 pods, and is planned with 1"]);
    case.0.snapshot.pods.retain(|pod| !pod.key.is_placeholder());
    assert!(said(&case).contains(&"asks for room for 2 pods, and is planned with 0".to_owned()));
    case.0.snapshot = before;
    let limits = Some(Resources::none().with(ResourceName::Cpu, 1500));
    case.0.policy.buffers.insert((namespace, name), Buffer { replicas: None, limits, ..buffer });
    assert_eq!(said(&case), ["keeps room for cpu 2, and its limit is 1500m"]);
}

#[test]
fn a_node_that_goes_though_room_has_no_other_place_is_seen() {
    let world = world()
        .pool(pool("default").nodes_max(1))
        .node(node("busy").size("Standard_D2s_v5"))
        .node(node("spare").size("Standard_D4s_v5"))
        .pod(pod("old").cpu("1800m").on("busy"))
        .pod(pod("room").cpu("3").placeholder(1));
    let mut plan = plan_of(&world, &solve(&world.snapshot, &world.policy));
    assert_right(&world, &plan);
    assert!(plan.spec.deletes().next().is_none(), "the spare node keeps room");
    let bare = World {
        snapshot: Snapshot {
            pods: world.snapshot.pods.iter().filter(|pod| !pod.key.is_placeholder()).cloned().collect(),
            ..world.snapshot.clone()
        },
        policy: world.policy.clone(),
    };
    let unplaced = Unplaced {
        pods: world
            .snapshot
            .pods
            .iter()
            .map(|pod| &pod.key)
            .filter(|key| key.is_placeholder())
            .cloned()
            .collect(),
        rule: "limits".to_owned(),
        because: "nothing more can be made".to_owned(),
        nearest: None,
        details: Vec::new(),
    };
    plan = plan_of(&bare, &solve(&bare.snapshot, &bare.policy));
    plan.evidence.report.unplaced.push(unplaced);
    assert_eq!(
        said(&(world, plan)),
        ["is removed to save money, and room for pod `default/buffer:room-1` is nowhere else"]
    );
}
