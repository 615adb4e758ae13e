//! Who comes first where limits leave too little for all: by priority, and those first who have the fewest pools to go to.
//!
//! It gives no limit more than is left, and says nothing about what a node costs.

use std::collections::BTreeSet;

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

/// Covers one priority after the other, the highest first: what limits leave goes to those. With `chances` those of each
/// that have the fewest pools to go to come first.
pub(super) fn cover(
    bench: &Bench<'_>,
    (columns, values): (&[usize], &[i128]),
    chances: Option<&Chances>,
    (start, by_size): (&Packing, &[usize]),
) -> Packing {
    let problem = bench.problem;
    // Pods of a class are placed from the front of its list; those before are on earlier nodes.
    let placed: Vec<usize> =
        problem.classes.iter().zip(&start.left).map(|(class, left)| class.pods.len() - left).collect();
    let rank = |class: usize| chances.map_or(0, |chances| chances.pools[class]);
    let waiting = |class: usize| problem.classes[class].pods.iter().skip(placed[class]);
    let turns: BTreeSet<_> = (0..problem.classes.len())
        .flat_map(|class| waiting(class).map(move |pod| (pod.0, rank(class))))
        .collect();
    let mut packing = start.clone();
    packing.left = vec![0; start.left.len()];
    for turn in turns {
        for (class, left) in packing.left.iter_mut().enumerate() {
            *left += waiting(class).filter(|pod| (pod.0, rank(class)) == turn).count();
        }
        packing.fill_open(bench, by_size);
        patterns::cover(bench, columns, values, &mut packing);
    }
    packing
}
