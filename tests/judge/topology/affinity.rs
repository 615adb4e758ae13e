//! Required pod affinity.

use nodeform::check::Rule;
use nodeform::model::{CapacityType, LabelKey, Namespace, PodAffinityTerm, label};

use super::{findings, told_apart};
use crate::support::build::{PodBuilder, World};
use crate::support::by_hand::by_hand;
use crate::support::topology::{app, beside, labelled};
use crate::support::{daemon, node, pod, pool, world};

/// Small pods with this `app`.
fn of(app: &str) -> PodBuilder {
    pod(app).cpu("100m").memory("64Mi").label("app", app)
}

fn near(pod: PodBuilder, term: PodAffinityTerm) -> PodBuilder {
    pod.specified(|spec| spec.affinity.push(term))
}

/// Two nodes in zone 1, one in zone 2.
fn nodes() -> World {
    world()
        .pool(pool("default"))
        .node(node("n1").zone("1"))
        .node(node("n2").zone("1"))
        .node(node("far").zone("2"))
}

#[test]
fn a_follower_in_another_zone_than_who_runs() {
    told_apart(
        &nodes().pod(of("db").on("n1")).pod(near(of("web"), beside(label::ZONE, "db"))),
        Rule::PodAffinity,
        |plan| plan.keeping("n2", &["web"]),
        |plan| plan.keeping("far", &["web"]),
    );
}

#[test]
fn what_is_missing_is_said() {
    let world = nodes().pod(of("db").on("n1")).pod(near(of("web"), beside(label::ZONE, "db")));
    let found = findings(by_hand(world).keeping("far", &["web"]));
    assert_eq!(
        found[0].to_string(),
        "pod affinity: pod `default/web`: is placed in zone `westeurope-2`, and must be near pods with `app` In \
         [db]: none of them is there or can be before it"
    );
}

#[test]
fn a_follower_in_another_zone_than_who_is_placed() {
    told_apart(
        &nodes().pod(of("db")).pod(near(of("web"), beside(label::ZONE, "db"))),
        Rule::PodAffinity,
        |plan| plan.keeping("n1", &["db"]).keeping("n2", &["web"]),
        |plan| plan.keeping("n1", &["db"]).keeping("far", &["web"]),
    );
}

#[test]
fn a_follower_on_another_host() {
    told_apart(
        &nodes().pod(of("db")).pod(near(of("web"), beside(label::HOSTNAME, "db"))),
        Rule::PodAffinity,
        |plan| plan.keeping("n1", &["db", "web"]),
        |plan| plan.keeping("n1", &["db"]).keeping("n2", &["web"]),
    );
}

#[test]
fn a_follower_on_a_new_host() {
    let small = |app| of(app).selecting(label::INSTANCE_TYPE, "Standard_D2s_v5");
    told_apart(
        &nodes().pod(small("db")).pod(near(of("web"), beside(label::HOSTNAME, "db"))).pod(small("other")),
        Rule::PodAffinity,
        |plan| {
            let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
            plan.making("default", size, &["db", "other", "web"])
        },
        |plan| {
            let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
            plan.making("default", size, &["db", "other"]).keeping("n1", &["web"])
        },
    );
}

#[test]
fn two_that_are_the_first_in_two_zones() {
    told_apart(
        &nodes().pods(near(of("web"), beside(label::ZONE, "web")).times(2)),
        Rule::PodAffinity,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
        |plan| plan.keeping("n1", &["web-1"]).keeping("far", &["web-2"]),
    );
}

#[test]
fn the_first_where_one_runs_already() {
    told_apart(
        &nodes().pod(of("web").named("old").on("far")).pod(near(of("web"), beside(label::ZONE, "web"))),
        Rule::PodAffinity,
        |plan| plan.keeping("far", &["web"]),
        |plan| plan.keeping("n1", &["web"]),
    );
}

