//! Finds available sizes that a pool's own requirements exclude, to suggest what would help.
//!
//! Never buys anything.

use crate::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Requirement, Requirements, label,
};
use crate::solve::demand::Ask;
use crate::solve::fit::labels;

use super::{PoolSupply, named, placement};

/// An offering of a size that the pool excludes.
pub struct Excluded<'p> {
    /// The size.
    pub kind: &'p InstanceType,
    /// The offering.
    pub offering: &'p Offering,
    /// The requirement of the pool that excludes it.
    pub by: (&'p LabelKey, &'p Requirement),
}

impl<'a> PoolSupply<'a> {
    /// Returns the offering with the lowest list price that exactly one requirement of the pool excludes, that
    /// `is_left` accepts, and whose empty node would hold such a pod. Prefers offerings with the capacity type
    /// `bought`.
    pub fn excluded<'p>(
        &'p self,
        (ask, bought): (&Ask, CapacityType),
        is_left: impl Fn(&InstanceType, &Offering, MicroUsdPerHour) -> bool,
    ) -> Option<Excluded<'p>> {
        let holding = self.offered.types.iter().filter(|kind| ask.requests.fit_in(&kind.allocatable));
        let mut ways: Vec<(MicroUsdPerHour, &'p InstanceType, &'p Offering)> = holding
            .flat_map(|kind| kind.offerings.iter().map(move |offering| (kind, offering)))
            .filter(|(_, offering)| offering.is_available)
            .filter_map(|(kind, offering)| Some((offering.price.known()?, kind, offering)))
            .filter(|(price, kind, offering)| is_left(kind, offering, *price))
            .collect();
        ways.sort_by_key(|(price, kind, offering)| {
            let is_otherwise = offering.capacity_type != bought;
            (is_otherwise, *price, &kind.name, &offering.zone, offering.capacity_type)
        });
        let excluded = |&(_, kind, offering): &(MicroUsdPerHour, &'p InstanceType, &'p Offering)| {
            let (by, labels) = self.without_one(kind, offering)?;
            let names = |wanted: &Requirements| named::names(wanted, kind);
            let is_named =
                !named::needs_name(kind) || names(&self.base) || ask.alternatives.iter().any(names);
            let is_met = labels::are_met(&ask.alternatives, &labels, &self.undefined());
            (is_named && is_met).then_some(Excluded { kind, offering, by })
        };
        // A pod that runs on one architecture may not run on another.
        let is_alike = |way: &Excluded<'_>| way.by.0.as_str() != label::ARCH;
        ways.iter().filter_map(excluded).find(is_alike).or_else(|| ways.iter().find_map(excluded))
    }

    /// Returns the only requirement that excludes an offering, and the labels that its node would have without it.
    fn without_one<'p>(
        &'p self,
        kind: &InstanceType,
        offering: &Offering,
    ) -> Option<((&'p LabelKey, &'p Requirement), Requirements)> {
        let placed = placement(offering);
        let excludes = |(key, wanted): &(&LabelKey, &Requirement)| {
            let found = [kind.requirements.get(key.as_str()), placed.get(key.as_str())];
            found.into_iter().flatten().any(|found| !wanted.intersects(found))
        };
        let mut excluding = self.base.iter().filter(excludes);
        let by = excluding.next().filter(|_| excluding.next().is_none())?;
        let mut labels = Requirements::none();
        self.base
            .iter()
            .filter(|(key, _)| *key != by.0)
            .for_each(|(key, wanted)| labels.add(key.clone(), wanted.clone()));
        labels.add_all(&kind.requirements);
        labels.add_all(&placed);
        Some((by, labels))
    }
}
