//! Plans that the judge has nothing against.

use std::fmt::Write as _;

use nodeform::check::check;
use nodeform::plan::Plan;

use super::build::World;

/// Panics with the findings when the judge objects to a plan.
pub(crate) fn assert_right(world: &World, plan: &Plan) {
    let found = check(&world.snapshot, &world.policy, plan);
    let mut text = String::new();
    for finding in &found {
        writeln!(text, "  {finding}").expect("text can be written to");
    }
    assert!(found.is_empty(), "the judge objects to the plan:\n{text}");
}
