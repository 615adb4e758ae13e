//! Worlds that random search found: each led to a plan that was wrong, and is kept as small as it was found.

#[expect(dead_code, unused_imports, reason = "each test binary uses a part of it")]
#[path = "support/worlds/mod.rs"]
mod support;

use nodeform::model::{
    BudgetNodes, Effect, ExtraCost, Operator, Preferred, SpreadConstraint, Strength, label,
};
use nodeform::sim;
use support::build::{PodBuilder, World};
use support::judged::planned;
use support::topology::{app, beside, over};
use support::{daemon, node, pod, pool, world};

/// A pod of an app with next to no memory.
fn of(app: &str, name: &str, cpu: &str) -> PodBuilder {
    pod(name).cpu(cpu).memory("16Mi").label("app", app)
}

fn spread(pod: PodBuilder, constraint: SpreadConstraint) -> PodBuilder {
    pod.specified(|spec| spec.spread.push(constraint))
}

/// A wish to be spread over hosts with the pods of an app.
fn wished(name: &str, policies: (bool, bool)) -> SpreadConstraint {
    SpreadConstraint {
        max_skew: 2,
        strength: Strength::Preferred,
        selector: Some(app(name)),
        honors_node_affinity: policies.0,
        honors_node_taints: policies.1,
        ..over(label::HOSTNAME)
    }
}

/// A spread over domains with the pods of an app.
fn over_of(key: &str, name: &str) -> SpreadConstraint {
    SpreadConstraint { selector: Some(app(name)), ..over(key) }
}

fn after(world: &World) -> World {
    World { snapshot: sim::after(&world.snapshot, &planned(world)), policy: world.policy.clone() }
}

/// Four pods that mean each other and whom they mean runs on spot alone; what would lead them elsewhere moves on.
#[test]
fn pods_do_not_follow_one_that_went_elsewhere_in_the_end() {
    let agent = daemon("agent").with(|pod| pod.cpu("300m")).intolerant();
    let small = |name: &str| node(name).size("Standard_D2s_v5").zone("0");
    let wishful = spread(of("web", "shape-1", "500m"), wished("db", (true, true)));
    let wishful = wishful.specified(|spec| {
        spec.preferred_affinity.push(Preferred { weight: 1, term: beside(label::CAPACITY_TYPE, "web") });
    });
    let alone = spread(of("web", "shape-3", "250m"), wished("api", (false, false))).specified(|spec| {
        spec.preferred_anti_affinity.push(Preferred { weight: 10, term: beside(label::ZONE, "db") });
    });
    let tied = spread(of("web", "shape-4", "500m"), over(label::ZONE))
        .specified(|spec| spec.affinity.push(beside(label::CAPACITY_TYPE, "web")));
    let apart = of("db", "shape-5", "1").specified(|spec| {
        spec.anti_affinity.push(beside("example.com/team", "db"));
        spec.preferred_affinity.push(Preferred { weight: 100, term: beside(label::HOSTNAME, "db") });
    });
    let world = world()
        .pool(pool("default").taint("team", Effect::NoSchedule).budget(BudgetNodes::Percent(100)))
        .daemon(agent.clone())
        .node(small("node-0"))
        .node(small("node-1"))
        .node(small("node-2"))
        .node(small("node-3"))
        .node(node("node-4").size("Standard_L8s_v3").zone("0").spot())
        .pod(pod("static").cpu("20m").of_daemonset("unlisted").on("node-0"))
        .pods([agent.on("node-2"), agent.on("node-4")])
        .pods(pod("running-0").label("app", "db").on("node-0").times(2))
        .pod(pod("running-4").label("app", "web").on("node-4"))
        .pod(of("web", "shape-0", "10m"))
        .pods(wishful.times(2))
        .pods(of("db", "shape-2", "500m").or_term(&[(label::SKU_CPU, Operator::Lte, &["8"])]).times(4))
        .pod(alone)
        .pods(tied.times(6))
        .pods(apart.times(3));
    for limit in [ExtraCost::Percent(0), ExtraCost::Percent(50), ExtraCost::Unlimited] {
        planned(&world.clone().fleet(|fleet| fleet.extra_cost = limit));
    }
}

/// The zone of the empty node counts for spread as long as the node is there, and a budget of nothing keeps it.
#[test]
fn a_node_that_a_budget_keeps_is_not_counted_on_to_be_gone() {
    let gpu = |pod: PodBuilder| pod.asking("nvidia.com/gpu", "1").tolerating("gpu");
    let on_demand = (label::CAPACITY_TYPE, Operator::In, &["on-demand"][..]);
    let world = world()
        .pool(pool("default").budget(BudgetNodes::Percent(100)))
        .pool(
            pool("light")
                .requiring(label::CAPACITY_TYPE, Operator::In, &["spot"])
                .budget(BudgetNodes::Count(0)),
        )
        .node(node("node-0").of_pool("light").size("Standard_D2s_v5").zone("0").cordoned())
        .pod(pod("static").cpu("20m").of_daemonset("unlisted").on("node-0"))
        .pods(of("db", "shape-0", "10m").preferring(&[on_demand], 1).times(3))
        .pods(gpu(of("web", "shape-1", "10m").memory("40Gi")).times(5))
        .pod(of("web", "shape-2", "10m"))
        .pods(of("db", "shape-3", "10m").times(4))
        .pod(spread(gpu(of("web", "shape-4", "20")), over(label::ZONE)))
        .pod(of("db", "shape-5", "10m"));
    planned(&after(&world));
}

