//! Availability premiums: price premiums for scarce offerings where availability is preferred
//! (`NodeFleet.spec.prefer`).
//!
//! A new node counts as more expensive if Azure recently refused its kind, if Azure may evict it, and if its size is
//! sold in few zones. Premiums affect which node is created, but never its cost, and do not apply to existing nodes.
//! Never excludes anything: an offering with a premium is bought if nothing else holds a pod. There are no premiums if
//! only the price is preferred.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Offered;
use crate::catalog::refused::Refused;
use crate::model::{
    CapacityType, ClassName, Fleet, InstanceType, MicroUsdPerHour, Offering, PodKey, Prefer, Refusal,
    RefusedPlace, Zone,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::shrink::trial::is_worse;
use super::solution::{Solution, Warning};
use super::supply::Supply;

/// Premium on an offering that Azure refused and may still refuse, in percent: any alternative that holds the pods is
/// preferred up to three times the price, the same limit as for the alternatives in a claim. If all spot capacity is
/// refused, this admits on-demand, of which spot is estimated to cost 35 %.
pub const REFUSED_PERCENT: u32 = 200;

/// Premium on spot capacity, which Azure may evict, in percent: spot must save a fifth of the on-demand price. The
/// highest band of the eviction rates that Azure publishes begins at a fifth.
pub const SPOT_PERCENT: u32 = 25;

/// Premium on a size for each zone of the region that lacks it, in percent: a size sold in few zones sells out sooner,
/// and has fewer fallbacks. Equals the default limit for the cost of pods' soft preferences.
pub const MISSING_ZONE_PERCENT: u32 = 5;

/// Premiums on prices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caution {
    /// Whether any premium applies.
    is_heeded: bool,
    /// Refusals that still count.
    refused: Vec<Refused>,
    /// Zones of the region.
    zones: BTreeSet<Zone>,
}

impl Caution {
    /// Returns the premiums for the pools of a policy, which may use what their classes are offered.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy, offered: &BTreeMap<ClassName, Arc<Offered>>) -> Self {
        if policy.fleet.prefer == Prefer::Price {
            return Self::default();
        }
        let types = || offered.values().flat_map(|offered| &offered.types);
        let live = live(snapshot).map(|refusal| Refused::of(refusal.clone(), types()));
        Self { is_heeded: true, refused: live.collect(), zones: snapshot.catalog.zone_names() }
    }

    /// Returns the premium on an offering of a size, in percent.
    #[must_use]
    pub fn percent(&self, kind: &InstanceType, offering: &Offering) -> u32 {
        if !self.is_heeded {
            return 0;
        }
        let is_refused = self.refused.iter().any(|refused| refused.is_about(kind, offering));
        let is_spot = offering.capacity_type == CapacityType::Spot;
        let missing = u32::try_from(self.missing_zones(kind)).unwrap_or(u32::MAX);
        let refused = if is_refused { REFUSED_PERCENT } else { 0 };
        let spot = if is_spot { SPOT_PERCENT } else { 0 };
        missing.saturating_mul(MISSING_ZONE_PERCENT).saturating_add(refused + spot)
    }

    /// Returns the premium on an offering at this price.
    #[must_use]
    pub fn premium(
        &self,
        kind: &InstanceType,
        offering: &Offering,
        price: Option<MicroUsdPerHour>,
    ) -> MicroUsdPerHour {
        price.unwrap_or_default().percent(i64::from(self.percent(kind, offering)))
    }

    /// Counts the zones of the region that lack a size which other zones have.
    fn missing_zones(&self, kind: &InstanceType) -> usize {
        let own: BTreeSet<&Zone> = kind
            .offerings
            .iter()
            .filter(|offering| offering.is_available)
            .map(|offering| &offering.zone)
            .collect();
        match self.zones.iter().filter(|zone| own.contains(zone)).count() {
            0 => 0,
            there => self.zones.len() - there,
        }
    }

    /// Lists the refusals that count, and until when, if they affect anything that a pool may use.
    #[must_use]
    pub fn warnings(&self, supply: &Supply<'_>) -> Vec<Warning> {
        let kinds = || supply.pools.iter().flat_map(|pool| &pool.kinds);
        let counts = |refused: &&Refused| {
            kinds()
                .any(|kind| kind.offerings.iter().any(|usable| refused.is_about(kind.kind, usable.offering)))
        };
        self.refused.iter().filter(counts).map(|refused| warning(&refused.refusal)).collect()
    }
}

