//! The proof, in whole numbers: whatever pods are said to be worth, what comes out is no more than any fleet costs.
//!
//! No offering may hold pods that are worth more than it costs: where one does, all pods are worth less. What nodes
//! hold that are paid in any case is then taken off.

use std::collections::BTreeMap;

use super::knapsack::{Effort, best};
use super::problem::{Problem, Source};
use super::values::{PARTS, items};

/// How many steps the search may take for one node.
const STEPS: usize = 20_000;

/// How many steps all searches may take together; what is not searched then counts by its estimate.
const STEPS_MAX: usize = 4_000_000;

/// Returns what any fleet costs at least, in millionths of a dollar an hour.
pub(super) fn proven(problem: &Problem, values: &[i128]) -> i64 {
    let mut steps = STEPS_MAX;
    let values = affordable(problem, values, &mut steps);
    let worth: i128 =
        problem.classes.iter().zip(&values).map(|(class, value)| value * i128::from(class.count)).sum();
    let gained = worth - already_there(problem, &values, &mut steps);
    // Prices are whole millionths, so that a part of one more is one more.
    let gained = gained.max(0) / PARTS + i128::from(gained.max(0) % PARTS > 0);
    problem.fixed.saturating_add(i64::try_from(gained).unwrap_or(i64::MAX))
}

/// Returns the values, made so small that no offering holds pods which are worth more than it costs.
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

/// Returns what nodes that are paid in any case hold at best, above what they cost: those that are there, and those that
/// commitments pay for.
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

/// Returns what a node of a bin holds at best; up to `limit` it is not looked at closely.
fn most_worth(problem: &Problem, bin: usize, values: &[i128], (limit, steps): (i128, &mut usize)) -> i128 {
    let effort = Effort { limit, steps: STEPS.min(*steps) };
    let (found, left) = best(&items(problem, bin, values), &problem.bins[bin].room, effort);
    *steps -= effort.steps - left;
    found.bound
}
