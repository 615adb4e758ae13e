//! Large clusters in two parts: pending pods are placed in the consolidated running cluster, and nothing is planned
//! twice.

use std::sync::Arc;

use super::consolidation::budget;
use super::topology::near;
use super::world::{PodWith, World, daemon, node, on, pod, pool, text};
use crate::model::{
    Disruption, ExpireAfter, Operator, Pod, PodPlace, Pool, Requirement, ResourceName, label,
};
use crate::solve::apart::{self, Kept};
use crate::solve::memo::Memos;
use crate::solve::{NewNode, Parting, Solution, Solver};

const MIDDLE: &str = "Standard_D4s_v5";
const LARGE: &str = "Standard_D8s_v5";

/// Applies to clusters of any size, as long as a pod is pending.
const ALWAYS: Parting = Parting { least: 0, running: 0 };

fn memos() -> Memos {
    Memos::parting(ALWAYS)
}

fn open(name: &str) -> Pool {
    Pool { disruption: Disruption::default(), ..pool(name) }
}

/// Returns the fleet of a world that is planned in two parts.
fn parted(world: &World, memos: &Memos) -> Option<Solution> {
    apart::solve(&world.snapshot, &world.policy, memos)
}

/// Returns twenty nodes with one pod each; eight of the pods fit on a large node.
fn many() -> World {
    let names = || (0..20).map(|number| format!("n{number:02}"));
    let nodes: Vec<_> = names().map(|name| node(&name, MIDDLE)).collect();
    let pods: Vec<Pod> = names().map(|name| on(&name, pod(&format!("run-{name}")).cpu("900m"))).collect();
    World::of(vec![open("default")]).nodes(nodes).pods(pods)
}

fn waiting(name: &str) -> Pod {
    pod(name).cpu("200m")
}

fn labelled(name: &str) -> Pod {
    waiting(name).spec(|spec| {
        spec.labels.insert("app".into(), "lone".into());
    })
}

#[test]
fn who_waits_comes_to_nodes_that_are_made_for_what_runs() {
    let alone = many().solve();
    let solution = parted(&many().pods([waiting("late")]), &memos()).expect("one pod buys little");
    assert_eq!(solution.target.new.len(), alone.target.new.len());
    assert_eq!(solution.target.removed, alone.target.removed);
    let late: Vec<_> =
        solution.target.new.iter().filter(|node| node.pods.iter().any(|pod| &*pod.name == "late")).collect();
    let [with_late] = late[..] else { panic!("{}", text(&solution)) };
    let before = alone.target.new.iter().find(|node| node.pods.len() + 1 == with_late.pods.len());
    let before = before.expect("its node has one pod more");
    let more = with_late.requests.minus(&before.requests);
    assert_eq!((more.get(&ResourceName::Cpu), more.get(&ResourceName::Pods)), (200, 1));
    assert!(with_late.substitutes.iter().all(|other| other.zone == with_late.zone));
}

#[test]
fn what_carries_nothing_serves_those_who_wait() {
    let world = many().nodes([node("spare", LARGE)]);
    assert!(text(&world.solve()).contains("- spare: Empty\n"));
    let solution = parted(&world.pods([pod("late").cpu("5")]), &memos()).expect("nothing is bought");
    let text = text(&solution);
    assert!(text.contains("= spare: late\n") && !text.contains("- spare"), "{text}");
}

#[test]
fn all_is_planned_together_where_those_who_wait_buy_much_of_what_goes() {
    let world = many().pods((0..8).map(|number| pod(&format!("late-{number}")).cpu("3")));
    assert_eq!(parted(&world, &memos()), None);
}

#[test]
fn all_is_planned_together_where_limits_leave_somebody_over() {
    let mut world = many().pods([waiting("late"), pod("more").cpu("3")]);
    for pool in world.policy.pools.values_mut() {
        pool.limits.set(ResourceName::Cpu, 90_000);
    }
    let solution = parted(&world, &memos());
    assert_eq!(solution, None, "{}", solution.as_ref().map(text).unwrap_or_default());
    assert!(text(&Solver::parting(ALWAYS).solve(&world.snapshot, &world.policy)).contains("more"));
}

#[test]
fn rules_between_pods_hold_beside_pods_that_are_not_looked_at_one_by_one() {
    let apart =
        |name: &str| labelled(name).spec(|spec| spec.anti_affinity = vec![near(label::HOSTNAME, "lone")]);
    let mut world = many().pods([apart("one"), apart("two")]);
    for pod in world.snapshot.pods.iter_mut().filter(|pod| pod.place != PodPlace::Waiting) {
        if &*pod.key.name == "run-n03" {
            Arc::make_mut(&mut pod.spec).labels.insert("app".into(), "lone".into());
        }
    }
    let solution = parted(&world, &memos()).expect("two small pods buy little");
    let lone = ["one", "two", "run-n03"];
    let nodes = solution
        .target
        .new
        .iter()
        .map(|node| &node.pods)
        .chain(solution.target.kept.iter().map(|kept| &kept.pods));
    let together = nodes.map(|pods| pods.iter().filter(|pod| lone.contains(&&*pod.name)).count()).max();
    assert_eq!(together, Some(1), "{}", text(&solution));
}

