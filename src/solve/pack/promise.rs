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

use super::room::{Bench, Room, SCALE, units};

/// Parts into which the worth of what pods take is divided where pods are sorted by it.
const WORTH: i128 = 1 << 40;

/// Up to how many pairs of a column and a class two dimensions are counted in one proportion only: to look for a pattern more
/// takes less there than to promise better.
const LITTLE_MAX: usize = 2_000;

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

/// What a column promised last.
struct Promise {
    /// The columns like it, by their place.
    alike: usize,
    /// The direction that promised least when nothing was placed: the only one asked again.
    way: usize,
    value: i128,
    /// How often pods had been placed.
    moment: usize,
}

/// What a pattern of each column is worth at most.
pub(super) struct Promises<'v> {
    values: &'v [i128],
    rooms: Rooms,
    counted: Vec<Counted>,
    alike: Vec<Alike>,
    promises: Vec<Promise>,
    /// How often pods were placed.
    moment: usize,
}

impl<'v> Promises<'v> {
    /// Lets columns promise with so many pods left of each class. Where there is much to look at, threads share it.
    pub(super) fn of(
        bench: &Bench<'_>,
        columns: &[usize],
        (values, left): (&'v [i128], &[usize]),
        is_much: bool,
    ) -> Self {
        let rooms = Rooms::of(bench, columns);
        let pods = (0..values.len()).filter(|class| values[*class] > 0 && left[*class] > 0).count();
        let around = if columns.len() * pods <= LITTLE_MAX { 0 } else { 1 };
        let ways = Ways::of(bench, &rooms, around);
        let counted = |way: &Direction| rooms.counted(bench, (values, left), way.clone());
        let counted: Vec<Counted> = ways.directions.iter().map(counted).collect();
        let groups = alike(bench, columns);
        let of_group = |(number, group): (usize, &Alike)| {
            let none = |_: &usize| Promise { alike: number, way: 0, value: i128::MAX, moment: 0 };
            let mut promises: Vec<Promise> = group.places.iter().map(none).collect();
            for (way, counted) in counted.iter().enumerate() {
                let pods: Vec<Pods> = counted.pods(group, (values, left)).collect();
                let there = group.places.iter().zip(&mut promises);
                for (place, promise) in there.filter(|(place, _)| ways.is_of(way, **place)) {
                    let value = holds(pods.iter().copied(), rooms.counts(*place, &counted.direction));
                    if value < promise.value {
                        (promise.way, promise.value) = (way, value);
                    }
                }
            }
            group.places.iter().copied().zip(promises).collect::<Vec<_>>()
        };
        let least = if is_much { 1 } else { groups.len() };
        let mut promises: Vec<(usize, Promise)> =
            groups.par_iter().enumerate().with_min_len(least).flat_map_iter(of_group).collect();
        promises.sort_unstable_by_key(|(place, _)| *place);
        let promises = promises.into_iter().map(|(_, promise)| promise).collect();
        Self { values, rooms, counted, alike: groups, promises, moment: 0 }
    }

    /// Returns what a column promised last.
    pub(super) fn last(&self, place: usize) -> i128 {
        self.promises[place].value
    }

    /// Says that pods were placed.
    pub(super) fn age(&mut self) {
        self.moment += 1;
    }

    /// Returns what a column promises with what is left now; `None` where it was asked already since pods were placed.
    pub(super) fn renewed(&mut self, place: usize, left: &[usize]) -> Option<i128> {
        let Self { values, rooms, counted, alike, promises, moment } = self;
        let promise = &mut promises[place];
        if promise.moment == *moment {
            return None;
        }
        let counted = &counted[promise.way];
        let pods = counted.pods(&alike[promise.alike], (values, left));
        promise.moment = *moment;
        promise.value = holds(pods, rooms.counts(place, &counted.direction));
        Some(promise.value)
    }
}

impl Counted {
    /// Returns what columns of a group may hold.
    fn pods(&self, alike: &Alike, (values, left): (&[i128], &[usize])) -> impl Iterator<Item = Pods> {
        let pods = self.classes.iter().map(|(takes, class)| {
            let count = alike.most[*class].min(left[*class]) as i128;
            Pods { takes: *takes, value: values[*class], count }
        });
        pods.filter(|pods| pods.count > 0)
    }
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
        let units = units(bench.problem, columns);
        let in_parts = |column| room(column).iter().zip(&units).map(|(room, unit)| room / unit + 1).collect();
        let parts = columns.iter().map(in_parts).collect();
        Self { units, parts }
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

/// In which directions the columns are asked.
struct Ways {
    directions: Vec<Direction>,
    /// For each size of columns, whether they are asked in each direction.
    of_sizes: Vec<Vec<bool>>,
    /// The size of each column.
    sizes: Vec<usize>,
}

impl Ways {
    fn of(bench: &Bench<'_>, rooms: &Rooms, around: i64) -> Self {
        let is_asked = |place: &usize| bench.problem.classes.iter().any(|class| class.need[*place] > 0);
        let asked: Vec<usize> = (0..rooms.units.len()).filter(is_asked).collect();
        let size =
            |parts: &Vec<i64>| -> Vec<u32> { parts.iter().map(|parts| parts.max(&1).ilog2()).collect() };
        let of_columns: Vec<Vec<u32>> = rooms.parts.iter().map(size).collect();
        let distinct: BTreeSet<&Vec<u32>> = of_columns.iter().collect();
        let number: BTreeMap<&Vec<u32>, usize> = distinct.iter().copied().zip(0..).collect();
        let sizes = of_columns.iter().map(|size| number[size]).collect();
        let ways: Vec<BTreeSet<Direction>> =
            distinct.into_iter().map(|size| Self::of_size(&asked, size, around)).collect();
        let directions: BTreeSet<&Direction> = ways.iter().flatten().collect();
        let is_in = |ways: &BTreeSet<Direction>| directions.iter().map(|way| ways.contains(*way)).collect();
        let of_sizes = ways.iter().map(is_in).collect();
        Self { directions: directions.into_iter().cloned().collect(), of_sizes, sizes }
    }

