//! Covering linear programme over the known patterns, solved by the revised simplex method.
//!
//! Its result is only a good guess; callers prove its consequences in integers. This is the only module that uses
//! floating point: only additions, multiplications, divisions and comparisons, in a fixed order, which give the same
//! bits on every machine.
#![expect(
    clippy::float_arithmetic,
    reason = "a guess, the same bit for bit everywhere, and ten times as fast"
)]

/// Fixed-point scale of returned numbers.
pub(in crate::solve) const ONE: i128 = 1 << 40;

/// The same as a floating-point number.
const PARTS: f64 = 1_099_511_627_776.0;

/// Entries of a direction below this count as zero.
const PIVOT_MIN: f64 = 1e-6;

/// Minimum gain of a pattern, as a fraction of its cost, that is not a rounding error.
const GAIN_MIN: f64 = 6e-8;

/// The same for the slack of a row.
const SLACK_GAIN_MIN: f64 = 1e-3;

/// A way to fill a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::solve) struct Pattern {
    /// Amount that it takes of each row: pods that it covers, and the node itself if such nodes are limited.
    pub(in crate::solve) takes: Vec<(usize, i64)>,
    /// Its cost.
    pub(in crate::solve) cost: i128,
}

impl Pattern {
    /// Returns by how much its value exceeds its cost, in parts of [`ONE`].
    pub(in crate::solve) fn gain(&self, duals: &[i128]) -> i128 {
        let worth: i128 = self.takes.iter().map(|(row, count)| duals[*row] * i128::from(*count)).sum();
        worth - self.cost * ONE
    }

    /// Returns the smallest gain that is not a rounding error.
    pub(in crate::solve) fn gain_min(&self) -> i128 {
        (self.cost.max(1) * ONE) >> 24
    }
}

/// A column of the basis: a pattern, or the slack of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Pattern(usize),
    Slack(usize),
}

/// The linear programme: the first rows have a minimum (pods to cover), the others a maximum (nodes available).
#[derive(Clone, Debug)]
pub(in crate::solve) struct Programme {
    /// The known patterns.
    pub(in crate::solve) patterns: Vec<Pattern>,
    covered: usize,
    basis: Vec<Column>,
    inverse: Vec<Vec<f64>>,
    amounts: Vec<f64>,
}

impl Programme {
    /// Starts with a pattern of its own for each row to cover.
    pub(in crate::solve) fn new(singles: Vec<(i64, i128)>, wanted: &[i64], there: &[i64]) -> Self {
        let (covered, rows) = (wanted.len(), wanted.len() + there.len());
        let mut programme = Self {
            patterns: Vec::new(),
            covered,
            basis: Vec::new(),
            inverse: vec![vec![0.0; rows]; rows],
            amounts: Vec::new(),
        };
        for (row, ((count, cost), wanted)) in singles.into_iter().zip(wanted).enumerate() {
            programme.basis.push(Column::Pattern(row));
            programme.inverse[row][row] = 1.0 / float(count);
            programme.amounts.push(float(*wanted) / float(count));
            programme.patterns.push(Pattern { takes: vec![(row, count)], cost });
        }
        for (place, there) in there.iter().enumerate() {
            let row = covered + place;
            programme.basis.push(Column::Slack(row));
            programme.inverse[row][row] = 1.0;
            programme.amounts.push(float(*there));
        }
        programme
    }

    /// Improves the solution by at most this many steps, and returns how many are left.
    pub(in crate::solve) fn optimise(&mut self, mut steps: usize) -> usize {
        while steps > 0 {
            let prices = self.prices();
            let Some(column) = self.entering(&prices) else { break };
            if !self.enter(column) {
                break;
            }
            steps -= 1;
        }
        steps
    }

    /// Returns the dual price of each row, in parts of [`ONE`]; negative if a row limits.
    pub(in crate::solve) fn duals(&self) -> Vec<i128> {
        self.prices().into_iter().map(parts).collect()
    }

    fn prices(&self) -> Vec<f64> {
        let mut prices = vec![0.0; self.basis.len()];
        for (place, column) in self.basis.iter().enumerate() {
            let Column::Pattern(pattern) = column else { continue };
            let cost = wide(self.patterns[*pattern].cost);
            if cost > 0.0 {
                for (price, entry) in prices.iter_mut().zip(&self.inverse[place]) {
                    *price += cost * entry;
                }
            }
        }
        prices
    }

