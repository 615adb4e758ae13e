//! The cheapest packing of all where there is little to place: every way to divide the pods into nodes, each
//! way looked at once.
//!
//! It does not know limits and is left out where there are any.

use super::packing::Packing;
use super::room::{Bench, holds};

/// The most ways to take some of what is left. Pairs of them are looked at: about half a million at this.
pub(super) const STATES_MAX: usize = 1024;

/// The same where many small problems are solved one after the other.
pub(super) const FEW_STATES_MAX: usize = 128;

/// The best known for some of the pods: what it costs, in how many nodes, and the first node's pods.
#[derive(Clone, Copy, Debug)]
struct Best {
    cost: i64,
    nodes: usize,
    part: usize,
}

/// Places what is left of these classes; returns `None` where there are more ways than `states_max` to take some of it,
/// or where no division places everything.
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
    let mut best: Vec<Option<Best>> = vec![None; states];
    best[0] = Some(Best { cost: 0, nodes: 0, part: 0 });
    for state in 1..states {
        best[state] = divided(state, &digits, &nodes, &best);
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

/// Returns the best division of a state into one node and a smaller state. The node carries a pod of the
/// first class that the state has, so that no division is looked at twice.
fn divided(
    state: usize,
    digits: &[Vec<usize>],
    nodes: &[Option<(i64, usize)>],
    best: &[Option<Best>],
) -> Option<Best> {
    let first = digits[state].iter().position(|count| *count > 0)?;
    let mut found: Option<Best> = None;
    for part in 1..=state {
        let Some((cost, _)) = nodes[part] else { continue };
        let is_part = digits[part][first] > 0 && digits[part].iter().zip(&digits[state]).all(|(p, s)| p <= s);
        let Some(rest) = best[state - part].filter(|_| is_part) else { continue };
        let ours = Best { cost: cost.saturating_add(rest.cost), nodes: rest.nodes + 1, part };
        if found.is_none_or(|there| (ours.cost, ours.nodes) < (there.cost, there.nodes)) {
            found = Some(ours);
        }
    }
    found
}

/// Returns the first of these columns that holds all these pods.
fn cheapest(bench: &Bench<'_>, by_cost: &[(i64, usize)], load: &[(usize, usize)]) -> Option<(i64, usize)> {
    let need = bench.problem.need(load);
    let has_room = |column: usize| holds(&bench.problem.columns[column].room, &need);
    by_cost.iter().copied().find(|(_, column)| has_room(*column) && bench.filled(*column, load).is_some())
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
