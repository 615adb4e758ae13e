//! Required topology spread.

use nodeform::check::Rule;
use nodeform::model::{CapacityType, LabelKey, SpreadConstraint, label};

use super::{findings, told_apart};
use crate::support::build::{PodBuilder, World};
use crate::support::by_hand::by_hand;
use crate::support::topology::over;
use crate::support::{node, pod, pool, world};

/// Small pods with `app: web`.
fn web(name: &str) -> PodBuilder {
    pod(name).cpu("100m").memory("64Mi").label("app", "web")
}

fn spread(constraint: SpreadConstraint) -> PodBuilder {
    web("web").specified(|spec| spec.spread.push(constraint))
}

/// Nodes `n1` and `n2` in zones of their number.
fn two_zones() -> World {
    world().pool(pool("default")).node(node("n1").zone("1")).node(node("n2").zone("2"))
}

/// And `n3` in the third.
fn three_zones() -> World {
    two_zones().node(node("n3").zone("3"))
}

#[test]
fn a_zone_that_is_one_pod_too_far_ahead() {
    told_apart(
        &two_zones().pods(spread(over(label::ZONE)).times(4)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2", "web-3"]).keeping("n2", &["web-4"]),
    );
}

#[test]
fn the_numbers_are_said() {
    let world = two_zones().pods(spread(over(label::ZONE)).times(4));
    let plan = by_hand(world).keeping("n1", &["web-1", "web-2", "web-3"]).keeping("n2", &["web-4"]);
    assert_eq!(
        findings(plan).into_iter().map(|found| found.to_string()).collect::<Vec<_>>(),
        ["topology spread: pod `default/web-1`: zone `westeurope-1` would have 3 of the pods it must be \
             spread with, 2 more than zone `westeurope-2`; maxSkew is 1"]
    );
}

#[test]
fn a_skew_measured_without_the_pods_that_run() {
    told_apart(
        &two_zones().pods(web("old").on("n1").times(2)).pods(spread(over(label::ZONE)).times(2)),
        Rule::Spread,
        |plan| plan.keeping("n2", &["web-1", "web-2"]),
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
    );
}

#[test]
fn a_zone_without_any_pod_that_is_forgotten() {
    told_apart(
        &three_zones().pods(spread(over(label::ZONE)).times(4)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3"]).keeping("n3", &["web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
    );
}

#[test]
fn a_zone_that_only_a_new_node_has_is_forgotten() {
    let new = ("Standard_D2s_v5", "3", CapacityType::OnDemand);
    let world = two_zones().pods(spread(over(label::ZONE)).times(5)).pod(pod("other").zone("3"));
    let wrong = by_hand(world.clone())
        .keeping("n1", &["web-1", "web-2"])
        .keeping("n2", &["web-3", "web-4", "web-5"])
        .making("default", new, &["other"]);
    by_hand(world.clone())
        .keeping("n1", &["web-1", "web-2"])
        .keeping("n2", &["web-3", "web-4"])
        .making("default", new, &["other", "web-5"])
        .planned();
    let found = findings(wrong);
    assert!(!found.is_empty() && found.iter().all(|it| it.rule == Rule::Spread), "{found:#?}");
}

#[test]
fn a_zone_that_is_left_is_no_zone() {
    told_apart(
        &three_zones()
            .pod(pod("agent").of_daemonset("agent").on("n3"))
            .pods(spread(over(label::ZONE)).times(4)),
        Rule::Spread,
        |plan| {
            let plan = plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]);
            plan.removing("n3")
        },
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
    );
}

#[test]
fn match_label_keys_that_are_ignored() {
    let constraint = SpreadConstraint {
        match_label_keys: vec![LabelKey::new("rev"), LabelKey::new("no")],
        ..over(label::ZONE)
    };
    told_apart(
        &two_zones()
            .pods(web("old").label("rev", "a").on("n2").times(2))
            .pods(spread(constraint).label("rev", "b").times(2)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]),
    );
}

