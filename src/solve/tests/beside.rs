//! Pods that must share a node with others.

use super::topology::{near, over, pods};
use super::world::{PodWith, World, daemon, node, on, pod, pool};
use crate::model::{LabelKey, PodSpec, Pool, Requirement, ResourceName, label};
use crate::solve::{Solution, explain_pod};

/// Returns the names of the pods of each new node.
fn made(solution: &Solution) -> Vec<Vec<String>> {
    let names = |node: &crate::solve::NewNode| node.pods.iter().map(|pod| pod.name.to_string()).collect();
    solution.target.new.iter().map(names).collect()
}

/// Returns the numbers of unplaced pods with the reasons.
fn left(solution: &Solution) -> Vec<(usize, &str)> {
    solution.report.unplaced.iter().map(|left| (left.pods.len(), &*left.because)).collect()
}

#[test]
fn pods_that_follow_each_other_by_host_share_a_node_as_far_as_one_holds_them() {
    let followers = |count| pods("web", count, |spec| spec.affinity.push(near(label::HOSTNAME, "web")));
    let solution = World::of(vec![pool("default")]).pods(followers(20)).solve();
    let counts: Vec<usize> = solution.target.new.iter().map(|node| node.pods.len()).collect();
    assert_eq!((counts, solution.report.unplaced.len()), (vec![20], 0));
    let solution = World::of(vec![pool("default")]).pods(followers(500)).solve();
    assert_eq!(solution.target.new.len(), 1);
    let placed = solution.target.new[0].pods.len();
    let unplaced = &solution.report.unplaced[0];
    assert_eq!(placed + unplaced.pods.len(), 500);
    assert_eq!(
        unplaced.because,
        format!("they have to share a node, and no node holds more than {placed} of them")
    );
}

#[test]
fn followers_by_host_come_with_one_that_they_follow() {
    let leaders = pods("cache", 3, |_| {});
    let followers = pods("web", 4, |spec| spec.affinity.push(near(label::HOSTNAME, "cache")));
    let solution = World::of(vec![pool("default")]).pods(leaders).pods(followers).solve();
    let nodes = made(&solution);
    let with_web = nodes.iter().filter(|pods| pods.iter().any(|pod| pod.starts_with("web")));
    assert!(with_web.clone().all(|pods| pods.iter().any(|pod| pod.starts_with("cache"))), "{nodes:?}");
    assert!(with_web.count() >= 1 && solution.report.unplaced.is_empty());
}

#[test]
fn a_pod_has_a_place_though_one_that_follows_it_by_host_has_none() {
    let leaders = pods("cache", 2, |_| {});
    let follows = |spec: &mut PodSpec| spec.affinity.push(near(label::HOSTNAME, "cache"));
    let lost = pods("lost", 1, |spec| {
        follows(spec);
        spec.spread.push(over("rack", "lost"));
    });
    let world = World::of(vec![pool("default")]).pods(leaders).pods(lost);
    let solution = world.solve();
    let placed: usize = solution.target.new.iter().map(|node| node.pods.len()).sum();
    let unplaced: Vec<_> =
        solution.report.unplaced.iter().map(|left| (left.pods.len(), &*left.rule)).collect();
    assert_eq!((placed, unplaced), (2, vec![(1, "topologySpreadConstraints")]));
    // Other followers of the same pod come along anyway.
    let solution = world.pods(pods("web", 3, follows)).solve();
    let placed: usize = solution.target.new.iter().map(|node| node.pods.len()).sum();
    assert_eq!((placed, solution.report.unplaced.len()), (5, 1));
}

#[test]
fn a_follower_by_host_that_no_node_holds_with_its_leader_says_so() {
    let in_zone = |spec: &mut PodSpec, zone| {
        spec.node_selector.add(LabelKey::new(label::ZONE), Requirement::one(zone));
    };
    let leader = pods("cache", 1, |spec| in_zone(spec, "eastus-1"));
    let follower = pods("web", 1, |spec| {
        spec.affinity.push(near(label::HOSTNAME, "cache"));
        in_zone(spec, "eastus-2");
    });
    let solution = World::of(vec![pool("default")]).pods(leader).pods(follower).solve();
    assert_eq!(made(&solution), [["cache-1"]]);
    assert_eq!(left(&solution), [(1, "it fits on no node with one of those that it has to stand beside")]);
}

