//! Preemption: as kube-scheduler does immediately, before anything is bought.

use std::sync::Arc;

use super::consolidation::budget;
use super::topology::{near, over};
use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::{
    ConsolidationPolicy, LabelKey, LabelSelector, Node, NodeStage, Pod, PodKey, PodPlace, Requirements, label,
};
use crate::solve::preempted;

const MIDDLE: &str = "Standard_D4s_v5";

/// Returns nodes of 4 CPUs with these pods.
fn running(nodes: usize, pods: impl IntoIterator<Item = Pod>) -> World {
    let nodes = (1..=nodes).map(|number| node(&format!("n{number}"), MIDDLE));
    World::of(vec![pool("default")]).nodes(nodes).pods(pods)
}

/// Lists the preemptions with their nodes, one per line.
pub(super) fn told(mut world: World) -> String {
    world.snapshot.pods.sort();
    let after = preempted(world.snapshot);
    let line = |preemption: &crate::model::Preemption| {
        let victims: Vec<&str> = preemption.victims.iter().map(|victim| &*victim.name).collect();
        format!("{} on {}: {}\n", preemption.pod.name, preemption.node, victims.join(" "))
    };
    after.preemptions.iter().map(line).collect()
}

pub(super) fn low(name: &str, cpu: &str) -> Pod {
    pod(name).cpu(cpu).priority(-10)
}

#[test]
fn a_pending_pod_takes_the_place_of_a_lower_one_which_gets_the_node() {
    let mut world = running(1, [on("n1", low("room", "3")), pod("web").cpu("1500m")]);
    world.snapshot.pods.sort();
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: web\n");
    world.snapshot = preempted(world.snapshot);
    assert_eq!(world.text(), "+ default Standard_F4s_v2 eastus-2 on-demand 169000: room\n");
    let again = preempted(world.snapshot.clone());
    assert_eq!(again.pods, world.snapshot.pods, "who gave way preempts nobody");
}

#[test]
fn nobody_gives_way_where_there_is_room_or_no_lower_priority_or_the_policy_is_never() {
    let waiting = |web: Pod| running(1, [on("n1", low("room", "3")), web]);
    assert_eq!(told(waiting(pod("web").cpu("500m"))), "", "there is room");
    assert_eq!(told(waiting(low("web", "1500m"))), "", "the priority is the same");
    assert_eq!(told(waiting(pod("web").cpu("16"))), "", "it would not fit even then");
    let never = pod("web").cpu("1500m").priority(1000).spec(|spec| spec.never_preempts = true);
    assert_eq!(told(waiting(never)), "");
    let gated = pod("web").cpu("1500m").spec(|spec| spec.gates = std::iter::once("wait".into()).collect());
    assert_eq!(told(waiting(gated)), "", "kube-scheduler does not look at it yet");
    let elsewhere = running(2, [on("n1", low("room", "3")), pod("web").cpu("1500m")]);
    assert_eq!(told(elsewhere), "", "another node has room");
}

#[test]
fn the_fewest_go_then_the_lowest_and_those_of_a_budget_last() {
    let web = || pod("web").cpu("3").priority(5);
    let two = [on("n1", low("a", "1500m")), on("n1", low("b", "1500m")), on("n2", pod("c").cpu("3")), web()];
    assert_eq!(told(running(2, two.clone())), "web on n2: c\n", "one rather than two");
    let one_each = [on("n1", pod("a").cpu("3")), on("n2", low("b", "3")), web()];
    assert_eq!(told(running(2, one_each)), "web on n2: b\n", "the lowest priority");
    let mut guarded = running(2, two);
    guarded.snapshot.budgets = vec![budget("c", 1)];
    let selector = LabelSelector(Requirements::of_labels([("app", "x")]));
    guarded.snapshot.budgets[0].selector = Some(selector);
    for pod in guarded.snapshot.pods.iter_mut().filter(|pod| &*pod.key.name == "c") {
        *pod = pod.clone().spec(|spec| drop(spec.labels.insert(LabelKey::new("app"), "x".into())));
    }
    assert_eq!(told(guarded), "web on n1: a b\n", "two rather than one of a budget");
}

#[test]
fn no_victim_could_stay() {
    let pods = [
        on("n1", low("large", "2")),
        on("n1", low("small", "500m")),
        on("n1", pod("same").cpu("1").priority(5)),
        pod("web").cpu("1500m").priority(5),
    ];
    assert_eq!(told(running(1, pods)), "web on n1: large\n");
}

