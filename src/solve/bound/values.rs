//! Dual prices of the pod classes, by column generation: a covering LP over node patterns, which are found one after
//! the other.
//!
//! They are only a guess: [`super::proof`] turns any values into a valid bound.

use super::knapsack::{Best, Effort, Item, best};
use super::problem::{Bin, Problem, Source};
use super::simplex::{ONE, Pattern, Programme};
use super::volume;

/// Parts into which the value of a pod is divided.
pub(super) const PARTS: i128 = 1 << 20;

/// Maximum number of rounds that search for new patterns; most clusters need fewer than twenty.
const ROUNDS_MAX: usize = 80;

/// Maximum number of simplex steps in total.
const STEPS_MAX: usize = 6_000;

/// Maximum number of steps of the search for one pattern.
const SEARCH_STEPS: usize = 2_000;

/// Maximum number of groups that represent existing nodes: enough to distinguish full nodes from empty ones.
const GROUPS_MAX: usize = 40;

/// Weight, in eighths, of the best duals so far in the duals that patterns are searched for. Without smoothing, duals
/// jump.
const SMOOTH_EIGHTHS: i128 = 6;

/// Returns the value of one pod of each class, in [`PARTS`] of a millionth of a dollar per hour.
pub(super) fn values(problem: &Problem) -> Vec<i128> {
    let Problem { classes, bins, uncommitted, .. } = problem;
    let mut there: Vec<i64> = uncommitted.clone();
    let groups = groups(bins, &mut there, classes.len());
    let mut rows: Vec<i64> = classes.iter().map(|class| class.count).collect();
    let singles: Option<Vec<(i64, i128)>> = (0..classes.len()).map(|class| single(problem, class)).collect();
    let Some(singles) = singles else { return vec![0; classes.len()] };
    let mut programme = Programme::new(singles, &rows, &there);
    rows.extend(there);
    let mut best = Centre { worth: 0, duals: volume::values(problem, ONE) };
    best.duals.resize(rows.len(), 0);
    programme.patterns.extend(greedy(problem, &groups, &best.duals));
    let mut steps = STEPS_MAX;
    for _ in 0..ROUNDS_MAX {
        steps = programme.optimise(steps);
        let duals = programme.duals();
        let (mut found, mut worth) = (Vec::new(), 0);
        for smooth in [SMOOTH_EIGHTHS, 0] {
            let mixed = |(dual, best): (&i128, &i128)| (dual * (8 - smooth) + best * smooth) >> 3;
            let sought: Vec<i128> = duals.iter().zip(&best.duals).map(mixed).collect();
            let (patterns, affordable) = patterns(problem, &groups, &sought);
            worth = rows.iter().zip(&affordable).map(|(count, dual)| dual * i128::from(*count)).sum();
            if worth > best.worth {
                best = Centre { worth, duals: affordable };
            }
            found = patterns;
            found.extend(greedy(problem, &groups, &sought));
            found.extend(greedy(problem, &groups, &duals));
            found.retain(|pattern| pattern.gain(&duals) > pattern.gain_min());
            if !found.is_empty() {
                break;
            }
        }
        if steps == 0 || found.is_empty() || is_close(worth, &rows, &duals) {
            break;
        }
        programme.patterns.extend(found);
    }
    best.duals.into_iter().take(classes.len()).map(|dual| (dual.max(0) * PARTS).div_euclid(ONE)).collect()
}

/// The best duals so far under which no pattern is worth more than it costs, and their total value.
struct Centre {
    worth: i128,
    duals: Vec<i128>,
}

/// Returns whether the value of feasible duals is within a hundred-thousandth of the LP's.
fn is_close(worth: i128, rows: &[i64], duals: &[i128]) -> bool {
    let hoped: i128 = rows.iter().zip(duals).map(|(count, dual)| dual * i128::from(*count)).sum();
    worth + hoped / 100_000 >= hoped
}

/// Returns patterns that are worth more than they cost, and scaled duals under which none is.
fn patterns(problem: &Problem, groups: &[Group], duals: &[i128]) -> (Vec<Pattern>, Vec<i128>) {
    let (mut paid_of, mut worth_of) = (1, 1);
    let mut found = Vec::new();
    for group in groups {
        let (pattern, paid, worth) = pattern(problem, *group, duals);
        found.extend(pattern);
        if worth > paid && (paid >> 20) * worth_of < paid_of * (worth >> 20) {
            (paid_of, worth_of) = (paid >> 20, worth >> 20);
        }
    }
    let affordable = duals.iter().map(|dual| dual * paid_of / worth_of.max(1)).collect();
    (found, affordable)
}

/// A bin that represents similar ones, and the row that limits them.
#[derive(Clone, Copy, Debug)]
struct Group {
    bin: usize,
    row: Option<usize>,
}

