//! Plans that the judge has nothing against.

use std::fmt::Write as _;

use nodeform::check::check;
use nodeform::plan::{Plan, plan};
use nodeform::solve::solve;

use super::build::World;

/// Solves and plans a world. Panics with the findings when the judge objects.
pub(crate) fn planned(world: &World) -> Plan {
    let solution = solve(&world.snapshot, &world.policy);
    let plan = plan(&world.snapshot, &world.policy, &solution);
    assert_right(world, &plan);
    plan
}

/// Panics with the findings when the judge objects to a plan.
pub(crate) fn assert_right(world: &World, plan: &Plan) {
    let found = check(&world.snapshot, &world.policy, plan);
    let mut text = String::new();
    for finding in &found {
        writeln!(text, "  {finding}").expect("text can be written to");
    }
    assert!(found.is_empty(), "the judge objects to the plan:\n{text}");
}
