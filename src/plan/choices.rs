//! Launch choices of a claim, each of which fits its pods.
//!
//! A claim lists sizes, zones and capacity types separately. Its lists are built so that combinations not known to fit
//! the pods cost more than the claim's maximum price or are unavailable ([`super::claim`]): the rest are the solution's
//! choices. They are read from the claim alone, so equal claims of different nodes have the same choices.

use std::collections::BTreeMap;

use super::change::{Choice, ClaimSpec, ClaimSpecId};
use super::identity::Lineage;
use super::propose::{Ground, Types};
use super::spec::PlanSpec;
use crate::model::{CapacityType, MicroUsdPerHour, label};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::price::PriceBook;

/// A launch choice with its price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PricedChoice {
    /// Size, zone and capacity type.
    pub choice: Choice,
    /// Hourly effective price including the disk; `None` if unknown.
    pub price: Option<MicroUsdPerHour>,
}

/// Returns the launch choices of each claim spec of a plan made from this snapshot: the primary first, then the others,
/// cheapest first.
#[must_use]
pub fn choices(
    snapshot: &Snapshot,
    policy: &Policy,
    spec: &PlanSpec,
) -> BTreeMap<ClaimSpecId, Vec<PricedChoice>> {
    let lineage = Lineage { cluster: spec.cluster.clone(), scope: spec.scope.clone(), parent: spec.parent };
    let mut types = Types::of(Ground { snapshot, policy, lineage: &lineage, inputs: &spec.inputs });
    let book = PriceBook::new(&policy.fleet.prices);
    let of_claim =
        |(id, claim): (&ClaimSpecId, &ClaimSpec)| (id.clone(), of(claim, policy, (&mut types, &book)));
    spec.claims.iter().map(of_claim).collect()
}

fn of(
    claim: &ClaimSpec,
    policy: &Policy,
    (types, book): (&mut Types<'_>, &PriceBook<'_>),
) -> Vec<PricedChoice> {
    let Some(pool) = policy.pools.get(&claim.pool) else { return Vec::new() };
    let offered = types.offered(pool);
    let lists = |key: &str, value: &str| {
        claim
            .requirements
            .get(key)
            .and_then(|listed| listed.listed())
            .is_some_and(|listed| listed.contains(value))
    };
    let mut found = Vec::new();
    for kind in offered.values().filter(|kind| lists(label::INSTANCE_TYPE, kind.name.as_str())) {
        for offering in &kind.offerings {
            let capacity_type = offering.capacity_type;
            let is_listed = lists(label::ZONE, offering.zone.as_str())
                && lists(label::CAPACITY_TYPE, capacity_type.as_str());
            // A reservation is not bought as a VM.
            if !is_listed || !offering.is_available || capacity_type == CapacityType::Reserved {
                continue;
            }
            let price = book.quote(kind, offering).effective.known();
            let choice = Choice { size: kind.name.clone(), zone: offering.zone.clone(), capacity_type };
            let is_within = match (price, claim.price_max) {
                (Some(price), Some(most)) => price <= most,
                (None, Some(_)) => false,
                (Some(_) | None, None) => true,
            };
            if is_within || choice == claim.primary {
                found.push(PricedChoice { choice, price });
            }
        }
    }
    found.sort_by(|one, other| rank(claim, one).cmp(&rank(claim, other)));
    found
}

type Rank<'a> = (bool, MicroUsdPerHour, &'a str, bool, &'a str, CapacityType);

/// Sorts the primary first, then by price. At equal prices a zone comes before no zone, as everywhere.
fn rank<'a>(claim: &ClaimSpec, PricedChoice { choice, price }: &'a PricedChoice) -> Rank<'a> {
    let Choice { size, zone, capacity_type } = choice;
    let price = price.unwrap_or(MicroUsdPerHour(i64::MAX));
    let is_anywhere = zone.as_str() == crate::catalog::NO_ZONE;
    (*choice != claim.primary, price, size.as_str(), is_anywhere, zone.as_str(), *capacity_type)
}
