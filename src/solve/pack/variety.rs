//! `minValues`: what else a node must be able to become, so that its claim is a choice among enough values.
//!
//! A column of a pool that asks for a variety stands for several offerings at once: it has the room of the least of
//! them, and serves who may be on any of them. So packing needs to know nothing of it. They are chosen for every set
//! of offerings that hold some pod, so that who has a variety alone gets a column with one. No price is compared.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{InstanceType, LabelKey, MinValuesPolicy, Offering, Requirements, ResourceName, label};
use crate::solve::demand::Shape;
use crate::solve::fit::{ports, variety};
use crate::solve::intern::Bits;
use crate::solve::supply::{PoolSupply, Supply};

use super::columns;
use super::problem::{Column, vector};
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

/// What holds some pod, and how much of a choice it must be.
struct Set {
    ways: Bits,
    asked: Vec<u32>,
}

/// The ways to have a node of a pool that asks for a variety.
pub(super) struct Ways<'a> {
    pool: &'a PoolSupply<'a>,
    all: Vec<Way>,
    /// What pods may use, one amount a dimension.
    rooms: Vec<Vec<i64>>,
    /// The values of each label that the pool asks about.
    values: Vec<Vec<Vec<Arc<str>>>>,
    /// What labels may still become there.
    open: Vec<Requirements>,
    /// By size, zone and capacity type.
    places: BTreeMap<(usize, &'a str, &'a str), usize>,
    sets: Vec<Set>,
}

/// By what columns of one size differ: what is asked, the room, and what each offering is a choice among.
type Made = (Vec<u32>, Vec<i64>, Vec<Vec<usize>>);

/// A shape, how its terms are numbered, and what it needs.
pub(super) type Asking<'s> = (usize, &'s Shape, Vec<i64>);

impl<'a> Ways<'a> {
    /// Returns the ways of every pool that asks for a variety.
    pub(super) fn of_all(
        supply: &'a Supply<'a>,
        reaches: &[PoolReaches],
        dimensions: &[ResourceName],
    ) -> Vec<Option<Self>> {
        let of = |(place, pool): (usize, &'a PoolSupply<'a>)| {
            (!pool.variety.is_empty()).then(|| Self::of(pool, &reaches[place], dimensions))
        };
        supply.pools.iter().enumerate().map(of).collect()
    }

    fn of(pool: &'a PoolSupply<'a>, reaches: &PoolReaches, dimensions: &[ResourceName]) -> Self {
        let mut ways = Self {
            pool,
            all: Vec::new(),
            rooms: Vec::new(),
            values: Vec::new(),
            open: Vec::new(),
            places: BTreeMap::new(),
            sets: Vec::new(),
        };
        for (place, kind) in pool.kinds.iter().enumerate() {
            for (number, usable) in kind.offerings.iter().enumerate() {
                let offering = usable.offering;
                let room = kind.kind.allocatable.minus(&pool.overheads[usable.overhead].requests);
                let of_key = |(key, _): &(LabelKey, u32)| variety::values(key, kind.kind, offering);
                ways.places
                    .insert((place, offering.zone.as_str(), offering.capacity_type.as_str()), ways.all.len());
                ways.all.push((place, number));
                ways.rooms.push(vector(&room, dimensions));
                ways.values.push(pool.variety.iter().map(of_key).collect());
                ways.open.push(columns::open(pool, (kind, usable), reaches));
            }
        }
        ways
    }

    fn offered(&self, way: usize) -> (&'a InstanceType, &'a Offering) {
        let (kind, number) = self.all[way];
        let kind = &self.pool.kinds[kind];
        (kind.kind, kind.offerings[number].offering)
    }

    /// Returns what holds one pod of a shape. Next to what has a price the rest does not count: no highest price
    /// could be said of a claim that lists it.
    fn holding(&self, (number, shape, need): &Asking<'_>, reaches: &PoolReaches) -> Bits {
        let mut holding = Bits::none(self.all.len());
        let mut priced = holding.clone();
        for (way, (kind, offering)) in self.all.iter().enumerate() {
            let usable = &self.pool.kinds[*kind].offerings[*offering];
            let overhead = &self.pool.overheads[usable.overhead];
            let mut terms = reaches.by_terms[*number].iter();
            if terms.any(|(reach, _)| reach.kinds.has(*kind) && reach.placements.has(usable.placement))
                && need.iter().zip(&self.rooms[way]).all(|(need, room)| need <= room)
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
            let offered = ways.iter().map(|way| self.offered(way)).collect::<Vec<_>>();
            let there = known
                .entry(ways)
                .or_insert_with(|| variety::counts(&self.pool.variety, offered.iter().copied()))
                .clone();
            let asked = self.pool.variety.iter().zip(&there).map(|((_, least), there)| *least.min(there));
            least.push(if is_strict { Vec::new() } else { asked.collect() });
        }
        for (ways, there) in known.into_iter().filter(|(ways, _)| !ways.is_empty()) {
            let asked: Vec<u32> = self.pool.variety.iter().map(|(_, least)| *least).collect();
            let lowered: Vec<u32> =
                asked.iter().zip(&there).map(|(asked, there)| *asked.min(there)).collect();
            if !is_strict || lowered == asked {
                self.sets.push(Set { ways, asked: lowered });
            }
        }
        least
    }

