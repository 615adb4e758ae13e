//! What pods are worth: the dual of covering them with patterns of pods on nodes, which are found one after the other.
//!
//! A guess, however good: it decides which patterns are used, and never what is allowed. Classes that are alike are
//! one row of the programme, so that it stays small.

use std::collections::BTreeMap;

use crate::solve::bound::simplex::{ONE, Pattern, Programme};

use super::room::{Bench, SCALE, at_once, fits, holds, part, scarcity};
use super::rows::{Row, rows};

/// How often new patterns are looked for: more rounds change little.
const ROUNDS_MAX: usize = 24;

/// Of so many rows one starts patterns in each round.
const STARTS: usize = 8;

/// How many steps the programme may take in all.
const STEPS_MAX: usize = 1500;

/// A column as rows see it.
struct Bin<'p> {
    room: &'p [i64],
    cost: i128,
    /// How many pods of each row it holds at most.
    most: Vec<i64>,
}

/// Returns what one pod of each class is worth, from what they are worth at first.
pub(super) fn values(bench: &Bench<'_>, columns: &[usize], first: &[i128], left: &[usize]) -> Vec<i128> {
    let Some(rows) = rows(bench, columns, first, left) else { return first.to_vec() };
    let bins = bins(bench, columns, &rows);
    let counts: Vec<i64> = rows.iter().map(|row| row.count).collect();
    let singles: Option<Vec<(i64, i128)>> = (0..rows.len()).map(|row| single(&bins, row)).collect();
    let Some(singles) = singles else { return first.to_vec() };
    let mut programme = Programme::new(singles, &counts, &[]);
    let mut steps = STEPS_MAX;
    for round in 0..ROUNDS_MAX {
        steps = programme.optimise(steps);
        let duals = programme.duals();
        let found = greedy(&rows, &bins, &duals, round);
        if steps == 0 || found.is_empty() {
            break;
        }
        programme.patterns.extend(found);
    }
    let duals = programme.duals();
    let mut values = first.to_vec();
    for (row, dual) in rows.iter().zip(&duals) {
        for (class, part) in &row.classes {
            let worth = dual.max(&0) * SCALE / ONE * part / SCALE;
            values[*class] = worth.max(1);
        }
    }
    values
}

/// Returns the columns as bins: of several with the same room, price and rows one.
fn bins<'p>(bench: &Bench<'p>, columns: &[usize], rows: &[Row]) -> Vec<Bin<'p>> {
    let mut all: BTreeMap<(Vec<bool>, i64, &[i64]), Bin<'p>> = BTreeMap::new();
    for place in columns {
        let column = &bench.problem.columns[*place];
        let reached: Vec<bool> =
            rows.iter().map(|row| bench.problem.accesses[row.access].columns.has(*place)).collect();
        let most = |(row, reached): (&Row, &bool)| {
            let fits = i64::try_from(fits(&row.need, &column.room)).unwrap_or(i64::MAX);
            if *reached { fits.min(row.most).min(row.count) } else { 0 }
        };
        let most = rows.iter().zip(&reached).map(most).collect();
        let bin = Bin { room: &column.room, cost: i128::from(column.cost), most };
        all.entry((reached, column.cost, &column.room)).or_insert(bin);
    }
    all.into_values().collect()
}

/// Returns the pattern of one row alone that is cheapest for a pod.
fn single(bins: &[Bin<'_>], row: usize) -> Option<(i64, i128)> {
    let holding = bins.iter().filter(|bin| bin.most[row] > 0).map(|bin| (bin.most[row], bin.cost));
    holding.reduce(
        |best, other| {
            if other.1 * i128::from(best.0) < best.1 * i128::from(other.0) { other } else { best }
        },
    )
}

/// Returns patterns that are worth more than they cost: of every bin the one that starts with nothing, and those that
/// start with a pod of some rows, other ones in each round.
fn greedy(rows: &[Row], bins: &[Bin<'_>], duals: &[i128], round: usize) -> Vec<Pattern> {
    let mut best: BTreeMap<usize, (i128, Pattern)> = BTreeMap::new();
    for (place, bin) in bins.iter().enumerate() {
        let usable: Vec<usize> =
            (0..rows.len()).filter(|row| bin.most[*row] > 0 && duals[*row] > 0).collect();
        let turn = |row: &&usize| (**row + place + round).is_multiple_of(STARTS);
        let starts = usable.iter().filter(turn).map(|row| Some(*row));
        for first in starts.chain([None]) {
            let takes = filled(rows, bin, (&usable, duals), first);
            let pattern = Pattern { takes, cost: bin.cost };
            let gain = pattern.gain(duals);
            // One pattern for each start, and one for each bin.
            let slot = first.unwrap_or(rows.len() + place);
            if gain > pattern.gain_min() && best.get(&slot).is_none_or(|(most, _)| gain > *most) {
                best.insert(slot, (gain, pattern));
            }
        }
    }
    let mut found: Vec<Pattern> = Vec::new();
    for (_, pattern) in best.into_values() {
        if !found.contains(&pattern) {
            found.push(pattern);
        }
    }
    found
}

/// Fills a room: one pod of the first row, then again and again what is worth most for what it takes of what is left.
fn filled(
    rows: &[Row],
    bin: &Bin<'_>,
    (usable, duals): (&[usize], &[i128]),
    first: Option<usize>,
) -> Vec<(usize, i64)> {
    let mut left: Vec<i64> = bin.room.to_vec();
    let mut load: BTreeMap<usize, i64> = BTreeMap::new();
    let mut open: Vec<usize> = usable.to_vec();
    let mut next = first.map(|row| (row, 1));
    loop {
        if let Some((row, count)) = next {
            left.iter_mut().zip(&rows[row].need).for_each(|(left, need)| *left -= need * count);
            *load.entry(row).or_default() += count;
        }
        open.retain(|row| {
            load.get(row).copied().unwrap_or(0) < bin.most[*row] && holds(&left, &rows[*row].need)
        });
        let scarcity = scarcity(&left);
        let worth = |row: &usize| (duals[*row] >> 16, part(&rows[*row].need, &scarcity));
        let richest = open
            .iter()
            .copied()
            .map(|row| (worth(&row), row))
            .reduce(|best, other| if other.0.0 * best.0.1 > best.0.0 * other.0.1 { other } else { best });
        let Some((_, row)) = richest else { return load.into_iter().collect() };
        let most = bin.most[row] - load.get(&row).copied().unwrap_or(0);
        let count = i64::try_from(at_once(fits(&rows[row].need, &left))).unwrap_or(1);
        next = Some((row, count.min(most)));
    }
}
