//! Worlds that random search found: each led to a plan that was wrong, and is kept as small as it was found.

use crate::support::build::{PodBuilder, World};
use crate::support::judged::planned;
use crate::support::topology::{app, beside, over};
use crate::support::{daemon, node, pod, pool, world};
use nodeform::model::{
    BudgetNodes, Effect, ExtraCost, MinValuesPolicy, Operator, Preferred, SpreadConstraint, Strength, label,
};
use nodeform::sim;
use nodeform::solve::bound::bound;
use nodeform::solve::karpenter::{self, Refused, Settings, UnnamedFamilies};
use nodeform::solve::solve;

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

/// Waiting pods that follow others by the way their node is bought, and others yet that follow them on a node.
#[test]
fn pods_that_are_followed_by_the_way_of_buying_are_bought_that_way() {
    let tied = |number: usize| {
        let pod = of("api", &format!("shape-2-{number}"), "10m").selecting(label::CAPACITY_TYPE, "on-demand");
        pod.specified(|spec| spec.affinity.push(beside(label::CAPACITY_TYPE, "web")))
    };
    let wish = SpreadConstraint { strength: Strength::Preferred, ..over_of(label::ZONE, "web") };
    let follower = spread(of("web", "shape-4-1", "10m"), over_of(label::ZONE, "web"))
        .or_term(&[(label::SKU_CPU, Operator::Lte, &["4"])])
        .or_term(&[(label::ARCH, Operator::NotIn, &["arm64"])])
        .specified(|spec| spec.affinity.push(beside(label::HOSTNAME, "api")));
    let world = world()
        .pool(pool("default").weight(10))
        .pool(pool("light"))
        .node(node("node-0").size("Standard_D2s_v5").zone("0").cordoned())
        .pods([daemon("static").with(|pod| pod.cpu("20m").memory("1Gi")).on("node-0")])
        .pod(spread(of("web", "shape-0-1", "20"), wish))
        .pods((1..3).map(|number| of("api", &format!("shape-1-{number}"), "10m").build()))
        .pods((1..4).map(|number| tied(number).build()))
        .pods((1..5).map(|number| of("web", &format!("shape-3-{number}"), "3").build()))
        .pod(follower);
    planned(&world);
}

#[test]
fn a_claim_under_best_effort_names_as_many_sizes_as_one_pod_alone_could_have() {
    let world = world()
        .pool(pool("default").min_values(label::INSTANCE_TYPE, 3))
        .fleet(|fleet| fleet.min_values_policy = MinValuesPolicy::BestEffort)
        .pods((1..4).map(|number| of("web", &format!("shape-0-{number}"), "7").build()))
        .pod(of("web", "shape-1-1", "1").memory("40Gi"))
        .pod(spread(of("web", "shape-2-1", "10m"), over_of(label::ZONE, "web")))
        .pod(of("web", "shape-3-1", "10m"));
    planned(&world);
}

#[test]
fn a_node_of_a_lighter_pool_beside_room_is_opened_for_a_pod_that_no_heavier_one_takes() {
    let room = pod("room").cpu("3").memory("256Mi");
    let apart = |number: usize| {
        let pod = of("db", &format!("shape-3-{number}"), "10m").selecting(label::ARCH, "amd64");
        pod.specified(|spec| spec.anti_affinity.push(beside(label::ZONE, "db")))
    };
    let loose = |number: usize| {
        of("web", &format!("shape-0-{number}"), "7").or_term(&[(label::ARCH, Operator::NotIn, &["arm64"])])
    };
    let late = of("api", "shape-1-1", "7").tolerating("team").priority(-10);
    let world = world()
        .pool(pool("default").weight(10).taint("team", Effect::NoSchedule))
        .pool(pool("light"))
        .pods((0..2).map(|ordinal| room.clone().placeholder(ordinal).build()))
        .pods((1..3).map(|number| loose(number).build()))
        .pod(spread(late, over_of(label::ZONE, "web")))
        .pod(
            of("web", "shape-2-1", "10m")
                .or_term(&[(label::ARCH, Operator::In, &["amd64"])])
                .tolerating("team"),
        )
        .pods((1..4).map(|number| apart(number).build()));
    planned(&world);
}

