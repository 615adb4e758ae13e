//! Prunes columns for the search of patterns: keeps the cheapest of the sizes that cost nearly the same for the same
//! pods.
//!
//! Pruned columns return when nodes get the cheapest size that holds their pods.

use std::collections::BTreeMap;

use crate::solve::intern::Bits;

use super::room::Bench;

/// Number of columns that need no pruning.
const COLUMNS_MAX: usize = 96;

/// Minimum price difference to the previous column, in percent: a step of a fifth keeps the small sizes of a list, for
/// which steps matter, and few of the large ones.
const STEP_PERCENT: i64 = 20;

/// Returns some of these columns, in their order; all if there are few.
pub(super) fn thinned(bench: &Bench<'_>, columns: &[usize]) -> Vec<usize> {
    if columns.len() <= COLUMNS_MAX {
        return columns.to_vec();
    }
    let problem = bench.problem;
    let mut groups: BTreeMap<Bits, Vec<usize>> = BTreeMap::new();
    for column in columns {
        groups.entry(problem.reaching(*column)).or_default().push(*column);
    }
    let mut kept = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_key(|column| (problem.columns[*column].cost, *column));
        let last = group.last().copied();
        let mut from = 0;
        for column in group {
            let cost = problem.columns[column].cost;
            if cost >= from || Some(column) == last {
                kept.push(column);
                from = cost.saturating_add((cost / 100).saturating_mul(STEP_PERCENT));
            }
        }
    }
    kept.sort_unstable();
    kept
}