    /// Returns the directions for columns of a size, in powers of two of parts: what counts nothing, so that all that is left
    /// is promised; each dimension that pods ask for alone; and every two of them in the proportion in which the columns
    /// have them, and so many powers of two to either side.
    fn of_size(asked: &[usize], size: &[u32], around: i64) -> BTreeSet<Direction> {
        let counting = |counts: &[(usize, i64)]| {
            let mut direction = vec![0; size.len()];
            counts.iter().for_each(|(place, counts)| direction[*place] = *counts);
            direction
        };
        let alone = asked.iter().map(|place| counting(&[(*place, 1)]));
        let mut directions: BTreeSet<Direction> = alone.chain([counting(&[])]).collect();
        for (number, one) in asked.iter().enumerate() {
            for other in &asked[number + 1..] {
                let ratio = i64::from(size[*one]) - i64::from(size[*other]);
                let both =
                    |ratio: i64| counting(&[(*one, 1 << (-ratio).max(0)), (*other, 1 << ratio.max(0))]);
                directions.extend((ratio - around..=ratio + around).map(both));
            }
        }
        directions
    }

    /// Returns whether a column is asked in a direction.
    fn is_of(&self, way: usize, place: usize) -> bool {
        self.of_sizes[self.sizes[place]][way]
    }
}

/// Pods of one class: what each takes, what it is worth, and how many there are.
#[derive(Clone, Copy)]
struct Pods {
    takes: i128,
    value: i128,
    count: i128,
}

/// Returns what pods are worth at most that fit into so much room, of which those come first that are worth most for what
/// they take.
fn holds(pods: impl Iterator<Item = Pods>, room: i128) -> i128 {
    let (mut rest, mut worth) = (room.max(0), 0);
    for Pods { takes, value, count } in pods {
        if takes * count > rest {
            // Pods may be worth the same for what they take and not be told apart: that is never more than this.
            return worth + rest.saturating_mul(value) / takes + SCALE;
        }
        rest -= takes * count;
        worth += value * count;
    }
    worth
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
        let most_on = |empty: &Room, class: usize| {
            if bench.reaches(empty, class) { bench.most_of(empty, class, usize::MAX) } else { 0 }
        };
        let most = |class: usize| {
            // How many may have volumes in common depends on the room that each column has for volumes.
            let others = if problem.classes[class].shared.is_empty() { &[][..] } else { &places[1..] };
            let on_others = others.iter().map(|place| most_on(&bench.room(columns[*place]), class));
            on_others.chain([most_on(&empty, class)]).max().unwrap_or(0)
        };
        let most = (0..problem.classes.len()).map(most).collect();
        Alike { places, most }
    };
    groups.into_values().map(with_most).collect()
}

#[cfg(test)]
mod tests {
    use super::{Pods, holds};
    use crate::solve::pack::room::SCALE;

    /// What the best of all choices is worth that take no more than so much.
    fn best(pods: &[Pods], room: i128) -> i128 {
        let Some((Pods { takes, value, count }, rest)) = pods.split_first() else { return 0 };
        let fitting = (0..=*count).filter(|times| takes * times <= room);
        fitting.map(|times| value * times + best(rest, room - takes * times)).max().unwrap_or(0)
    }

    #[test]
    fn no_less_is_promised_than_the_best_choice_is_worth_and_less_than_a_pod_more() {
        let pods = [(0, 3, 1), (2, 9, 2), (5, 20, 3), (3, 7, 4), (7, 2, 1)]
            .map(|(takes, value, count)| Pods { takes, value: value * SCALE, count });
        for room in 0..50 {
            let (promised, best) = (holds(pods.into_iter(), room), best(&pods, room));
            assert!(best <= promised && promised <= best + 20 * SCALE, "{room}: {best} of {promised}");
        }
    }
}