    /// Returns the column with the highest gain; `None` if no gain exceeds rounding errors.
    fn entering(&self, prices: &[f64]) -> Option<Column> {
        let patterns = self.patterns.iter().enumerate().map(|(place, pattern)| {
            let worth =
                pattern.takes.iter().fold(0.0, |sum, (row, count)| sum + prices[*row] * float(*count));
            let cost = wide(pattern.cost);
            (worth - cost, cost.max(1.0) * GAIN_MIN, Column::Pattern(place))
        });
        let slacks = prices.iter().enumerate().map(|(row, price)| {
            let gain = if row < self.covered { -price } else { *price };
            (gain, SLACK_GAIN_MIN, Column::Slack(row))
        });
        let gaining = patterns.chain(slacks).filter(|(gain, least, _)| gain > least);
        // The first of equal columns wins.
        let best = gaining.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.map(|(_, _, column)| column)
    }

    /// Returns how the basis changes per unit of a column.
    fn direction(&self, column: Column) -> Vec<f64> {
        let of_slack;
        let takes = match column {
            Column::Pattern(pattern) => &self.patterns[pattern].takes,
            Column::Slack(row) => {
                of_slack = vec![(row, if row < self.covered { -1 } else { 1 })];
                &of_slack
            }
        };
        let along =
            |row: &Vec<f64>| takes.iter().fold(0.0, |sum, (place, count)| sum + row[*place] * float(*count));
        self.inverse.iter().map(along).collect()
    }

    /// Brings a column into the basis; returns whether that is possible.
    fn enter(&mut self, column: Column) -> bool {
        let direction = self.direction(column);
        let mut leaving: Option<usize> = None;
        for (row, step) in direction.iter().enumerate().filter(|(_, step)| **step > PIVOT_MIN) {
            let is_first = leaving.is_none_or(|best| {
                let (ours, theirs) =
                    (self.amounts[row] * direction[best], self.amounts[best] * direction[row]);
                ours < theirs || (ours <= theirs && *step > direction[best])
            });
            if is_first {
                leaving = Some(row);
            }
        }
        let Some(leaving) = leaving else { return false };
        let pivot = direction[leaving];
        for entry in &mut self.inverse[leaving] {
            *entry /= pivot;
        }
        self.amounts[leaving] /= pivot;
        let (row, amount) = (self.inverse[leaving].clone(), self.amounts[leaving]);
        for (place, step) in direction.iter().enumerate().filter(|(place, _)| *place != leaving) {
            if step.abs() > 0.0 {
                for (entry, there) in self.inverse[place].iter_mut().zip(&row) {
                    *entry -= step * there;
                }
                self.amounts[place] = (self.amounts[place] - step * amount).max(0.0);
            }
        }
        self.basis[leaving] = column;
        true
    }
}

#[expect(clippy::cast_precision_loss, reason = "a guess")]
const fn float(count: i64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "a guess")]
const fn wide(cost: i128) -> f64 {
    cost as f64
}

#[expect(clippy::cast_possible_truncation, reason = "what is beyond every number is the largest")]
fn parts(price: f64) -> i128 {
    (price * PARTS) as i128
}

#[cfg(test)]
mod tests {
    use super::{ONE, Pattern, Programme};

    #[test]
    fn a_shared_pattern_lowers_what_pods_are_worth() {
        let mut programme = Programme::new(vec![(1, 10), (1, 10)], &[4, 2], &[]);
        programme.patterns.push(Pattern { takes: vec![(0, 1), (1, 1)], cost: 12 });
        programme.optimise(100);
        let duals = programme.duals();
        let worth = 4 * duals[0] + 2 * duals[1];
        assert!((worth - 44 * ONE).abs() < ONE >> 20, "{duals:?}");
    }

    #[test]
    fn nodes_that_are_paid_already_come_first() {
        let mut programme = Programme::new(vec![(2, 10)], &[10], &[3]);
        programme.patterns.push(Pattern { takes: vec![(0, 2), (1, 1)], cost: 0 });
        programme.optimise(100);
        let duals = programme.duals();
        assert!(
            (duals[0] - 5 * ONE).abs() < ONE >> 20 && (duals[1] + 10 * ONE).abs() < ONE >> 20,
            "{duals:?}"
        );
        let mut plenty = Programme::new(vec![(2, 10)], &[10], &[8]);
        plenty.patterns.push(Pattern { takes: vec![(0, 2), (1, 1)], cost: 0 });
        plenty.optimise(100);
        assert!(plenty.duals().iter().all(|dual| dual.abs() < ONE >> 20), "{:?}", plenty.duals());
    }
}
