//! Packing by patterns: again and again the node whose pods are worth most for its price.
//!
//! What a pod is worth is a guess at the dual of the covering problem: see [`super::worth`]. Patterns are looked for
//! anew only when they come up and pods of theirs are placed already. Rounds and steps are counted.

use std::cmp::{Ordering, Reverse};
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::Effort;
use super::packing::Packing;
use super::promise;
use super::room::{Bench, PAIRS_AT_ONCE, PARTS, at_once, fits, holds, part, scarcity};

/// How many patterns are looked for at once where there are many to look for: to share out fewer costs more than it saves.
const LOOKS_AT_ONCE: usize = 8;

/// A way to fill a node of some column; without pods, only what it may be worth.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    load: Vec<(usize, usize)>,
    value: i128,
    cost: i128,
    /// The column, by its place among those that are looked at.
    place: usize,
}

impl Ord for Pattern {
    /// What is worth most for its price comes last; at equal worth the one with the larger value, then the first.
    fn cmp(&self, other: &Self) -> Ordering {
        let worth = (self.value * other.cost).cmp(&(other.value * self.cost));
        worth.then(self.value.cmp(&other.value)).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for Pattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Classes that need the same: they differ in what they are worth, where they may stand and what they bear beside them.
struct Block {
    /// Those of which some are left, each with what it is worth as far as that can be weighed; those first that are worth
    /// most.
    classes: Vec<(usize, i64)>,
}

fn blocks(bench: &Bench<'_>, values: &[i128], packing: &Packing) -> Vec<Block> {
    let mut by_need: BTreeMap<&[i64], Block> = BTreeMap::new();
    for (class, pods) in bench.problem.classes.iter().enumerate() {
        if values[class] > 0 && packing.left[class] > 0 {
            let weight = i64::try_from(values[class]).unwrap_or(i64::MAX);
            let block = by_need.entry(&pods.need).or_insert_with(|| Block { classes: Vec::new() });
            block.classes.push((class, weight));
        }
    }
    let mut blocks: Vec<Block> = by_need.into_values().collect();
    for block in &mut blocks {
        block.classes.sort_by_key(|(class, weight)| (Reverse(*weight), *class));
    }
    blocks
}

/// What a pod of each block needs: exactly, and in parts of the largest room, by which needs are weighed.
struct Needs {
    dimensions: usize,
    exact: Vec<i64>,
    parts: Vec<i64>,
    /// What one part is of each dimension.
    units: Vec<i64>,
}

impl Needs {
    fn of(bench: &Bench<'_>, columns: &[usize], blocks: &[Block]) -> Self {
        let dimensions = bench.problem.dimensions.len();
        let largest =
            |place: usize| columns.iter().map(|column| bench.problem.columns[*column].room[place]).max();
        let units: Vec<i64> =
            (0..dimensions).map(|place| (largest(place).unwrap_or(0) / PARTS).max(1)).collect();
        let needs = || blocks.iter().map(|block| &bench.problem.classes[block.classes[0].0].need);
        let parts = |need: &'_ Vec<i64>| -> Vec<i64> {
            need.iter().zip(&units).map(|(need, unit)| need.div_euclid(*unit) + 1).collect()
        };
        let exact = needs().flatten().copied().collect();
        let parts = needs().flat_map(parts).collect();
        Self { dimensions, exact, parts, units }
    }

    fn exact(&self, block: usize) -> &[i64] {
        &self.exact[block * self.dimensions..][..self.dimensions]
    }

    /// Returns what one part of each dimension counts, the more the less of it is free.
    fn scarcity(&self, free: &[i64]) -> Vec<i64> {
        free.iter().zip(&self.units).map(|(free, unit)| PARTS * PARTS / (free / unit).max(1)).collect()
    }

    /// Returns how much of what is free a pod takes, all dimensions together, where it fits; never nothing.
    fn part(&self, block: usize, scarcity: &[i64]) -> i64 {
        let parts = &self.parts[block * self.dimensions..][..self.dimensions];
        parts.iter().zip(scarcity).map(|(part, scarce)| part * scarce).sum::<i64>().max(1)
    }
}

/// Covers what is left of these classes with nodes of these columns, as far as limits let it. Patterns are looked for only
/// when nothing that is known is worth as much as what their columns promise.
pub(super) fn cover(bench: &Bench<'_>, columns: &[usize], values: &[i128], packing: &mut Packing) {
    let mut blocks = blocks(bench, values, packing);
    if blocks.is_empty() {
        return;
    }
    let needs = Needs::of(bench, columns, &blocks);
    // To share out little work costs more than doing it.
    let least = (PAIRS_AT_ONCE / blocks.len()).max(1);
    let is_much = bench.effort == Effort::Plan && columns.len() >= least;
    let at_once = if is_much { LOOKS_AT_ONCE } else { 1 };
    let orders: Vec<Vec<usize>> =
        columns.par_iter().with_min_len(least).map(|column| order(bench, *column, &blocks)).collect();
    let promises = promise::promises(bench, columns, (values, &packing.left), is_much);
    let cost = |place: usize| i128::from(bench.problem.columns[columns[place]].cost);
    let promised = promises.iter().copied().enumerate();
    let mut best: BinaryHeap<Pattern> = promised
        .map(|(place, value)| Pattern { load: Vec::new(), value, cost: cost(place), place })
        .collect();
    loop {
        let stale = stale(&mut best, at_once, packing);
        if !stale.is_empty() {
            let look = |place: &usize| {
                let uses = packing.ledger.uses(&bench.problem.columns[columns[*place]].charges);
                let within = Within { bench, blocks: &blocks, values, needs: &needs, packing };
                let found = (uses > 0).then(|| pattern(&within, columns[*place], &orders[*place]));
                let found = found.flatten().map(|pattern| Pattern { place: *place, ..pattern });
                debug_assert!(
                    found.iter().all(|found| found.value <= promises[*place]),
                    "no pattern beats a promise"
                );
                found
            };
            let found: Vec<Pattern> = match is_much {
                true => stale.par_iter().filter_map(look).collect(),
                false => stale.iter().filter_map(look).collect(),
            };
            best.extend(found);
            continue;
        }
        let Some(found) = best.pop() else { break };
        let column = columns[found.place];
        let times = times(&found, packing).min(packing.ledger.uses(&bench.problem.columns[column].charges));
        // What limits leave never grows.
        if times == 0 {
            continue;
        }
        packing.open(bench.problem, column, &found.load, times);
        for block in &mut blocks {
            block.classes.retain(|(class, _)| packing.left[*class] > 0);
        }
        best.push(found);
    }
}

/// Takes the best patterns off of which pods are placed already, or which are only promised, no more than so many; returns
/// their places.
fn stale(best: &mut BinaryHeap<Pattern>, most: usize, packing: &Packing) -> Vec<usize> {
    let mut stale = Vec::new();
    while stale.len() < most
        && let Some(found) = best.peek_mut()
        && times(&found, packing) == 0
    {
        stale.push(PeekMut::pop(found).place);
    }
    stale
}

/// Returns how often a pattern can be used with what is left.
fn times(pattern: &Pattern, packing: &Packing) -> usize {
    pattern.load.iter().map(|(class, count)| packing.left[*class] / count).min().unwrap_or(0)
}

/// Returns the blocks of which a node of this column may hold pods, the largest pods first.
fn order(bench: &Bench<'_>, column: usize, blocks: &[Block]) -> Vec<usize> {
    let empty = bench.room(column);
    let scarcity = scarcity(&empty.free);
    let mut sized: Vec<(i128, usize)> = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        let need = &bench.problem.classes[block.classes[0].0].need;
        let is_open = || block.classes.iter().any(|(class, _)| bench.reaches(&empty, *class));
        if holds(&empty.free, need) && is_open() {
            sized.push((-part(need, &scarcity), place));
        }
    }
    sized.sort_unstable();
    sized.into_iter().map(|(_, place)| place).collect()
}

