//! Who comes first where limits leave too little for all: by priority, and those first who have the fewest pools to go to.
//!
//! No limit is given more than is left of it. Whether what comes of it is taken is decided where all ways are compared.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::packing::{self, Packing, Score, Unplaced};
use super::patterns;
use super::room::{Bench, holds};

/// Who should be left over where limits of pools leave too little for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// As few as may be, whoever they are.
    AsFewAsMayBe,
    /// Those whom later columns may take, before those who have nowhere else to go.
    WhomOthersTake,
}

/// Where pods of each class may go beside what is packed now.
pub(super) struct Chances {
    /// How many pools may take them, now and later.
    pools: Vec<usize>,
    /// How many pools of later turns may take them.
    later: Vec<usize>,
    short: Short,
}

impl Chances {
    /// Looks at these columns, and at those that come later, as far as limits leave any of their nodes.
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

    /// Scores a packing. Where it is asked who is left over, those come first who have nowhere else to go, then those with
    /// one other pool, and so on.
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

/// Who comes first, and which nodes they are given.
pub(super) struct Scarcity<'a> {
    /// The columns that nodes are opened of.
    pub(super) columns: &'a [usize],
    /// What a pod of each class is worth.
    pub(super) values: &'a [i128],
    /// What is placed already.
    pub(super) start: &'a Packing,
    /// The classes, the largest first.
    pub(super) by_size: &'a [usize],
}

/// The pods of each class that have their turn together: those of one priority, with so many pools to go to.
type Turn = Vec<(usize, usize)>;

impl Scarcity<'_> {
    /// Covers one turn after the other: what limits leave goes to the highest priority, and with `chances` to those of
    /// each that have the fewest pools to go to.
    pub(super) fn covered(&self, bench: &Bench<'_>, chances: Option<&Chances>) -> Packing {
        self.turn_by_turn(bench, chances, |packing| {
            patterns::cover(bench, self.columns, self.values, packing);
        })
    }

    /// Returns ways in which every node that is opened holds as many pods as any could, whatever it costs: of those whose
    /// turn it is, and of all, with those first whose turn comes first.
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
            // Pods of a class are placed from the front of its list; those before are on earlier nodes.
            let placed = pods.pods.len() - self.start.left[class];
            for (priority, _, _) in pods.pods.iter().skip(placed) {
                *turns.entry((*priority, rank)).or_default().entry(class).or_default() += 1;
            }
        }
        let listed =
            |turn: BTreeMap<usize, usize>| self.of_size(|class| turn.get(&class).copied().unwrap_or(0));
        turns.into_values().map(listed).collect()
    }

    /// Lists who is there of each class, the smallest first.
    fn of_size(&self, count: impl Fn(usize) -> usize) -> Turn {
        let counts = self.by_size.iter().rev().map(|class| (*class, count(*class)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

/// Opens one node after the other, each where most pods of the first turn find room, then most of the next, and so on; the
/// cheapest of those.
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
