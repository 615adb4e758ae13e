//! Preemption: planted bugs are in what the world says of who gave way.

use std::sync::Arc;

use crate::support::build::World;
use crate::support::judged::plan_of;
use crate::support::{node, pod, pool, world};
use nodeform::check::{Finding, Rule, check};
use nodeform::model::{NodeName, Pod, PodKey, PodPlace, Preemption};
use nodeform::plan::Plan;
use nodeform::solve::{preempted, solve};

/// A node whose placeholder gives way to `web`, beside one that is full.
fn after() -> World {
    let before = world()
        .pool(pool("default"))
        .node(node("n1"))
        .node(node("n2"))
        .pod(pod("room").cpu("3").priority(-10).on("n1"))
        .pod(pod("small").cpu("100m").priority(-10).on("n1"))
        .pod(pod("full").cpu("3500m").on("n2"))
        .pod(pod("web").cpu("1500m"));
    World { snapshot: preempted(before.snapshot), policy: before.policy }
}

fn planned(world: &World) -> Plan {
    plan_of(world, &solve(&world.snapshot, &world.policy))
}

fn findings(world: &World) -> Vec<Finding> {
    check(&world.snapshot, &world.policy, &planned(world))
}

/// Objects to this about preemption, and to nothing else.
#[track_caller]
fn objects(world: &World, why: &str) {
    let found = findings(world);
    assert!(found.iter().all(|finding| finding.rule == Rule::Preemption), "{found:#?}");
    assert!(found.iter().any(|finding| finding.message.contains(why)), "no `{why}` in {found:#?}");
}

fn pod_mut<'a>(world: &'a mut World, name: &str) -> &'a mut Pod {
    world.snapshot.pods.iter_mut().find(|pod| &*pod.key.name == name).expect("the pod exists")
}

fn key(name: &str) -> PodKey {
    PodKey::new("default", name)
}

#[test]
fn a_pod_that_takes_the_place_of_a_lower_one_is_right_and_travels_with_the_plan() {
    let world = after();
    let expected = Preemption { pod: key("web"), node: "n1".into(), victims: vec![key("room")] };
    assert_eq!(world.snapshot.preemptions, std::slice::from_ref(&expected));
    assert_eq!(findings(&world), []);
    let plan = planned(&world);
    let saved = nodeform::plan::read(&nodeform::plan::write(&plan)).expect("a plan file can be read");
    assert_eq!(saved.snapshot().preemptions, [expected]);
    assert_eq!(check(&saved.snapshot(), &saved.policy(), &saved), []);
    let after = nodeform::sim::after(&world.snapshot, &plan);
    let bound = |name: &str| {
        let pod = after.pods.iter().find(|pod| *pod.key.name == *name);
        pod.is_some_and(|pod| pod.place != PodPlace::Waiting)
    };
    assert!(bound("web") && bound("room") && after.preemptions.is_empty());
}

#[test]
fn only_lower_priorities_give_way_and_only_to_pods_that_preempt() {
    let mut world = after();
    Arc::make_mut(&mut pod_mut(&mut world, "room").spec).priority = 0;
    objects(&world, "of priority 0 preempts `default/room` of priority 0");
    let mut world = after();
    Arc::make_mut(&mut pod_mut(&mut world, "web").spec).never_preempts = true;
    objects(&world, "its `preemptionPolicy` is `Never`");
    let mut world = after();
    pod_mut(&mut world, "room").place = PodPlace::Bound("n1".into());
    assert!(findings(&world).iter().any(|finding| finding.rule == Rule::Preemption));
}

#[test]
fn nobody_gives_way_without_need() {
    let mut world = after();
    pod_mut(&mut world, "small").place = PodPlace::Waiting;
    world.snapshot.preemptions[0].victims.push(key("small"));
    objects(&world, "preempts `default/small`, and has room beside it");
    let mut world = after();
    pod_mut(&mut world, "full").place = PodPlace::Waiting;
    let n2 = NodeName::new("n2");
    world.snapshot.nodes.retain(|node| node.name != n2);
    assert_eq!(findings(&world), [], "that pod may have been first to any room");
    let mut world = after();
    world.snapshot.pods.retain(|pod| &*pod.key.name != "full");
    objects(&world, "node `n2` has room for it");
}

#[test]
fn who_preempts_fits_there_and_the_plan_says_it() {
    let mut world = after();
    let taint = nodeform::model::Taint::new("dedicated", "x", nodeform::model::Effect::NoSchedule);
    world.snapshot.nodes[0].taints.push(taint);
    objects(&world, "does not tolerate taint");
    let world = after();
    let mut plan = planned(&world);
    plan.evidence.world.preemptions.clear();
    let found = check(&world.snapshot, &world.policy, &plan);
    assert!(found.iter().any(|finding| finding.rule == Rule::Preemption), "{found:#?}");
}
