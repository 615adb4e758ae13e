//! `minValues`: the alternatives that a node must have, so that its claim lists enough distinct values.
//!
//! A column of a pool with `minValues` represents several offerings: it has the lowest capacity of them, and serves
//! pods that may use all of them. So packing needs no special case. Alternatives are chosen for every set of offerings
//! that hold some pod, so that a pod with a set of its own gets a column as well. Never compares prices.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{InstanceType, MinValuesPolicy, Offering};
use crate::solve::demand::Shape;
use crate::solve::fit::{ports, variety};
use crate::solve::intern::Bits;
use crate::solve::memo::Memo;
use crate::solve::supply::{PoolSupply, Supply};

use super::choosing::{Choices, Roster, Set};
use super::dimension::Dimension;
use super::problem::Column;
use super::stock::PoolReaches;

/// A size of a pool and an offering of it, by index.
pub(in crate::solve) type Way = (usize, usize);

/// The alternatives of a column.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Choice {
    /// Number of distinct values that are required of each label with `minValues`.
    pub(in crate::solve) asked: Vec<u32>,
    /// Alternatives that a node must have, for each offering of the column.
    pub(in crate::solve) among: BTreeMap<usize, Vec<Way>>,
}

/// Returns whether a column guarantees at least this many distinct values.
pub(super) fn suffices(column: &Column, least: &[u32]) -> bool {
    column
        .choice
        .as_ref()
        .is_none_or(|choice| choice.asked.iter().zip(least).all(|(has, least)| has >= least))
}

/// Offerings of a pool with `minValues`.
pub(super) struct Ways<'a> {
    pool: &'a PoolSupply<'a>,
    roster: Arc<Roster>,
    choices: Vec<Arc<Choices>>,
}

/// Differences between columns of one size: required values, capacity, and the alternatives of each offering.
type Made = (Vec<u32>, Vec<i64>, Vec<Vec<Way>>);

/// The number of a shape's terms, the shape, and its needs.
pub(super) type Asking<'s> = (usize, &'s Shape, Vec<i64>);

impl<'a> Ways<'a> {
    /// Returns the offerings of every pool with `minValues`.
    pub(super) fn of_all(
        (supply, memo): (&'a Supply<'a>, &Memo),
        reaches: &[PoolReaches],
        dimensions: &[Dimension],
    ) -> Vec<Option<Self>> {
        let of = |(place, pool): (usize, &'a PoolSupply<'a>)| {
            let open = &reaches[place].open_keys;
            let roll = (place, dimensions.to_vec(), open.clone());
            let roster = || memo.roster(roll, || Roster::of(pool, dimensions, open));
            (!pool.variety.is_empty()).then(|| Self { pool, roster: roster(), choices: Vec::new() })
        };
        supply.pools.iter().enumerate().map(of).collect()
    }

    fn offered(&self, way: usize) -> (&'a InstanceType, &'a Offering) {
        let (kind, number) = self.roster.ways[way];
        let kind = &self.pool.kinds[kind];
        (kind.kind, kind.offerings[number].offering)
    }

    /// Returns the offerings that hold one pod of a shape. If some have a price, the others are ignored: a claim that
    /// lists them would have no maximum price.
    fn holding(&self, (number, shape, need): &Asking<'_>, reaches: &PoolReaches) -> Bits {
        let mut holding = Bits::none(self.roster.ways.len());
        let mut priced = holding.clone();
        for (way, (kind, offering)) in self.roster.ways.iter().enumerate() {
            let usable = &self.pool.kinds[*kind].offerings[*offering];
            let overhead = &self.pool.overheads[usable.overhead];
            let mut terms = reaches.by_terms[*number].iter();
            if terms.any(|(reach, _)| reach.kinds.has(*kind) && reach.placements.has(usable.placement))
                && need.iter().zip(&self.roster.rooms[way]).all(|(need, room)| need <= room)
                && ports::why(&shape.ask.host_ports, &overhead.ports).is_ok()
            {
                holding.insert(way);
                if usable.quote.effective.known().is_some() {
                    priced.insert(way);
                }
            }
        }
        if priced.is_empty() { holding } else { priced }
    }

    /// Records the offerings that hold each shape. Returns for each shape how many distinct values its nodes must have;
    /// empty if the pool enforces all its `minValues`.
    pub(super) fn note(&mut self, shapes: &[Asking<'_>], reaches: &PoolReaches) -> Vec<Vec<u32>> {
        let mut known: BTreeMap<Bits, Vec<u32>> = BTreeMap::new();
        let mut least = Vec::new();
        let is_strict = self.pool.min_values_policy == MinValuesPolicy::Strict;
        for shape in shapes {
            let ways = self.holding(shape, reaches);
            let there = known.entry(ways).or_insert_with_key(|ways| {
                variety::counts(&self.pool.variety, ways.iter().map(|way| self.offered(way)))
            });
            let asked = self.pool.variety.iter().zip(&*there).map(|((_, least), there)| *least.min(there));
            least.push(if is_strict { Vec::new() } else { asked.collect() });
        }
        for (ways, there) in known.into_iter().filter(|(ways, _)| !ways.is_empty()) {
            let asked: Vec<u32> = self.pool.variety.iter().map(|(_, least)| *least).collect();
            let lowered: Vec<u32> =
                asked.iter().zip(&there).map(|(asked, there)| *asked.min(there)).collect();
            if !is_strict || lowered == asked {
                self.choices.push(self.roster.choices(Set { ways, asked: lowered }));
            }
        }
        least
    }

    /// Returns the columns that replace a column: for every set that includes it, one with the choice that leaves the
    /// most capacity.
    pub(super) fn columns(&self, column: &Column) -> Vec<Column> {
        let mut made: BTreeMap<Made, Column> = BTreeMap::new();
        for choices in &self.choices {
            let mut alike: BTreeMap<&[i64], BTreeMap<usize, &Vec<Way>>> = BTreeMap::new();
            for usable in &column.usables {
                let own = self.roster.number((column.kind, *usable));
                if let Some((among, room)) = choices.chosen(&self.roster, own) {
                    alike.entry(room).or_default().insert(*usable, among);
                }
            }
            let asked = &choices.set.asked;
            for (room, among) in alike {
                let ways = among.values().map(|ways| (*ways).clone()).collect();
                let of_offerings = among.into_iter().map(|(usable, ways)| (usable, ways.clone()));
                made.entry((asked.clone(), room.to_vec(), ways)).or_insert_with(|| {
                    let among: BTreeMap<usize, Vec<Way>> = of_offerings.collect();
                    Column {
                        usables: among.keys().copied().collect(),
                        room: room.to_vec(),
                        choice: Some(Choice { asked: asked.clone(), among }),
                        ..column.clone()
                    }
                });
            }
        }
        made.into_values().collect()
    }
}
