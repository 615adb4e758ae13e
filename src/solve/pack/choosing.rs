//! Choices for `minValues`: the alternatives of a node's offering that provide enough distinct values and leave the
//! most free capacity.
//!
//! A claim lists sizes, zones and capacity types independently, so its offerings always form a block. A choice depends
//! only on the pool and a set of its offerings, whatever pods are tried, so it is cached beside the supply. Never looks
//! at pods.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::{Arc, Mutex, OnceLock};

use crate::model::{LabelKey, Requirements, label};
use crate::solve::fit::variety;
use crate::solve::intern::{Bits, Interner};
use crate::solve::memo::held;
use crate::solve::supply::PoolSupply;

use super::columns;
use super::dimension::{self, Dimension};
use super::variety::Way;

/// Maximum number of cached sets of offerings per pool: trials place pods with the same needs in other zones.
const SETS_MAX: usize = 128;

/// Cache key of a roster: the index of the pool, the dimensions of a node, and the open labels that pods ask for.
pub(in crate::solve) type Roll = (usize, Vec<Dimension>, BTreeSet<LabelKey>);

/// The offerings of a pool, in numbers.
pub(in crate::solve) struct Roster {
    pub(super) ways: Vec<Way>,
    /// First offering of each size.
    starts: Vec<usize>,
    /// Capacity for pods, one amount per dimension.
    pub(super) rooms: Vec<Vec<i64>>,
    /// Values of each label with `minValues`.
    values: Vec<Vec<Vec<Arc<str>>>>,
    /// Equal for offerings with the same possible label values and the same host ports in use.
    likes: Vec<usize>,
    /// Zone and capacity type.
    spots: Vec<(usize, usize)>,
    /// Rank by price, then by name.
    ranks: Vec<usize>,
    /// Offerings by size and spot.
    places: BTreeMap<(usize, (usize, usize)), usize>,
    /// Whether `minValues` applies to zones or capacity types.
    is_about_place: bool,
    choices: Mutex<BTreeMap<Set, Arc<Choices>>>,
}

impl Roster {
    /// Lists the offerings of a pool.
    pub(super) fn of(pool: &PoolSupply<'_>, dimensions: &[Dimension], open: &BTreeSet<LabelKey>) -> Self {
        let by_place = [label::ZONE, label::CAPACITY_TYPE];
        let mut roster = Self {
            ways: Vec::new(),
            starts: Vec::new(),
            rooms: Vec::new(),
            values: Vec::new(),
            likes: Vec::new(),
            spots: Vec::new(),
            ranks: Vec::new(),
            places: BTreeMap::new(),
            is_about_place: pool.variety.iter().any(|(key, _)| by_place.contains(&key.as_str())),
            choices: Mutex::default(),
        };
        let (mut likes, mut zones, mut types) = (Interner::new(), Interner::new(), Interner::new());
        let mut order = Vec::new();
        for (place, kind) in pool.kinds.iter().enumerate() {
            roster.starts.push(roster.ways.len());
            for (number, usable) in kind.offerings.iter().enumerate() {
                let (offering, overhead) = (usable.offering, &pool.overheads[usable.overhead]);
                let of_key = |(key, _): &(LabelKey, u32)| variety::values(key, kind.kind, offering);
                let like: (Requirements, _) =
                    (columns::open(pool, (kind, usable), open), overhead.ports.clone());
                let spot = (zones.number(&offering.zone), types.number(&offering.capacity_type));
                order.push((usable.choice_price(), &kind.kind.name, roster.ways.len()));
                roster.places.insert((place, spot), roster.ways.len());
                roster.ways.push((place, number));
                roster.rooms.push(dimension::offered(kind, overhead, dimensions));
                roster.values.push(pool.variety.iter().map(of_key).collect());
                roster.likes.push(likes.number(&like));
                roster.spots.push(spot);
            }
        }
        order.sort();
        roster.ranks = vec![0; order.len()];
        for (rank, (_, _, way)) in order.into_iter().enumerate() {
            roster.ranks[way] = rank;
        }
        roster
    }

    /// Returns the number of an offering.
    pub(super) fn number(&self, (kind, usable): Way) -> usize {
        self.starts[kind] + usable
    }

    /// Returns the choices of a set, from the cache if they are there.
    pub(super) fn choices(&self, set: Set) -> Arc<Choices> {
        let mut kept = held(&self.choices);
        if let Some(choices) = kept.get(&set) {
            return choices.clone();
        }
        if kept.len() >= SETS_MAX {
            kept.clear();
        }
        let choices = Arc::new(Choices::of(self, set.clone()));
        kept.insert(set, choices.clone());
        choices
    }

    /// Returns the group in which offerings can replace each other: they have equal labels and ports and, unless
    /// `minValues` applies to zones or capacity types, the same spot.
    fn group(&self, way: usize) -> Group {
        (self.likes[way], (!self.is_about_place).then_some(self.spots[way]))
    }
}

/// Offerings that hold some pod, and the number of distinct values that `minValues` requires.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Set {
    pub(super) ways: Bits,
    pub(super) asked: Vec<u32>,
}