/// A node that differs from its pool, which one strategy keeps and the other replaces by a cheaper one.
#[test]
fn a_bound_counts_no_node_that_its_number_alone_keeps() {
    let world = world()
        .pool(pool("default"))
        .pool(pool("light").requiring(label::ZONE, Operator::In, &["westeurope-1"]).replicas(1))
        .node(node("node-0").of_pool("light").size("Standard_D2s_v5").zone("0"))
        .pods([daemon("static").with(|pod| pod.cpu("20m").memory("1Gi")).on("node-0")]);
    let settings = Settings { unnamed: UnnamedFamilies::LeaveOut, ..Settings::default() };
    let karpenter = karpenter::solve(&world.snapshot, &world.policy, settings, &Refused::default());
    let cheapest = solve(&world.snapshot, &world.policy).report.cost_after.effective;
    assert!(cheapest < karpenter.report.cost_after.effective);
    assert!(bound(&world.snapshot, &world.policy, &karpenter).expect("all is priced").least <= cheapest);
}

#[test]
fn a_pool_without_enough_to_choose_from_takes_nothing_whatever_limits_say() {
    let tied = pod("running-0-1").label("app", "web").cpu("500m").memory("1Gi");
    let mut world = world()
        .pool(pool("default").requiring(label::ZONE, Operator::In, &["westeurope-1"]))
        .pool(pool("light").weight(10).min_values(label::SKU_FAMILY, 5))
        .node(node("node-0").of_pool("default").size("Standard_D2s_v5").zone("0"))
        .pod(spread(tied, over_of(label::ZONE, "web")).on("node-0"))
        .pods([daemon("static").with(|pod| pod.cpu("20m").memory("1Gi")).on("node-0")]);
    let free = planned(&world);
    assert_eq!(free.spec.changes.len(), 2);
    for pool in world.policy.pools.values_mut() {
        pool.nodes_max = Some(10_000);
    }
    assert_eq!(planned(&world).evidence.placements, free.evidence.placements);
}

#[test]
fn room_opens_no_zone_that_pods_would_have_to_be_spread_to() {
    let room = pod("room").cpu("3").memory("256Mi");
    let beside_web = |number: usize| {
        of("web", &format!("shape-0-{number}"), "7")
            .memory("40Gi")
            .specified(|spec| spec.affinity.push(beside(label::ZONE, "web")))
    };
    let wishful = |number: usize| {
        let wish = SpreadConstraint { strength: Strength::Preferred, ..over_of(label::ZONE, "web") };
        spread(of("web", &format!("shape-1-{number}"), "20").memory("256Mi"), wish)
            .selecting(label::ARCH, "amd64")
            .tolerating("gpu")
            .specified(|spec| {
                spec.anti_affinity.push(beside(label::ZONE, "db"));
                spec.anti_affinity.push(beside("example.com/team", "web"));
            })
    };
    let world = world()
        .fleet(|fleet| fleet.limits.nodes = Some(6))
        .pool(
            pool("default")
                .requiring(label::SKU_FAMILY, Operator::NotIn, &["D"])
                .budget(BudgetNodes::Percent(10)),
        )
        .node(node("node-0").of_pool("light").size("Standard_D4ps_v5").zone("0").spot())
        .daemon(daemon("daemon-0").with(|pod| pod.cpu("300m").memory("128Mi").port(9100)).intolerant())
        .pods((0..3).map(|ordinal| room.clone().placeholder(ordinal).build()))
        .pod(pod("running-0-1").label("app", "db").cpu("500m").memory("1Gi").on("node-0"))
        .pods((1..4).map(|number| beside_web(number).build()))
        .pods((1..3).map(|number| wishful(number).build()))
        .pods([daemon("static").with(|pod| pod.cpu("20m").memory("1Gi")).on("node-0")]);
    planned(&world);
}

#[test]
fn a_node_may_go_whose_pods_find_room_on_nodes_that_come_by_number() {
    let world = world()
        .pool(pool("default"))
        .pool(pool("light").replicas(3))
        .node(node("node-0").size("Standard_D2s_v5").zone("0").spot())
        .pod(pod("running-0-1").cpu("500m").memory("1Gi").on("node-0"))
        .pods([daemon("static").with(|pod| pod.cpu("20m").memory("1Gi")).on("node-0")]);
    assert_eq!(planned(&world).spec.deletes().count(), 1);
}