#[test]
fn nobody_is_the_first_of_those_that_it_is_not() {
    told_apart(
        &nodes().pod(of("db").cpu("900")).pod(near(of("web"), beside(label::ZONE, "db"))),
        Rule::PodAffinity,
        |plan| plan.leaving(&["db", "web"]),
        |plan| plan.leaving(&["db"]).keeping("n1", &["web"]),
    );
}

#[test]
fn those_who_are_near_in_turn_follow_each_other() {
    told_apart(
        &nodes()
            .pod(near(of("cache"), beside(label::ZONE, "db")))
            .pod(near(of("db"), beside(label::ZONE, "db")))
            .pod(near(of("web"), beside(label::HOSTNAME, "cache"))),
        Rule::PodAffinity,
        |plan| plan.keeping("n1", &["db"]).keeping("n2", &["cache", "web"]),
        |plan| plan.keeping("n1", &["db", "web"]).keeping("n2", &["cache"]),
    );
}

#[test]
fn a_node_without_the_label() {
    let rack = "example.com/rack";
    told_apart(
        &world()
            .pool(pool("default"))
            .node(node("n1").labelled(rack, "a"))
            .node(node("n2"))
            .pod(near(of("web"), beside(rack, "web"))),
        Rule::PodAffinity,
        |plan| plan.keeping("n1", &["web"]),
        |plan| plan.keeping("n2", &["web"]),
    );
}

#[test]
fn one_pod_must_meet_all_terms() {
    // As in kube-scheduler: a database here and a cache there are not enough.
    let both = near(near(of("web"), beside(label::ZONE, "db")), beside(label::ZONE, "cache"));
    let world = nodes().pod(of("db").on("n1")).pod(of("cache").on("n1")).pod(both);
    let found = findings(by_hand(world).keeping("n1", &["web"]));
    assert_eq!(found.len(), 1, "{found:#?}");
    let tiers = PodAffinityTerm { selector: Some(labelled("tier", "back")), ..beside(label::ZONE, "db") };
    let both = near(near(of("web"), beside(label::ZONE, "db")), tiers);
    by_hand(nodes().pod(of("db").label("tier", "back").on("n1")).pod(both)).keeping("n2", &["web"]).planned();
}

#[test]
fn pods_of_another_namespace_only_where_they_are_meant() {
    let meant = PodAffinityTerm {
        namespace_selector: Some(labelled("team", "blue")),
        selector: Some(app("db")),
        ..beside(label::ZONE, "db")
    };
    let with = |term| {
        let mut world = nodes().pod(of("db").in_namespace("shop").on("n1")).pod(near(of("web"), term));
        let labels = [(LabelKey::new("team"), "blue".into())].into();
        world.snapshot.namespaces.insert(Namespace::new("shop"), labels);
        world
    };
    told_apart(
        &with(meant),
        Rule::PodAffinity,
        |plan| plan.keeping("n2", &["web"]),
        |plan| plan.keeping("far", &["web"]),
    );
    let found = findings(by_hand(with(beside(label::ZONE, "db"))).keeping("n2", &["web"]));
    assert!(found.len() == 1 && found[0].rule == Rule::PodAffinity, "{found:#?}");
}

#[test]
fn who_moves_is_not_met_where_it_was() {
    told_apart(
        &nodes()
            .node(node("old").zone("2").deleting())
            .pod(of("db").on("old"))
            .pod(near(of("web"), beside(label::ZONE, "db"))),
        Rule::PodAffinity,
        |plan| plan.keeping("n1", &["db"]).keeping("n2", &["web"]),
        |plan| plan.keeping("n1", &["db"]).keeping("far", &["web"]),
    );
}

#[test]
fn a_daemonset_to_come_is_met() {
    let daemon = daemon("agent").with(|pod| pod.label("app", "agent"));
    let term = PodAffinityTerm {
        namespaces: [Namespace::new("kube-system")].into(),
        ..beside(label::HOSTNAME, "agent")
    };
    let world = world().pool(pool("default")).daemon(daemon).pod(near(of("web"), term));
    let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
    by_hand(world).making("default", size, &["web"]).planned();
}
