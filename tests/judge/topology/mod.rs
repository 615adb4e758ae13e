//! Planted bugs about pods beside other pods, volumes and overlays: of every two plans of a world the judge must
//! take the right one and object to the wrong one, by the right rule.

mod affinity;
mod anti_affinity;
mod gangs;
mod headroom;
mod orders;
mod overlays;
mod preempted;
mod preferences;
mod replicas;
mod room;
mod spread;
mod substitutes;
mod variety;
mod volumes;
mod weight;

use crate::support::build::World;
use crate::support::by_hand::{ByHand, by_hand};
use nodeform::check::{Finding, Rule, check};

/// What the judge finds.
fn findings(plan: ByHand) -> Vec<Finding> {
    let (world, plan) = plan.unjudged();
    check(&world.snapshot, &world.policy, &plan)
}

/// Judges two plans of a world: nothing is found in the first, and in the second this rule alone.
#[track_caller]
fn told_apart(world: &World, rule: Rule, right: fn(ByHand) -> ByHand, wrong: fn(ByHand) -> ByHand) {
    right(by_hand(world.clone())).planned();
    let found = findings(wrong(by_hand(world.clone())));
    let mut rules: Vec<Rule> = found.iter().map(|finding| finding.rule).collect();
    rules.dedup();
    assert_eq!(rules, [rule], "{found:#?}");
}