/// A drifted node whose replacement is dearer than it is itself.
#[test]
fn a_bound_counts_no_node_that_only_replaces_another() {
    let world = world()
        .pool(pool("default").requiring(label::SKU_FAMILY, Operator::NotIn, &["D"]).replicas(1))
        .node(node("node-0").size("Standard_D2s_v5").zone("0").spot())
        .pods([daemon("static").with(|pod| pod.cpu("20m").memory("1Gi")).on("node-0")]);
    let solution = solve(&world.snapshot, &world.policy);
    let (before, after) = (solution.report.cost_before.effective, solution.report.cost_after.effective);
    assert!(before < after);
    assert!(bound(&world.snapshot, &world.policy, &solution).expect("all is priced").least <= before);
}

#[test]
fn what_may_stand_in_for_a_node_that_comes_by_number_is_what_its_pods_prefer_of_it() {
    let world = world()
        .pool(pool("default"))
        .pool(pool("light").requiring(label::SKU_CPU, Operator::Gte, &["4"]).replicas(2))
        .fleet(|fleet| fleet.extra_cost = ExtraCost::Percent(0))
        .pod(of("web", "shape-0-1", "10m"))
        .pod(of("web", "shape-1-1", "10m").preferring(&[(label::ARCH, Operator::In, &["arm64"])], 1));
    planned(&world);
}

/// Kubernetes lets a pod begin where nobody is whom it means only if nobody is anywhere, by any of its rules.
#[test]
fn a_pod_begins_in_no_domain_while_others_of_its_kind_are_somewhere() {
    let apart_from_api = of("web", "shape-0-1", "10m").specified(|spec| {
        spec.anti_affinity.push(beside(label::ZONE, "api"));
        spec.preferred_affinity.push(Preferred { weight: 1, term: beside(label::CAPACITY_TYPE, "api") });
    });
    let api = |name: &str| pod(name).label("app", "api").cpu("500m").memory("1Gi");
    let own = api("running-6-1").specified(|spec| {
        spec.affinity.push(beside("example.com/team", "api"));
        spec.preferred_affinity.push(Preferred { weight: 1, term: beside(label::CAPACITY_TYPE, "api") });
    });
    let even = |number: usize| spread(api(&format!("running-4-{number}")), over_of(label::ZONE, "api"));
    let world = (0..7)
        .fold(world(), |world, number| {
            world.node(node(&format!("node-{number}")).size("Standard_D2s_v5").zone("0"))
        })
        .pool(pool("default").label("example.com/team", "blue"))
        .pool(pool("light").taint("team", Effect::NoSchedule))
        .fleet(|fleet| fleet.extra_cost = ExtraCost::Unlimited)
        .pods((1..4).map(|number| even(number).on("node-4").build()))
        .pod(own.on("node-6"))
        .pod(apart_from_api)
        .pods([daemon("static").with(|pod| pod.cpu("20m").memory("1Gi")).on("node-0")]);
    planned(&world);
}

#[test]
fn what_fills_a_limit_until_it_is_gone_sends_no_pod_to_a_lighter_pool() {
    let world = world()
        .pool(pool("default").requiring(label::SKU_FAMILY, Operator::In, &["B", "L"]))
        .pool(pool("light").weight(10).limit("cpu", "6"))
        .pods((1..5).map(|number| of("web", &format!("shape-0-{number}"), "1").build()));
    assert!(planned(&after(&world)).is_empty());
}

/// Two small pods of an app, of which one may not share a zone with its like. One of it runs in a zone, none on the node
/// that is in no zone: the free one goes where its like is.
#[test]
fn no_node_is_bought_for_pods_that_have_room_where_first_fit_puts_them() {
    let small = |name: &str| node(name).size("Standard_D2s_v5");
    let apart =
        of("web", "apart", "10m").specified(|spec| spec.anti_affinity.push(beside(label::ZONE, "web")));
    let world = world()
        .pool(pool("default").never_consolidating())
        .node(small("n0").zone("0"))
        .node(small("n1").zone("1"))
        .pod(of("db", "db", "500m").on("n0"))
        .pod(of("web", "web", "500m").on("n1"))
        .pod(of("web", "free", "10m"))
        .pod(apart);
    let plan = planned(&world);
    assert_eq!((plan.spec.creates().count(), plan.evidence.report.left_over()), (0, 0));
}

