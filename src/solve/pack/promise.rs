//! What a node of each column is worth at most, so that patterns are looked for only where they may be the best.
//!
//! Amounts of two dimensions counted as one make a knapsack, and what that holds at most is easily said: pods by what they
//! are worth for what they take, the last one in part. No pattern that fits is worth more. Each way to count them is a
//! direction, and the least of what they promise holds. What pods take is rounded down and what nodes have up, so that
//! nothing is promised too little.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::solve::intern::Bits;

use super::room::{Bench, PARTS, SCALE};

/// Parts into which the worth of what pods take is divided where pods are sorted by it.
const WORTH: i128 = 1 << 40;

/// What one part of each dimension counts.
type Direction = Vec<i64>;

/// Columns that the same pods may stand on.
struct Alike {
    /// The columns, by their places.
    places: Vec<usize>,
    /// How many pods of each class one node holds at most for other reasons than room.
    most: Vec<usize>,
}

/// What pods take, counted in one direction.
struct Counted {
    direction: Direction,
    /// What a pod of each class takes, what is worth most for it first.
    classes: Vec<(i128, usize)>,
}

/// Returns what a pattern of each column is worth at most, with so many pods left of each class. Where there is much to look
/// at, threads share it.
pub(super) fn promises(
    bench: &Bench<'_>,
    columns: &[usize],
    (values, left): (&[i128], &[usize]),
    is_much: bool,
) -> Vec<i128> {
    let rooms = Rooms::of(bench, columns);
    let counted: Vec<Counted> =
        rooms.directions(bench).into_iter().map(|way| rooms.counted(bench, (values, left), way)).collect();
    let of_alike = |alike: &Alike| {
        let mut promises: Vec<(usize, i128)> = alike.places.iter().map(|place| (*place, i128::MAX)).collect();
        for Counted { direction, classes } in &counted {
            let there = classes
                .iter()
                .map(|(takes, class)| (*takes, values[*class], alike.most[*class].min(left[*class]) as i128));
            let knapsack = Knapsack::of(there.filter(|(_, _, count)| *count > 0));
            for (place, promise) in &mut promises {
                *promise = knapsack.holds(rooms.counts(*place, direction)).min(*promise);
            }
        }
        promises
    };
    let mut promises = vec![0; columns.len()];
    let alike = alike(bench, columns);
    let least = if is_much { 1 } else { alike.len() };
    let all: Vec<(usize, i128)> = alike.par_iter().with_min_len(least).flat_map_iter(of_alike).collect();
    for (place, promise) in all {
        promises[place] = promise;
    }
    promises
}

/// What the columns have room for, in parts of the largest room.
struct Rooms {
    /// What one part is of each dimension.
    units: Vec<i64>,
    parts: Vec<Vec<i64>>,
}

impl Rooms {
    fn of(bench: &Bench<'_>, columns: &[usize]) -> Self {
        let room = |column: &usize| &bench.problem.columns[*column].room;
        let largest = |place: usize| columns.iter().map(|column| room(column)[place]).max().unwrap_or(0);
        let units: Vec<i64> =
            (0..bench.problem.dimensions.len()).map(|place| (largest(place) / PARTS).max(1)).collect();
        let in_parts = |column| room(column).iter().zip(&units).map(|(room, unit)| room / unit + 1).collect();
        let parts = columns.iter().map(in_parts).collect();
        Self { units, parts }
    }

    /// Returns what counts nothing, so that all that is left is promised; each dimension that pods ask for alone; and every
    /// two of them in the proportion in which a column has them, to the next powers of two.
    fn directions(&self, bench: &Bench<'_>) -> BTreeSet<Direction> {
        let is_asked = |place: &usize| bench.problem.classes.iter().any(|class| class.need[*place] > 0);
        let asked: Vec<usize> = (0..self.units.len()).filter(is_asked).collect();
        let counting = |counts: &[(usize, i64)]| {
            let mut direction = vec![0; self.units.len()];
            counts.iter().for_each(|(place, counts)| direction[*place] = *counts);
            direction
        };
        let alone = asked.iter().map(|place| counting(&[(*place, 1)]));
        let mut directions: BTreeSet<Direction> = alone.chain([counting(&[])]).collect();
        for (number, one) in asked.iter().enumerate() {
            for other in &asked[number + 1..] {
                let size = |parts: &[i64], place: usize| i64::from(parts[place].max(1).ilog2());
                let beside = self.parts.iter().map(|parts| size(parts, *one) - size(parts, *other));
                let around: BTreeSet<i64> = beside.flat_map(|ratio| ratio - 1..=ratio + 1).collect();
                let both =
                    |ratio: i64| counting(&[(*one, 1 << (-ratio).max(0)), (*other, 1 << ratio.max(0))]);
                directions.extend(around.into_iter().map(both));
            }
        }
        directions
    }

