//! Greedy covering by patterns: repeatedly opens the node with the highest value of its pods for its price.
//!
//! The value of a pod is a guess at its dual price in the covering problem: see [`super::worth`]. A pattern is searched
//! again only when it is the best, pods of it are already placed, and the upper bound for the pods that are left is as
//! high. Rounds and steps are counted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::packing::Packing;
use super::pattern::{Block, Load, Needs, Within, best, blocks, order};
use super::promise::Promises;
use super::room::{Bench, PAIRS_AT_ONCE};

/// Number of patterns that are searched concurrently if there are many; sharing out fewer costs more than it saves.
const LOOKS_AT_ONCE: usize = 8;

/// A way to fill a node of some column; without pods, only an upper bound on its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    load: Load,
    value: i128,
    cost: i128,
    /// Index of the column among those that are searched.
    place: usize,
}

impl Ord for Pattern {
    /// Sorts by value for the price, the best last; equal ones by value, then the first column last.
    fn cmp(&self, other: &Self) -> Ordering {
        let worth = (self.value * other.cost).cmp(&(other.value * self.cost));
        worth.then(self.value.cmp(&other.value)).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for Pattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns how many times a pattern can be used with the pods that are left.
fn times(pattern: &Pattern, packing: &Packing) -> usize {
    pattern.load.iter().map(|(class, count)| packing.left[*class] / count).min().unwrap_or(0)
}

/// Covers the pods left of these classes with nodes of these columns, as far as limits allow.
pub(super) fn cover(bench: &Bench<'_>, columns: &[usize], values: &[i128], packing: &mut Packing) {
    let blocks = blocks(bench, values, packing);
    // Limits only shrink, so a column that they exclude now is skipped.
    let is_open = |column: &usize| packing.ledger.uses(&bench.problem.columns[*column].charges) > 0;
    let open: Vec<usize> = columns.iter().copied().filter(is_open).collect();
    let columns = &open[..];
    if blocks.is_empty() || columns.is_empty() {
        return;
    }
    let mut search = Search::of(bench, (columns, blocks), (values, &packing.left));
    while let Some(found) = search.next(packing) {
        let column = columns[found.place];
        let times = times(&found, packing).min(packing.ledger.uses(&bench.problem.columns[column].charges));
        if times == 0 {
            continue;
        }
        packing.open(bench.problem, column, &found.load, times);
        search.opened(found, packing);
    }
}

/// Search for the next pattern. Patterns are searched only if no known pattern is as good as the upper bound of their
/// column, and upper bounds are updated before.
struct Search<'a> {
    bench: &'a Bench<'a>,
    columns: &'a [usize],
    values: &'a [i128],
    /// Whether threads share the work: sharing out little work costs more than it saves.
    is_much: bool,
    blocks: Vec<Block>,
    needs: Needs,
    /// Blocks of which each column may hold pods.
    orders: Vec<Vec<usize>>,
    promises: Promises<'a>,
    best: BinaryHeap<Pattern>,
}

impl<'a> Search<'a> {
    fn of(
        bench: &'a Bench<'a>,
        (columns, blocks): (&'a [usize], Vec<Block>),
        (values, left): (&'a [i128], &[usize]),
    ) -> Self {
        let needs = Needs::of(bench, columns, &blocks);
        let least = (PAIRS_AT_ONCE / blocks.len()).max(1);
        let is_much = bench.effort.is_plan() && columns.len() >= least;
        let orders =
            columns.par_iter().with_min_len(least).map(|column| order(bench, *column, &blocks)).collect();
        let promises = Promises::of(bench, columns, (values, left), is_much);
        let promised = |(place, column): (usize, &usize)| {
            let cost = i128::from(bench.problem.columns[*column].cost);
            Pattern { load: Vec::new(), value: promises.last(place), cost, place }
        };
        let best = columns.iter().enumerate().map(promised).collect();
        Self { bench, columns, values, is_much, blocks, needs, orders, promises, best }
    }

    /// Removes and returns the best pattern.
    fn next(&mut self, packing: &Packing) -> Option<Pattern> {
        loop {
            let stale = self.stale(packing);
            if stale.is_empty() {
                return self.best.pop();
            }
            self.look(&stale, packing);
        }
    }

    /// Removes the best patterns whose pods are already placed or that are only upper bounds, at most as many as are
    /// shared out; returns their indices. Those whose upper bound has fallen are put back with the new one.
    fn stale(&mut self, packing: &Packing) -> Vec<usize> {
        let mut stale = Vec::new();
        while stale.len() < if self.is_much { LOOKS_AT_ONCE } else { 1 }
            && let Some(mut found) = self.best.peek_mut()
            && times(&found, packing) == 0
        {
            match self.promises.renewed(found.place, &packing.left) {
                Some(0) => drop(PeekMut::pop(found)),
                Some(promise) if promise < found.value => {
                    found.load.clear();
                    found.value = promise;
                }
                _ => stale.push(PeekMut::pop(found).place),
            }
        }
        stale
    }

    /// Searches for patterns of these columns.
    fn look(&mut self, places: &[usize], packing: &Packing) {
        let Self { bench, columns, values, ref blocks, ref needs, ref promises, ref orders, .. } = *self;
        let look = |place: &usize| {
            let there = &bench.problem.columns[columns[*place]];
            if packing.ledger.uses(&there.charges) == 0 {
                return None;
            }
            let within = Within { bench, blocks, values, needs, packing };
            let (load, value) = best(&within, columns[*place], &orders[*place])?;
            debug_assert!(value <= promises.last(*place), "no pattern beats a promise");
            Some(Pattern { load, value, cost: i128::from(there.cost), place: *place })
        };
        let found: Vec<Pattern> = match self.is_much {
            true => places.par_iter().filter_map(look).collect(),
            false => places.iter().filter_map(look).collect(),
        };
        self.best.extend(found);
    }

    /// Puts back a pattern that nodes were opened with, and drops the classes without pods left.
    fn opened(&mut self, found: Pattern, packing: &Packing) {
        for block in &mut self.blocks {
            block.classes.retain(|(class, _)| packing.left[*class] > 0);
        }
        self.promises.age();
        self.best.push(found);
    }
}