/// Pods that may not share a zone with their like: the region has three zones, and a node in none of them is a domain of its
/// own to Kubernetes.
#[test]
fn pods_apart_by_zone_take_a_node_in_no_zone_when_every_zone_has_one() {
    let apart = |number: usize| {
        of("web", &format!("web-{number}"), "1")
            .specified(|spec| spec.anti_affinity.push(beside(label::ZONE, "web")))
    };
    let zones = |pods: usize| {
        let world = (0..pods).fold(world().pool(pool("default")), |world, number| world.pod(apart(number)));
        let plan = planned(&world);
        let claims = plan.spec.creates();
        let mut zones: Vec<String> = claims.map(|(_, _, claim)| claim.primary.zone.to_string()).collect();
        zones.sort();
        (zones.join(" "), plan.evidence.report.left_over())
    };
    assert_eq!(zones(3), ("westeurope-1 westeurope-2 westeurope-3".to_owned(), 0));
    assert_eq!(zones(4), ("0 westeurope-1 westeurope-2 westeurope-3".to_owned(), 0));
    assert_eq!(zones(5), ("0 westeurope-1 westeurope-2 westeurope-3".to_owned(), 1));
}

/// Pods over as many zones as the region has and one more: the fourth domain is that of nodes in no zone.
#[test]
fn pods_over_more_domains_than_there_are_zones_use_nodes_in_none() {
    let over_domains = |least: u32, number: usize| {
        let over = SpreadConstraint { min_domains: Some(least), ..over_of(label::ZONE, "web") };
        spread(of("web", &format!("web-{number}"), "1"), over)
    };
    let left_over_and_outside = |least: u32| {
        let world = world().pool(pool("default"));
        let world = (0..8).fold(world, |world, number| world.pod(over_domains(least, number)));
        let plan = planned(&world);
        let is_outside = plan.spec.creates().any(|(_, _, claim)| claim.primary.zone.as_str() == "0");
        (plan.evidence.report.left_over(), is_outside)
    };
    assert_eq!(left_over_and_outside(3), (0, false));
    assert_eq!(left_over_and_outside(4), (0, true));
    assert_eq!(left_over_and_outside(5), (4, true));
}

/// Pods that may not share a way of being bought with others, which may go anywhere and would take both.
#[test]
fn pods_that_may_go_anywhere_leave_room_to_those_that_keep_apart() {
    let world = world().pool(pool("default").never_consolidating());
    let world = (0..3).fold(world, |world, number| {
        world.node(node(&format!("n{number}")).size("Standard_D2s_v5").zone("0"))
    });
    let world = (0..4).fold(world, |world, number| world.pod(of("api", &format!("api-{number}"), "1")));
    let apart = |number: usize| {
        of("web", &format!("web-{number}"), "1")
            .specified(|spec| spec.anti_affinity.push(beside(label::CAPACITY_TYPE, "api")))
    };
    let plan = planned(&(0..2).fold(world, |world, number| world.pod(apart(number))));
    assert_eq!(plan.evidence.report.left_over(), 0);
}

/// A pod of which one term leaves only the lighter pool, and that is the cheaper way.
#[test]
fn a_heavier_pool_is_not_taken_for_another_term_where_the_lighter_one_costs_less() {
    let plan = planned(
        &world()
            .pool(pool("light"))
            .pool(pool("heavy").weight(10).requiring(label::SKU_GPU_NAME, Operator::Exists, &[]))
            .pod(
                of("web", "web", "10m")
                    .or_term(&[(label::SKU_GPU_NAME, Operator::DoesNotExist, &[])])
                    .or_term(&[(label::ZONE, Operator::In, &["westeurope-1"])]),
            ),
    );
    let pools: Vec<&str> = plan.spec.creates().map(|(_, _, claim)| claim.pool.as_str()).collect();
    assert_eq!(pools, ["light"]);
}

/// Four sizes hold it, of one of which nobody knows the price: a claim with a highest price does not list that.
#[test]
fn a_choice_is_not_made_up_of_sizes_whose_price_nobody_knows() {
    let world = world()
        .pool(pool("default").min_values(label::INSTANCE_TYPE, 4))
        .pod(pod("large").cpu("10m").memory("40Gi"));
    assert_eq!(planned(&world).evidence.report.unplaced.len(), 1);
}