/// What a fleet of new nodes can still save is found before it is made, not by moving its pods afterwards.
#[test]
fn a_fleet_that_is_made_from_nothing_is_settled() {
    let elsewhere = (label::ZONE, Operator::NotIn, &["0", "westeurope-1"][..]);
    let apart =
        of("api", "shape-3", "20").specified(|spec| spec.anti_affinity.push(beside(label::HOSTNAME, "api")));
    let world = world()
        .pool(pool("default").budget(BudgetNodes::Percent(100)))
        .pods(of("db", "shape-0", "1900m").memory("1Gi").selecting(label::ARCH, "arm64").times(6))
        .pods(of("db", "shape-1", "500m").memory("9Gi").port(80).or_term(&[elsewhere]).times(6))
        .pods(of("web", "shape-2", "10m").memory("3Gi").times(4))
        .pods(apart.times(2))
        .pods(spread(of("web", "shape-4", "500m").memory("9Gi"), over(label::ZONE)).times(2))
        .pod(of("db", "shape-5", "10m"))
        .pod(of("db", "shape-6", "1"));
    assert!(planned(&after(&world)).is_empty(), "the second plan moves what the first one made");
}

/// Nodes that get some value of a label, nobody knows which, are not what `NotIn` refuses: they count for spread.
#[test]
fn nodes_of_any_team_count_for_pods_that_avoid_one() {
    const TEAM: &str = "example.com/team";
    let spread = spread(of("web", "shape-1", "10m"), over(label::ZONE));
    let world = world()
        .pool(pool("default").requiring(TEAM, Operator::Exists, &[]).budget(BudgetNodes::Percent(100)))
        .node(node("node-0").size("Standard_D4ps_v5").zone("1"))
        .pod(pod("static").cpu("20m").of_daemonset("unlisted").on("node-0"))
        .pod(
            pod("running-0")
                .label("app", "db")
                .on("node-0")
                .specified(|spec| spec.affinity.push(beside(label::ZONE, "api"))),
        )
        .pods(of("web", "shape-0", "10m").asking("nvidia.com/gpu", "1").tolerating("gpu").times(4))
        .pods(
            spread
                .or_term(&[(label::ARCH, Operator::In, &["arm64"])])
                .or_term(&[(TEAM, Operator::NotIn, &["red"])])
                .times(3),
        )
        .pod(of("web", "shape-2", "10m").memory("40Gi"));
    planned(&world);
}

/// A pod that prefers another value of a label comes later to a node of a pool that asks for the label and names no value.
#[test]
fn a_node_that_gets_more_pods_settles_the_labels_that_those_refuse_values_of() {
    const TEAM: &str = "example.com/team";
    let wishful = |pod: PodBuilder| pod.preferring(&[(TEAM, Operator::NotIn, &["red"])], 1);
    let (small, middle) = (|name| node(name).size("Standard_D2s_v5").zone("0"), |name| node(name).zone("0"));
    let agent = daemon("static").with(|pod| wishful(pod.cpu("20m").memory("1Gi")));
    let loose = |number: usize| {
        let pod = of("db", &format!("shape-0-{number}"), "10m");
        let wish =
            SpreadConstraint { max_skew: 2, strength: Strength::Preferred, ..over_of(label::ZONE, "web") };
        spread(pod.or_term(&[("karpenter.azure.com/sku-cpu", Operator::Gt, &["7"])]), wish)
    };
    let large = of("web", "shape-1-1", "20");
    let large = large.or_term(&[(label::CAPACITY_TYPE, Operator::In, &["on-demand"])]);
    let world = world()
        .pool(pool("default").budget(BudgetNodes::Percent(100)))
        .pool(pool("light").requiring(TEAM, Operator::Exists, &[]).budget(BudgetNodes::Count(0)))
        .node(small("node-0"))
        .node(middle("node-1").spot())
        .node(middle("node-2"))
        .node(middle("node-3"))
        .node(small("node-4").cordoned())
        .pod(pod("running-1-1").label("app", "web").on("node-1"))
        .pod(pod("running-1-2").label("app", "web").on("node-1"))
        .pod(wishful(pod("running-2-1").label("app", "web")).on("node-2"))
        .pods((1..8).map(|number| loose(number).build()))
        .pod(spread(large, over_of(label::ZONE, "db")))
        .pods([agent.on("node-0")])
        .daemon(agent);
    planned(&world);
}
