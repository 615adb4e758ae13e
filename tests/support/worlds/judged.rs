//! Plans that the judge has nothing against.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nodeform::check::{Finding, check, needless};
use nodeform::model::Target;
use nodeform::plan::{Plan, plan, plan_targets};
use nodeform::solve::{Solution, destroy, solve};

use super::build::World;

/// Solves and plans a world. Panics with the findings when the judge objects.
pub(crate) fn planned(world: &World) -> Plan {
    try_planned(world).unwrap_or_else(|why| panic!("{why}"))
}

/// Solves and plans a world.
///
/// # Errors
/// The findings, a line for each, when the judge objects.
pub(crate) fn try_planned(world: &World) -> Result<Plan, String> {
    let plan = try_plan_of(world, &solved(world, &BTreeSet::new()))?;
    said(&needless(&world.snapshot, &world.policy, &plan)).map(|()| plan)
}

/// Makes the plan of a fleet.
///
/// # Errors
/// The findings, a line for each, when the judge objects.
pub(crate) fn try_plan_of(world: &World, solution: &Solution) -> Result<Plan, String> {
    let plan = plan_of(world, solution);
    judged(world, &plan).map(|()| plan)
}

/// Solves and plans a world, narrowed to targets. Panics with the findings when the judge objects.
pub(crate) fn planned_for(world: &World, targets: &[Target]) -> Plan {
    let targets = targets.iter().cloned().collect();
    let solution = solved(world, &targets);
    let plan = plan_targets(&world.snapshot, &world.policy, &solution, &targets);
    assert_right(world, &plan);
    plan
}

fn solved(World { snapshot, policy }: &World, targets: &BTreeSet<Target>) -> Solution {
    match snapshot.supposed.wishes.destroy {
        true => destroy(snapshot, policy, targets),
        false => solve(snapshot, policy),
    }
}

/// Makes the plan of a fleet, which the caller has judged.
pub(crate) fn plan_of(world: &World, solution: &Solution) -> Plan {
    plan(&world.snapshot, &world.policy, solution)
}

/// Panics with the findings when the judge objects to a plan.
pub(crate) fn assert_right(world: &World, plan: &Plan) {
    judged(world, plan).unwrap_or_else(|why| panic!("{why}"));
}

fn judged(world: &World, plan: &Plan) -> Result<(), String> {
    said(&check(&world.snapshot, &world.policy, plan))
}

fn said(found: &[Finding]) -> Result<(), String> {
    if found.is_empty() {
        return Ok(());
    }
    let mut text = "the judge objects to the plan:\n".to_owned();
    for finding in found {
        writeln!(text, "  {finding}").expect("text can be written to");
    }
    Err(text)
}
