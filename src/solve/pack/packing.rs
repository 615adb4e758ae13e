//! A packing in progress: its opened nodes, the pods left, and its score.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::solve::fit::limits::Ledger;

use super::problem::Problem;
use super::room::Bench;

/// Number of pods of each class, by class.
pub(in crate::solve) type Load = Vec<(usize, usize)>;

/// Number of unplaced pods by priority, the highest first.
pub(super) type Unplaced = Vec<(Reverse<i32>, usize)>;

/// An opened node: its column and its number of pods of each class, by class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve) struct Opened {
    pub(in crate::solve) column: usize,
    pub(in crate::solve) load: Load,
    /// Class that it was opened for: no heavier pool could take it then.
    pub(in crate::solve) opened_for: usize,
}

/// Nodes, pods left to place, and limits left.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Packing {
    pub(in crate::solve) nodes: Vec<Opened>,
    pub(in crate::solve) left: Vec<usize>,
    pub(in crate::solve) ledger: Ledger,
}

/// Quality of a packing; smaller is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve) struct Score {
    unplaced: Unplaced,
    cost: i64,
    nodes: usize,
    columns: Vec<usize>,
}

impl Packing {
    /// Starts without nodes.
    pub(super) const fn new(left: Vec<usize>, ledger: Ledger) -> Self {
        Self { nodes: Vec::new(), left, ledger }
    }

    /// Opens this many equal nodes for pods that are left.
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

    /// Fills the free capacity of the open nodes with pods that are left, the largest first.
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

    /// Returns the limits that its nodes leave; `None` if they exceed one.
    pub(super) fn charged(&self, problem: &Problem, ledger: &Ledger) -> Option<Ledger> {
        let mut left = ledger.clone();
        for node in &self.nodes {
            left.take(&problem.columns[node.column].charges, 1);
        }
        left.is_kept(ledger).then_some(left)
    }

    /// Returns the cost of its nodes.
    pub(super) fn cost(&self, problem: &Problem) -> i64 {
        self.nodes.iter().fold(0, |sum: i64, node| sum.saturating_add(problem.columns[node.column].cost))
    }

    /// Scores the packing. Within a class, the pods with the highest priority are placed first.
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

/// Counts the unplaced pods by priority. Every existing priority is listed, so that two counts can be compared.
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