#[test]
fn followers_by_host_join_what_runs() {
    let leader = on("n1", pods("cache", 1, |_| {}).remove(0));
    let followers = pods("web", 2, |spec| spec.affinity.push(near(label::HOSTNAME, "cache")));
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D4s_v5"), node("n2", "Standard_D4s_v5")])
        .pods([leader, on("n2", pod("other"))])
        .pods(followers);
    assert_eq!(world.text(), "= n1: web-1 web-2\n");
}

#[test]
fn a_follower_of_a_daemonset_gets_a_new_node_where_its_pod_will_come() {
    let mut agent = daemon("agent");
    let mut spec = (*agent.spec).clone();
    spec.labels.insert("app".into(), "agent".into());
    (agent.spec, agent.namespace) = (spec.into(), "default".into());
    let follower = pods("web", 1, |spec| spec.affinity.push(near(label::HOSTNAME, "agent")));
    let text = World::of(vec![pool("default")]).daemons([agent]).pods(follower).text();
    assert_eq!(text, "+ default Standard_D2s_v5 eastus-1 on-demand 96000: web-1\n");
}

/// A follower that may not share a node with its own kind does not keep others from coming along.
#[test]
fn followers_by_host_come_along_where_those_before_them_cannot() {
    let beside = |spec: &mut PodSpec| spec.affinity.push(near(label::HOSTNAME, "cache"));
    let apart = pods("a", 2, |spec| {
        beside(spec);
        spec.anti_affinity.push(near(label::HOSTNAME, "a"));
    });
    let world = World::of(vec![pool("default")]).pods(pods("cache", 1, |_| {}));
    let solution = world.pods(apart).pods(pods("b", 3, beside)).solve();
    assert_eq!(made(&solution), [["a-1", "b-1", "b-2", "b-3", "cache-1"]]);
    assert_eq!(solution.report.left_over(), 1);
}

#[test]
fn followers_by_host_that_are_spread_over_zones_come_with_several_leaders() {
    let leaders = pods("cache", 3, |spec| spec.anti_affinity.push(near(label::HOSTNAME, "cache")));
    let followers = pods("web", 3, |spec| {
        spec.affinity.push(near(label::HOSTNAME, "cache"));
        spec.spread.push(over(label::ZONE, "web"));
    });
    let solution = World::of(vec![pool("default")]).pods(leaders).pods(followers).solve();
    let sizes: Vec<usize> = made(&solution).iter().map(Vec::len).collect();
    assert_eq!((sizes, solution.report.left_over()), (vec![2, 2, 2], 0));
}

/// A leader that fits on no node together with any of its followers is placed without them.
#[test]
fn a_pod_has_a_place_though_no_node_has_room_for_any_that_follows_it() {
    let full = Pool { nodes_max: Some(1), ..pool("default") };
    let followers = pods("web", 3, |spec| {
        spec.affinity.push(near(label::HOSTNAME, "cache"));
        spec.anti_affinity.push(near(label::HOSTNAME, "web"));
    });
    let world = World::of(vec![full])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([on("n1", pod("old").cpu("2"))])
        .pods(pods("cache", 1, |_| {}).into_iter().map(|pod| pod.cpu("1400m")))
        .pods(followers.into_iter().map(|pod| pod.cpu("700m").priority(10)));
    let solution = world.solve();
    assert_eq!(solution.target.kept[0].pods.len(), 1, "{}", world.text());
    assert_eq!(solution.report.left_over(), 3);
}

