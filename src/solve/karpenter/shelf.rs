//! The instance types of a class, found by label requirements: set operations over one table for each label.
//!
//! Never looks at pods, pools or capacity.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::catalog::Catalog;
use crate::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Requirement, Requirements, Zone, label,
};
use crate::solve::intern::Bits;

use super::reserved;

/// Instance types that satisfy requirements.
#[derive(Clone, Debug)]
pub(super) struct Stock {
    /// Types whose own labels agree.
    pub(super) agreeing: Bits,
    /// Those of them that have a matching offering now.
    pub(super) sold: Bits,
}

/// The instance types of one class.
pub(super) struct Shelf<'a> {
    /// The types, by name.
    pub(super) kinds: Vec<&'a InstanceType>,
    places: BTreeMap<&'a str, usize>,
    /// Tables that were needed so far: few labels are used, and a size has thirty.
    columns: RefCell<BTreeMap<LabelKey, Rc<Column<'a>>>>,
    /// Distinct labels of offerings.
    placements: Vec<Requirements>,
    /// Available offerings of each type, with the numbers of their labels.
    had: Vec<Vec<(usize, &'a Offering)>>,
}

/// The types with each value of a label.
type Column<'a> = Vec<(&'a Requirement, Bits)>;

/// Offerings of a class that satisfy requirements.
pub(super) struct Ways<'s, 'a> {
    shelf: &'s Shelf<'a>,
    /// Whether offerings satisfy them, by the number of their labels.
    open: Vec<bool>,
    names_reservation: bool,
}

/// The cheapest offering of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cheapest<'k> {
    /// The type.
    pub(super) kind: &'k InstanceType,
    /// The offering.
    pub(super) offering: &'k Offering,
}

/// Distinct labels of offerings: few of one zone and capacity type differ, and only these are compared in full.
#[derive(Default)]
struct Placements<'a> {
    distinct: Vec<&'a Requirements>,
    by_spot: BTreeMap<(&'a Zone, CapacityType), Vec<usize>>,
}

impl<'a> Placements<'a> {
    fn number(&mut self, offering: &'a Offering) -> usize {
        let labels = &offering.requirements;
        let there = self.by_spot.entry((&offering.zone, offering.capacity_type)).or_default();
        if let Some(number) = there.iter().find(|number| self.distinct[**number] == labels) {
            return *number;
        }
        there.push(self.distinct.len());
        self.distinct.push(labels);
        self.distinct.len() - 1
    }
}

impl<'a> Shelf<'a> {
    pub(super) fn of(types: &'a [InstanceType]) -> Self {
        let kinds: Vec<&InstanceType> = types.iter().collect();
        let mut placements = Placements::default();
        let mut had = Vec::new();
        for kind in &kinds {
            let available = kind.offerings.iter().filter(|offering| offering.is_available);
            let numbered = available.map(|offering| (placements.number(offering), offering));
            had.push(numbered.collect());
        }
        // Of types with the same name, the first counts.
        let places =
            kinds.iter().enumerate().rev().map(|(place, kind)| (kind.name.as_str(), place)).collect();
        let placements = placements.distinct.into_iter().cloned().collect();
        Self { kinds, places, columns: RefCell::default(), placements, had }
    }

    fn column(&self, key: &LabelKey) -> Rc<Column<'a>> {
        if let Some(column) = self.columns.borrow().get(key) {
            return Rc::clone(column);
        }
        let mut values: BTreeMap<&Requirement, Bits> = BTreeMap::new();
        for (place, kind) in self.kinds.iter().enumerate() {
            if let Some(value) = kind.requirements.get(key.as_str()) {
                values.entry(value).or_insert_with(|| Bits::none(self.kinds.len())).insert(place);
            }
        }
        let column = Rc::new(values.into_iter().collect());
        self.columns.borrow_mut().insert(key.clone(), Rc::clone(&column));
        column
    }

    /// Returns the index of a type.
    pub(super) fn place(&self, size: &str) -> Option<usize> {
        self.places.get(size).copied()
    }

    /// Returns the types that satisfy requirements.
    pub(super) fn stock(&self, wanted: &Requirements, catalog: &Catalog) -> Stock {
        let mut agreeing = Bits::all(self.kinds.len());
        for (key, requirement) in wanted.iter() {
            for (value, bits) in &*self.column(key) {
                let absent = requirement.accepts_absence() && value.accepts_absence();
                if !absent && !requirement.intersects(value) {
                    bits.iter().for_each(|place| agreeing.remove(place));
                }
            }
        }
        let ways = self.ways(wanted, catalog);
        let mut sold = agreeing.clone();
        for place in agreeing.iter() {
            if ways.offerings(place).next().is_none() {
                sold.remove(place);
            }
        }
        Stock { agreeing, sold }
    }

    /// Returns the offerings that satisfy requirements.
    pub(super) fn ways(&self, wanted: &Requirements, catalog: &Catalog) -> Ways<'_, 'a> {
        let may_be =
            |labels: &Requirements| labels.satisfied_by(wanted, |key| catalog.is_well_known(key)).is_ok();
        Ways {
            shelf: self,
            open: self.placements.iter().map(may_be).collect(),
            names_reservation: wanted.get(label::RESERVATION_ID).is_some(),
        }
    }
}

impl<'a> Ways<'_, 'a> {
    /// Returns the available offerings of a type.
    pub(super) fn offerings(&self, place: usize) -> impl Iterator<Item = &'a Offering> {
        let open = self.shelf.had[place].iter().filter(|(number, _)| self.open[*number]);
        open.map(|(_, offering)| *offering)
    }

    /// Returns the cheapest offering of a type. A reserved offering counts only if the requirements name the
    /// reservation; an unknown price is the last resort.
    pub(super) fn cheapest(&self, place: usize) -> Option<Cheapest<'a>> {
        let kind = self.shelf.kinds[place];
        let counted = self
            .offerings(place)
            .filter(|offering| self.names_reservation || reserved::of(offering).is_none());
        counted.map(|offering| Cheapest { kind, offering }).min_by_key(Cheapest::rank)
    }
}

impl Cheapest<'_> {
    /// Returns the sort key of offerings, in the order of the Azure provider: the cheapest; reserved, then spot; zonal
    /// before regional.
    fn rank(&self) -> (MicroUsdPerHour, u8, bool, Zone) {
        let Offering { zone, capacity_type, .. } = self.offering;
        let kind = match capacity_type {
            CapacityType::Reserved => 0,
            CapacityType::Spot => 1,
            CapacityType::OnDemand => 2,
        };
        (self.amount(), kind, zone.as_str() == crate::catalog::NO_ZONE, zone.clone())
    }

    /// Returns its price; an unknown price is the highest.
    pub(super) fn amount(&self) -> MicroUsdPerHour {
        self.offering.price.known().unwrap_or(MicroUsdPerHour(i64::MAX))
    }
}
