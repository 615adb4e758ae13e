//! Existing nodes, and those that are launching, are filled first; DaemonSets take their share.

use super::world::{PodWith, World, daemon, node, on, pod, pool, toleration};
use crate::model::{Effect, Node, NodeStage, Pod, Taint, Workload, label};

#[test]
fn a_node_that_nobody_manages_is_used() {
    let foreign = Node { pool: None, claim: None, ..node("aks-system-1", "Standard_D4s_v5") };
    let world = World::of(vec![pool("default")]).nodes([foreign]).pods([pod("a")]);
    assert_eq!(world.text(), "= aks-system-1: a\n");
}

#[test]
fn what_is_on_its_way_is_waited_for() {
    let coming = Node { stage: NodeStage::Launching, ..node("default-abc", "Standard_D4s_v5") };
    let world = World::of(vec![pool("default")]).nodes([coming]).pods([pod("a").cpu("3"), pod("b").cpu("3")]);
    assert_eq!(world.text(), "= default-abc: a\n+ default Standard_F4s_v2 eastus-2 on-demand 169000: b\n");
}

#[test]
fn a_cordoned_node_takes_only_who_stands_that() {
    let mut cordoned = node("n1", "Standard_D4s_v5");
    cordoned.is_unschedulable = true;
    let stands = toleration("node.kubernetes.io/unschedulable", None, None);
    let world = World::of(vec![pool("default")]).nodes([cordoned]).pods([
        on("n1", pod("old")),
        pod("a"),
        pod("b").tolerates(stands),
    ]);
    assert_eq!(world.text(), "= n1: b\n+ default Standard_D2s_v5 eastus-2 on-demand 96000: a\n");
}

#[test]
fn a_taint_of_an_initialized_node_counts() {
    let mut tainted = node("n1", "Standard_D4s_v5");
    tainted.taints.push(Taint::new("cni.example.com/not-ready", "true", Effect::NoSchedule));
    let world = World::of(vec![pool("default")]).nodes([tainted]).pods([on("n1", pod("old")), pod("a")]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: a\n");
}

#[test]
fn a_label_that_a_node_does_not_have_is_not_there_however_well_known() {
    let wants = pod("a").selects(label::SKU_FAMILY, "D");
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([on("n1", pod("old")), wants]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: a\n");
}

#[test]
fn a_node_with_pods_is_filled_before_an_empty_one() {
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D4s_v5"), node("n2", "Standard_D4s_v5")])
        .pods([on("n2", pod("old")), pod("a")]);
    assert_eq!(world.text(), "= n2: a\n- n1: Empty\n");
}

#[test]
fn room_is_kept_for_a_daemonset_that_does_not_run_yet() {
    let world = World::of(vec![pool("default")])
        .daemons([daemon("agent")])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([pod("a").cpu("1700m"), pod("b").cpu("1700m"), pod("c").cpu("300m")]);
    assert_eq!(world.text(), "= n1: a b\n+ default Standard_D2s_v5 eastus-2 on-demand 96000: c\n");
}

#[test]
fn what_runs_of_a_daemonset_is_not_counted_twice() {
    let owner = daemon("agent");
    let workload =
        Workload { kind: "DaemonSet".into(), namespace: owner.namespace.clone(), name: owner.name.clone() };
    let agent = Pod { is_daemon: true, workload: Some(workload), ..on("n1", pod("agent-1")) };
    let world = World::of(vec![pool("default")])
        .daemons([daemon("agent")])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([agent, pod("a").cpu("1700m"), pod("b").cpu("1700m")]);
    assert_eq!(world.text(), "= n1: a b\n");
}

#[test]
fn a_daemonset_needs_room_beside_the_pod() {
    let world = World::of(vec![pool("default")])
        .daemons([daemon("agent")])
        .pods([pod("a").cpu("1500m").memory("1Gi")]);
    let solution = world.solve();
    assert_eq!(solution.target.new[0].size.as_str(), "Standard_F4s_v2");
    let daemons = &solution.target.new[0].daemon_requests;
    assert_eq!(daemons.get(&crate::model::ResourceName::Cpu), 500);
}

#[test]
fn a_daemonset_that_does_not_stand_the_taint_adds_nothing() {
    let mut tainted = pool("default");
    tainted.taints.push(Taint::new("team", "blue", Effect::NoSchedule));
    let world = World::of(vec![tainted])
        .daemons([daemon("agent")])
        .pods([pod("a").cpu("1500m").tolerates(toleration("team", None, None))]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a\n");
}

#[test]
fn a_daemonset_that_selects_other_sizes_adds_nothing() {
    let gpu = daemon("gpu").selects(label::SKU_GPU_COUNT, "1");
    let world = World::of(vec![pool("default")]).daemons([gpu]).pods([pod("a").cpu("1500m")]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a\n");
}

#[test]
fn a_port_that_a_daemonset_takes_is_taken_on_every_node() {
    let world =
        World::of(vec![pool("default")]).daemons([daemon("exporter").port(9100)]).pods([pod("a").port(9100)]);
    assert_eq!(world.text(), "? a: host ports: host port `9100/TCP` is taken by a daemonset\n");
}

#[test]
fn two_pods_with_one_port_stand_on_two_nodes() {
    let world = World::of(vec![pool("default")]).nodes([node("n1", "Standard_D4s_v5")]).pods([
        on("n1", pod("old").port(80)),
        pod("a").port(80),
        pod("b").port(80),
        pod("c").port(81),
    ]);
    assert_eq!(
        world.text(),
        "= n1: c\n\
         + default Standard_D2s_v5 eastus-2 on-demand 96000: a\n\
         + default Standard_D2s_v5 eastus-3 on-demand 96000: b\n"
    );
}