    /// Returns what becomes of a column: for every set that it is of, one with the choice that leaves the most room.
    pub(super) fn columns(&self, column: &Column) -> Vec<Column> {
        let mut made: BTreeMap<Made, Column> = BTreeMap::new();
        for set in &self.sets {
            let mut alike: BTreeMap<Vec<i64>, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
            for usable in &column.usables {
                let own = self.all.iter().position(|way| *way == (column.kind, *usable));
                let own = own.filter(|own| set.ways.has(*own));
                if let Some((among, room)) = own.and_then(|own| self.chosen(set, own)) {
                    alike.entry(room).or_default().insert(*usable, among);
                }
            }
            for (room, among) in alike {
                let ways: Vec<Vec<usize>> = among.values().cloned().collect();
                made.entry((set.asked.clone(), room.clone(), ways)).or_insert_with(|| Column {
                    usables: among.keys().copied().collect(),
                    room,
                    choice: Some(Choice {
                        asked: set.asked.clone(),
                        among: among
                            .into_iter()
                            .map(|(usable, ways)| {
                                (usable, ways.into_iter().map(|way| self.all[way]).collect())
                            })
                            .collect(),
                    }),
                    ..column.clone()
                });
            }
        }
        made.into_values().collect()
    }

    /// Chooses what a node of an offering must be able to become beside it: whatever brings a value that is missing,
    /// what costs the least room first. Returns the room that is left on all of them.
    fn chosen(&self, set: &Set, own: usize) -> Option<(Vec<usize>, Vec<i64>)> {
        let mut growing = Growing::of(self, set, own);
        if growing.is_enough() {
            return Some((Vec::new(), self.rooms[own].clone()));
        }
        for way in self.candidates(set, own) {
            if growing.brings_a_value(way) && growing.take(way) && growing.is_enough() {
                let room = growing.room();
                return Some((growing.taken.into_iter().filter(|way| *way != own).collect(), room));
            }
        }
        None
    }

    /// Returns what may stand in for an offering, by what it lacks of its room, then in the same place, then by
    /// price. What stands elsewhere is looked at only where it brings something.
    fn candidates(&self, set: &Set, own: usize) -> Vec<usize> {
        let (_, there) = self.offered(own);
        let by_place = [label::ZONE, label::CAPACITY_TYPE];
        let is_about_place = self.pool.variety.iter().any(|(key, _)| by_place.contains(&key.as_str()));
        let overheads = &self.pool.overheads;
        let overhead = |way: usize| {
            let (kind, number) = self.all[way];
            &overheads[self.pool.kinds[kind].offerings[number].overhead]
        };
        let mut candidates = Vec::new();
        for way in set.ways.iter().filter(|way| *way != own) {
            let (kind, offering) = self.offered(way);
            let is_there = offering.zone == there.zone && offering.capacity_type == there.capacity_type;
            let is_like = self.open[way] == self.open[own] && overhead(way).ports == overhead(own).ports;
            if is_like && (is_there || is_about_place) {
                let parts = self.rooms[own].iter().zip(&self.rooms[way]);
                let lack =
                    parts.map(|(own, room)| (own - room).max(0).saturating_mul(1_000_000) / (*own).max(1));
                let (place, number) = self.all[way];
                let price = self.pool.kinds[place].offerings[number].choice_price();
                candidates.push(((lack.max(), Reverse(is_there), price, kind.name.clone()), way));
            }
        }
        candidates.sort();
        candidates.into_iter().map(|(_, way)| way).collect()
    }
}

/// Offerings that a claim lists, while they become enough. It lists sizes, zones and capacity types each for itself:
/// whatever they let be launched together must be of the set.
struct Growing<'w, 'a> {
    ways: &'w Ways<'a>,
    set: &'w Set,
    taken: BTreeSet<usize>,
    has: Vec<BTreeSet<&'w Arc<str>>>,
}

impl<'w, 'a> Growing<'w, 'a> {
    fn of(ways: &'w Ways<'a>, set: &'w Set, own: usize) -> Self {
        let mut growing =
            Self { ways, set, taken: BTreeSet::new(), has: vec![BTreeSet::new(); set.asked.len()] };
        growing.add(own);
        growing
    }

    fn add(&mut self, way: usize) {
        self.taken.insert(way);
        for (has, values) in self.has.iter_mut().zip(&self.ways.values[way]) {
            has.extend(values);
        }
    }

    fn is_enough(&self) -> bool {
        self.has.iter().zip(&self.set.asked).all(|(has, asked)| has.len() >= *asked as usize)
    }

    fn brings_a_value(&self, way: usize) -> bool {
        let short = self.has.iter().zip(&self.set.asked).zip(&self.ways.values[way]);
        short.into_iter().any(|((has, asked), values)| {
            has.len() < *asked as usize && values.iter().any(|value| !has.contains(value))
        })
    }

    /// Takes an offering with all that comes together by it, if all of that is of the set.
    fn take(&mut self, way: usize) -> bool {
        let ways = self.ways;
        let listed = || self.taken.iter().copied().chain([way]);
        let sizes: BTreeSet<usize> = listed().map(|way| ways.all[way].0).collect();
        let offerings = || listed().map(|way| ways.offered(way).1);
        let zones: BTreeSet<&str> = offerings().map(|offering| offering.zone.as_str()).collect();
        let kinds: BTreeSet<&str> = offerings().map(|offering| offering.capacity_type.as_str()).collect();
        let mut together = Vec::new();
        for size in &sizes {
            for (zone, kind) in zones.iter().flat_map(|zone| kinds.iter().map(move |kind| (*zone, *kind))) {
                match ways.places.get(&(*size, zone, kind)) {
                    Some(way) if !self.set.ways.has(*way) => return false,
                    Some(way) => together.push(*way),
                    None => {}
                }
            }
        }
        together.into_iter().for_each(|way| self.add(way));
        true
    }

    fn room(&self) -> Vec<i64> {
        let rooms = self.taken.iter().map(|way| self.ways.rooms[*way].clone());
        let least =
            |one: Vec<i64>, other: Vec<i64>| one.into_iter().zip(other).map(|(a, b)| a.min(b)).collect();
        rooms.reduce(least).unwrap_or_default()
    }
}
