//! Pools that ask for a number of nodes: what is missing, too many, or could be had for less is found.

use nodeform::check::{Finding, Rule, check};
use nodeform::model::{DisruptionReason, Effect, NodeName, PodKey, SkuName};
use nodeform::plan::{Change, Plan, Reason};

use crate::support::build::World;
use crate::support::judged::planned as right;
use crate::support::{node, pod, pool, world};

fn rules(world: &World, plan: &Plan) -> Vec<Rule> {
    let found: Vec<Finding> = check(&world.snapshot, &world.policy, plan);
    let mut rules: Vec<Rule> = found.into_iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

fn objects(world: &World, plan: &Plan) -> bool {
    rules(world, plan).contains(&Rule::Replicas)
}

fn fixed(nodes: u64) -> World {
    world().pool(pool("default").replicas(nodes)).pool(pool("other").taint("team", Effect::NoSchedule))
}

#[test]
fn a_node_that_is_missing_is_found() {
    let world = fixed(2);
    let mut plan = right(&world);
    assert_eq!(plan.spec.creates().count(), 2);
    let id = plan.spec.creates().next().map(|(id, _, _)| id.clone()).expect("there are two");
    plan.spec.changes.remove(&id);
    plan.evidence.placements.remove(&id);
    assert!(objects(&world, &plan));
}

#[test]
fn a_node_that_is_missing_for_want_of_room_is_none() {
    let world = world().pool(pool("default").replicas(3).nodes_max(2));
    assert_eq!(right(&world).spec.creates().count(), 2);
}

#[test]
fn a_node_beyond_those_asked_for_is_found() {
    let mut world = fixed(2);
    let plan = right(&world);
    world.policy.pools.get_mut("default").expect("exists").replicas = Some(1);
    assert!(objects(&world, &plan));
}

#[test]
fn a_node_that_could_be_had_for_less_is_found() {
    let world = fixed(1);
    let mut plan = right(&world);
    for claim in plan.spec.claims.values_mut() {
        claim.primary.size = SkuName::new("Standard_E8s_v5");
    }
    assert!(objects(&world, &plan), "{:?}", rules(&world, &plan));
}

#[test]
fn a_node_that_is_opened_for_a_pod_is_found() {
    let world = fixed(1).pod(pod("web"));
    let mut plan = right(&world);
    for placement in plan.evidence.placements.values_mut() {
        placement.opened_for = Some(PodKey::new("default", "web"));
    }
    assert!(objects(&world, &plan));
}

#[test]
fn a_node_that_nobody_asks_for_is_found() {
    let world = world().pool(pool("default")).pod(pod("web"));
    let mut plan = right(&world);
    for placement in plan.evidence.placements.values_mut() {
        placement.opened_for = None;
    }
    assert!(objects(&world, &plan));
}

#[test]
fn one_too_many_that_stays_without_a_word_is_found() {
    let world = fixed(1).node(node("one")).node(node("two")).pod(pod("a").on("one")).pod(pod("b").on("two"));
    let plan = right(&world);
    assert_eq!(plan.spec.deletes().count(), 1);
    let mut kept = plan.clone();
    kept.spec.changes.clear();
    assert!(objects(&world, &kept));
    let node = plan.spec.deletes().map(|(_, delete)| delete.target.node.clone()).next().expect("one goes");
    kept.evidence.report.staying = vec![(node, "its pods have no sure place".to_owned())];
    assert!(!objects(&world, &kept));
}

#[test]
fn a_node_of_a_fixed_pool_that_is_removed_to_save_money_is_found() {
    let mut world = fixed(1).node(node("one")).node(node("two")).pod(pod("a").on("one"));
    let mut plan = right(&world);
    world.policy.pools.get_mut("default").expect("exists").replicas = Some(2);
    for planned in plan.spec.changes.values_mut() {
        if let Change::Delete(delete) = &mut planned.change {
            assert_eq!(delete.target.node, NodeName::new("two"));
            delete.reason = DisruptionReason::Empty;
        }
    }
    plan.evidence.reasons.values_mut().for_each(|reason| *reason = Reason::Empty);
    let found = rules(&world, &plan);
    assert!(found.contains(&Rule::Removal) && found.contains(&Rule::Replicas), "{found:?}");
}

#[test]
fn a_number_that_the_pool_does_not_ask_for_is_found() {
    let world = fixed(1);
    let mut plan = right(&world);
    for reason in plan.evidence.reasons.values_mut() {
        if let Reason::Replicas { nodes, .. } = reason {
            *nodes = 7;
        }
    }
    assert_eq!(rules(&world, &plan), [Rule::Content]);
}