#[test]
fn fewer_domains_than_there_must_be() {
    let constraint = SpreadConstraint { min_domains: Some(3), ..over(label::ZONE) };
    told_apart(
        &two_zones().pods(spread(constraint).times(4)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]).leaving(&["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
    );
}

#[test]
fn a_tainted_node_counts_unless_taints_are_honored() {
    let tainted = two_zones().node(node("n3").zone("3").taint("team"));
    let honoring = SpreadConstraint { honors_node_taints: true, ..over(label::ZONE) };
    told_apart(
        &tainted.clone().pods(spread(over(label::ZONE)).times(4)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]).leaving(&["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
    );
    told_apart(
        &tainted.pods(spread(honoring).times(4)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2", "web-3"]).keeping("n2", &["web-4"]),
    );
}

#[test]
fn a_cordoned_node_does_not_count_where_taints_are_honored() {
    let honoring = SpreadConstraint { honors_node_taints: true, ..over(label::ZONE) };
    told_apart(
        &two_zones().node(node("n3").zone("3").cordoned()).pods(spread(honoring).times(4)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2", "web-3"]).keeping("n2", &["web-4"]),
    );
}

#[test]
fn a_node_that_the_pods_do_not_select_counts_only_where_affinity_is_ignored() {
    let zones: &[&str] = &["westeurope-1", "westeurope-2"];
    let choosing = |constraint: SpreadConstraint| {
        spread(constraint).or_term(&[(label::ZONE, nodeform::model::Operator::In, zones)]).times(4)
    };
    let ignoring = SpreadConstraint { honors_node_affinity: false, ..over(label::ZONE) };
    told_apart(
        &three_zones().pods(choosing(over(label::ZONE))),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2", "web-3"]).keeping("n2", &["web-4"]),
    );
    told_apart(
        &three_zones().pods(choosing(ignoring)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]).leaving(&["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
    );
}

#[test]
fn a_node_without_the_label() {
    told_apart(
        &two_zones()
            .node(node("n3").zone("3").labelled("example.com/rack", "a"))
            .pods(spread(over("example.com/rack")).times(2)),
        Rule::Spread,
        |plan| plan.keeping("n3", &["web-1", "web-2"]),
        |plan| plan.keeping("n1", &["web-1"]).keeping("n3", &["web-2"]),
    );
}

#[test]
fn a_node_without_one_of_two_labels_counts_for_neither() {
    let racks = ["n1", "n2"];
    let labelled = racks.iter().zip(["1", "2"]).fold(world().pool(pool("default")), |world, (name, zone)| {
        world.node(node(name).zone(zone).labelled("example.com/rack", "a"))
    });
    let pods = spread(over(label::ZONE)).specified(|spec| spec.spread.push(over("example.com/rack")));
    told_apart(
        &labelled.node(node("n3").zone("3")).pods(pods.times(4)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1", "web-2"]).keeping("n2", &["web-3", "web-4"]),
        |plan| plan.keeping("n1", &["web-1", "web-2", "web-3"]).keeping("n2", &["web-4"]),
    );
}

#[test]
fn every_node_is_a_host_of_its_own_also_a_new_one() {
    told_apart(
        &world()
            .pool(pool("default"))
            .node(node("n1"))
            .pods(spread(over(label::HOSTNAME)).times(3))
            .pod(pod("other")),
        Rule::Spread,
        |plan| {
            let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
            let plan = plan.keeping("n1", &["other", "web-1"]);
            plan.making("default", size, &["web-2"]).making("default", size, &["web-3"])
        },
        |plan| {
            let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
            let plan = plan.keeping("n1", &["other"]);
            plan.making("default", size, &["web-1"]).making("default", size, &["web-2", "web-3"])
        },
    );
}

#[test]
fn a_capacity_type_that_is_too_far_ahead() {
    told_apart(
        &world().pool(pool("default")).pods(spread(over(label::CAPACITY_TYPE)).times(4)),
        Rule::Spread,
        |plan| {
            let size = |kind| ("Standard_D2s_v5", "1", kind);
            plan.making("default", size(CapacityType::Spot), &["web-1", "web-2"]).making(
                "default",
                size(CapacityType::OnDemand),
                &["web-3", "web-4"],
            )
        },
        |plan| {
            let size = |kind| ("Standard_D2s_v5", "1", kind);
            plan.making("default", size(CapacityType::Spot), &["web-1", "web-2", "web-3"]).making(
                "default",
                size(CapacityType::OnDemand),
                &["web-4"],
            )
        },
    );
}

#[test]
fn pods_that_are_being_deleted_do_not_count() {
    told_apart(
        &two_zones()
            .pods(web("old").terminating().on("n1").times(2))
            .pods(spread(over(label::ZONE)).times(2)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
        |plan| plan.keeping("n2", &["web-1", "web-2"]),
    );
}

#[test]
fn pods_of_other_namespaces_do_not_count() {
    told_apart(
        &two_zones()
            .pods(web("old").in_namespace("other").on("n1").times(2))
            .pods(spread(over(label::ZONE)).times(2)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
        |plan| plan.keeping("n2", &["web-1", "web-2"]),
    );
}

#[test]
fn pods_that_move_do_not_count_where_they_were() {
    told_apart(
        &two_zones()
            .node(node("old").zone("1").deleting())
            .pods(spread(over(label::ZONE)).on("old").times(2)),
        Rule::Spread,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
        |plan| plan.keeping("n2", &["web-1", "web-2"]),
    );
}

#[test]
fn pods_without_the_constraint_may_come_last() {
    told_apart(
        &two_zones().pods(spread(over(label::ZONE)).times(4)).pods(web("free").times(3)),
        Rule::Spread,
        |plan| {
            plan.keeping("n1", &["free-1", "free-2", "free-3", "web-1", "web-2"])
                .keeping("n2", &["web-3", "web-4"])
        },
        |plan| {
            plan.keeping("n1", &["free-1", "web-1", "web-2", "web-3", "web-4"])
                .keeping("n2", &["free-2", "free-3"])
        },
    );
}

#[test]
fn a_pod_that_its_constraint_does_not_select_is_not_counted_with() {
    let constraint =
        SpreadConstraint { selector: Some(crate::support::topology::app("db")), ..over(label::ZONE) };
    told_apart(
        &two_zones()
            .pods(pod("db").cpu("100m").label("app", "db").on("n1").times(2))
            .pods(spread(constraint).times(2)),
        Rule::Spread,
        |plan| plan.keeping("n2", &["web-1", "web-2"]),
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
    );
}

#[test]
fn a_wish_is_no_rule() {
    let wishing = SpreadConstraint { strength: nodeform::model::Strength::Preferred, ..over(label::ZONE) };
    let world = two_zones().pods(spread(wishing).times(3));
    by_hand(world).keeping("n1", &["web-1", "web-2", "web-3"]).planned();
}

#[test]
fn nobody_is_counted_by_no_selector_or_by_one_that_selects_everything() {
    for selector in [None, Some(crate::support::topology::everything())] {
        let constraint = SpreadConstraint { selector, ..over(label::ZONE) };
        let world = two_zones().pods(spread(constraint).times(3));
        by_hand(world).keeping("n1", &["web-1", "web-2", "web-3"]).planned();
    }
}

/// Pods that are spread over zones and hosts.
fn over_both(name: &str) -> PodBuilder {
    web(name).specified(|spec| spec.spread.extend([over(label::ZONE), over(label::HOSTNAME)]))
}

#[test]
fn zones_and_hosts_that_leave_no_common_order() {
    let hosts = [("a1", "1"), ("a2", "1"), ("b1", "2"), ("b2", "2"), ("b3", "2")];
    let nodes = hosts
        .iter()
        .fold(world().pool(pool("default")), |world, (name, zone)| world.node(node(name).zone(zone)));
    let world = nodes.pods(over_both("web").times(12));
    // Each rule alone has an order: zones end with 6 and 6 pods, hosts with 3 at most and 2 at least.
    let wrong = by_hand(world.clone())
        .keeping("a1", &["web-1", "web-2", "web-3"])
        .keeping("a2", &["web-4", "web-5", "web-6"])
        .keeping("b1", &["web-7", "web-8"])
        .keeping("b2", &["web-9", "web-10"])
        .keeping("b3", &["web-11", "web-12"]);
    let found = findings(wrong);
    assert!(!found.is_empty() && found.iter().all(|it| it.rule == Rule::Spread), "{found:#?}");
    by_hand(world)
        .keeping("a1", &["web-1", "web-2"])
        .keeping("a2", &["web-3", "web-4"])
        .keeping("b1", &["web-7", "web-8"])
        .keeping("b2", &["web-9"])
        .keeping("b3", &["web-11"])
        .leaving(&["web-10", "web-12", "web-5", "web-6"])
        .planned();
}

#[test]
fn a_system_node_that_is_assumed_is_a_host_without_such_a_pod() {
    let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
    let world = world().pool(pool("default")).pods(spread(over(label::HOSTNAME)).times(2));
    by_hand(world.clone()).making("default", size, &["web-1"]).making("default", size, &["web-2"]).planned();
    let found = findings(by_hand(world.clone()).making("default", size, &["web-1", "web-2"]));
    assert!(
        found.iter().any(|it| it.to_string().contains("2 more than the assumed system node")),
        "{found:#?}"
    );
    let honoring = SpreadConstraint { honors_node_taints: true, ..over(label::HOSTNAME) };
    let world = crate::support::world().pool(pool("default")).pods(spread(honoring).times(2));
    by_hand(world).making("default", size, &["web-1", "web-2"]).planned();
}