/// What patterns are looked for among.
struct Within<'a> {
    bench: &'a Bench<'a>,
    blocks: &'a [Block],
    /// What a pod of each class is worth.
    values: &'a [i128],
    needs: &'a Needs,
    packing: &'a Packing,
}

/// Returns the more valuable of two patterns: what brings most for what it takes comes first, or the largest pods.
fn pattern(within: &Within<'_>, column: usize, order: &[usize]) -> Option<Pattern> {
    let cost = i128::from(within.bench.problem.columns[column].cost);
    let of = |(load, value)| Pattern { load, value, cost, place: 0 };
    let first = of(balanced(within, column, order));
    let second = of(largest_first(within, column, order));
    let best = if second.value > first.value { second } else { first };
    Some(agreeing(within.bench, column, best, within.values)).filter(|pattern| pattern.value > 0)
}

/// A block that may still give pods: the place of the first class that may, and what such a pod is worth.
#[derive(Clone, Copy)]
struct Open {
    block: usize,
    from: usize,
    weight: i64,
}

/// Fills a node of a column with what is left, again and again with what is worth most for what it takes of the rest.
fn balanced(within: &Within<'_>, column: usize, order: &[usize]) -> (Vec<(usize, usize)>, i128) {
    let Within { bench, blocks, values, needs, packing } = *within;
    let mut room = bench.room(column);
    let mut load: Vec<(usize, usize)> = Vec::new();
    let mut value = 0;
    let first = |block: &usize| {
        let mut classes = blocks[*block].classes.iter().enumerate();
        let (from, (_, weight)) = classes.find(|(_, (class, _))| bench.reaches(&room, *class))?;
        Some(Open { block: *block, from, weight: *weight })
    };
    let mut open: Vec<Open> = order.iter().filter_map(first).collect();
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    while let Some(number) = richest(within, &room.free, &mut open) {
        let Open { block, from, weight } = open[number];
        let most = at_once(fits(needs.exact(block), &room.free));
        let classes = blocks[block].classes.iter().enumerate().skip(from);
        let mut next = None;
        for (from, (class, own)) in classes.filter(|(_, (class, _))| bench.reaches(&room, *class)) {
            let left = packing.left[*class] - taken.get(class).copied().unwrap_or(0);
            let count = bench.most_of(&room, *class, most.min(left));
            if *own < weight || count > 0 {
                next = Some((Open { block, from, weight: *own }, *class, count));
                break;
            }
        }
        // Rooms only shrink, and company only grows: what does not fit now never will.
        let Some((there, class, count)) = next else {
            open.remove(number);
            continue;
        };
        open[number] = there;
        // What is worth less has its turn where nothing else is worth more.
        if there.weight < weight {
            continue;
        }
        bench.put(&mut room, class, count);
        *taken.entry(class).or_default() += count;
        value += values[class] * count as i128;
        super::packing::add(&mut load, class, count);
    }
    (load, value)
}

