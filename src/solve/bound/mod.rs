//! What any fleet costs at least that places the pods which a fleet places: a lower bound, proven in integers.
//!
//! For the same policy and the same prices, with what runs where it is. What a pod is worth is guessed (`values`,
//! over patterns in `simplex`) and then proven (`proof`): the guess may be wrong, the bound is not. Zones, spread,
//! weights and limits are ignored, which only makes it lower. Nothing here changes a fleet.

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

/// Returns what any fleet costs at least that places these pods; `None` where a new node has no known price.
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

/// Returns the best bound that there is for a problem.
fn of(problem: Problem) -> i64 {
    let exact = tiny::exact(&problem);
    let problem = merge::merged(problem);
    let sought = || {
        // Of very many small pods the first guess may be better than what was found in the counted steps.
        let first = proof::proven(&problem, &volume::values(&problem, values::PARTS));
        proof::proven(&problem, &values::values(&problem)).max(first)
    };
    exact.unwrap_or_else(sought).max(problem.fixed)
}
