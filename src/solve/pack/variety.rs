//! `minValues`: what else a node must be able to become, so that its claim is a choice among enough values.
//!
//! A column of a pool that asks for a variety stands for several offerings at once: it has the room of the least of
//! them, and serves who may be on any of them. So packing needs to know nothing of it. They are chosen for every set
//! of offerings that hold some pod, so that who has a variety alone gets a column with one. No price is compared.

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

/// A size of a pool, by its place, and an offering of it, by its own.
pub(in crate::solve) type Way = (usize, usize);

/// What a column is a choice among.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Choice {
    /// How many distinct values of each label that the pool asks about.
    pub(in crate::solve) asked: Vec<u32>,
    /// What else a node must be able to become, for each offering of the column.
    pub(in crate::solve) among: BTreeMap<usize, Vec<Way>>,
}

/// Returns whether a column is a choice among no less than this.
pub(super) fn suffices(column: &Column, least: &[u32]) -> bool {
    column
        .choice
        .as_ref()
        .is_none_or(|choice| choice.asked.iter().zip(least).all(|(has, least)| has >= least))
}

/// The ways to have a node of a pool that asks for a variety.
pub(super) struct Ways<'a> {
    pool: &'a PoolSupply<'a>,
    roster: Arc<Roster>,
    choices: Vec<Arc<Choices>>,
}

/// By what columns of one size differ: what is asked, the room, and what each offering is a choice among.
type Made = (Vec<u32>, Vec<i64>, Vec<Vec<Way>>);

/// A shape, how its terms are numbered, and what it needs.
pub(super) type Asking<'s> = (usize, &'s Shape, Vec<i64>);

impl<'a> Ways<'a> {
    /// Returns the ways of every pool that asks for a variety.
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

    /// Returns what holds one pod of a shape. Next to what has a price the rest does not count: no highest price
    /// could be said of a claim that lists it.
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

    /// Notes what holds each shape. Returns for each how much of a choice its nodes must be: nothing where the pool
    /// insists on all that it asks for.
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

    /// Returns what becomes of a column: for every set that it is of, one with the choice that leaves the most room.
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
