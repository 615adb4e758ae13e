//! Gangs.

use std::sync::Arc;

use nodeform::check::Rule;
use nodeform::model::{DisruptionReason, Group, GroupRef, Pod};

use super::{findings, told_apart};
use crate::support::build::{PodBuilder, World};
use crate::support::by_hand::by_hand;
use crate::support::{node, pod, pool, world};

fn named() -> GroupRef {
    GroupRef::PodGroup(Arc::from("g"))
}

fn member(name: &str) -> PodBuilder {
    pod(name).cpu("100m").memory("64Mi").specified(|spec| spec.group = Some(named()))
}

/// Two nodes and a group, of whose pods so many are the least.
fn grouped(least: Option<u32>, pods: Vec<Pod>) -> World {
    let mut world =
        world().pool(pool("default")).node(node("n1").zone("1")).node(node("n2").zone("2")).pods(pods);
    world.snapshot.groups.push(Group { namespace: "default".into(), name: named(), least });
    world
}

#[test]
fn a_gang_of_which_one_pod_is_left_over() {
    told_apart(
        &grouped(Some(3), member("web").times(3)),
        Rule::Gangs,
        |plan| plan.keeping("n1", &["web-1", "web-2", "web-3"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]).leaving(&["web-3"]),
    );
}

#[test]
fn a_gang_that_what_runs_completes() {
    let mut pods = member("web").times(2);
    pods.push(member("old").on("n1").build());
    told_apart(
        &grouped(Some(3), pods),
        Rule::Gangs,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
        |plan| plan.keeping("n1", &["web-1"]).leaving(&["web-2"]),
    );
}

#[test]
fn a_pod_whose_group_nothing_declares() {
    let mut world = grouped(Some(1), member("web").times(1));
    world.snapshot.groups.clear();
    told_apart(&world, Rule::Gangs, |plan| plan.leaving(&["web-1"]), |plan| plan.keeping("n1", &["web-1"]));
}

/// What is found of gangs where a node goes that carries one of two pods.
fn torn(least: u32, reason: DisruptionReason) -> usize {
    let world = grouped(Some(least), vec![member("a").on("n1").build(), member("b").on("n2").build()]);
    let plan = by_hand(world).keeping("n1", &["b"]).moving_off_due("n2", reason);
    findings(plan).iter().filter(|finding| finding.rule == Rule::Gangs).count()
}

#[test]
fn a_node_that_goes_with_a_pod_which_its_gang_needs() {
    assert_eq!(torn(2, DisruptionReason::Drifted), 1);
    assert_eq!(torn(2, DisruptionReason::Underutilized), 1);
    assert_eq!(torn(1, DisruptionReason::Drifted), 0, "the gang can do without it");
    assert_eq!(torn(2, DisruptionReason::Unhealthy), 0, "what runs there is lost anyway");
}

#[test]
fn a_gang_without_places_is_excused_and_one_that_is_whole_is_not() {
    told_apart(
        &grouped(Some(2), member("web").times(3)),
        Rule::Pods,
        |plan| plan.leaving(&["web-1", "web-2", "web-3"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]).leaving(&["web-3"]),
    );
}
