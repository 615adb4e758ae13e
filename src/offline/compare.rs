//! Two worlds side by side: what a change of the input does.
//!
//! Both are planned and judged; the second plan carries the comparison as evidence.

use super::{Planned, World};
use crate::plan::Plan;
use crate::plan::comparison::{Comparison, FileDifference, Side};
use crate::review::{CheckedPlan, RefusedPlan};
use crate::solve::Solver;

/// Plans a world that a change leads to, beside the planned world that it starts from, and has the plan judged.
///
/// # Errors
/// The plan that the judge refused: a bug in nodeform.
pub fn plan_beside(
    (before, base): (Side, &Planned),
    (after, world): (Side, &World),
    files: Vec<FileDifference>,
) -> Result<Planned, RefusedPlan> {
    let (solution, mut plan) = super::unjudged((world, &Solver::default()));
    let base: &Plan = base.plan.plan();
    plan.evidence.comparison = Some(Comparison::of((before, base), (after, &plan), files));
    let plan = CheckedPlan::judged(&world.snapshot, &world.policy, plan)?;
    Ok(Planned { solution, plan })
}
