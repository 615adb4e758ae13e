//! Spot offerings that Azure evicted twice within an hour: they back off for an hour, and others are bought.
//!
//! Kept in this process only: a new one tries such an offering at most twice more. Never backs off after a single
//! eviction, which is normal for spot.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::{CapacityType, Refusal, RefusedBecause, RefusedPlace, SkuName, Zone};

/// Window in which evictions are counted, and length of the back-off.
const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Number of evictions that triggers the back-off.
const TIMES: usize = 2;

/// The offering of a spot VM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpotOffering {
    /// Its size.
    pub size: SkuName,
    /// Its zone.
    pub zone: Zone,
}

/// Evictions of the last hour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evictions {
    /// By the UID of the NodeClaim, so that each counts once.
    evicted: BTreeMap<Arc<str>, (Timestamp, SpotOffering)>,
    resting: BTreeMap<SpotOffering, Timestamp>,
    clock_speed: i32,
}

impl Evictions {
    /// Creates an empty record. `clock_speed` divides the hour.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        Self { clock_speed: i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX), ..Self::default() }
    }

    /// Records the eviction of a NodeClaim's VM, by the claim's UID; returns whether it is new.
    pub fn note(&mut self, claim: &Arc<str>, offering: SpotOffering, at: Timestamp) -> bool {
        let hour = HOUR / self.clock_speed.max(1);
        self.evicted.retain(|_, (evicted, _)| at.duration_since(*evicted) < hour);
        self.resting.retain(|_, until| *until > at);
        if self.evicted.contains_key(claim) {
            return false;
        }
        self.evicted.insert(claim.clone(), (at, offering.clone()));
        if self.evicted.values().filter(|(_, evicted)| *evicted == offering).count() >= TIMES {
            self.resting.insert(offering, at.saturating_add(hour).unwrap_or(Timestamp::MAX));
        }
        true
    }

    /// Returns the offerings that are backing off.
    #[must_use]
    pub fn resting(&self, at: Timestamp) -> Vec<Refusal> {
        let resting = self.resting.iter().filter(|(_, until)| **until > at);
        let refusal = |(SpotOffering { size, zone }, until): (&SpotOffering, &Timestamp)| Refusal {
            size: Some(size.clone()),
            place: RefusedPlace::Zone(zone.clone()),
            capacity_type: Some(CapacityType::Spot),
            because: RefusedBecause::SpotEvicted,
            said: Some("Azure evicted two such VMs within an hour".into()),
            until: *until,
        };
        resting.map(refusal).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(minutes * 60).unwrap()
    }

    fn offering(zone: &str) -> SpotOffering {
        SpotOffering { size: SkuName::new("Standard_D2s_v5"), zone: Zone::new(zone) }
    }

    #[test]
    fn an_offering_rests_for_an_hour_after_its_second_eviction_within_one() {
        let mut evictions = Evictions::new(1);
        assert!(evictions.note(&"a".into(), offering("westeurope-1"), at(0)));
        assert!(!evictions.note(&"a".into(), offering("westeurope-1"), at(1)), "it is the same VM");
        assert!(evictions.note(&"b".into(), offering("westeurope-2"), at(2)));
        assert!(evictions.resting(at(2)).is_empty(), "other zones and single evictions do not count");
        assert!(evictions.note(&"c".into(), offering("westeurope-1"), at(59)));
        let resting = evictions.resting(at(118));
        assert_eq!(resting.len(), 1);
        assert_eq!(
            (&resting[0].place, resting[0].until),
            (&RefusedPlace::Zone(Zone::new("westeurope-1")), at(119))
        );
        assert!(evictions.resting(at(119)).is_empty());
        assert!(evictions.note(&"d".into(), offering("westeurope-2"), at(65)));
        assert!(evictions.resting(at(65)).len() == 1, "the one before is more than an hour ago");
    }
}
