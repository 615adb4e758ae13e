//! Rules between pods: spread, affinity and anti-affinity, over zones, hosts and custom labels.

use std::collections::BTreeSet;

use super::world::{PodWith, World, any_pool, node, on, pod, pool};
use crate::model::{
    Disruption, LabelKey, LabelSelector, Namespace, Pod, PodAffinityTerm, PodKey, PodSpec, Pool, Requirement,
    Requirements, SpreadConstraint, Strength, label,
};

fn app(name: &str) -> LabelSelector {
    LabelSelector(Requirements::none().with("app", Requirement::one(name)))
}

pub(super) fn near(key: &str, name: &str) -> PodAffinityTerm {
    PodAffinityTerm {
        topology_key: LabelKey::new(key),
        selector: Some(app(name)),
        namespaces: BTreeSet::new(),
        namespace_selector: None,
    }
}

pub(super) fn over(key: &str, name: &str) -> SpreadConstraint {
    SpreadConstraint {
        topology_key: LabelKey::new(key),
        max_skew: 1,
        strength: Strength::Required,
        selector: Some(app(name)),
        min_domains: None,
        honors_node_affinity: true,
        honors_node_taints: false,
        match_label_keys: Vec::new(),
    }
}

/// Returns `count` equal pods of an app.
pub(super) fn pods(name: &str, count: usize, change: impl Fn(&mut PodSpec)) -> Vec<Pod> {
    let of = |number: usize| {
        pod(&format!("{name}-{number}")).spec(|spec| {
            spec.labels.insert("app".into(), name.into());
            change(spec);
        })
    };
    (1..=count).map(of).collect()
}

/// Returns the zones of the target's new nodes, with the number of pods in each.
fn zones(world: &World) -> Vec<(String, usize)> {
    let mut zones: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for node in world.solve().target.new {
        *zones.entry(node.zone.to_string()).or_default() += node.pods.len();
    }
    zones.into_iter().collect()
}

#[test]
fn pods_are_spread_over_all_zones_evenly() {
    let world = World::of(vec![pool("default")])
        .pods(pods("web", 8, |spec| spec.spread.push(over(label::ZONE, "web"))));
    let counts: Vec<usize> = zones(&world).into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [3, 3, 2]);
}

#[test]
fn a_spread_over_more_domains_than_there_are_says_so() {
    let world = World::of(vec![pool("default")]).pods(pods("web", 5, |spec| {
        spec.spread.push(SpreadConstraint { min_domains: Some(4), ..over(label::ZONE, "web") });
    }));
    let solution = world.solve();
    let unplaced: Vec<(usize, &str)> =
        solution.report.unplaced.iter().map(|it| (it.pods.len(), &*it.because)).collect();
    let because = "`topology.kubernetes.io/zone` `eastus-1` has 1 of these pods, the least counts as 0 with 3 of \
                   `minDomains` 4: `maxSkew` 1 allows no more";
    assert_eq!(unplaced, [(2, because)]);
}

#[test]
fn what_runs_counts_for_the_spread() {
    let spread = |spec: &mut PodSpec| spec.spread.push(over(label::ZONE, "web"));
    let mut running = pods("web", 2, spread);
    for (number, pod) in running.iter_mut().enumerate() {
        *pod = on("n1", Pod { key: PodKey::new("default", format!("old-{number}")), ..pod.clone() });
    }
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D2s_v5")])
        .pods(running)
        .pods(pods("web", 2, spread));
    let zones: Vec<String> = zones(&world).into_iter().map(|(zone, _)| zone).collect();
    assert_eq!(zones, ["eastus-2", "eastus-3"]);
}

#[test]
fn pods_that_may_not_share_a_host_get_one_each() {
    let apart = pods("db", 3, |spec| spec.anti_affinity.push(near(label::HOSTNAME, "db")));
    assert_eq!(World::of(vec![pool("default")]).pods(apart).solve().target.new.len(), 3);
    let spread = pods("web", 4, |spec| {
        spec.spread.push(SpreadConstraint { max_skew: 2, ..over(label::HOSTNAME, "web") });
    });
    assert_eq!(World::of(vec![pool("default")]).pods(spread).solve().target.new.len(), 2);
}