/// Closes blocks without room, and returns the place of the one that is worth most for what it takes of what is free.
fn richest(within: &Within<'_>, free: &[i64], open: &mut Vec<Open>) -> Option<usize> {
    let scarcity = within.needs.scarcity(free);
    let mut best: Option<(i64, i64, usize)> = None;
    let mut kept = 0;
    for number in 0..open.len() {
        let Open { block, weight, .. } = open[number];
        if !holds(free, within.needs.exact(block)) {
            continue;
        }
        open[kept] = open[number];
        let part = within.needs.part(block, &scarcity);
        let is_richer = best.is_none_or(|(most, least, _)| {
            i128::from(weight) * i128::from(least) > i128::from(most) * i128::from(part)
        });
        if is_richer {
            best = Some((weight, part, kept));
        }
        kept += 1;
    }
    open.truncate(kept);
    best.map(|(_, _, number)| number)
}

/// Fills a node of a column with what is left, block after block.
fn largest_first(within: &Within<'_>, column: usize, order: &[usize]) -> (Vec<(usize, usize)>, i128) {
    let Within { bench, blocks, values, packing, .. } = *within;
    let least = &bench.problem.least;
    let mut room = bench.room(column);
    let (mut load, mut value) = (Vec::new(), 0);
    for block in order.iter().map(|place| &blocks[*place]) {
        let Some((first, _)) = block.classes.first() else { continue };
        let need = &bench.problem.classes[*first].need;
        let mut by_need = fits(need, &room.free);
        for (class, _) in &block.classes {
            if by_need == 0 {
                break;
            }
            if !bench.reaches(&room, *class) {
                continue;
            }
            let count = bench.most_of(&room, *class, by_need.min(packing.left[*class]));
            if count > 0 {
                bench.put(&mut room, *class, count);
                load.push((*class, count));
                value += values[*class] * count as i128;
                by_need -= count;
            }
        }
        if room.is_full(least) {
            break;
        }
    }
    (load, value)
}

/// Cuts a pattern down to what also fits when the pods with the fewest alternatives come first, as nodes are
/// filled for good. Only pods that ask for labels which are still open make a difference.
fn agreeing(bench: &Bench<'_>, column: usize, mut pattern: Pattern, values: &[i128]) -> Pattern {
    if bench.problem.reaches[bench.problem.columns[column].pool].open_keys.is_empty() {
        return pattern;
    }
    while bench.filled(column, &pattern.load).is_none() {
        let Some((class, count)) = pattern.load.pop() else { break };
        pattern.value -= values[class] * count as i128;
    }
    pattern
}
