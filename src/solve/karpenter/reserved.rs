//! Capacity that is paid for beforehand: how much of it is free, and which claim holds which of it.
//!
//! A claim holds all that it might be launched as, so that no two are planned onto the same. Nothing here
//! chooses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{CapacityType, InstanceType, Offering, label};

/// The reservations that a claim holds.
pub(super) type Held = BTreeSet<Arc<str>>;

/// How many VMs of each reservation no claim holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations(BTreeMap<Arc<str>, u32>);

/// Returns the reservation that an offering is of.
pub(super) fn of(offering: &Offering) -> Option<&Arc<str>> {
    match offering.capacity_type {
        CapacityType::Reserved => offering.requirements.get(label::RESERVATION_ID)?.single(),
        CapacityType::OnDemand | CapacityType::Spot => None,
    }
}

impl Reservations {
    /// Counts what the instance types say is free. Where they differ the least counts; where they say
    /// nothing, nothing is known to be free.
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

    /// Returns whether nothing is reserved at all.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a claim that holds these may hold one more.
    pub(super) fn is_free(&self, id: &Arc<str>, held: &Held) -> bool {
        held.contains(id) || self.0.get(id).is_some_and(|free| *free > 0)
    }

    /// Exchanges what a claim holds.
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
