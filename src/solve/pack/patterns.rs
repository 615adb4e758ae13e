//! Packing by patterns: again and again the node whose pods are worth most for its price.
//!
//! What a pod is worth is its share of the cheapest node for pods of its class, corrected by what earlier
//! rounds really paid: a guess at the dual of the covering problem. Rounds and steps are counted.

use super::packing::Packing;
use super::room::{Bench, Room};

/// Parts into which values and sizes are divided, so that integers suffice.
const SCALE: i128 = 1 << 24;

/// A way to fill a node of some column.
#[derive(Clone, Debug)]
struct Pattern {
    load: Vec<(usize, usize)>,
    value: i128,
}

/// Returns what one pod of each class is worth at first: its share of the node that holds it at the least
/// price a pod. Zero where no column of these holds it.
pub(super) fn values(bench: &Bench<'_>, columns: &[usize]) -> Vec<i128> {
    let mut values = Vec::new();
    let rooms: Vec<Room> = columns.iter().map(|column| bench.room(*column)).collect();
    for (class, pods) in bench.problem.classes.iter().enumerate() {
        let shares = rooms.iter().filter_map(|room| {
            let count = bench.most(room, class).min(pods.pods.len());
            let cost = i128::from(bench.problem.columns[room.column].cost);
            (count > 0).then(|| cost * SCALE / count as i128)
        });
        values.push(shares.min().unwrap_or(0));
    }
    values
}

/// Covers what is left of `wanted` classes with nodes of these columns, as far as limits let it.
pub(super) fn cover(bench: &Bench<'_>, columns: &[usize], values: &[i128], packing: &mut Packing) {
    let mut wanted: Vec<usize> =
        (0..values.len()).filter(|class| values[*class] > 0 && packing.left[*class] > 0).collect();
    if wanted.is_empty() {
        return;
    }
    let orders: Vec<[Vec<usize>; 2]> = columns.iter().map(|column| orders(bench, *column, values)).collect();
    let mut best: Vec<Option<Pattern>> = (0..columns.len())
        .map(|place| pattern(bench, columns[place], &orders[place], values, packing))
        .collect();
    loop {
        wanted.retain(|class| packing.left[*class] > 0);
        if wanted.is_empty() {
            return;
        }
        let Some(place) = richest(bench, columns, &best, packing) else { return };
        let Some(found) = &best[place] else { return };
        let times = times(found, packing);
        if times == 0 {
            // Pods of it are placed already: find out what is the best of the rest.
            best[place] = pattern(bench, columns[place], &orders[place], values, packing);
            continue;
        }
        let times = times.min(packing.ledger.uses(&bench.problem.columns[columns[place]].charges));
        packing.open(bench.problem, columns[place], &found.load.clone(), times);
    }
}

/// Returns the column whose pattern is worth most for its price, among those that limits leave; at equal
/// worth the one with the larger value, then the first.
fn richest(
    bench: &Bench<'_>,
    columns: &[usize],
    best: &[Option<Pattern>],
    packing: &Packing,
) -> Option<usize> {
    let mut chosen: Option<(usize, i128, i128)> = None;
    for (place, pattern) in best.iter().enumerate() {
        let Some(pattern) = pattern else { continue };
        let column = &bench.problem.columns[columns[place]];
        if packing.ledger.uses(&column.charges) == 0 {
            continue;
        }
        let cost = i128::from(column.cost);
        let is_better = chosen.is_none_or(|(_, value, price)| {
            let (ours, theirs) = (pattern.value * price, value * cost);
            ours > theirs || (ours == theirs && pattern.value > value)
        });
        if is_better {
            chosen = Some((place, pattern.value, cost));
        }
    }
    chosen.map(|(place, _, _)| place)
}

/// Returns how often a pattern can be used with what is left.
fn times(pattern: &Pattern, packing: &Packing) -> usize {
    pattern.load.iter().map(|(class, count)| packing.left[*class] / count).min().unwrap_or(0)
}

/// Returns two orders in which a node of this column is filled: by value for the room taken, and the largest
/// pods first.
fn orders(bench: &Bench<'_>, column: usize, values: &[i128]) -> [Vec<usize>; 2] {
    let room = &bench.problem.columns[column].room;
    let fits = bench.room(column);
    let mut sized: Vec<(usize, i128, i128)> = Vec::new();
    for (class, pods) in bench.problem.classes.iter().enumerate() {
        if values[class] > 0 && bench.most(&fits, class) > 0 {
            let parts = pods.need.iter().zip(room);
            let size: i128 =
                parts.map(|(need, room)| i128::from(*need) * SCALE / i128::from((*room).max(1))).sum();
            sized.push((class, values[class] * SCALE / size.max(1), size));
        }
    }
    let mut by_density = sized.clone();
    by_density.sort_by_key(|(class, density, size)| (-density, -size, *class));
    sized.sort_by_key(|(class, density, size)| (-size, -density, *class));
    [by_density, sized].map(|order| order.into_iter().map(|(class, _, _)| class).collect())
}

/// Returns the more valuable of the patterns that the two orders give.
fn pattern(
    bench: &Bench<'_>,
    column: usize,
    orders: &[Vec<usize>; 2],
    values: &[i128],
    packing: &Packing,
) -> Option<Pattern> {
    let least = &bench.problem.least;
    let filled = orders.iter().map(|order| {
        let mut room = bench.room(column);
        let (mut load, mut value) = (Vec::new(), 0);
        for class in order {
            let left = packing.left[*class];
            if left > 0 && room.is_full(least) {
                break;
            }
            let count = if left == 0 { 0 } else { bench.most(&room, *class).min(left) };
            if count > 0 {
                bench.put(&mut room, *class, count);
                load.push((*class, count));
                value += values[*class] * count as i128;
            }
        }
        Pattern { load, value }
    });
    let best = filled.reduce(|first, second| if second.value > first.value { second } else { first })?;
    Some(agreeing(bench, column, best, values)).filter(|pattern| pattern.value > 0)
}

/// Cuts a pattern down to what also fits when the pods with the fewest alternatives come first, as nodes are
/// filled for good. Only pods that ask for labels which are still open make a difference.
fn agreeing(bench: &Bench<'_>, column: usize, mut pattern: Pattern, values: &[i128]) -> Pattern {
    while bench.filled(column, &pattern.load).is_none() {
        let Some((class, count)) = pattern.load.pop() else { break };
        pattern.value -= values[class] * count as i128;
    }
    pattern
}

/// Returns the values corrected by what this packing really paid for each class.
pub(super) fn corrected(bench: &Bench<'_>, values: &[i128], packing: &Packing) -> Vec<i128> {
    let mut paid = vec![0_i128; values.len()];
    let mut placed = vec![0_i128; values.len()];
    for node in &packing.nodes {
        let worth: i128 = node.load.iter().map(|(class, count)| values[*class] * *count as i128).sum();
        let cost = i128::from(bench.problem.columns[node.column].cost);
        for (class, count) in &node.load {
            let share = values[*class] * *count as i128;
            paid[*class] += cost * SCALE * (share >> 10).max(1) / (worth >> 10).max(1);
            placed[*class] += *count as i128;
        }
    }
    let correct = |class: usize| match placed[class] {
        0 => values[class],
        placed => ((values[class] + paid[class] / placed) / 2).max(1),
    };
    (0..values.len()).map(correct).collect()
}
