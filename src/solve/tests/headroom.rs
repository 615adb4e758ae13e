//! Headroom of CapacityBuffers: where it is, that it never takes precedence over a pod, and what it costs.

use std::collections::BTreeSet;

use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::buffer::ACTIVE_CAPACITY;
use crate::model::{
    Buffer, BufferName, BufferPods, LabelKey, LabelSelector, MicroUsdPerHour, Namespace, Pod,
    PodAffinityTerm, PodKey, Pool, Requirement, Requirements, Workload, label,
};
use crate::snapshot::headroom::keep_room;

/// Returns a placeholder of the buffer `room`.
fn room(ordinal: u32, cpu: &str) -> Pod {
    let key = PodKey::placeholder(&Namespace::new("default"), &BufferName::new("room"), ordinal);
    Pod { key, ..pod("room").cpu(cpu).priority(i32::MIN) }
}

#[test]
fn room_on_a_node_that_is_there_costs_nothing() {
    let world = World::of(vec![pool("default")]).nodes([node("n1", "Standard_D4s_v5")]).pods([
        on("n1", pod("web")),
        room(1, "1"),
        room(2, "1"),
    ]);
    let solution = world.solve();
    assert_eq!(world.text(), "= n1: buffer:room-1 buffer:room-2\n");
    let said = solution.report.headroom.expect("room is kept");
    assert_eq!((said.pods, said.cost), (2, MicroUsdPerHour(0)));
}

#[test]
fn a_node_that_only_keeps_room_stays_and_is_paid_for() {
    let world = World::of(vec![pool("default")])
        .nodes([node("busy", "Standard_D2s_v5"), node("spare", "Standard_D2s_v5")])
        .pods([on("busy", pod("web").cpu("1800m"))]);
    assert_eq!(world.text(), "- spare: Empty\n");
    let world = world.pods([room(1, "1")]);
    assert_eq!(world.text(), "= spare: buffer:room-1\n");
    assert_eq!(world.solve().report.headroom.map(|room| room.cost), Some(MicroUsdPerHour(96_000)));
}

#[test]
fn a_node_that_is_too_large_for_the_room_that_it_keeps_is_replaced() {
    let world = World::of(vec![pool("default")])
        .nodes([node("busy", "Standard_D2s_v5"), node("spare", "Standard_D8s_v5")])
        .pods([on("busy", pod("web").cpu("1800m")), room(1, "1")]);
    assert_eq!(
        world.text(),
        "+ default Standard_D2s_v5 eastus-2 on-demand 96000: buffer:room-1\n- spare: Empty\n"
    );
}

#[test]
fn a_pod_takes_the_room_that_was_kept() {
    let world = World::of(vec![pool("default")]).nodes([node("n1", "Standard_D4s_v5")]).pods([
        on("n1", pod("web").cpu("100m")),
        pod("new").cpu("3"),
        room(1, "3"),
    ]);
    assert_eq!(
        world.text(),
        "= n1: new\n+ default Standard_F4s_v2 eastus-2 on-demand 169000: buffer:room-1\n"
    );
    assert_eq!(world.solve().report.headroom.map(|room| room.cost), Some(MicroUsdPerHour(169_000)));
}

#[test]
fn room_never_takes_what_a_limit_leaves_for_pods() {
    let full = Pool { nodes_max: Some(1), ..pool("default") };
    let world = World::of(vec![full]).pods([pod("web").cpu("1"), room(1, "15"), room(2, "15")]);
    assert_eq!(
        world.text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: web\n\
         ? buffer:room-1 buffer:room-2: limits: NodePool default is at its node limit (1 of 1)\n"
    );
    assert_eq!(world.solve().report.headroom, None);
}

#[test]
fn an_empty_node_is_not_kept_for_room_that_a_new_one_has() {
    let world = World::of(vec![pool("default")])
        .nodes([node("spare", "Standard_D2s_v5"), node("busy", "Standard_D2s_v5")])
        .pods([on("busy", pod("web").cpu("1900m")), room(1, "250m"), room(2, "3")]);
    assert_eq!(
        world.text(),
        "+ default Standard_F4s_v2 eastus-2 on-demand 169000: buffer:room-1 buffer:room-2\n- spare: Empty\n"
    );
}

#[test]
fn pods_and_room_share_a_new_node_where_an_empty_one_goes() {
    let mut spare = node("spare", "Standard_D2s_v5");
    spare.is_unschedulable = true;
    let world = World::of(vec![pool("default")]).nodes([spare]).pods([
        Pod { is_daemon: true, ..on("spare", pod("static").cpu("20m")) },
        pod("web").cpu("10m"),
        room(1, "3"),
    ]);
    assert_eq!(
        world.text(),
        "+ default Standard_F4s_v2 eastus-1 on-demand 169000: buffer:room-1 web\n- spare: Empty\n"
    );
}

#[test]
fn pods_and_room_share_a_larger_new_node_where_that_costs_less() {
    let world = World::of(vec![pool("default")]).pods([pod("web").cpu("1500m"), room(1, "1500m")]);
    assert_eq!(world.text(), "+ default Standard_F4s_v2 eastus-1 on-demand 169000: buffer:room-1 web\n");
    assert_eq!(world.solve().report.headroom.map(|room| room.cost), Some(MicroUsdPerHour(73_000)));
}

#[test]
fn room_stands_beside_pods_that_share_a_node_with_others() {
    let near = PodAffinityTerm {
        topology_key: LabelKey::new(label::HOSTNAME),
        selector: Some(LabelSelector(Requirements::none().with("app", Requirement::one("pair")))),
        namespaces: BTreeSet::new(),
        namespace_selector: None,
    };
    let pair = |name: &str| {
        pod(name).cpu("100m").spec(|spec| {
            spec.labels.insert(LabelKey::new("app"), "pair".into());
            spec.affinity.push(near.clone());
        })
    };
    let world = World::of(vec![pool("default")]).nodes([node("n1", "Standard_D4s_v5")]).pods([
        on("n1", pod("web").cpu("100m")),
        pair("one"),
        pair("two"),
        room(1, "1"),
        room(2, "1"),
    ]);
    assert_eq!(world.text(), "= n1: buffer:room-1 buffer:room-2 one two\n");
}

#[test]
fn room_for_more_pods_than_are_counted_is_said() {
    let (namespace, name) = (Namespace::new("shop"), BufferName::new("room"));
    let workload = Workload { kind: "Deployment".into(), namespace: namespace.clone(), name: "web".into() };
    let buffer = Buffer {
        namespace: namespace.clone(),
        name: name.clone(),
        strategy: ACTIVE_CAPACITY.into(),
        pods: BufferPods::Workload { group: "apps".into(), workload: workload.clone() },
        replicas: Some(20_000),
        percent: None,
        limits: None,
    };
    let templates = [(workload, (pod("web").spec, 1))].into();
    let mut snapshot = World::of(vec![pool("default")]).snapshot;
    keep_room(&mut snapshot, &[((namespace, name), buffer)].into(), &templates);
    let said: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
    let asked = "Not planned with: CapacityBuffer `shop/room`: it requests headroom for 20000 pods";
    assert_eq!((snapshot.pods.len(), said), (10_000, vec![format!("{asked}: 10000 are kept")]));
}
