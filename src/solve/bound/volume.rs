//! First guess of the pod values: what pods need, with one price per dimension.
//!
//! Good if many small pods fill nodes well; the search for better values starts from it.

use super::problem::{Problem, Source};

/// Parts into which amounts and prices are divided.
const PARTS: i128 = 1 << 24;

/// Number of rounds in which the prices of dimensions are improved.
const ROUNDS: usize = 12;

/// Returns the value of one pod of each class at the best price for each dimension, in parts of `one`.
pub(super) fn values(problem: &Problem, one: i128) -> Vec<i128> {
    let dimensions = problem.classes.first().map_or(0, |class| class.need.len());
    let offered = || problem.bins.iter().filter(|bin| bin.source == Source::Offered);
    let largest: Vec<i128> = (0..dimensions)
        .map(|place| offered().map(|bin| i128::from(bin.room[place])).max().unwrap_or(0).max(1))
        .collect();
    let parts = |amounts: &[i64]| -> Vec<i128> {
        amounts
            .iter()
            .zip(&largest)
            .map(|(amount, most)| i128::from((*amount).max(0)) * PARTS / most)
            .collect()
    };
    let worth = |prices: &[i128], amounts: &[i128]| -> i128 {
        prices.iter().zip(amounts).map(|(price, amount)| price * amount).sum::<i128>()
    };
    let rooms: Vec<(Vec<i128>, i128)> =
        offered().map(|bin| (parts(&bin.room), i128::from(bin.price))).collect();
    let needs: Vec<Vec<i128>> = problem.classes.iter().map(|class| parts(&class.need)).collect();
    // Scale of the prices at which no node's capacity is worth more than its price.
    let scale = |prices: &[i128]| {
        let of = |(room, price): &(Vec<i128>, i128)| price * one * PARTS / worth(prices, room).max(1);
        rooms.iter().map(of).min().unwrap_or(0)
    };
    let total = |prices: &[i128]| {
        let needed: i128 = needs
            .iter()
            .zip(&problem.classes)
            .map(|(need, class)| worth(prices, need) * i128::from(class.count))
            .sum();
        (needed / PARTS).saturating_mul(scale(prices) >> 16)
    };
    let mut best = vec![1 << 10; dimensions];
    let mut most = total(&best);
    let mut step = 512;
    for _ in 0..ROUNDS {
        for place in 0..dimensions {
            for change in [step, -step] {
                let mut other = best.clone();
                other[place] = (other[place] + change).max(0);
                let found = total(&other);
                if found > most {
                    (best, most) = (other, found);
                }
            }
        }
        step = (step / 2).max(1);
    }
    let scale = scale(&best);
    needs.iter().map(|need| worth(&best, need) * scale / PARTS).collect()
}