/// Returns the bins to search: everything that can be bought, and one existing node for each group of similar ones.
fn groups(bins: &[Bin], there: &mut Vec<i64>, classes: usize) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut standing = Vec::new();
    for (bin, Bin { price, room, source }) in bins.iter().enumerate() {
        match source {
            Source::Offered => groups.push(Group { bin, row: None }),
            Source::Committed(number) => groups.push(Group { bin, row: Some(classes + number) }),
            Source::There(count) => standing.push((price, room, bin, *count)),
        }
    }
    standing.sort_unstable();
    for neighbours in standing.chunks(standing.len().div_ceil(GROUPS_MAX).max(1)) {
        let (_, _, bin, _) = neighbours[neighbours.len() / 2];
        groups.push(Group { bin, row: Some(classes + there.len()) });
        there.push(neighbours.iter().map(|(_, _, _, count)| count).sum());
    }
    groups
}

/// Returns the single-class pattern with the lowest cost per pod.
fn single(problem: &Problem, class: usize) -> Option<(i64, i128)> {
    let class = &problem.classes[class];
    let offered = problem.bins.iter().enumerate().filter(|(_, bin)| bin.source == Source::Offered);
    let holding = offered.filter_map(|(place, bin)| {
        let most = class.most_in(place, bin);
        (most > 0).then_some((most, i128::from(bin.price)))
    });
    holding.reduce(
        |best, other| {
            if other.1 * i128::from(best.0) < best.1 * i128::from(other.0) { other } else { best }
        },
    )
}

/// Returns the items of a bin under these values.
pub(super) fn items<'p>(problem: &'p Problem, bin: usize, values: &[i128]) -> Vec<Item<'p>> {
    let there = &problem.bins[bin];
    let item = |(class, pods): (usize, &'p super::problem::Class)| {
        let most = if values[class] > 0 { pods.most_in(bin, there) } else { 0 };
        (most > 0).then_some(Item { class, need: &pods.need, most, value: values[class] })
    };
    problem.classes.iter().enumerate().filter_map(item).collect()
}

/// Returns a pattern of this bin that is worth more than it costs, its cost less the dual of its row, and an upper
/// bound on the value of any pattern.
fn pattern(problem: &Problem, Group { bin, row }: Group, duals: &[i128]) -> (Option<Pattern>, i128, i128) {
    let cost = i128::from(problem.bins[bin].price);
    let paid = (cost * ONE - row.map_or(0, |row| duals[row])).max(0);
    let effort = Effort { limit: paid, steps: SEARCH_STEPS };
    let (Best { load, value, bound }, _) = best(&items(problem, bin, duals), &problem.bins[bin].room, effort);
    let takes = load.into_iter().chain(row.map(|row| (row, 1))).collect();
    ((value > paid).then_some(Pattern { takes, cost }), paid, bound)
}

/// Returns for each class the best greedy pattern that contains it and is worth more than it costs. Items are taken by
/// value density. With these patterns, all values converge sooner.
fn greedy(problem: &Problem, groups: &[Group], duals: &[i128]) -> Vec<Pattern> {
    let mut best: Vec<Option<(i128, Pattern)>> = vec![None; problem.classes.len()];
    for Group { bin, row } in groups {
        let items = densest(problem, *bin, duals);
        let cost = i128::from(problem.bins[*bin].price);
        for first in &items {
            let load = filled(&items, first, &problem.bins[*bin].room);
            let takes = load.into_iter().chain(row.map(|row| (row, 1))).collect();
            let pattern = Pattern { takes, cost };
            let gain = pattern.gain(duals);
            let is_better = best[first.class].as_ref().is_none_or(|(most, _)| gain > *most);
            if is_better && gain > pattern.gain_min() {
                best[first.class] = Some((gain, pattern));
            }
        }
    }
    best.into_iter().flatten().map(|(_, pattern)| pattern).collect()
}

/// Returns the items of a bin, by value per share of the capacity, the highest first.
fn densest<'p>(problem: &'p Problem, bin: usize, duals: &[i128]) -> Vec<Item<'p>> {
    let room = &problem.bins[bin].room;
    let part = |item: &Item<'_>| {
        let parts = item.need.iter().zip(room).filter(|(need, room)| **need > 0 && **room > 0);
        parts.map(|(need, room)| (i128::from(*need) << 20) / i128::from(*room)).sum::<i128>()
    };
    let mut items = items(problem, bin, duals);
    items.sort_by_cached_key(|item| (-(item.value / part(item).max(1)), item.class));
    items
}

/// Fills a node: one pod of the first item, then as many of each item as fit.
fn filled(items: &[Item<'_>], first: &Item<'_>, room: &[i64]) -> Vec<(usize, i64)> {
    let mut left: Vec<i64> = room.iter().zip(first.need).map(|(room, need)| room - need).collect();
    let mut load = Vec::new();
    for item in items {
        let own = i64::from(item.class == first.class);
        let parts = item.need.iter().zip(&left).filter(|(need, _)| **need > 0);
        let fits = parts.map(|(need, left)| left / need).min().unwrap_or(i64::MAX);
        let count = fits.min(item.most - own).max(0);
        left.iter_mut().zip(item.need).for_each(|(left, need)| *left -= need * count);
        if count + own > 0 {
            load.push((item.class, count + own));
        }
    }
    load
}