/// Returns whether the running part was planned before; from now on it is.
fn is_known(memos: &Memos, World { snapshot, policy, .. }: &World) -> bool {
    let mut is_known = true;
    memos.running(
        |kept| kept.is(snapshot, policy),
        || {
            is_known = false;
            Kept::of(snapshot, policy, memos)
        },
    );
    is_known
}

#[test]
fn what_runs_is_planned_once_for_many_who_wait_and_anew_when_it_changes() {
    let kept = memos();
    let first = many().pods([waiting("late")]);
    parted(&first, &kept).expect("one pod buys little");
    assert!(is_known(&kept, &many().pods([waiting("other"), waiting("another")])));
    let mut others = [many(), many(), many(), many(), many(), many()];
    others[0].snapshot.pods[7].is_do_not_disrupt = true;
    others[1].snapshot.nodes[3].is_unschedulable = true;
    others[2].snapshot.budgets.push(budget("one", 0));
    others[3].policy.fleet.prices.cost_per_node.0 += 1;
    others[4].snapshot.pods.remove(2);
    others[5].snapshot.daemons.push(daemon("logs"));
    for other in others {
        let other = other.pods([waiting("late")]);
        let known = memos();
        parted(&first, &known).expect("one pod buys little");
        let plan = parted(&other, &known);
        assert_eq!(plan, parted(&other, &memos()));
        assert!(is_known(&known, &other) && !is_known(&kept, &other));
    }
}

#[test]
fn those_who_wait_see_what_they_ask_about_whoever_waited_before() {
    let known = memos();
    let lone = |pod: Pod| pod.spec(|spec| spec.anti_affinity = vec![near(label::HOSTNAME, "lone")]);
    let large = |pod: Pod| {
        pod.spec(|spec| {
            spec.node_selector.add(label::SKU_FAMILY.into(), Requirement::one("E"));
        })
    };
    let worlds = [waiting("late"), lone(labelled("late")), large(waiting("late")), labelled("late")];
    for late in worlds {
        let world = many().pods([late]);
        assert_eq!(parted(&world, &known), parted(&world, &memos()));
    }
}

#[test]
fn what_runs_is_kept_until_time_decides_something_else_of_it() {
    let time = |text: &str| Some(text.parse().expect("is a time"));
    let quiet = jiff::SignedDuration::from_mins(5);
    let mut world = many().pods([waiting("late")]);
    for pool in world.policy.pools.values_mut() {
        pool.disruption.consolidate_after = Some(quiet);
        pool.expire_after = ExpireAfter::Age(jiff::SignedDuration::from_hours(24));
    }
    for node in &mut world.snapshot.nodes {
        node.quiet_since = time("2026-11-21T09:00:00Z");
        node.created = time("2026-11-21T08:00:00Z");
    }
    let known = memos();
    let mut planned_anew = Vec::new();
    for at in ["09:04:00", "09:04:30", "09:05:00", "09:30:00", "21:00:00"] {
        world.snapshot.at = time(&format!("2026-11-21T{at}Z"));
        planned_anew.push(!is_known(&known, &world));
        assert_eq!(parted(&world, &known), parted(&world, &memos()), "{at}");
    }
    assert_eq!(planned_anew, [true, false, true, false, false]);
    world.snapshot.at = time("2026-11-22T08:00:01Z");
    assert!(!is_known(&known, &world), "its nodes are too old");
    world.snapshot.at = None;
    assert!(!is_known(&known, &world), "nothing is decided without a time");
}

#[test]
fn a_node_that_gets_more_pods_settles_the_labels_that_those_refuse_values_of() {
    const TEAM: &str = "example.com/team";
    let mut world = many();
    for pool in world.policy.pools.values_mut() {
        pool.requirements.add(TEAM.into(), Requirement::any());
    }
    let late = waiting("late")
        .spec(|spec| spec.node_selector.add(TEAM.into(), Requirement::new(Operator::NotIn, ["red"])));
    let solution = parted(&world.pods([late]), &memos()).expect("one pod buys little");
    let is_its = |node: &&NewNode| node.pods.iter().any(|pod| &*pod.name == "late");
    let node = solution.target.new.iter().find(is_its).expect("it comes to a node that is made");
    assert!(node.labels.get(TEAM).is_some_and(|team| &**team != "red"), "{:?}", node.labels);
}
