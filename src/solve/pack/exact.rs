//! Exact bin packing of a few pods: tries every way to divide the pods into nodes, each way once.
//!
//! It ignores limits: callers discard a result that exceeds one.

use super::packing::Packing;
use super::room::{Bench, holds};

/// Maximum number of states (subsets of the pods left). Pairs of states are examined: about half a million at this
/// number.
pub(super) const STATES_MAX: usize = 1024;

/// The same if many small problems are solved one after the other.
pub(super) const FEW_STATES_MAX: usize = 128;

/// Best known packing of some of the pods: its cost, its number of nodes, and the pods of its first node.
#[derive(Clone, Copy, Debug)]
struct Best {
    cost: i64,
    nodes: usize,
    part: usize,
}

/// Places the pods left of these classes; returns `None` if there are more than `states_max` states, or if no division
/// places everything.
pub(super) fn place(
    bench: &Bench<'_>,
    columns: &[usize],
    (classes, states_max): (&[usize], usize),
    packing: &Packing,
) -> Option<Packing> {
    let counts: Vec<usize> = classes.iter().map(|class| packing.left[*class]).collect();
    let states = counts.iter().try_fold(1_usize, |states, count| {
        let more = states.checked_mul(count + 1)?;
        (more <= states_max).then_some(more)
    })?;
    let digits: Vec<Vec<usize>> = (0..states).map(|state| digits(state, &counts)).collect();
    let mut by_cost: Vec<(i64, usize)> =
        columns.iter().map(|column| (bench.problem.columns[*column].cost, *column)).collect();
    by_cost.sort_unstable();
    let nodes: Vec<Option<(i64, usize)>> =
        digits.iter().map(|digits| cheapest(bench, &by_cost, &load(classes, digits))).collect();
    let weights = weights(&counts);
    let mut best: Vec<Option<Best>> = vec![None; states];
    best[0] = Some(Best { cost: 0, nodes: 0, part: 0 });
    for state in 1..states {
        best[state] = divided(state, (&digits[state], &weights), &nodes, &best);
    }
    let mut packing = packing.clone();
    let mut state = states - 1;
    while state > 0 {
        let part = best[state]?.part;
        let (_, column) = nodes[part]?;
        packing.open(bench.problem, column, &load(classes, &digits[part]), 1);
        state -= part;
    }
    Some(packing)
}

/// Returns the best division of a state into one node and a smaller state. The node carries a pod of the state's first
/// class, so no division is examined twice.
fn divided(
    state: usize,
    (digits, weights): (&[usize], &[usize]),
    nodes: &[Option<(i64, usize)>],
    best: &[Option<Best>],
) -> Option<Best> {
    let mut found: Option<Best> = None;
    for part in Parts::of(digits, weights)? {
        let Some((cost, _)) = nodes[part] else { continue };
        let Some(rest) = best[state - part] else { continue };
        let ours = Best { cost: cost.saturating_add(rest.cost), nodes: rest.nodes + 1, part };
        if found.is_none_or(|there| (ours.cost, ours.nodes) < (there.cost, there.nodes)) {
            found = Some(ours);
        }
    }
    found
}

/// The states that are part of another and have a pod of its first class, the smallest first.
struct Parts<'s> {
    /// Number of pods of each class in the state.
    most: &'s [usize],
    /// Increase of a state's number per pod of each class.
    weights: &'s [usize],
    /// First class that the state contains.
    first: usize,
    /// Number of pods of each class in the next part.
    taken: Vec<usize>,
    next: Option<usize>,
}

impl<'s> Parts<'s> {
    /// Returns `None` for a state without pods.
    fn of(most: &'s [usize], weights: &'s [usize]) -> Option<Self> {
        let first = most.iter().position(|count| *count > 0)?;
        let mut taken = vec![0; most.len()];
        taken[first] = 1;
        Some(Self { most, weights, first, taken, next: Some(weights[first]) })
    }
}

impl Iterator for Parts<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let part = self.next?;
        let mut after = part;
        self.next = None;
        for class in self.first..self.most.len() {
            if self.taken[class] < self.most[class] {
                self.taken[class] += 1;
                self.next = Some(after + self.weights[class]);
                break;
            }
            let least = usize::from(class == self.first);
            after -= (self.taken[class] - least) * self.weights[class];
            self.taken[class] = least;
        }
        Some(part)
    }
}

/// Returns the first of these columns that holds all these pods.
fn cheapest(bench: &Bench<'_>, by_cost: &[(i64, usize)], load: &[(usize, usize)]) -> Option<(i64, usize)> {
    let need = bench.problem.need(load);
    let has_room = |column: usize| holds(&bench.problem.columns[column].room, &need);
    by_cost.iter().copied().find(|(_, column)| has_room(*column) && bench.filled(*column, load).is_some())
}

/// Returns the increase of a state's number per pod of each class, for classes with these counts.
fn weights(counts: &[usize]) -> Vec<usize> {
    let mut weight = 1;
    let mut weights = Vec::new();
    for count in counts {
        weights.push(weight);
        weight *= count + 1;
    }
    weights
}

fn digits(state: usize, counts: &[usize]) -> Vec<usize> {
    let mut rest = state;
    let mut digits = Vec::new();
    for count in counts {
        digits.push(rest % (count + 1));
        rest /= count + 1;
    }
    digits
}

fn load(classes: &[usize], digits: &[usize]) -> Vec<(usize, usize)> {
    classes.iter().copied().zip(digits.iter().copied()).filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_state_are_those_that_take_no_more_and_one_of_its_first_class() {
        let counts = [2, 0, 1, 3];
        let weights = weights(&counts);
        assert_eq!(weights, [1, 3, 3, 6]);
        let all: Vec<Vec<usize>> = (0..24).map(|state| digits(state, &counts)).collect();
        for (state, most) in all.iter().enumerate() {
            let first = most.iter().position(|count| *count > 0);
            let is_part = |part: &usize| {
                first.is_some_and(|first| all[*part][first] > 0)
                    && all[*part].iter().zip(most).all(|(part, most)| part <= most)
            };
            let expected: Vec<usize> = (1..=state).filter(is_part).collect();
            assert_eq!(Parts::of(most, &weights).into_iter().flatten().collect::<Vec<_>>(), expected);
        }
    }
}
