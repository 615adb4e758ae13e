//! Spread over hosts: counted as in kube-scheduler, on existing and new nodes.

use std::sync::Arc;

use super::topology::{over, pods};
use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use crate::model::{
    Disruption, Effect, LabelKey, LabelSelector, Node, Pod, PodKey, PodSpec, Pool, Requirement,
    SpreadConstraint, SpreadHosts, Taint, label,
};

fn over_hosts(spec: &mut PodSpec) {
    spec.spread.push(over(label::HOSTNAME, "web"));
}

/// Excludes tainted nodes that the pods do not tolerate from counting.
fn honoring(spec: &mut PodSpec) {
    spec.spread.push(SpreadConstraint { honors_node_taints: true, ..over(label::HOSTNAME, "web") });
}

/// Returns such a pod that runs on a node and stays there.
fn runs(node: &str, spread: fn(&mut PodSpec)) -> Pod {
    let like = pods("web", 1, spread).remove(0);
    Pod {
        is_do_not_disrupt: true,
        ..on(node, Pod { key: PodKey::new("default", format!("old-{node}")), ..like })
    }
}

fn nodes(size: &'static str) -> [Node; 3] {
    ["n1", "n2", "n3"].map(|name| node(name, size))
}

/// Returns the number of pods placed on each existing node, and on each new one, in ascending order.
fn counts(world: &World) -> (Vec<usize>, Vec<usize>) {
    let target = world.solve().target;
    let mut new: Vec<usize> = target.new.iter().map(|node| node.pods.len()).collect();
    new.sort_unstable();
    (target.kept.iter().map(|kept| kept.pods.len()).collect(), new)
}

#[test]
fn pods_bind_to_nodes_that_have_room_where_all_have_as_many() {
    let world = |count: usize| {
        World::of(vec![pool("default")])
            .nodes(nodes("Standard_D8s_v5"))
            .pods(["n1", "n2", "n3"].map(|name| runs(name, over_hosts)))
            .pods(pods("web", count, over_hosts))
    };
    let (mut kept, new) = counts(&world(1));
    kept.sort_unstable();
    assert_eq!((kept, new), (vec![0, 0, 1], vec![]));
    assert_eq!(counts(&world(9)), (vec![3, 3, 3], vec![]));
}

#[test]
fn a_node_that_takes_none_of_them_counts_and_holds_the_others_back() {
    let tainted = || Node {
        taints: vec![Taint::new("system", "", Effect::NoSchedule)],
        ..node("n0", "Standard_D8s_v5")
    };
    let world = |spread| {
        World::of(vec![pool("default")])
            .nodes(nodes("Standard_D8s_v5"))
            .nodes([tainted()])
            .pods([on("n0", pod("coredns"))])
            .pods(["n1", "n2", "n3"].map(|name| runs(name, spread)))
            .pods(pods("web", 3, spread))
    };
    assert_eq!(counts(&world(over_hosts)), (vec![0, 0, 0, 0], vec![1, 1, 1]));
    assert_eq!(counts(&world(honoring)), (vec![0, 1, 1, 1], vec![]));
}

#[test]
fn a_node_that_the_pods_do_not_select_does_not_count() {
    let amd = |spec: &mut PodSpec| {
        over_hosts(spec);
        spec.node_selector.add(LabelKey::new(label::ARCH), Requirement::one("amd64"));
    };
    let mut arm = node("n4", "Standard_D4ps_v5");
    arm.labels.insert(LabelKey::new(label::ARCH), Arc::from("arm64"));
    let world = World::of(vec![pool("default")])
        .nodes(nodes("Standard_D8s_v5"))
        .nodes([arm])
        .pods([Pod { is_do_not_disrupt: true, ..on("n4", pod("other")) }])
        .pods(["n1", "n2", "n3"].map(|name| runs(name, amd)))
        .pods(pods("web", 3, amd));
    assert_eq!(counts(&world), (vec![1, 1, 1, 0], vec![]));
}

#[test]
fn new_nodes_hold_many_where_no_other_counts() {
    let world = World::of(vec![pool("default")]).pods(pods("web", 50, honoring));
    let (_, new) = counts(&world);
    assert!((3..10).contains(&new.len()) && new[new.len() - 1] - new[0] <= 1, "{new:?}");
    assert_eq!(new.iter().sum::<usize>(), 50);
}

#[test]
fn a_system_node_is_assumed_where_no_node_is_known() {
    let world = World::of(vec![pool("default")]).pods(pods("web", 5, over_hosts));
    assert_eq!(counts(&world), (vec![], vec![1; 5]));
    // The system node does not count if the pods select a NodePool.
    let own = |spec: &mut PodSpec| {
        over_hosts(spec);
        spec.node_selector.add(LabelKey::new(label::NODE_POOL), Requirement::one("default"));
    };
    let world = World::of(vec![pool("default")]).pods(pods("web", 12, own));
    let (_, new) = counts(&world);
    assert!((3..12).contains(&new.len()) && new.iter().sum::<usize>() == 12, "{new:?}");
}

