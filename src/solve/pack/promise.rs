//! Upper bounds on the value of a node of each column, by surrogate-knapsack relaxation, so that patterns are searched
//! only if they may be the best.
//!
//! Two dimensions combined by weights give a one-dimensional knapsack, whose bound is simple: pods by value density,
//! the last one as a fraction. No pattern that fits is worth more. Each combination is a direction, and the lowest
//! bound of all directions counts. The pods' needs are rounded down and capacities up, so no bound is too low.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::solve::intern::Bits;

use super::room::{Bench, Room, SCALE, units};

/// Parts into which value densities are divided for sorting pods.
const WORTH: i128 = 1 << 40;

/// Maximum number of pairs of a column and a class for which two dimensions are combined in one proportion only: in
/// small problems, one more search takes less time than a tighter bound.
const LITTLE_MAX: usize = 2_000;

/// Weight of one part of each dimension.
type Direction = Vec<i64>;

/// Columns that the same pods may use.
struct Alike {
    /// Indices of the columns.
    places: Vec<usize>,
    /// Maximum number of pods of each class on one node, for reasons other than capacity.
    most: Vec<usize>,
}

/// Needs of the pods in one direction.
struct Counted {
    direction: Direction,
    /// Needs of a pod of each class, by value density, the highest first.
    classes: Vec<(i128, usize)>,
}

/// Last upper bound of a column.
struct Promise {
    /// Index of the group of the column.
    alike: usize,
    /// Direction with the lowest bound before anything was placed; the only one that is updated.
    way: usize,
    value: i128,
    /// Number of placements when it was computed.
    moment: usize,
}

/// Upper bounds on the value of a pattern of each column.
pub(super) struct Promises<'v> {
    values: &'v [i128],
    rooms: Rooms,
    counted: Vec<Counted>,
    alike: Vec<Alike>,
    promises: Vec<Promise>,
    /// Number of placements.
    moment: usize,
}

impl<'v> Promises<'v> {
    /// Computes the bounds of columns for this many pods left of each class. In large problems, threads share the work.
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

    /// Returns the last bound of a column.
    pub(super) fn last(&self, place: usize) -> i128 {
        self.promises[place].value
    }

    /// Records that pods were placed.
    pub(super) fn age(&mut self) {
        self.moment += 1;
    }

    /// Returns the bound of a column for the pods that are left; `None` if it was already updated since the last
    /// placement.
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
    /// Returns the pods that columns of a group may hold.
    fn pods(&self, alike: &Alike, (values, left): (&[i128], &[usize])) -> impl Iterator<Item = Pods> {
        let pods = self.classes.iter().map(|(takes, class)| {
            let count = alike.most[*class].min(left[*class]) as i128;
            Pods { takes: *takes, value: values[*class], count }
        });
        pods.filter(|pods| pods.count > 0)
    }
}

/// Capacities of the columns, in parts of the largest capacity.
struct Rooms {
    /// Amount of one part in each dimension.
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

    /// Computes the needs of the pods in a direction.
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

    /// Returns the capacity of a column in a direction.
    fn counts(&self, place: usize, direction: &Direction) -> i128 {
        let parts = self.parts[place].iter().zip(direction);
        parts.map(|(parts, counts)| i128::from(*parts) * i128::from(*counts)).sum()
    }
}

/// Directions in which the columns are bounded.
struct Ways {
    directions: Vec<Direction>,
    /// For each size of columns, whether each direction is used.
    of_sizes: Vec<Vec<bool>>,
    /// Size of each column.
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

    /// Returns the directions for columns of a size, in powers of two of parts: one that counts nothing, so that the
    /// bound is the value of all pods left; each requested dimension alone; and each pair of them in the proportion of
    /// the columns' capacities, and up to `around` powers of two to either side.
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

    /// Returns whether a direction is used for a column.
    fn is_of(&self, way: usize, place: usize) -> bool {
        self.of_sizes[self.sizes[place]][way]
    }
}

/// Pods of one class: the needs and the value of each, and their number.
#[derive(Clone, Copy)]
struct Pods {
    takes: i128,
    value: i128,
    count: i128,
}

/// Returns an upper bound on the value of the pods that fit into this capacity; pods with the highest value density
/// must come first.
fn holds(pods: impl Iterator<Item = Pods>, room: i128) -> i128 {
    let (mut rest, mut worth) = (room.max(0), 0);
    for Pods { takes, value, count } in pods {
        if takes * count > rest {
            // Pods whose rounded value densities are equal may be in the wrong order: that never makes more than this.
            return worth + rest.saturating_mul(value) / takes + SCALE;
        }
        rest -= takes * count;
        worth += value * count;
    }
    worth
}

/// Groups columns by the pods that may use them.
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
            // The number of pods that may share volumes depends on the capacity of each column for volumes.
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

    /// Returns the value of the best selection that needs no more than this.
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
