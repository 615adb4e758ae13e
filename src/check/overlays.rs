//! NodeOverlays as the checker reads them: prices and resources of sizes in each pool.
//!
//! Overlays are ordered by weight, then by name in reverse. The first one that prices an offering wins, and the first
//! one that sets a resource of a size. If two of equal weight conflict in a price or a resource, the later one is
//! invalid everywhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::Offered;
use crate::model::{
    ClassName, InstanceType, MicroUsdPerHour, Offering, Overlay, Pool, PoolName, Price, PriceChange,
    Requirements, label,
};
use crate::policy::Policy;

type Classes<'a> = BTreeMap<&'a ClassName, Arc<Offered>>;

/// Returns the instance types of each pool, with overlays applied; empty without overlays.
pub(super) fn of_pools<'a>(policy: &'a Policy, classes: &Classes<'_>) -> BTreeMap<&'a PoolName, Offered> {
    if policy.overlays.is_empty() {
        return BTreeMap::new();
    }
    let valid = valid(policy, classes);
    let of_pool = |pool: &'a Pool| {
        let mut offered = Offered::clone(classes.get(&pool.class)?);
        offered.types.iter_mut().for_each(|size| lay_over(&valid, pool, size));
        Some((&pool.name, offered))
    };
    policy.pools.values().filter_map(of_pool).collect()
}

/// Returns the valid overlays in order.
fn valid<'a>(policy: &'a Policy, classes: &Classes<'_>) -> Vec<&'a Overlay> {
    let mut all: Vec<&Overlay> = policy.overlays.values().rev().collect();
    all.sort_by_key(|overlay| std::cmp::Reverse(overlay.weight));
    let mut valid: Vec<&Overlay> = Vec::new();
    for overlay in all {
        let is_met = valid.iter().any(|other| {
            let mut pools = policy.pools.values();
            other.weight == overlay.weight
                && pools.any(|pool| {
                    let offered = classes.get(&pool.class);
                    let mut sizes = offered.into_iter().flat_map(|offered| &offered.types);
                    sizes.any(|size| meet((overlay, other), pool, size))
                })
        });
        if !is_met {
            valid.push(overlay);
        }
    }
    valid
}

/// Returns whether two overlays conflict in a price or a resource of a size.
fn meet((one, other): (&Overlay, &Overlay), pool: &Pool, size: &InstanceType) -> bool {
    if !concerns(one, pool, size) || !concerns(other, pool, size) {
        return false;
    }
    let in_price = one.price.is_some()
        && other.price.is_some()
        && size.offerings.iter().any(|offering| covers(one, offering) && covers(other, offering));
    in_price || one.capacity.iter().any(|(name, _)| other.capacity.names(name))
}

/// Returns whether an overlay applies to a size of a pool with at least one offering.
fn concerns(overlay: &Overlay, pool: &Pool, size: &InstanceType) -> bool {
    let mut labels = size.requirements.clone();
    labels.add_all(&Requirements::of_labels([(label::NODE_POOL, pool.name.as_str())]));
    labels.add_all(&Requirements::of_labels(pool.labels.iter().map(|(key, value)| (key.as_str(), &**value))));
    overlay.requirements.satisfied_by(&labels, |_| false).is_ok()
        && size.offerings.iter().any(|offering| covers(overlay, offering))
}

fn covers(overlay: &Overlay, offering: &Offering) -> bool {
    overlay.requirements.intersects(&offering.requirements).is_ok()
}

/// Applies the overlays to a size in a pool.
fn lay_over(valid: &[&Overlay], pool: &Pool, size: &mut InstanceType) {
    let own: Vec<&Overlay> = valid.iter().copied().filter(|overlay| concerns(overlay, pool, size)).collect();
    for offering in &mut size.offerings {
        let pricing =
            own.iter().filter(|overlay| covers(overlay, offering)).find_map(|overlay| overlay.price);
        offering.price = match pricing {
            Some(PriceChange::To(price)) => Price::Listed(price.max(MicroUsdPerHour(0))),
            Some(change @ (PriceChange::ByAmount(_) | PriceChange::ByPercent(_))) => {
                offering.price.map(|price| change.of(price))
            }
            None => offering.price,
        };
    }
    // The last write wins, so the first overlay is applied last.
    for (name, amount) in own.iter().rev().flat_map(|overlay| overlay.capacity.iter()) {
        size.capacity.set(name.clone(), amount);
        size.allocatable.set(name.clone(), amount);
    }
}
