//! Soft preferences: what a plan says it holds to is judged like what is required, and what it spends on them must
//! agree with the budget.

use nodeform::check::{Finding, Rule, check};
use nodeform::model::{
    Effect, ExtraCost, MicroUsdPerHour, NodeName, Operator, PodKey, Preferred, SpreadConstraint, Strength,
    label,
};
use nodeform::plan::{Plan, Preferences};

use crate::support::build::{PodBuilder, World};
use crate::support::judged::planned as right;
use crate::support::topology::{app, beside, over};
use crate::support::{node, pod, pool, world};

/// A web pod that would rather have a node of its own.
fn web() -> PodBuilder {
    let term = beside(label::HOSTNAME, "web");
    let web = pod("web").cpu("100m").memory("64Mi").label("app", "web");
    web.specified(|spec| spec.preferred_anti_affinity.push(Preferred { weight: 10, term }))
}

fn fleet(pods: PodBuilder, limit: ExtraCost) -> World {
    world().pool(pool("default")).pods(pods.times(3)).fleet(|fleet| fleet.extra_cost = limit)
}

fn judged(world: &World, plan: &Plan) -> Vec<Finding> {
    check(&world.snapshot, &world.policy, plan)
}

fn rules(world: &World, plan: &Plan) -> Vec<Rule> {
    let mut rules: Vec<Rule> = judged(world, plan).into_iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

fn said(plan: &mut Plan) -> &mut Preferences {
    plan.evidence.report.preferences.as_mut().expect("the pods have preferences")
}

#[test]
fn a_preference_that_is_claimed_and_not_met_is_found() {
    let world = fleet(web(), ExtraCost::Percent(0));
    let mut plan = right(&world);
    assert_eq!(said(&mut plan).given_up.len(), 1);
    let all = said(&mut plan).asked;
    said(&mut plan).met = all;
    said(&mut plan).given_up.clear();
    assert_eq!(rules(&world, &plan), [Rule::PodAntiAffinity]);
}

#[test]
fn a_spread_that_is_claimed_and_not_met_is_found() {
    let spread = |pod: PodBuilder| {
        pod.specified(|spec| {
            let (selector, strength) = (Some(app("web")), Strength::Preferred);
            spec.spread.push(SpreadConstraint { strength, selector, ..over(label::ZONE) });
        })
    };
    let pods = spread(pod("web").cpu("100m").memory("64Mi").label("app", "web"));
    let nodes = world().pool(pool("default")).node(node("near").zone("1")).node(node("far").zone("2"));
    let world = nodes.pods(pods.times(2)).fleet(|fleet| fleet.extra_cost = ExtraCost::Percent(0));
    let mut plan = right(&world);
    assert_eq!(said(&mut plan).given_up, []);
    let pods: Vec<PodKey> = plan.evidence.kept.values().flatten().cloned().collect();
    plan.evidence.kept = [(NodeName::new("near"), pods)].into();
    assert_eq!(rules(&world, &plan), [Rule::Spread]);
}

#[test]
fn a_taint_that_is_said_to_be_avoided_and_is_not_is_found() {
    let soft = pool("default").taint("team", Effect::PreferNoSchedule);
    let world = world().pool(soft).pods(pod("web").times(2));
    let mut plan = right(&world);
    assert_eq!(said(&mut plan).given_up.len(), 1);
    let all = said(&mut plan).asked;
    said(&mut plan).met = all;
    said(&mut plan).given_up.clear();
    assert!(rules(&world, &plan).contains(&Rule::Taints));
}

#[test]
fn a_label_that_is_claimed_and_not_there_is_found() {
    let pods = pod("web").preferring(&[(label::SKU_FAMILY, Operator::In, &["E"])], 5);
    let world = fleet(pods, ExtraCost::Percent(0));
    let mut plan = right(&world);
    assert_eq!(said(&mut plan).met, 0);
    let all = said(&mut plan).asked;
    said(&mut plan).met = all;
    said(&mut plan).given_up.clear();
    assert!(rules(&world, &plan).contains(&Rule::NodeAffinity));
}

#[test]
fn a_budget_that_is_not_kept_is_found() {
    let world = fleet(web(), ExtraCost::Unlimited);
    let mut plan = right(&world);
    assert_eq!(said(&mut plan).given_up, []);
    let tight = fleet(web(), ExtraCost::Percent(5));
    said(&mut plan).limit = ExtraCost::Percent(5);
    // That the plan was made for another fleet is found as well.
    assert!(rules(&tight, &plan).contains(&Rule::Preferences));
}

#[test]
fn a_cheap_claim_of_what_preferences_cost_is_found() {
    let world = fleet(web(), ExtraCost::Unlimited);
    let mut plan = right(&world);
    let without = said(&mut plan).without;
    said(&mut plan).with = without + MicroUsdPerHour(1);
    assert_eq!(rules(&world, &plan), [Rule::Preferences]);
}

#[test]
fn a_budget_of_another_fleet_is_found() {
    let world = fleet(web(), ExtraCost::Percent(0));
    let mut plan = right(&world);
    said(&mut plan).limit = ExtraCost::Percent(500);
    assert_eq!(rules(&world, &plan), [Rule::Preferences]);
}

#[test]
fn given_up_is_only_what_a_pod_prefers() {
    let world = fleet(web(), ExtraCost::Percent(0)).pod(pod("plain"));
    let mut plan = right(&world);
    said(&mut plan).given_up[0].pods.push(PodKey::new("default", "plain"));
    assert_eq!(rules(&world, &plan), [Rule::Preferences]);
}

#[test]
fn sums_that_do_not_agree_with_the_list_are_found() {
    let world = fleet(web(), ExtraCost::Percent(0));
    let mut plan = right(&world);
    said(&mut plan).met += 10;
    assert_eq!(rules(&world, &plan), [Rule::Preferences]);
}