/// Price of an offering, and its price with premium, by which new nodes are chosen; `None` if unknown.
pub type Weighed = (Option<MicroUsdPerHour>, Option<MicroUsdPerHour>);

/// Returns whether an offering would be launched before the first choice, or as readily, although its price with
/// premium is higher: clouds choose by price.
#[must_use]
pub fn is_avoided_for((price, counted): Weighed, (first_price, first_counted): Weighed) -> bool {
    counted > first_counted && price <= first_price
}

/// Plans a fleet with premiums. If that leaves pods unplaced, also plans by price alone, and returns that fleet if it
/// places more pods: a node with a lower premium may use more of the limits.
pub(super) fn solve(snapshot: &Snapshot, policy: &Policy, solve: impl Fn(&Policy) -> Solution) -> Solution {
    let solution = solve(policy);
    if policy.fleet.prefer == Prefer::Price || solution.report.unplaced.is_empty() {
        return solution;
    }
    let fleet = Fleet { prefer: Prefer::Price, ..policy.fleet.clone() };
    let mut by_price = solve(&Policy { fleet, ..policy.clone() });
    let unplaced = |solution: &Solution| unplaced(snapshot, solution);
    if !is_worse(&unplaced(&solution), &unplaced(&by_price)) {
        return solution;
    }
    by_price.report.warnings.push(Warning {
        object: "`spec.prefer` of the NodeFleet".to_owned(),
        what: "is not heeded: nodes that are easier to have leave more pods without a place".to_owned(),
        hint: Some("raise the limits that those pods do not fit in".to_owned()),
    });
    by_price.report.warnings.sort();
    by_price
}

/// Counts unplaced pods by priority.
pub(super) fn unplaced(snapshot: &Snapshot, solution: &Solution) -> BTreeMap<i32, usize> {
    let pods: BTreeSet<&PodKey> =
        solution.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods).collect();
    let mut counts = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| pods.contains(&pod.key)) {
        *counts.entry(pod.spec.priority).or_default() += 1;
    }
    counts
}

/// Returns the refusals that have not expired. Without a time that is unknown, so there are none.
pub(super) fn live(snapshot: &Snapshot) -> impl Iterator<Item = &Refusal> {
    let is_live = |refusal: &&Refusal| snapshot.at.is_some_and(|at| at < refusal.until);
    snapshot.refusals.iter().filter(is_live)
}

fn warning(refusal: &Refusal) -> Warning {
    let Refusal { size, place, capacity_type, because: _, said: _, until } = refusal;
    let place = match place {
        RefusedPlace::Everywhere => String::new(),
        RefusedPlace::EveryZone => " in every zone".to_owned(),
        RefusedPlace::Zone(zone) if zone.as_str() == "0" => " outside of zones".to_owned(),
        RefusedPlace::Zone(zone) => format!(" in zone `{zone}`"),
    };
    let bought = capacity_type.map_or(String::new(), |bought| format!(" as {bought}"));
    let (object, counts, one) = match size {
        Some(size) => (format!("size `{size}`"), "counts with larger ones of its series", "it"),
        None => ("every size".to_owned(), "counts", "one"),
    };
    let what = format!(
        "{counts} as {REFUSED_PERCENT} % dearer{place}{bought} until {until}: {one} was refused ({})",
        refusal.why()
    );
    Warning { object, what, hint: None }
}
