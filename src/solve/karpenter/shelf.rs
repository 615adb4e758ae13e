//! The instance types of a class, found by what is asked of their labels: set operations over one table for
//! each label, and each question answered once.
//!
//! Nothing here knows of pods, pools or room.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Requirement, Requirements, Zone, label,
};
use crate::solve::intern::{Bits, Interner};

use super::meeting::{Asked, Meetings};
use super::reserved;

/// The instance types that can be what is asked for.
#[derive(Clone, Debug)]
pub(super) struct Stock {
    /// Those whose own labels agree.
    pub(super) agreeing: Bits,
    /// Those of them that can be had so now.
    pub(super) sold: Bits,
}

/// The instance types of one class.
pub(super) struct Shelf<'a> {
    /// The types, by name.
    pub(super) kinds: Vec<&'a InstanceType>,
    columns: BTreeMap<&'a LabelKey, Vec<(&'a Requirement, Bits)>>,
    /// Everything that labels of offerings are.
    placements: Vec<Requirements>,
    /// For each type, the numbers of what the labels of its available offerings are.
    had: Vec<Vec<usize>>,
    known: BTreeMap<Asked, Rc<Stock>>,
}

/// The way to have a type that costs least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cheapest<'k> {
    /// The type.
    pub(super) kind: &'k InstanceType,
    /// The offering.
    pub(super) offering: &'k Offering,
}

impl<'a> Shelf<'a> {
    pub(super) fn of(types: &'a [InstanceType]) -> Self {
        let kinds: Vec<&InstanceType> = types.iter().collect();
        let mut columns: BTreeMap<&LabelKey, BTreeMap<&Requirement, Bits>> = BTreeMap::new();
        let mut placements = Interner::new();
        let mut had = Vec::new();
        for (place, kind) in kinds.iter().enumerate() {
            for (key, requirement) in kind.requirements.iter() {
                let column = columns.entry(key).or_default();
                column.entry(requirement).or_insert_with(|| Bits::none(kinds.len())).insert(place);
            }
            let available = kind.offerings.iter().filter(|offering| offering.is_available);
            let mut numbers: Vec<usize> =
                available.map(|offering| placements.number(&offering.requirements)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            had.push(numbers);
        }
        let columns = columns.into_iter().map(|(key, values)| (key, values.into_iter().collect())).collect();
        Self { kinds, columns, placements: placements.values().to_vec(), had, known: BTreeMap::new() }
    }

    /// Returns the types that can be what is asked for.
    pub(super) fn stock(&mut self, asked: Asked, meetings: &Meetings<'_>) -> Rc<Stock> {
        if let Some(known) = self.known.get(&asked) {
            return Rc::clone(known);
        }
        let wanted = meetings.get(asked);
        let mut agreeing = Bits::all(self.kinds.len());
        for (key, requirement) in wanted.iter() {
            for (value, bits) in self.columns.get(key).into_iter().flatten() {
                let absent = requirement.accepts_absence() && value.accepts_absence();
                if !absent && !requirement.intersects(value) {
                    bits.iter().for_each(|place| agreeing.remove(place));
                }
            }
        }
        let open: Vec<bool> =
            self.placements.iter().map(|placement| may_be(placement, wanted, meetings)).collect();
        let mut sold = agreeing.clone();
        for place in agreeing.iter() {
            if !self.had[place].iter().any(|number| open[*number]) {
                sold.remove(place);
            }
        }
        let stock = Rc::new(Stock { agreeing, sold });
        self.known.insert(asked, Rc::clone(&stock));
        stock
    }
}

/// Returns whether a node of which this is asked may be bought so.
fn may_be(placement: &Requirements, wanted: &Requirements, meetings: &Meetings<'_>) -> bool {
    placement.satisfied_by(wanted, |key| meetings.is_well_known(key)).is_ok()
}

/// Returns the available offerings of a type that may be what is asked for.
pub(super) fn offerings<'k>(
    kind: &'k InstanceType,
    wanted: &Requirements,
    meetings: &Meetings<'_>,
) -> impl Iterator<Item = &'k Offering> {
    let available = kind.offerings.iter().filter(|offering| offering.is_available);
    available.filter(move |offering| may_be(&offering.requirements, wanted, meetings))
}

/// Returns the cheapest way to have a type as asked for. A reserved one counts only where it is
/// asked for by the reservation; an unknown price is the last resort.
pub(super) fn cheapest_offering<'k>(
    kind: &'k InstanceType,
    wanted: &Requirements,
    meetings: &Meetings<'_>,
) -> Option<Cheapest<'k>> {
    let names_reservation = wanted.get(label::RESERVATION_ID).is_some();
    let counted = offerings(kind, wanted, meetings)
        .filter(|offering| names_reservation || reserved::of(offering).is_none());
    counted.map(|offering| Cheapest { kind, offering }).min_by_key(Cheapest::rank)
}

impl Cheapest<'_> {
    /// What sorts offerings as the Azure provider would choose: the cheapest; reserved, then spot; in a zone
    /// rather than in none.
    fn rank(&self) -> (MicroUsdPerHour, u8, bool, Zone) {
        let Offering { zone, capacity_type, .. } = self.offering;
        let kind = match capacity_type {
            CapacityType::Reserved => 0,
            CapacityType::Spot => 1,
            CapacityType::OnDemand => 2,
        };
        (self.amount(), kind, zone.as_str() == crate::catalog::NO_ZONE, zone.clone())
    }

    /// Returns what it costs; an unknown price is the highest.
    pub(super) fn amount(&self) -> MicroUsdPerHour {
        self.offering.price.known().unwrap_or(MicroUsdPerHour(i64::MAX))
    }
}
