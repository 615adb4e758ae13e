//! Exact answer for few pods: tries every way to divide the pods into new nodes.
//!
//! It does not support nodes that are paid in any case, and is skipped if one of them could hold a pod.

use super::problem::{Problem, Source};

/// Maximum number of states (subsets of the pods). Pairs of states are examined.
const STATES_MAX: usize = 1024;

/// Returns the minimum cost of any fleet; `None` if there are too many states.
pub(super) fn exact(problem: &Problem) -> Option<i64> {
    if problem.bins.iter().any(|bin| bin.source != Source::Offered) {
        return None;
    }
    let states = problem.classes.iter().try_fold(1_usize, |states, class| {
        let more = states.checked_mul(usize::try_from(class.count).ok()?.checked_add(1)?)?;
        (more <= STATES_MAX).then_some(more)
    })?;
    let loads: Vec<Vec<i64>> = (0..states).map(|state| load(problem, state)).collect();
    let nodes: Vec<Option<i64>> = loads.iter().map(|load| cheapest(problem, load)).collect();
    let mut least: Vec<Option<i64>> = vec![Some(0)];
    for state in 1..states {
        // One node carries the first pod; the rest is a smaller state.
        let first = loads[state].iter().position(|count| *count > 0)?;
        let is_part = |part: &usize| {
            loads[*part][first] > 0 && loads[*part].iter().zip(&loads[state]).all(|(part, all)| part <= all)
        };
        let divided = (1..=state).filter(|part| nodes[*part].is_some()).filter(is_part);
        least.push(divided.filter_map(|part| nodes[part]?.checked_add(least[state - part]?)).min());
    }
    problem.fixed.checked_add((*least.last()?)?)
}

/// Returns how many pods of each class a state holds.
fn load(problem: &Problem, mut state: usize) -> Vec<i64> {
    let mut load = Vec::new();
    for class in &problem.classes {
        let base = usize::try_from(class.count).unwrap_or(STATES_MAX) + 1;
        load.push(i64::try_from(state % base).unwrap_or(i64::MAX));
        state /= base;
    }
    load
}

/// Returns the price of the cheapest node that holds this load.
fn cheapest(problem: &Problem, load: &[i64]) -> Option<i64> {
    let holds = |place: usize| {
        let bin = &problem.bins[place];
        let pods = || problem.classes.iter().zip(load).filter(|(_, count)| **count > 0);
        let fits = |dimension: usize| {
            let need: i128 =
                pods().map(|(class, count)| i128::from(class.need[dimension]) * i128::from(*count)).sum();
            need <= 0 || need <= i128::from(bin.room[dimension])
        };
        pods().all(|(class, count)| class.bins.has(place) && *count <= class.most)
            && (0..bin.room.len()).all(fits)
    };
    (0..problem.bins.len()).filter(|place| holds(*place)).map(|place| problem.bins[place].price).min()
}