#[test]
fn pods_of_a_higher_priority_go_first_and_room_that_one_leaves_is_used() {
    let pods = [
        on("n1", low("room", "3")),
        pod("first").cpu("1500m").priority(9),
        pod("second").cpu("1").priority(8),
    ];
    assert_eq!(told(running(1, pods)), "first on n1: room\n");
    let pods = [
        on("n1", low("room", "3")),
        on("n2", low("other", "3")),
        pod("a").cpu("3").priority(1),
        pod("b").cpu("3").priority(2),
    ];
    assert_eq!(told(running(2, pods)), "b on n1: room\na on n2: other\n");
}

#[test]
fn what_is_no_place_for_the_pod_is_left_alone() {
    let tried = |change: fn(&mut Node)| {
        let mut world = running(1, [on("n1", low("room", "3")), pod("web").cpu("1500m")]);
        change(&mut world.snapshot.nodes[0]);
        told(world)
    };
    assert_eq!(tried(|_| ()), "web on n1: room\n");
    assert_eq!(tried(|node| node.is_unschedulable = true), "");
    assert_eq!(tried(|node| node.is_deleting = true), "");
    assert_eq!(tried(|node| node.stage = NodeStage::Registered), "");
    let selecting = pod("web").cpu("1500m").selects(label::ARCH, "arm64");
    assert_eq!(told(running(1, [on("n1", low("room", "3")), selecting])), "");
}

#[test]
fn daemons_and_what_is_being_deleted_do_not_give_way() {
    let tried = |room: Pod, web: Pod| told(running(1, [on("n1", room), web]));
    let web = || pod("web").cpu("1500m");
    assert_eq!(tried(Pod { is_daemon: true, ..low("room", "3") }, web()), "");
    assert_eq!(tried(Pod { is_terminating: true, ..low("room", "3") }, web()), "");
    assert_eq!(tried(low("room", "3"), Pod { is_daemon: true, ..web() }), "", "told, and not planned");
}

fn labelled(pod: Pod, name: &str) -> Pod {
    pod.spec(|spec| drop(spec.labels.insert(LabelKey::new("app"), name.into())))
}

fn apart(pod: Pod, key: &str, name: &str) -> Pod {
    pod.spec(|spec| spec.anti_affinity.push(near(key, name)))
}

#[test]
fn who_keeps_away_from_others_preempts_those_alone_that_may_go() {
    let tried = |key: &str, there: i32| {
        let db = labelled(pod("db").cpu("100m").priority(there), "db");
        let web = apart(pod("web").cpu("500m"), key, "db");
        told(running(
            2,
            [on("n1", db), on("n1", low("small", "100m")), on("n2", pod("full").cpu("3500m")), web],
        ))
    };
    assert_eq!(tried(label::HOSTNAME, -10), "web on n1: db\n", "there is room, but for that one");
    assert_eq!(tried(label::HOSTNAME, 0), "", "it stays where it is");
    // Both nodes are in one zone.
    assert_eq!(tried(label::ZONE, -10), "web on n1: db\n");
    let elsewhere = |there: i32| {
        let db = labelled(pod("db").cpu("100m").priority(there), "db");
        let web = apart(pod("web").cpu("3"), label::ZONE, "db");
        told(running(2, [on("n1", low("room", "3500m")), on("n2", db), on("n2", pod("full").cpu("3")), web]))
    };
    assert_eq!(elsewhere(-10), "", "nobody goes from another node than the one that it comes to");
}

#[test]
fn who_others_keep_away_preempts_no_more_than_who_does() {
    let shy = |priority: i32| apart(pod("shy").cpu("100m").priority(priority), label::HOSTNAME, "web");
    let tried =
        |priority: i32| told(running(1, [on("n1", shy(priority)), labelled(pod("web").cpu("500m"), "web")]));
    assert_eq!(tried(-10), "web on n1: shy\n");
    assert_eq!(tried(0), "");
}

#[test]
fn who_is_spread_preempts_where_the_spread_lets_it() {
    let spread = |name: &str, cpu: &str| {
        labelled(pod(name).cpu(cpu), "web").spec(|spec| spec.spread.push(over(label::HOSTNAME, "web")))
    };
    let pods = || [on("n1", low("a", "3")), on("n1", spread("web-1", "500m")), on("n2", low("b", "3"))];
    let tried = |more: Vec<Pod>| told(running(2, pods().into_iter().chain(more).collect::<Vec<_>>()));
    assert_eq!(tried(vec![spread("web-2", "2")]), "web-2 on n2: b\n", "the other one has none");
    let both = tried(vec![spread("web-2", "2"), spread("web-3", "2")]);
    assert_eq!(both, "web-2 on n2: b\nweb-3 on n1: a\n", "then both have one");
}

#[test]
fn who_follows_others_preempts_beside_them() {
    let follows = |pod: Pod| pod.spec(|spec| spec.affinity.push(near(label::HOSTNAME, "db")));
    let pods = |db: i32| {
        let db = labelled(pod("db").cpu("100m").priority(db), "db");
        [on("n1", low("a", "3")), on("n2", db), on("n2", low("b", "3")), follows(pod("web").cpu("2"))]
    };
    assert_eq!(told(running(2, pods(5))), "web on n2: b\n");
    assert_eq!(told(running(2, pods(-10))), "", "kube-scheduler looks without all who could go");
}