/// Leaders that are placed first have free capacity for more followers than were bundled with them.
#[test]
fn followers_by_host_find_the_room_that_is_left_beside_others() {
    let full = Pool { nodes_max: Some(2), ..pool("default") };
    let leaders = pods("cache", 2, |spec| spec.anti_affinity.push(near(label::HOSTNAME, "cache")));
    let followers = pods("web", 4, |spec| spec.affinity.push(near(label::HOSTNAME, "cache")));
    let world = World::of(vec![full])
        .nodes(["n1", "n2"].map(|name| node(name, "Standard_D4s_v5")))
        .pods(["n1", "n2"].map(|name| on(name, pod(name).cpu("1500m"))))
        .pods(leaders.into_iter().map(|pod| pod.cpu("500m")))
        .pods(followers.into_iter().map(|pod| pod.cpu("700m")));
    let solution = world.solve();
    assert_eq!(solution.report.left_over(), 0, "{}", world.text());
}

/// A self-matching pod that also requires others may not start on a node of its own, because those may be bound first.
#[test]
fn pods_that_follow_each_other_stand_beside_others_that_they_follow() {
    let others = pods("web", 2, |_| {}).into_iter().map(|pod| pod.cpu("1700m"));
    let followers = (1..=2).map(|number| {
        let follows = |spec: &mut PodSpec| {
            spec.affinity.push(near(label::HOSTNAME, "web"));
            spec.labels.insert("app".into(), "web".into());
        };
        pod(&format!("x-{number}")).cpu("3500m").spec(follows)
    });
    let world = World::of(vec![pool("default")]).pods(others).pods(followers);
    for node in made(&world.solve()) {
        let follows = node.iter().any(|name| name.starts_with('x'));
        assert!(!follows || node.iter().any(|name| name.starts_with("web")), "{}", world.text());
    }
    assert_eq!(world.solve().report.left_over(), 0);
}

#[test]
fn followers_by_host_for_whom_limits_leave_no_room_do_not_say_that_nobody_is_there() {
    let mut limited = pool("default");
    limited.limits.set(ResourceName::Cpu, 2_000);
    let leader = pods("cache", 1, |_| {});
    let follower = pods("web", 1, |spec| {
        spec.affinity.push(near(label::HOSTNAME, "cache"));
        spec.requests.set(ResourceName::Cpu, 3_000);
    });
    let solution = World::of(vec![limited]).pods(leader).pods(follower).solve();
    assert_eq!(made(&solution), [["cache-1"]]);
    let because = "no place is left for it and one of those that it has to stand beside on one node";
    assert_eq!(left(&solution), [(1, because)]);
}

#[test]
fn of_a_pod_that_a_spread_keeps_from_those_it_follows_nobody_asks_for_another_zone() {
    let of_zone = |name: &str, zone: &str| {
        let mut node = node(name, "Standard_D4s_v5");
        node.labels.insert(LabelKey::new(label::ZONE), zone.into());
        node
    };
    let nodes =
        [("n0", "eastus-1"), ("n1", "eastus-2"), ("n2", "eastus-3")].map(|(name, zone)| of_zone(name, zone));
    let followers = pods("web", 3, |spec| {
        spec.affinity.push(near(label::HOSTNAME, "cache"));
        spec.spread.push(over(label::ZONE, "web"));
    });
    let world = World::of(vec![pool("default")])
        .nodes(nodes)
        .pods(pods("cache", 1, |_| {}).into_iter().map(|pod| on("n0", pod)))
        .pods(followers);
    let solution = world.solve();
    let because = "it has to share a node with pods that only node `n0` has, and that has no place for it: rules between \
                   pods over `topology.kubernetes.io/zone` keep it from there";
    assert_eq!(left(&solution), [(2, because)]);
    let key = &solution.report.unplaced[0].pods[0];
    let explained = explain_pod(&world.snapshot, &world.policy, &solution, key);
    let (name, says) = &explained.nodes[0];
    assert_eq!(
        (name.as_str(), says.as_deref()),
        (
            "n0",
            Some(
                "has room, but rules between pods keep this one from `topology.kubernetes.io/zone: eastus-1`"
            )
        )
    );
}
