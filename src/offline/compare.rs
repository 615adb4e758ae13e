//! Compares the plans of two worlds: the effect of a change of the input.
//!
//! Both are planned and checked; the second plan carries the comparison as evidence.

use super::{Planned, World};
use crate::plan::Plan;
use crate::plan::comparison::{Comparison, FileDifference, Side};
use crate::review::{CheckedPlan, RefusedPlan};
use crate::solve::Solver;

/// Plans the changed world next to the planned original one, and checks the plan.
///
/// # Errors
/// The plan, if the checker rejects it: a bug in nodeform.
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
