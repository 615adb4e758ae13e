//! Pod values on some columns, computed once and only on request.
//!
//! Never places anything.

use std::cell::OnceCell;

use super::room::Bench;
use super::{Effort, shares, thinned, worth};

/// Pod values on nodes of these columns.
pub(super) struct Guess<'c> {
    pub(super) columns: &'c [usize],
    /// Value of each class alone: its share of the node that holds it at the lowest price per pod.
    pub(super) first: Vec<i128>,
    few: OnceCell<Vec<usize>>,
    /// Values of all classes together, once computed.
    worth: OnceCell<Vec<i128>>,
}

impl<'c> Guess<'c> {
    pub(super) fn of(bench: &Bench<'_>, columns: &'c [usize]) -> Self {
        let first = shares::values(bench, columns);
        Self { columns, first, few: OnceCell::new(), worth: OnceCell::new() }
    }

    /// Returns the same guess for other pods to place.
    pub(super) fn anew(&self) -> Self {
        let first = self.first.clone();
        Self { columns: self.columns, first, few: self.few.clone(), worth: OnceCell::new() }
    }

    /// Returns the columns for which patterns are searched.
    pub(super) fn few(&self, bench: &Bench<'_>) -> &[usize] {
        self.few.get_or_init(|| thinned::thinned(bench, self.columns))
    }

    /// Returns the pod values for placing all of these pods: the same in every call.
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