/// Five sizes are asked for, and the spread counts nodes of some of them only.
#[test]
fn a_choice_that_the_pool_asks_for_may_hold_sizes_that_a_spread_does_not_count() {
    let picky = spread(of("web", "shape-0", "1"), over(label::ZONE)).or_term(&[(
        label::SKU_FAMILY,
        Operator::In,
        &["D", "E"],
    )]);
    let varied = pool("default").min_values(label::INSTANCE_TYPE, 5).requiring(
        label::ZONE,
        Operator::In,
        &["westeurope-1"],
    );
    planned(&world().pool(varied).pods(picky.times(3)).pods(of("web", "shape-1", "7").times(3)));
}

/// Whether a node counts depends on its size, and its pods only prefer to be spread.
#[test]
fn a_node_is_no_choice_of_sizes_of_which_a_spread_counts_some() {
    let picky = spread(of("db", "shape-0", "1"), over_of(label::ZONE, "web"))
        .or_term(&[("kubernetes.azure.com/mode", Operator::In, &["system"])])
        .or_term(&[(label::SKU_FAMILY, Operator::In, &["D", "E"])]);
    let web = of("web", "shape-1", "1").or_term(&[(label::SKU_CPU, Operator::Lte, &["4"])]);
    let web = spread(
        web.memory("256Mi"),
        SpreadConstraint { strength: Strength::Preferred, ..over_of(label::ZONE, "web") },
    );
    planned(&world().pool(pool("default")).pod(picky).pods(web.times(3)));
}

/// How many pods have a place of those that come first, and of so many that come after them.
fn placed_beside(web: usize) -> (usize, usize) {
    let pool = |name| {
        pool(name)
            .requiring(label::SKU_FAMILY, Operator::In, &["D"])
            .requiring(label::CAPACITY_TYPE, Operator::In, &["on-demand"])
            .requiring(label::ZONE, Operator::In, &["westeurope-1", "westeurope-2"])
    };
    let apart = pod("api").label("app", "api").priority(1);
    let apart = apart.specified(|spec| spec.anti_affinity.push(beside(label::ZONE, "api")));
    let world = world()
        .pool(pool("default").nodes_max(1))
        .pool(pool("light").weight(10).limit("cpu", "4"))
        .pods(apart.times(2))
        .pods(pod("db").label("app", "db").priority(1).times(7))
        .pods(pod("web").label("app", "web").times(web));
    let plan = planned(&world);
    let placed = plan.evidence.placements.values().flat_map(|placement| &placement.pods);
    let (last, first): (Vec<_>, Vec<_>) = placed.partition(|pod| pod.name.starts_with("web"));
    (first.len(), last.len())
}

#[test]
fn more_pods_of_a_lower_priority_take_no_place_from_others_and_have_no_fewer_themselves() {
    let (few, many) = (placed_beside(3), placed_beside(29));
    assert_eq!(few, (9, 3));
    assert!(many.0 == 9 && many.1 >= 3, "{many:?}");
}

/// Two workloads of one priority under a limit, of which as many have a place in two ways.
#[test]
fn more_replicas_take_no_place_from_their_own() {
    let tied = |app: &str, key: &str| spread(pod(app).label("app", app).priority(1), over_of(key, app));
    let placed = |db: usize| {
        let pool = pool("default")
            .requiring(label::ZONE, Operator::In, &["westeurope-1", "westeurope-2"])
            .requiring(label::CAPACITY_TYPE, Operator::In, &["on-demand", "spot"])
            .requiring(label::SKU_FAMILY, Operator::In, &["D"])
            .limit("cpu", "4");
        let both = world().pool(pool).pods(tied("api", label::ZONE).times(2));
        let plan = planned(&both.pods(tied("db", label::CAPACITY_TYPE).times(db)));
        let pods = plan.evidence.placements.values().flat_map(|placement| &placement.pods);
        pods.filter(|pod| pod.name.starts_with("db")).count()
    };
    assert!(placed(7) >= placed(5), "{} of 7, {} of 5", placed(7), placed(5));
}