    /// Counts what pods take.
    fn counted(
        &self,
        bench: &Bench<'_>,
        (values, left): (&[i128], &[usize]),
        direction: Direction,
    ) -> Counted {
        let takes = |class: usize| -> i128 {
            let need = bench.problem.classes[class].need.iter().zip(&self.units);
            let parts = need.map(|(need, unit)| i128::from(need.max(&0) / unit));
            parts.zip(&direction).map(|(parts, counts)| parts * i128::from(*counts)).sum()
        };
        let is_left = |class: &usize| values[*class] > 0 && left[*class] > 0;
        let mut classes: Vec<(i128, usize)> =
            (0..values.len()).filter(is_left).map(|class| (takes(class), class)).collect();
        classes.sort_by_cached_key(|(takes, class)| {
            let worth = if *takes == 0 { i128::MAX } else { values[*class].saturating_mul(WORTH) / takes };
            (Reverse(worth), *class)
        });
        Counted { direction, classes }
    }

    /// Returns what a column has room for.
    fn counts(&self, place: usize, direction: &Direction) -> i128 {
        let parts = self.parts[place].iter().zip(direction);
        parts.map(|(parts, counts)| i128::from(*parts) * i128::from(*counts)).sum()
    }
}

/// Pods one after the other, each with all before it.
struct Knapsack {
    /// What the pods before take and are worth, and what the next one takes and is worth.
    filled: Vec<(i128, i128)>,
    next: Vec<(i128, i128)>,
}

impl Knapsack {
    /// Puts pods in, those first that are worth most for what they take: what one takes, what it is worth, and how many
    /// there are.
    fn of(pods: impl Iterator<Item = (i128, i128, i128)>) -> Self {
        let (mut filled, mut next) = (vec![(0, 0)], Vec::new());
        let (mut taken, mut worth) = (0, 0);
        for (takes, value, count) in pods {
            taken += takes * count;
            worth += value * count;
            filled.push((taken, worth));
            next.push((takes, value));
        }
        Self { filled, next }
    }

    /// Returns what is worth most of what fits into so much room.
    fn holds(&self, room: i128) -> i128 {
        let whole = self.filled.partition_point(|(taken, _)| *taken <= room).saturating_sub(1);
        let (taken, worth) = self.filled[whole];
        // Pods may be worth the same for what they take and not be told apart: that is never more than this.
        let part = |(takes, value): &(i128, i128)| {
            (room - taken).max(0).saturating_mul(*value) / takes.max(&1) + SCALE
        };
        worth + self.next.get(whole).map_or(0, part)
    }
}

/// Groups columns by who may stand on them.
fn alike(bench: &Bench<'_>, columns: &[usize]) -> Vec<Alike> {
    let problem = bench.problem;
    let mut groups: BTreeMap<(usize, usize, Bits), Vec<usize>> = BTreeMap::new();
    for (place, column) in columns.iter().enumerate() {
        let there = &problem.columns[*column];
        groups.entry((there.pool, there.overhead, problem.reaching(*column))).or_default().push(place);
    }
    let with_most = |places: Vec<usize>| {
        let empty = bench.room(columns[places[0]]);
        let most =
            |class| if bench.reaches(&empty, class) { bench.most_of(&empty, class, usize::MAX) } else { 0 };
        let most = (0..problem.classes.len()).map(most).collect();
        Alike { places, most }
    };
    groups.into_values().map(with_most).collect()
}

#[cfg(test)]
mod tests {
    use super::Knapsack;
    use crate::solve::pack::room::SCALE;

    /// What the best of all choices is worth that take no more than so much.
    fn best(pods: &[(i128, i128, i128)], room: i128) -> i128 {
        let Some(((takes, value, count), rest)) = pods.split_first() else { return 0 };
        let fitting = (0..=*count).filter(|times| takes * times <= room);
        fitting.map(|times| value * times + best(rest, room - takes * times)).max().unwrap_or(0)
    }

    #[test]
    fn a_knapsack_promises_no_less_than_the_best_choice_and_less_than_a_pod_more() {
        let pods =
            [(0, 3 * SCALE, 1), (2, 9 * SCALE, 2), (5, 20 * SCALE, 3), (3, 7 * SCALE, 4), (7, 2 * SCALE, 1)];
        let knapsack = Knapsack::of(pods.into_iter());
        for room in 0..50 {
            let (promised, best) = (knapsack.holds(room), best(&pods, room));
            assert!(best <= promised && promised <= best + 20 * SCALE, "{room}: {best} of {promised}");
        }
    }
}