/// A spread pod is bound before the pods arrive that are evicted once its node exists.
#[test]
fn pods_that_run_elsewhere_join_one_that_is_spread_over_hosts() {
    let open = Pool { disruption: Disruption::default(), ..pool("default") };
    let old =
        ["old-1", "old-2"].map(|name| on("n1", Pod { key: PodKey::new("default", name), ..web(false) }));
    let world = World::of(vec![open])
        .nodes([node("n1", "Standard_D8s_v5"), node("n2", "Standard_D2s_v5")])
        .pods(old.map(|pod| pod.cpu("500m")))
        .pods([Pod { is_do_not_disrupt: true, ..on("n2", pod("db").cpu("1500m")) }, web(true).cpu("2")]);
    assert_eq!(
        world.text(),
        "+ default Standard_F4s_v2 eastus-1 on-demand 169000: old-1 old-2 web-1\n- n1: Underutilized\n"
    );
}

/// Pending pods arrive in any order, and kube-scheduler counts all of them once each is told its node.
#[test]
fn pods_that_wait_do_not_join_one_that_is_spread_over_hosts() {
    let others = ["a", "b"].map(|name| Pod { key: PodKey::new("default", name), ..web(false) });
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D2s_v5")])
        .pods([Pod { is_do_not_disrupt: true, ..on("n1", pod("db").cpu("1900m")) }])
        .pods(others.map(|pod| pod.cpu("500m")))
        .pods([web(true).cpu("2")]);
    let sizes: Vec<usize> = world.solve().target.new.iter().map(|node| node.pods.len()).collect();
    assert_eq!(sizes.into_iter().max(), Some(2), "{}", world.text());
}

/// A running pod is not checked again, and unconstrained pods are never checked.
#[test]
fn pods_that_wait_join_one_that_is_spread_over_hosts_and_runs() {
    let named = |name: &str, is_spread: bool| Pod { key: PodKey::new("default", name), ..web(is_spread) };
    let world = World::of(vec![pool("default")])
        .nodes(["n1", "n2", "n3"].map(|name| node(name, "Standard_D2s_v5")))
        .pods([on("n1", named("runs", true)), on("n2", pod("db"))])
        .pods([named("free-1", false), named("free-2", false), named("spread", true)]);
    assert_eq!(world.text(), "= n1: free-1 free-2\n= n2: spread\n- n3: Empty\n");
}

/// Returns a pod of an app, spread over hosts or unconstrained.
fn web(is_spread: bool) -> Pod {
    let constraint = is_spread.then(|| over(label::HOSTNAME, "web"));
    pods("web", 1, |spec| spec.spread.extend(constraint.clone())).remove(0)
}

#[test]
fn pods_that_refuse_each_other_by_zone_take_a_zone_each_and_no_more() {
    let apart = pods("db", 5, |spec| spec.anti_affinity.push(near(label::ZONE, "db")));
    let solution = World::of(vec![pool("default")]).pods(apart).solve();
    assert_eq!(solution.target.new.len(), 3);
    let unplaced = &solution.report.unplaced[0];
    assert_eq!((unplaced.pods.len(), &*unplaced.rule), (2, "podAntiAffinity"));
    assert!(unplaced.because.contains("eastus-1"), "{}", unplaced.because);
}

#[test]
fn what_runs_and_refuses_a_pod_keeps_it_off_its_node_and_no_other() {
    let hermit = on("n1", pod("hermit")).spec(|spec| spec.anti_affinity.push(near(label::HOSTNAME, "web")));
    let elsewhere = Pod { key: PodKey::new("other", "web-2"), ..pods("web", 1, |_| {}).remove(0) };
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([hermit, pod("api"), elsewhere])
        .pods(pods("web", 1, |_| {}));
    assert_eq!(world.text(), "= n1: api web-2\n+ default Standard_D2s_v5 eastus-2 on-demand 96000: web-1\n");
}

#[test]
fn followers_go_to_the_zone_of_what_they_follow() {
    let leader = pod("leader").spec(|spec| {
        spec.labels.insert("app".into(), "cache".into());
        spec.node_selector.add(LabelKey::new(label::ZONE), Requirement::one("eastus-2"));
    });
    let followers = pods("web", 3, |spec| spec.affinity.push(near(label::ZONE, "cache")));
    let world = World::of(vec![pool("default")]).pods([leader]).pods(followers);
    assert_eq!(zones(&world), [("eastus-2".to_owned(), 4)]);
}

#[test]
fn the_first_of_a_group_goes_where_the_others_can_follow() {
    let there = |spec: &mut PodSpec| {
        spec.node_selector.add(LabelKey::new(label::ZONE), Requirement::one("eastus-3"));
    };
    let followers = pods("web", 2, |spec| {
        spec.affinity.push(near(label::ZONE, "db"));
        there(spec);
    });
    let world = World::of(vec![pool("default")]).pods(pods("db", 1, |_| ())).pods(followers);
    assert_eq!(zones(&world), [("eastus-3".to_owned(), 3)]);
    // A self-matching pod may start anywhere, too.
    let world = World::of(vec![pool("default")]).pods(pods("web", 1, follows_own)).pods(pods(
        "web-late",
        1,
        |spec| {
            spec.labels.insert("app".into(), "web".into());
            follows_own(spec);
            there(spec);
        },
    ));
    assert_eq!(zones(&world), [("eastus-3".to_owned(), 2)]);
}