#[test]
fn a_spread_keeps_its_purpose_on_as_many_hosts_as_the_fleet_asks_for() {
    let on_hosts = |asked: SpreadHosts, count: usize| {
        let mut world = World::of(vec![pool("default")]).pods(pods("web", count, honoring));
        world.policy.fleet.spread_hosts = asked;
        counts(&world).1.len()
    };
    assert_eq!(on_hosts(SpreadHosts::AtLeast(1), 6), 1);
    assert_eq!(on_hosts(SpreadHosts::default(), 6), 3);
    assert_eq!(on_hosts(SpreadHosts::default(), 2), 2);
    assert_eq!(on_hosts(SpreadHosts::AtLeast(5), 6), 5);
    assert_eq!(on_hosts(SpreadHosts::Each, 6), 6);
}

#[test]
fn where_limits_leave_few_hosts_larger_ones_hold_all() {
    for (nodes, count) in [(2, 10), (3, 12), (3, 24), (1, 5)] {
        let limited = Pool { nodes_max: Some(nodes), ..pool("default") };
        let world = World::of(vec![limited]).pods(pods("web", count, honoring));
        let (_, new) = counts(&world);
        assert_eq!(new.iter().sum::<usize>(), count, "{nodes} nodes: {}", world.text());
        assert!(new[new.len() - 1] - new[0] <= 1, "{new:?}");
    }
}

#[test]
fn nodes_that_others_need_count_too() {
    let world =
        World::of(vec![pool("default")]).pods(pods("web", 12, honoring)).pods(pods("db", 6, |spec| {
            spec.anti_affinity.push(super::topology::near(label::HOSTNAME, "db"));
        }));
    let target = world.solve().target;
    let web = |pods: &[PodKey]| pods.iter().filter(|pod| pod.name.starts_with("web")).count();
    let counts: Vec<usize> = target.new.iter().map(|node| web(&node.pods)).collect();
    assert_eq!((counts.len(), counts.iter().sum::<usize>()), (6, 12), "{}", world.text());
    assert!(counts.iter().max().zip(counts.iter().min()).is_some_and(|(most, least)| most - least <= 1));
}

#[test]
fn zones_and_hosts_are_even_together() {
    let both = |spec: &mut PodSpec| {
        honoring(spec);
        spec.spread.push(SpreadConstraint { honors_node_taints: true, ..over(label::ZONE, "web") });
    };
    let solution = World::of(vec![pool("default")]).pods(pods("web", 50, both)).solve();
    let mut zones: Vec<(String, usize)> =
        solution.target.new.iter().map(|node| (node.zone.to_string(), node.pods.len())).collect();
    zones.sort();
    assert!(solution.report.unplaced.is_empty());
    assert_eq!(zones.len() % 3, 0, "{zones:?}");
    let counts = || zones.iter().map(|(_, count)| *count);
    assert!(counts().max().zip(counts().min()).is_some_and(|(most, least)| most - least <= 1), "{zones:?}");
}

#[test]
fn a_host_that_is_full_sets_how_many_the_others_may_have() {
    let busy =
        |name: &str| on(name, Pod { is_do_not_disrupt: true, ..pod(&format!("db-{name}")).cpu("6500m") });
    let world = World::of(vec![pool("default")])
        .nodes(nodes("Standard_D8s_v5"))
        .pods(["n1", "n2", "n3"].map(|name| runs(name, over_hosts)))
        .pods(["n1", "n2", "n3"].map(busy))
        .pods(pods("web", 4, over_hosts).into_iter().map(|pod| pod.cpu("1")));
    assert_eq!(counts(&world).1, [2, 2], "{}", world.text());
}

/// Returns three nodes with two small pods each, which would all fit on one node, and no other node counts.
fn drained(allowed: u32) -> World {
    let own = |spec: &mut PodSpec| {
        over_hosts(spec);
        spec.node_selector.add(LabelKey::new(label::NODE_POOL), Requirement::one("default"));
    };
    let pods = pods("web", 6, own);
    let names = ["n1", "n2", "n3"];
    let pods = pods.into_iter().enumerate();
    let placed = pods.map(|(number, pod)| on(names[number % 3], pod.cpu("100m").memory("100Mi")));
    let open = Pool { disruption: Disruption::default(), ..pool("default") };
    let mut world = World::of(vec![open]).nodes(nodes("Standard_D2s_v5")).pods(placed);
    world.policy.fleet.spread_hosts = SpreadHosts::AtLeast(1);
    world.snapshot.budgets = vec![DisruptionBudget {
        namespace: "default".into(),
        name: "web".into(),
        selector: Some(LabelSelector::default()),
        bound: Some(PodBound::MaxUnavailable(PodShare::Count(allowed))),
        unhealthy: UnhealthyPods::IfHealthyBudget,
        counts: None,
    }];
    world
}

#[test]
fn a_node_stays_whose_pods_would_wait_for_each_other_to_be_evicted() {
    let solution = drained(1).solve();
    assert_eq!(solution.target.removed, []);
    let why: Vec<&str> = solution.report.staying.iter().map(|(_, why)| &**why).collect();
    assert!(
        why.iter().any(
            |why| why.contains("PodDisruptionBudget `default/web` allows 1 at a time, and 2 of its pods")
        ),
        "{why:#?}"
    );
}

#[test]
fn pods_that_wait_until_a_node_is_gone_are_told() {
    let solution = drained(2).solve();
    assert_eq!(solution.target.removed.len(), 2, "{:#?}", solution.report);
    let warnings: Vec<&str> = solution.report.warnings.iter().map(|warning| &*warning.what).collect();
    let expected = "is gone: until then it counts in the spread over hosts (`maxSkew`)";
    assert!(warnings.iter().any(|warning| warning.ends_with(expected)), "{warnings:#?}");
}
