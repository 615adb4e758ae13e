//! Pending, held and ignored pods.

use std::sync::Arc;

use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::{Pod, SchedulingRule, Strength, Workload};

#[test]
fn a_required_rule_that_is_not_there_yet_holds_the_pod_back_by_its_name() {
    let pods = [
        pod("plain"),
        pod("claim").spec(|spec| {
            spec.other_rules.insert(SchedulingRule::ResourceClaims, Strength::Required);
        }),
        pod("disk").spec(|spec| {
            spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
        }),
    ];
    assert_eq!(
        World::of(vec![pool("default")]).pods(pods).text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: plain\n\
         ! claim: resourceClaims\n! disk: volumes\n"
    );
}

#[test]
fn a_wish_that_is_not_there_yet_is_passed_over_and_counted() {
    let pods = ["a", "b"].map(|name| {
        pod(name).spec(|spec| {
            spec.other_rules.insert(SchedulingRule::RuntimeClass, Strength::Preferred);
        })
    });
    let solution = World::of(vec![pool("default")]).pods(pods).solve();
    let counts: Vec<(SchedulingRule, usize)> = solution.report.passed_over.into_iter().collect();
    assert_eq!(counts, [(SchedulingRule::RuntimeClass, 2)]);
    assert_eq!(solution.target.new.len(), 1);
    assert!(solution.report.held.is_empty());
}

#[test]
fn a_gated_pod_waits_for_its_gates() {
    let gated = pod("a").spec(|spec| {
        spec.gates.insert(Arc::from("example.com/quota"));
    });
    let solution = World::of(vec![pool("default")]).pods([gated]).solve();
    assert!(solution.target.new.is_empty());
    assert_eq!(solution.report.held[0].waits_for, "scheduling gates");
    assert!(solution.report.held[0].because.contains("example.com/quota"));
}

#[test]
fn pods_of_a_node_that_is_being_deleted_need_a_place() {
    let mut leaving = node("n1", "Standard_D4s_v5");
    leaving.is_deleting = true;
    let agent = Pod { is_daemon: true, ..on("n1", pod("agent")) };
    let going = Pod { is_terminating: true, ..on("n1", pod("going")) };
    let workload =
        Workload { kind: "StatefulSet".into(), namespace: "default".into(), name: Arc::from("db") };
    let back = Pod { is_terminating: true, workload: Some(workload), ..on("n1", pod("db-0")) };
    let world = World::of(vec![pool("default")]).nodes([leaving]).pods([
        agent,
        going,
        back,
        on("n1", pod("web")),
        pod("new"),
    ]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: db-0 new web\n");
}

#[test]
fn a_pod_on_a_node_that_nobody_listed_stays_where_it_is() {
    let solution = World::of(vec![pool("default")]).pods([on("gone", pod("a"))]).solve();
    assert!(solution.target.new.is_empty() && solution.report.unplaced.is_empty());
}

#[test]
fn pods_that_say_nothing_of_their_needs_are_counted() {
    let silent = pod("a").spec(|spec| spec.is_without_requests = true);
    let solution = World::of(vec![pool("default")]).pods([silent, pod("b")]).solve();
    assert_eq!(solution.report.without_requests, 1);
}
