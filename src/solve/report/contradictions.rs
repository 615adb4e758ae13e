//! Warns about contradictions: names in prices that the region does not sell, and labels of pools that their own
//! requirements refuse.
//!
//! Checks only names; whether a commitment is used is up to the cost calculation.

use std::collections::BTreeSet;

use crate::model::label;
use crate::policy::Policy;
use crate::policy::nearest::did_you_mean;
use crate::solve::market::Market;
use crate::solve::price::folded;
use crate::solve::solution::Warning;

/// Warns about commitments to sizes and discounts on families that the region does not have.
#[must_use]
pub fn unknown_names(policy: &Policy, market: &Market) -> Vec<Warning> {
    let kinds = || market.offers.by_class.values().flat_map(|offered| &offered.types);
    let refused =
        market.offers.by_class.values().flat_map(|offered| &offered.refused).map(|refused| &refused.size);
    let sizes: BTreeSet<&str> =
        kinds().map(|kind| &kind.name).chain(refused).map(|name| name.as_str()).collect();
    if sizes.is_empty() {
        return Vec::new();
    }
    let of = |kind, key| {
        let kind: &crate::model::InstanceType = kind;
        kind.requirements.get(key)?.single().map(|value| value.to_string())
    };
    let families: BTreeSet<String> = kinds()
        .flat_map(|kind| [of(kind, label::SKU_SERIES), of(kind, label::SKU_FAMILY)])
        .flatten()
        .collect();
    let prices = &policy.fleet.prices;
    let mut warnings = BTreeSet::new();
    for size in prices.commitments.iter().map(|commitment| commitment.size.as_str()) {
        if !sizes.contains(size) {
            let what = format!("no size of the region has the name `{size}`: it pays for no node");
            let hint = did_you_mean(size, sizes.iter().copied());
            warnings.insert(Warning { object: format!("commitment to `{size}`"), what, hint });
        }
    }
    for family in prices.discounts.iter().map(|discount| &*discount.family) {
        if !families.iter().any(|known| folded(known) == folded(family)) {
            let what =
                format!("no series or family of the region has the name `{family}`: nothing is cheaper");
            let hint = did_you_mean(family, families.iter().map(String::as_str));
            warnings.insert(Warning { object: format!("discount on `{family}`"), what, hint });
        }
    }
    warnings.into_iter().collect()
}

/// Warns about pools with a label that their own requirements do not accept.
#[must_use]
pub fn of_pools(policy: &Policy) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (name, pool) in &policy.pools {
        for (key, requirement) in pool.requirements.iter() {
            let Some(value) = pool.labels.get(key).filter(|value| !requirement.accepts(value)) else {
                continue;
            };
            let what =
                format!("its label `{key}={value}` contradicts its own requirement `{key}` {requirement}");
            let hint = Some("make the label and the requirement agree: nodes get the label".to_owned());
            warnings.push(Warning { object: format!("pool `{name}`"), what, hint });
        }
    }
    warnings
}
