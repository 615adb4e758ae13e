//! Fills one node with the pods of the highest total value.
//!
//! Two heuristics are tried: repeatedly the pods with the highest value for their share of the free capacity, and the
//! largest pods first. [`super::patterns`] decides which node is opened.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::packing::Packing;
use super::room::{Bench, PARTS, at_once, fits, holds, part, scarcity, units};

/// Number of pods of each class.
pub(super) type Load = Vec<(usize, usize)>;

/// Classes with the same needs: they differ in value, in the columns that they may use, and in the pods that they
/// tolerate on their node.
pub(super) struct Block {
    /// Classes with pods left, each with its value as far as that can be weighed; the most valuable first.
    pub(super) classes: Vec<(usize, i64)>,
}

pub(super) fn blocks(bench: &Bench<'_>, values: &[i128], packing: &Packing) -> Vec<Block> {
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

/// Needs of a pod of each block: exact, and in parts of the largest capacity, by which needs are weighed.
pub(super) struct Needs {
    dimensions: usize,
    exact: Vec<i64>,
    parts: Vec<i64>,
    /// Amount of one part in each dimension.
    units: Vec<i64>,
}

impl Needs {
    pub(super) fn of(bench: &Bench<'_>, columns: &[usize], blocks: &[Block]) -> Self {
        let dimensions = bench.problem.dimensions.len();
        let units = units(bench.problem, columns);
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

    /// Returns the weight of one part of each dimension: the less is free, the higher.
    fn scarcity(&self, free: &[i64]) -> Vec<i64> {
        free.iter().zip(&self.units).map(|(free, unit)| PARTS * PARTS / (free / unit).max(1)).collect()
    }

    /// Returns the share of the free capacity that a pod takes, all dimensions combined, if it fits; never zero.
    fn part(&self, block: usize, scarcity: &[i64]) -> i64 {
        let parts = &self.parts[block * self.dimensions..][..self.dimensions];
        parts.iter().zip(scarcity).map(|(part, scarce)| part * scarce).sum::<i64>().max(1)
    }
}

/// Returns the blocks of which a node of this column may hold pods, the largest pods first.
pub(super) fn order(bench: &Bench<'_>, column: usize, blocks: &[Block]) -> Vec<usize> {
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

/// Inputs of the search for patterns.
pub(super) struct Within<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) blocks: &'a [Block],
    /// Value of a pod of each class.
    pub(super) values: &'a [i128],
    pub(super) needs: &'a Needs,
    pub(super) packing: &'a Packing,
}

/// Returns the more valuable of the two ways to fill a node of a column, and its value; `None` if that is zero.
pub(super) fn best(within: &Within<'_>, column: usize, order: &[usize]) -> Option<(Load, i128)> {
    let first = balanced(within, column, order);
    let second = largest_first(within, column, order);
    let best = if second.1 > first.1 { second } else { first };
    Some(agreeing(within.bench, column, best, within.values)).filter(|(_, value)| *value > 0)
}

/// A block that may still supply pods: the index of the first class that may, and the value of such a pod.
#[derive(Clone, Copy)]
struct Open {
    block: usize,
    from: usize,
    weight: i64,
}

/// Fills a node of a column with pods that are left, repeatedly those with the highest value for their share of the
/// free capacity.
fn balanced(within: &Within<'_>, column: usize, order: &[usize]) -> (Load, i128) {
    let Within { bench, blocks, values, needs, packing } = *within;
    let mut room = bench.room(column);
    let mut load = Load::new();
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
        // Free capacity only shrinks and pods are only added: a class that does not fit now never will.
        let Some((there, class, count)) = next else {
            open.remove(number);
            continue;
        };
        open[number] = there;
        // The next class is worth less, so other blocks may come first.
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

/// Drops blocks that no longer fit, and returns the index of the one with the highest value for its share of the free
/// capacity.
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

/// Fills a node of a column with pods that are left, block by block.
fn largest_first(within: &Within<'_>, column: usize, order: &[usize]) -> (Load, i128) {
    let Within { bench, blocks, values, packing, .. } = *within;
    let least = &bench.problem.least;
    let mut room = bench.room(column);
    let (mut load, mut value) = (Load::new(), 0);
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
                // A volume that the pods share takes capacity beside the needs of each pod.
                if !bench.problem.classes[*class].shared.is_empty() {
                    by_need = fits(need, &room.free);
                }
            }
        }
        if room.is_full(least) {
            break;
        }
    }
    (load, value)
}

/// Reduces a pattern to the pods that also fit if those with the fewest alternatives come first, as in the final
/// packing. Only pods that require labels which are still open make a difference.
fn agreeing(
    bench: &Bench<'_>,
    column: usize,
    (mut load, mut value): (Load, i128),
    values: &[i128],
) -> (Load, i128) {
    if bench.problem.reaches[bench.problem.columns[column].pool].open_keys.is_empty() {
        return (load, value);
    }
    while bench.filled(column, &load).is_none() {
        let Some((class, count)) = load.pop() else { break };
        value -= values[class] * count as i128;
    }
    (load, value)
}
