//! Order of pods if limits are too small for all: by priority, then those with the fewest usable pools first.
//!
//! Never exceeds a limit. Never decides whether the result is taken: that is decided where candidates are compared.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::packing::{self, Packing, Score, Unplaced};
use super::patterns;
use super::room::{Bench, holds};

/// Which pods should be left over if the limits of pools are too small for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// As few as possible, whichever they are.
    AsFewAsMayBe,
    /// Those that later columns may take, before those that fit nowhere else.
    WhomOthersTake,
}

/// Number of pools that may take pods of each class.
pub(super) struct Chances {
    /// Number of pools that may take them, now and later.
    pools: Vec<usize>,
    /// Number of pools of later turns that may take them.
    later: Vec<usize>,
    short: Short,
}

impl Chances {
    /// Counts the pools of these columns and of later ones, if limits allow any of their nodes.
    pub(super) fn of(
        bench: &Bench<'_>,
        (now, later): (&[usize], &[usize]),
        start: &Packing,
        short: Short,
    ) -> Self {
        let problem = bench.problem;
        let is_left = |column: &usize| start.ledger.uses(&problem.columns[*column].charges) > 0;
        let [now, later] =
            [now, later].map(|columns| -> Vec<usize> { columns.iter().copied().filter(is_left).collect() });
        let takes = |class: usize| {
            let class = &problem.classes[class];
            let reached = &problem.accesses[class.access].columns;
            move |column: &&usize| {
                reached.has(**column) && holds(&problem.columns[**column].room, &class.need)
            }
        };
        let pool = |column: &usize| problem.columns[*column].pool;
        let pools = |columns: &mut dyn Iterator<Item = &usize>, class| -> BTreeSet<usize> {
            columns.filter(takes(class)).map(pool).collect()
        };
        let classes = 0..problem.classes.len();
        let all = |class| pools(&mut now.iter().chain(&later), class).len();
        Self {
            pools: classes.clone().map(all).collect(),
            later: classes.map(|class| pools(&mut later.iter(), class).len()).collect(),
            short,
        }
    }

    /// Scores a packing. If it matters which pods are left over, those that fit nowhere else count first, then those
    /// with one other pool, and so on.
    pub(super) fn score(&self, bench: &Bench<'_>, packing: &Packing) -> (Vec<Unplaced>, Score) {
        let whole = packing.score(bench.problem);
        if self.short == Short::AsFewAsMayBe {
            return (Vec::new(), whole);
        }
        let counts: BTreeSet<usize> = self.later.iter().copied().collect();
        let of_count = |count: usize| {
            let left = packing.left.iter().zip(&self.later);
            let left: Vec<usize> =
                left.map(|(left, later)| if *later == count { *left } else { 0 }).collect();
            packing::unplaced(bench.problem, &left)
        };
        (counts.into_iter().map(of_count).collect(), whole)
    }
}

/// Inputs of packing by scarcity.
pub(super) struct Scarcity<'a> {
    /// Columns of the nodes to open.
    pub(super) columns: &'a [usize],
    /// Value of a pod of each class.
    pub(super) values: &'a [i128],
    /// The packing so far.
    pub(super) start: &'a Packing,
    /// The classes, the largest first.
    pub(super) by_size: &'a [usize],
}

/// Pods of each class that are placed together: those of one priority with the same number of usable pools.
type Turn = Vec<(usize, usize)>;

impl Scarcity<'_> {
    /// Covers one turn after the other: the remaining limits go to the highest priority and, with `chances`, to its
    /// pods with the fewest usable pools.
    pub(super) fn covered(&self, bench: &Bench<'_>, chances: Option<&Chances>) -> Packing {
        self.turn_by_turn(bench, chances, |packing| {
            patterns::cover(bench, self.columns, self.values, packing);
        })
    }

    /// Returns two packings in which every opened node holds as many pods as possible, whatever it costs: pods of the
    /// current turn only, or all pods, counting those of earlier turns first.
    pub(super) fn fullest(&self, bench: &Bench<'_>, chances: Option<&Chances>) -> [Packing; 2] {
        let first = self.turn_by_turn(bench, chances, |packing| {
            let mut turn = [self.of_size(|class| packing.left[class])];
            fullest(bench, self.columns, &mut turn, packing);
        });
        let mut all = self.start.clone();
        fullest(bench, self.columns, &mut self.turns(bench, chances), &mut all);
        [first, all]
    }

    fn turn_by_turn(
        &self,
        bench: &Bench<'_>,
        chances: Option<&Chances>,
        cover: impl Fn(&mut Packing),
    ) -> Packing {
        let mut packing = self.start.clone();
        packing.left = vec![0; self.start.left.len()];
        for turn in self.turns(bench, chances) {
            turn.into_iter().for_each(|(class, count)| packing.left[class] += count);
            packing.fill_open(bench, self.by_size);
            cover(&mut packing);
        }
        packing
    }

    fn turns(&self, bench: &Bench<'_>, chances: Option<&Chances>) -> Vec<Turn> {
        let classes = &bench.problem.classes;
        let mut turns: BTreeMap<(Reverse<i32>, usize), BTreeMap<usize, usize>> = BTreeMap::new();
        for (class, pods) in classes.iter().enumerate() {
            let rank = chances.map_or(0, |chances| chances.pools[class]);
            // Pods of a class are placed from the front of its list; earlier ones are on nodes that are already open.
            let placed = pods.pods.len() - self.start.left[class];
            for (priority, _, _) in pods.pods.iter().skip(placed) {
                *turns.entry((*priority, rank)).or_default().entry(class).or_default() += 1;
            }
        }
        let listed =
            |turn: BTreeMap<usize, usize>| self.of_size(|class| turn.get(&class).copied().unwrap_or(0));
        turns.into_values().map(listed).collect()
    }

    /// Lists the number of pods of each class, the smallest pods first.
    fn of_size(&self, count: impl Fn(usize) -> usize) -> Turn {
        let counts = self.by_size.iter().rev().map(|class| (*class, count(*class)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

/// Opens one node after the other: the column that holds the most pods of the first turn, then of the next, and so on;
/// the cheapest of those.
fn fullest(bench: &Bench<'_>, columns: &[usize], turns: &mut [Turn], packing: &mut Packing) {
    loop {
        let is_left = |column: &usize| packing.ledger.uses(&bench.problem.columns[*column].charges) > 0;
        let filled = |column: usize| {
            let (mut room, mut loads) = (bench.room(column), Vec::new());
            for turn in turns.iter() {
                let mut load = Vec::new();
                for (class, left) in turn {
                    let count = bench.most(&room, *class).min(*left);
                    if count > 0 {
                        bench.put(&mut room, *class, count);
                        load.push((*class, count));
                    }
                }
                loads.push(load);
            }
            (column, loads)
        };
        let ways = columns.iter().copied().filter(is_left).map(filled);
        let best = ways.min_by_key(|(column, loads): &(usize, Vec<Turn>)| {
            let pods = |load: &Turn| Reverse(load.iter().map(|(_, count)| count).sum::<usize>());
            (loads.iter().map(pods).collect::<Vec<_>>(), bench.problem.columns[*column].cost)
        });
        let Some((column, loads)) = best else { return };
        let mut load = Vec::new();
        for (turn, placed) in turns.iter_mut().zip(loads) {
            for (class, count) in placed {
                turn.iter_mut().filter(|(other, _)| *other == class).for_each(|(_, left)| *left -= count);
                packing::add(&mut load, class, count);
            }
            turn.retain(|(_, left)| *left > 0);
        }
        if load.is_empty() {
            return;
        }
        packing.open(bench.problem, column, &load, 1);
    }
}
