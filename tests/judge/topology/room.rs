//! Room that nobody uses: pods that are left out, or get a new node, though a node takes them that stays.

use nodeform::check::{Rule, needless};
use nodeform::model::CapacityType;

use super::told_apart;
use crate::support::build::World;
use crate::support::by_hand::{ByHand, by_hand};
use crate::support::{node, pod, pool, world};

/// A size of four cores, as it is bought.
const NEW: (&str, &str, CapacityType) = ("Standard_D4s_v5", "1", CapacityType::OnDemand);

/// A node with three cores of room, and a pool that may make no second one.
fn one_node() -> World {
    world()
        .pool(pool("default").nodes_max(1))
        .node(node("busy").size("Standard_D4s_v5"))
        .pod(pod("old").cpu("500m").on("busy"))
}

#[test]
fn a_pod_that_is_left_out_though_a_node_has_room_is_seen() {
    let world = one_node().pod(pod("large").cpu("2")).pod(pod("small").cpu("1"));
    told_apart(
        &world,
        Rule::Pods,
        |plan| plan.keeping("busy", &["large", "small"]),
        |plan| plan.keeping("busy", &["large"]).leaving(&["small"]),
    );
}

#[test]
fn a_pod_that_is_left_out_though_a_new_node_has_room_is_seen() {
    let world =
        world().pool(pool("default").nodes_max(1)).pod(pod("large").cpu("2")).pod(pod("small").cpu("1"));
    told_apart(
        &world,
        Rule::Pods,
        |plan| plan.making("default", NEW, &["large", "small"]),
        |plan| plan.making("default", NEW, &["large"]).leaving(&["small"]),
    );
}

#[test]
fn a_pod_that_no_node_has_room_for_may_be_left_out() {
    let world = one_node().pod(pod("large").cpu("2")).pod(pod("huge").cpu("3"));
    let found = super::findings(super::by_hand(world).keeping("busy", &["large"]).leaving(&["huge"]));
    assert_eq!(found, []);
}

#[test]
fn a_pod_that_gets_a_new_node_though_one_that_stays_has_room_is_seen() {
    let busy = world()
        .pool(pool("default"))
        .node(node("busy").size("Standard_D4s_v5"))
        .pod(pod("old").cpu("500m").on("busy"))
        .pod(pod("large").cpu("3500m"))
        .pod(pod("small").cpu("200m"));
    let found = |change: fn(ByHand) -> ByHand| {
        let (world, plan) = change(by_hand(busy.clone())).planned();
        needless(&world.snapshot, &world.policy, &plan).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let used = found(|plan| plan.keeping("busy", &["small"]).making("default", NEW, &["large"]));
    assert_eq!(used, Vec::<String>::new());
    let bought = found(|plan| plan.making("default", NEW, &["large", "small"]));
    assert_eq!(bought, ["pods: pod `default/small`: gets a new node, and node `busy` has room for it"]);
}
