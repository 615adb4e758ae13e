//! The proof, in integers: for any pod values, the result is a lower bound on the cost of any fleet.
//!
//! No offering may hold pods that are worth more than it costs: if one does, all values are scaled down. The value of
//! the pods on nodes that are paid in any case is then subtracted.

use std::collections::BTreeMap;

use super::knapsack::{Effort, best};
use super::problem::{Problem, Source};
use super::values::{PARTS, items};

/// Maximum number of search steps for one node.
const STEPS: usize = 20_000;

/// Maximum number of steps of all searches together; beyond it, estimates are used.
const STEPS_MAX: usize = 4_000_000;

/// Returns a lower bound on the cost of any fleet, in millionths of a dollar per hour.
pub(super) fn proven(problem: &Problem, values: &[i128]) -> i64 {
    let mut steps = STEPS_MAX;
    let values = affordable(problem, values, &mut steps);
    let worth: i128 =
        problem.classes.iter().zip(&values).map(|(class, value)| value * i128::from(class.count)).sum();
    let gained = worth - already_there(problem, &values, &mut steps);
    // Prices are whole millionths, so a fraction is rounded up.
    let gained = gained.max(0) / PARTS + i128::from(gained.max(0) % PARTS > 0);
    problem.fixed.saturating_add(i64::try_from(gained).unwrap_or(i64::MAX))
}

/// Returns the values, scaled down so that no offering holds pods that are worth more than it costs.
fn affordable(problem: &Problem, values: &[i128], steps: &mut usize) -> Vec<i128> {
    let (mut price_of, mut worth_of) = (1, 1);
    for (place, bin) in problem.bins.iter().enumerate().filter(|(_, bin)| bin.source == Source::Offered) {
        let price = i128::from(bin.price.max(0)) * PARTS;
        let worth = most_worth(problem, place, values, (price, steps));
        if worth > price && price * worth_of < price_of * worth {
            (price_of, worth_of) = (price, worth);
        }
    }
    values.iter().map(|value| (*value).max(0) * price_of / worth_of).collect()
}

/// Returns the maximum value, above their cost, of the pods on nodes that are paid in any case: existing nodes, and
/// nodes that commitments pay for.
fn already_there(problem: &Problem, values: &[i128], steps: &mut usize) -> i128 {
    let mut committed: BTreeMap<usize, i128> = BTreeMap::new();
    let mut sum = 0;
    for (place, bin) in problem.bins.iter().enumerate() {
        let price = i128::from(bin.price) * PARTS;
        let mut above = || (most_worth(problem, place, values, (price, steps)) - price).max(0);
        match bin.source {
            Source::Offered => {}
            Source::There(count) => sum += above() * i128::from(count),
            Source::Committed(number) => {
                let most = committed.entry(number).or_default();
                *most = (*most).max(above());
            }
        }
    }
    let of = |(number, most): (usize, i128)| most * i128::from(problem.uncommitted[number]);
    sum + committed.into_iter().map(of).sum::<i128>()
}

/// Returns the maximum value of the pods on a node of a bin; up to `limit` it is not computed exactly.
fn most_worth(problem: &Problem, bin: usize, values: &[i128], (limit, steps): (i128, &mut usize)) -> i128 {
    let effort = Effort { limit, steps: STEPS.min(*steps) };
    let (found, left) = best(&items(problem, bin, values), &problem.bins[bin].room, effort);
    *steps -= effort.steps - left;
    found.bound
}
