//! What pods are worth on some columns, worked out once and only where it is asked.
//!
//! Nothing is placed here.

use std::cell::OnceCell;

use super::room::Bench;
use super::{Effort, shares, thinned, worth};

/// What pods are worth on nodes of these columns.
pub(super) struct Guess<'c> {
    pub(super) columns: &'c [usize],
    /// Each class alone: its share of the node that holds it at the least price.
    pub(super) first: Vec<i128>,
    few: OnceCell<Vec<usize>>,
    /// All of them together, once it was asked.
    worth: OnceCell<Vec<i128>>,
}

impl<'c> Guess<'c> {
    pub(super) fn of(bench: &Bench<'_>, columns: &'c [usize]) -> Self {
        let first = shares::values(bench, columns);
        Self { columns, first, few: OnceCell::new(), worth: OnceCell::new() }
    }

    /// Returns the same for other pods to place.
    pub(super) fn anew(&self) -> Self {
        let first = self.first.clone();
        Self { columns: self.columns, first, few: self.few.clone(), worth: OnceCell::new() }
    }

    /// Returns the columns that patterns are looked for on.
    pub(super) fn few(&self, bench: &Bench<'_>) -> &[usize] {
        self.few.get_or_init(|| thinned::thinned(bench, self.columns))
    }

    /// Returns what pods are worth where all of these are to be placed: the same each time it is asked.
    pub(super) fn worth(&self, bench: &Bench<'_>, left: &[usize]) -> &[i128] {
        self.worth.get_or_init(|| {
            let known = match bench.effort {
                Effort::Draft(known) | Effort::Comparison(Some(known)) => {
                    known.values(bench.problem, (self.columns, &self.first), left)
                }
                Effort::Plan | Effort::Comparison(None) => None,
            };
            known.unwrap_or_else(|| worth::values(bench, self.few(bench), &self.first, left))
        })
    }
}
