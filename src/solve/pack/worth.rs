//! Dual prices by column generation: an LP that covers pods with node patterns, which are found one after the other.
//!
//! They are a guess: they decide which patterns are used, and never what is allowed. Similar classes share one row of
//! the LP, which keeps it small.

use std::collections::BTreeMap;

use crate::solve::bound::simplex::{ONE, Pattern, Programme};

use super::room::{Bench, SCALE, at_once, fits, holds, part, scarcity};
use super::rows::{Row, rows};

/// Maximum number of rounds that search for new patterns: more rounds change little.
const ROUNDS_MAX: usize = 24;

/// One row of this many starts patterns in each round.
const STARTS: usize = 8;

/// Maximum number of simplex steps in total.
const STEPS_MAX: usize = 1500;

/// In a comparison, the search stops when a round saves less than one part of this many: the last percent takes most of
/// the rounds and does not change the comparison.
const SETTLED_PARTS: i128 = 200;

/// A column from the view of the rows.
struct Bin<'p> {
    room: &'p [i64],
    cost: i128,
    /// Maximum number of pods of each row that it holds.
    most: Vec<i64>,
}

/// Returns the value of one pod of each class, given its initial value.
pub(super) fn values(bench: &Bench<'_>, columns: &[usize], first: &[i128], left: &[usize]) -> Vec<i128> {
    let Some(rows) = rows(bench, columns, first, left) else { return first.to_vec() };
    let bins = bins(bench, columns, &rows);
    let counts: Vec<i64> = rows.iter().map(|row| row.count).collect();
    let singles: Option<Vec<(i64, i128)>> = (0..rows.len()).map(|row| single(&bins, row)).collect();
    let Some(singles) = singles else { return first.to_vec() };
    let mut programme = Programme::new(singles, &counts, &[]);
    let mut steps = STEPS_MAX;
    let mut before: Option<i128> = None;
    for round in 0..ROUNDS_MAX {
        steps = programme.optimise(steps);
        let duals = programme.duals();
        let cost: i128 = duals.iter().zip(&counts).map(|(dual, count)| dual * i128::from(*count)).sum();
        let is_settled = before.is_some_and(|before| (before - cost) * SETTLED_PARTS < cost);
        if steps == 0 || is_settled && !bench.effort.is_plan() {
            break;
        }
        before = Some(cost);
        let found = greedy(&rows, &bins, &duals, round);
        if found.is_empty() {
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

/// Returns the columns as bins: one for all columns with the same capacity, price and rows.
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

/// Returns the single-row pattern with the lowest cost per pod.
fn single(bins: &[Bin<'_>], row: usize) -> Option<(i64, i128)> {
    let holding = bins.iter().filter(|bin| bin.most[row] > 0).map(|bin| (bin.most[row], bin.cost));
    holding.reduce(
        |best, other| {
            if other.1 * i128::from(best.0) < best.1 * i128::from(other.0) { other } else { best }
        },
    )
}

/// Returns patterns that are worth more than they cost: for every bin, one that starts empty, and ones that start with
/// a pod of some rows, different ones in each round.
fn greedy(rows: &[Row], bins: &[Bin<'_>], duals: &[i128], round: usize) -> Vec<Pattern> {
    let mut best: BTreeMap<usize, (i128, Pattern)> = BTreeMap::new();
    for (place, bin) in bins.iter().enumerate() {
        let usable: Vec<usize> =
            (0..rows.len()).filter(|row| bin.most[*row] > 0 && duals[*row] > 0).collect();
        if !may_gain(rows, bin, (&usable, duals)) {
            continue;
        }
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

/// Weights by which two dimensions are combined.
const MIXES: [[i128; 2]; 5] = [[1, 0], [3, 1], [1, 1], [1, 3], [0, 1]];

/// Returns whether a bin may hold pods that are worth more than it costs. For any weights of two dimensions that all
/// pods need, a bin full of the pods with the highest value density is an upper bound; patterns are searched only if no
/// weights rule the bin out.
fn may_gain(rows: &[Row], bin: &Bin<'_>, (usable, duals): (&[usize], &[i128])) -> bool {
    let all_need =
        |place: &usize| bin.room[*place] > 0 && usable.iter().all(|row| rows[*row].need[*place] > 0);
    let places: Vec<usize> = (0..bin.room.len()).filter(all_need).take(2).collect();
    let &[one, other] = places.as_slice() else { return !usable.is_empty() };
    let part =
        |row: usize, place: usize| (i128::from(rows[row].need[place]) << 20) / i128::from(bin.room[place]);
    let parts: Vec<(i128, [i128; 2])> =
        usable.iter().map(|row| (duals[*row] >> 12, [part(*row, one), part(*row, other)])).collect();
    let most = |mix: &[i128; 2]| {
        let size = |parts: &[i128; 2]| (mix[0] * parts[0] + mix[1] * parts[1]).max(1);
        let worth = parts.iter().map(|(dual, parts)| dual * (mix[0] + mix[1]) / size(parts)).max();
        // Duals lost 12 bits, and sizes have 20 too many.
        worth.unwrap_or(0) << 32
    };
    MIXES.iter().all(|mix| most(mix) > bin.cost * ONE)
}

/// Fills a bin: one pod of the first row, then repeatedly the row with the highest value for its share of the free
/// capacity.
fn filled(
    rows: &[Row],
    bin: &Bin<'_>,
    (usable, duals): (&[usize], &[i128]),
    first: Option<usize>,
) -> Vec<(usize, i64)> {
    let mut left: Vec<i64> = bin.room.to_vec();
    let mut load: Vec<i64> = vec![0; rows.len()];
    let mut open: Vec<usize> = usable.to_vec();
    let mut next = first.map(|row| (row, 1));
    loop {
        if let Some((row, count)) = next {
            left.iter_mut().zip(&rows[row].need).for_each(|(left, need)| *left -= need * count);
            load[row] += count;
        }
        open.retain(|row| load[*row] < bin.most[*row] && holds(&left, &rows[*row].need));
        let scarcity = scarcity(&left);
        let worth = |row: &usize| (duals[*row] >> 16, part(&rows[*row].need, &scarcity));
        let richest = open
            .iter()
            .copied()
            .map(|row| (worth(&row), row))
            .reduce(|best, other| if other.0.0 * best.0.1 > best.0.0 * other.0.1 { other } else { best });
        let Some((_, row)) = richest else {
            return load.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
        };
        let most = bin.most[row] - load[row];
        let count = i64::try_from(at_once(fits(&rows[row].need, &left))).unwrap_or(1);
        next = Some((row, count.min(most)));
    }
}
