//! Reserved capacity: how much of it is free, and which claim holds which part of it.
//!
//! A claim holds all reservations that it might be launched from, so no two claims are planned onto the same one. Never
//! chooses one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{CapacityType, InstanceType, Offering, label};

/// The reservations that a claim holds.
pub(super) type Held = BTreeSet<Arc<str>>;

/// Number of VMs of each reservation that no claim holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations(BTreeMap<Arc<str>, u32>);

/// Returns the reservation of an offering.
pub(super) fn of(offering: &Offering) -> Option<&Arc<str>> {
    match offering.capacity_type {
        CapacityType::Reserved => offering.requirements.get(label::RESERVATION_ID)?.single(),
        CapacityType::OnDemand | CapacityType::Spot => None,
    }
}

impl Reservations {
    /// Counts the VMs that instance types report as free. If the counts differ, the lowest is used; without a count,
    /// none is known to be free.
    pub(super) fn of<'k>(kinds: impl Iterator<Item = &'k InstanceType>) -> Self {
        let mut free: BTreeMap<Arc<str>, u32> = BTreeMap::new();
        for offering in kinds.flat_map(|kind| &kind.offerings) {
            if let Some(id) = of(offering) {
                let count = offering.reserved_count.unwrap_or(0);
                free.entry(Arc::clone(id)).and_modify(|least| *least = count.min(*least)).or_insert(count);
            }
        }
        Self(free)
    }

    /// Returns whether there is no reservation at all.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a claim that holds these reservations may hold this one.
    pub(super) fn is_free(&self, id: &Arc<str>, held: &Held) -> bool {
        held.contains(id) || self.0.get(id).is_some_and(|free| *free > 0)
    }

    /// Replaces the reservations that a claim holds.
    pub(super) fn exchange(&mut self, before: &Held, after: &Held) {
        for id in after.difference(before) {
            if let Some(free) = self.0.get_mut(id) {
                *free = free.saturating_sub(1);
            }
        }
        for id in before.difference(after) {
            if let Some(free) = self.0.get_mut(id) {
                *free += 1;
            }
        }
    }
}