/// Alternatives that a node must have, and the capacity that all of them provide.
pub(super) type Chosen = (Vec<Way>, Vec<i64>);

/// Common properties of offerings that can replace each other: the like, and the spot if it matters.
type Group = (usize, Option<(usize, usize)>);

/// The choice for each offering of a set.
pub(super) struct Choices {
    pub(super) set: Set,
    groups: BTreeMap<Group, Vec<usize>>,
    chosen: Vec<OnceLock<Option<Chosen>>>,
}

impl Choices {
    fn of(roster: &Roster, set: Set) -> Self {
        let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
        set.ways.iter().for_each(|way| groups.entry(roster.group(way)).or_default().push(way));
        Self { set, groups, chosen: roster.ways.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Chooses the alternatives of an offering of the set: those that add a missing value, the smallest loss of
    /// capacity first. Returns `None` if there is no such choice.
    pub(super) fn chosen(&self, roster: &Roster, own: usize) -> Option<&Chosen> {
        if !self.set.ways.has(own) {
            return None;
        }
        self.chosen[own].get_or_init(|| self.choose(roster, own)).as_ref()
    }

    fn choose(&self, roster: &Roster, own: usize) -> Option<Chosen> {
        let mut growing = Growing::of(roster, &self.set, own);
        if growing.is_enough() {
            return Some((Vec::new(), roster.rooms[own].clone()));
        }
        let mut candidates = self.candidates(roster, own);
        while let Some(Reverse((.., way))) = candidates.pop() {
            if growing.brings_a_value(way) && growing.take(way) && growing.is_enough() {
                let room = growing.room();
                let among = growing.taken.into_iter().filter(|way| *way != own);
                return Some((among.map(|way| roster.ways[way]).collect(), room));
            }
        }
        None
    }

    /// Returns the possible alternatives of an offering, by the capacity that they lack, then those in the same spot,
    /// then by price. Other spots are considered only if they can add a value.
    fn candidates(&self, roster: &Roster, own: usize) -> BinaryHeap<Reverse<(i64, bool, usize, usize)>> {
        let group = self.groups.get(&roster.group(own));
        let others = group.into_iter().flatten().copied().filter(|way| *way != own);
        let candidate = |way: usize| {
            let parts = roster.rooms[own].iter().zip(&roster.rooms[way]);
            let lack = parts.map(|(own, room)| (own - room).max(0).saturating_mul(1_000_000) / (*own).max(1));
            let is_elsewhere = roster.spots[way] != roster.spots[own];
            Reverse((lack.max().unwrap_or(0), is_elsewhere, roster.ranks[way], way))
        };
        others.map(candidate).collect()
    }
}

/// Offerings that a claim lists, until they provide enough values. It lists sizes, zones and capacity types
/// independently: all their combinations must be in the set.
struct Growing<'r> {
    roster: &'r Roster,
    set: &'r Set,
    taken: BTreeSet<usize>,
    has: Vec<BTreeSet<&'r Arc<str>>>,
}

impl<'r> Growing<'r> {
    fn of(roster: &'r Roster, set: &'r Set, own: usize) -> Self {
        let has = vec![BTreeSet::new(); set.asked.len()];
        let mut growing = Self { roster, set, taken: BTreeSet::new(), has };
        growing.add(own);
        growing
    }

    fn add(&mut self, way: usize) {
        self.taken.insert(way);
        for (has, values) in self.has.iter_mut().zip(&self.roster.values[way]) {
            has.extend(values);
        }
    }

    fn is_enough(&self) -> bool {
        self.has.iter().zip(&self.set.asked).all(|(has, asked)| has.len() >= *asked as usize)
    }

    fn brings_a_value(&self, way: usize) -> bool {
        let short = self.has.iter().zip(&self.set.asked).zip(&self.roster.values[way]);
        short.into_iter().any(|((has, asked), values)| {
            has.len() < *asked as usize && values.iter().any(|value| !has.contains(value))
        })
    }

    /// Adds an offering and all combinations that it makes possible, if they are all in the set.
    fn take(&mut self, way: usize) -> bool {
        let roster = self.roster;
        let listed = || self.taken.iter().copied().chain([way]);
        let sizes: BTreeSet<usize> = listed().map(|way| roster.ways[way].0).collect();
        let zones: BTreeSet<usize> = listed().map(|way| roster.spots[way].0).collect();
        let types: BTreeSet<usize> = listed().map(|way| roster.spots[way].1).collect();
        let mut together = Vec::new();
        for size in sizes {
            for spot in zones.iter().flat_map(|zone| types.iter().map(move |kind| (*zone, *kind))) {
                match roster.places.get(&(size, spot)) {
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
        let rooms = self.taken.iter().map(|way| self.roster.rooms[*way].clone());
        let least =
            |one: Vec<i64>, other: Vec<i64>| one.into_iter().zip(other).map(|(a, b)| a.min(b)).collect();
        rooms.reduce(least).unwrap_or_default()
    }
}
