//! Lower bound on the cost of any fleet that places the same pods as a given fleet, proven in integers.
//!
//! It holds for the same policy, prices and running cluster. Pod values (dual prices) are guessed (`values`, over
//! patterns in `simplex`) and then proven (`proof`): the guess may be wrong, the bound is not. Zones, spread, weights
//! and limits are ignored, which only lowers it. Never changes a fleet.

mod ground;
mod knapsack;
mod merge;
mod problem;
mod proof;
pub(super) mod simplex;
#[cfg(test)]
mod tests;
mod tiny;
mod values;
mod volume;

use crate::model::MicroUsdPerHour;
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::replicas;
use super::solution::{Bound, Solution};
use problem::Problem;

/// Returns a lower bound on the cost of any fleet that places these pods; `None` if a new node has no known price.
#[must_use]
pub fn bound(snapshot: &Snapshot, policy: &Policy, solution: &Solution) -> Option<Bound> {
    if solution.target.new.iter().any(|node| node.effective_price.known().is_none()) {
        return None;
    }
    let (world, fleet) = replicas::as_if_there(snapshot, policy, solution);
    let (problem, is_estimate) = ground::problem(&world, policy, &fleet);
    let cost = solution.report.cost_after.effective;
    let least = MicroUsdPerHour(of(problem));
    Some(Bound { least, is_proven_cheapest: least >= cost, is_estimate })
}

/// Returns the best available bound for a problem.
fn of(problem: Problem) -> i64 {
    let exact = tiny::exact(&problem);
    let problem = merge::merged(problem);
    let sought = || {
        // For very many small pods, the first guess may be better than the result of the limited search.
        let first = proof::proven(&problem, &volume::values(&problem, values::PARTS));
        proof::proven(&problem, &values::values(&problem)).max(first)
    };
    exact.unwrap_or_else(sought).max(problem.fixed)
}
