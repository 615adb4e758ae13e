//! A packing while it is made: opened nodes, what is left, and how it is scored.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::solve::fit::limits::Ledger;

use super::problem::Problem;
use super::room::Bench;

/// How many pods of which class, by class.
pub(in crate::solve) type Load = Vec<(usize, usize)>;

/// How many pods are left over by priority, the highest first.
pub(super) type Unplaced = Vec<(Reverse<i32>, usize)>;

/// A node that is opened: its column and how many pods of each class it carries, by class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve) struct Opened {
    pub(in crate::solve) column: usize,
    pub(in crate::solve) load: Load,
    /// The class for whose sake it was opened: no heavier pool could take it then.
    pub(in crate::solve) opened_for: usize,
}

/// Nodes, what is left to place, and what is left of the limits.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Packing {
    pub(in crate::solve) nodes: Vec<Opened>,
    pub(in crate::solve) left: Vec<usize>,
    pub(in crate::solve) ledger: Ledger,
}

/// How good a packing is; the smaller, the better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve) struct Score {
    unplaced: Unplaced,
    cost: i64,
    nodes: usize,
    columns: Vec<usize>,
}

impl Packing {
    /// Starts with nothing opened.
    pub(super) const fn new(left: Vec<usize>, ledger: Ledger) -> Self {
        Self { nodes: Vec::new(), left, ledger }
    }

    /// Opens so many equal nodes for pods that are left.
    pub(super) fn open(&mut self, problem: &Problem, column: usize, load: &[(usize, usize)], times: usize) {
        for (class, count) in load {
            self.left[*class] -= count * times;
        }
        self.ledger.take(&problem.columns[column].charges, times);
        let opened_for = first_by_priority(problem, load);
        let mut load = load.to_vec();
        load.sort_unstable();
        let node = Opened { column, load, opened_for };
        self.nodes.extend(std::iter::repeat_n(node, times));
    }

    /// Puts what is left into the room of the nodes that are open, the largest pods first.
    pub(super) fn fill_open(&mut self, bench: &Bench<'_>, classes: &[usize]) {
        let classes: Vec<usize> = classes.iter().copied().filter(|class| self.left[*class] > 0).collect();
        if classes.is_empty() {
            return;
        }
        for node in &mut self.nodes {
            let Some(mut room) = bench.filled(node.column, &node.load) else { continue };
            for class in &classes {
                let count = bench.most(&room, *class).min(self.left[*class]);
                if count > 0 {
                    bench.put(&mut room, *class, count);
                    self.left[*class] -= count;
                    add(&mut node.load, *class, count);
                }
            }
        }
    }

    /// Returns what its nodes leave of limits; `None` where they exceed one.
    pub(super) fn charged(&self, problem: &Problem, ledger: &Ledger) -> Option<Ledger> {
        let mut left = ledger.clone();
        for node in &self.nodes {
            left.take(&problem.columns[node.column].charges, 1);
        }
        left.is_kept(ledger).then_some(left)
    }

    /// Returns what its nodes cost.
    pub(super) fn cost(&self, problem: &Problem) -> i64 {
        self.nodes.iter().fold(0, |sum: i64, node| sum.saturating_add(problem.columns[node.column].cost))
    }

    /// Scores it. Of a class the pods of the highest priority are placed first.
    pub(super) fn score(&self, problem: &Problem) -> Score {
        let mut columns: Vec<usize> = self.nodes.iter().map(|node| node.column).collect();
        columns.sort_unstable();
        Score {
            unplaced: unplaced(problem, &self.left),
            cost: self.cost(problem),
            nodes: self.nodes.len(),
            columns,
        }
    }
}

/// Counts who is left of each class, by priority. Every priority there is is named, so that two counts compare.
pub(super) fn unplaced(problem: &Problem, left: &[usize]) -> Unplaced {
    let every = problem.classes.iter().flat_map(|class| class.pods.iter().map(|pod| (pod.0, 0)));
    let mut unplaced: BTreeMap<Reverse<i32>, usize> = every.collect();
    for (class, left) in problem.classes.iter().zip(left) {
        for (priority, _, _) in class.pods.iter().rev().take(*left) {
            *unplaced.entry(*priority).or_default() += 1;
        }
    }
    unplaced.into_iter().collect()
}

/// Adds pods of a class to a load.
pub(super) fn add(load: &mut Vec<(usize, usize)>, class: usize, count: usize) {
    match load.binary_search_by_key(&class, |(class, _)| *class) {
        Ok(place) => load[place].1 += count,
        Err(place) => load.insert(place, (class, count)),
    }
}

/// Returns the class whose first pod comes first by priority and name.
fn first_by_priority(problem: &Problem, load: &[(usize, usize)]) -> usize {
    let first = load.iter().map(|(class, _)| *class).min_by_key(|class| &problem.classes[*class].pods[0]);
    first.expect("a node is opened with at least one pod")
}