#[test]
fn who_waits_beside_others_that_have_a_place_gets_a_new_node() {
    let web = |name: &str, cpu: &str| apart(labelled(pod(name).cpu(cpu), "web"), label::ZONE, "web");
    let pods = [on("n1", low("a", "3")), web("one", "100m"), web("two", "2")];
    assert_eq!(told(running(1, pods)), "", "where the first one goes nobody knows");
}

#[test]
fn a_pod_goes_where_kube_scheduler_has_promised_it_a_node() {
    let promised = |node: &str| {
        let mut web = pod("web").cpu("1500m");
        web.state.nominated = Some(node.into());
        let room = Pod { is_terminating: true, ..low("room", "3") };
        let mut world = running(1, [on("n1", room), web]);
        world.snapshot.pods.sort();
        world.snapshot = preempted(world.snapshot);
        let key = PodKey::new("default", "web");
        let place = world.snapshot.pods.iter().find(|pod| pod.key == key).map(|pod| pod.place.clone());
        (place, world.text())
    };
    let (place, text) = promised("n1");
    assert_eq!((place, text), (Some(PodPlace::Bound("n1".into())), String::new()));
    let (place, text) = promised("gone");
    assert_eq!(place, Some(PodPlace::Waiting), "the node is not there any more");
    assert!(text.ends_with(": web\n"), "{text}");
}

#[test]
fn a_promise_without_room_is_none_and_the_highest_priority_has_its_first() {
    let promised = |name: &str, cpu: &str, priority: i32| {
        let mut pod = pod(name).cpu(cpu);
        pod.state.nominated = Some("n1".into());
        Arc::make_mut(&mut pod.spec).priority = priority;
        pod
    };
    let seated = |cordoned: bool| {
        let never = |mut pod: Pod| {
            Arc::make_mut(&mut pod.spec).never_preempts = true;
            pod
        };
        let pods = [never(promised("a", "1500m", 0)), never(promised("b", "1500m", 10))];
        let mut world = running(1, [on("n1", low("room", "2"))].into_iter().chain(pods));
        world.snapshot.nodes[0].is_unschedulable = cordoned;
        world.snapshot.pods.sort();
        world.snapshot = preempted(world.snapshot);
        let bound = world.snapshot.pods.iter().filter(|pod| pod.place != PodPlace::Waiting);
        let bound: Vec<String> = bound.map(|pod| pod.key.to_string()).collect();
        (bound.join(" "), world.text())
    };
    let (bound, text) = seated(false);
    assert_eq!(bound, "default/b default/room");
    assert!(text.ends_with(": a\n"), "it gets a node of its own: {text}");
    assert_eq!(seated(true).0, "default/room");
}

#[test]
fn a_node_stays_for_the_pod_that_it_is_promised_to() {
    let removed = |nominated: bool| {
        let mut web = on("n1", pod("web").cpu("500m"));
        web.state.nominated = nominated.then(|| "n1".into());
        let mut world = running(2, [web, on("n2", pod("other").cpu("1"))]);
        world.policy.pools.values_mut().for_each(|pool| {
            pool.disruption.policy = ConsolidationPolicy::WhenEmptyOrUnderutilized;
            pool.disruption.consolidate_after = Some(jiff::SignedDuration::ZERO);
        });
        world.solve().target.removed.iter().any(|removal| removal.node == "n1".into())
    };
    assert!(removed(false));
    assert!(!removed(true));
}

#[test]
fn a_node_stays_on_which_a_pod_preempts_whatever_it_costs_or_is_due_for() {
    let tried = |is_preempted: bool, expires: bool| {
        let room = on("n1", low("room", "3"));
        let mut world = running(1, [room, pod("web").cpu("1500m")]);
        world.policy.pools.values_mut().for_each(|pool| {
            pool.disruption.policy = ConsolidationPolicy::WhenEmptyOrUnderutilized;
            pool.disruption.consolidate_after = Some(jiff::SignedDuration::ZERO);
        });
        if expires {
            let drift = crate::model::Drift { reason: "ImageDrift".into(), since: None };
            world.snapshot.nodes[0].claimed.drift = Some(drift);
        }
        world.snapshot.pods.sort();
        if is_preempted {
            world.snapshot = preempted(world.snapshot);
        }
        world.solve().target.removed.iter().map(|removal| removal.reason.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(tried(true, false), Vec::<String>::new());
    assert_eq!(tried(true, true), Vec::<String>::new());
    assert_eq!(tried(false, true), ["Drifted"], "nobody is about to come");
}