#[test]
fn the_first_of_a_group_goes_where_nobody_keeps_the_others_off() {
    let hermits = pods("hermit", 2, |spec| {
        spec.node_selector.add(LabelKey::new(label::ZONE), Requirement::one("eastus-1"));
    });
    let followers = pods("web", 2, |spec| {
        spec.affinity.push(near(label::ZONE, "db"));
        spec.anti_affinity.push(near(label::ZONE, "hermit"));
    });
    let world = World::of(vec![pool("default")]).pods(pods("db", 3, |_| ())).pods(followers);
    let placed: usize = zones(&world.pods(hermits)).iter().map(|(_, pods)| pods).sum();
    assert_eq!(placed, 7);
}

fn follows_own(spec: &mut PodSpec) {
    spec.affinity.push(near(label::ZONE, "web"));
}

#[test]
fn pods_that_follow_each_other_stay_in_one_zone() {
    let followers = pods("web", 30, |spec| spec.affinity.push(near(label::ZONE, "web")));
    assert_eq!(zones(&World::of(vec![pool("default")]).pods(followers)).len(), 1);
}

#[test]
fn a_follower_of_nobody_is_not_placed_and_says_so() {
    let lonely = pods("web", 1, |spec| spec.affinity.push(near(label::ZONE, "nobody")));
    let solution = World::of(vec![pool("default")]).pods(lonely).solve();
    assert_eq!(solution.report.unplaced[0].rule, "podAffinity");
}

#[test]
fn other_namespaces_are_counted_only_where_they_are_named() {
    let there = Pod { key: PodKey::new("other", "db"), ..pods("db", 1, |_| {}).remove(0) };
    let refuse =
        |term: PodAffinityTerm| pods("web", 1, move |spec| spec.anti_affinity.push(term.clone())).remove(0);
    let world = |term| {
        World::of(vec![pool("default")])
            .nodes([node("n1", "Standard_D4s_v5")])
            .pods([on("n1", there.clone()), refuse(term)])
            .text()
    };
    let own = near(label::HOSTNAME, "db");
    assert_eq!(world(own.clone()), "= n1: web-1\n");
    let named = PodAffinityTerm { namespaces: BTreeSet::from([Namespace::new("other")]), ..own.clone() };
    assert!(world(named).starts_with("+ default"));
    let every = PodAffinityTerm { namespace_selector: Some(LabelSelector::default()), ..own };
    assert!(world(every).starts_with("+ default"));
}

#[test]
fn pods_are_spread_over_labels_of_the_pools() {
    let team = |name: &str, team: &str| {
        let mut pool = pool(name);
        pool.labels.insert("team".into(), team.into());
        pool
    };
    let world = World::of(vec![team("a", "blue"), team("b", "green")])
        .pods(pods("web", 4, |spec| spec.spread.push(over("team", "web"))));
    let pools: Vec<(String, usize)> =
        world.solve().target.new.iter().map(|node| (node.pool.to_string(), node.pods.len())).collect();
    assert_eq!(pools, [("b".to_owned(), 2), ("a".to_owned(), 2)]);
}

#[test]
fn pods_are_spread_over_ways_to_buy() {
    let world = World::of(vec![any_pool("default")])
        .pods(pods("web", 6, |spec| spec.spread.push(over(label::CAPACITY_TYPE, "web"))));
    let mut kinds: Vec<&str> = Vec::new();
    let solution = world.solve();
    for node in &solution.target.new {
        kinds.extend(std::iter::repeat_n(node.capacity_type.as_str(), node.pods.len()));
    }
    kinds.sort_unstable();
    assert_eq!(kinds, ["on-demand", "on-demand", "on-demand", "spot", "spot", "spot"]);
}

#[test]
fn too_few_domains_let_in_no_more_than_the_skew_each() {
    let world = World::of(vec![pool("default")]).pods(pods("web", 8, |spec| {
        spec.spread.push(SpreadConstraint { min_domains: Some(5), ..over(label::ZONE, "web") });
    }));
    let solution = world.solve();
    let unplaced = &solution.report.unplaced[0];
    assert_eq!((unplaced.pods.len(), &*unplaced.rule), (5, "topologySpreadConstraints"));
}
