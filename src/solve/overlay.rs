//! NodeOverlays: prices and capacities of a class's sizes in one pool.
//!
//! By Karpenter's rules: the heaviest comes first, and equally heavy ones follow in descending order of name. The first
//! price for an offering applies, as does the first amount of a resource. An overlay that contradicts an equally heavy
//! one before it is ignored entirely. Never chooses sizes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Offered;
use crate::model::{
    ClassName, InstanceType, Offering, Overlay, OverlayName, Pool, PoolName, Price, PriceChange,
    Requirements, ResourceName, label,
};
use crate::policy::Policy;

use super::solution::Warning;

/// A pool with the class of its nodes.
pub type PoolClass = (PoolName, ClassName);

/// Result of applying overlays to what classes are offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlaid {
    /// Instance types of the pools that an overlay matches.
    pub by_pool: BTreeMap<PoolClass, Offered>,
    /// The overlays that change something.
    pub counting: BTreeSet<OverlayName>,
    /// Overlays that are ignored, with the reason.
    pub warnings: Vec<Warning>,
}

/// A pool, a size and an offering of it, each by index.
type Spot = (usize, usize, usize);

/// An overlay, with the offerings that it matches.
struct Placed<'a> {
    overlay: &'a Overlay,
    spots: BTreeSet<Spot>,
}

impl Overlaid {
    /// Applies the overlays of a policy.
    #[must_use]
    pub fn of(policy: &Policy, offered: &BTreeMap<ClassName, Arc<Offered>>) -> Self {
        let mut overlaid = Self::default();
        if policy.overlays.is_empty() {
            return overlaid;
        }
        let pools: Vec<(&Pool, &Offered)> =
            policy.pools.values().filter_map(|pool| Some((pool, &**offered.get(&pool.class)?))).collect();
        let mut ordered: Vec<&Overlay> = policy.overlays.values().collect();
        ordered.sort_by_key(|overlay| Reverse((overlay.weight, &overlay.name)));
        let mut counted: Vec<Placed<'_>> = Vec::new();
        for overlay in ordered {
            let placed = Placed { overlay, spots: spots(overlay, &pools) };
            match why_not(&placed, &counted) {
                Some((what, hint)) => overlaid.warnings.push(warning(overlay, what, hint)),
                None => counted.push(placed),
            }
        }
        for (place, (pool, offered)) in pools.iter().enumerate() {
            if let Some(changed) = changed(place, offered, &counted) {
                overlaid.by_pool.insert((pool.name.clone(), pool.class.clone()), changed);
            }
        }
        overlaid.counting = counted.iter().map(|placed| placed.overlay.name.clone()).collect();
        overlaid.warnings.sort();
        overlaid
    }
}

fn warning(overlay: &Overlay, what: String, hint: &str) -> Warning {
    Warning { object: format!("NodeOverlay `{}`", overlay.name), what, hint: Some(hint.to_owned()) }
}

/// Returns why an overlay is ignored, given those before it.
fn why_not(placed: &Placed<'_>, before: &[Placed<'_>]) -> Option<(String, &'static str)> {
    if placed.spots.is_empty() {
        let what = "has no effect: no size of any NodePool is what it asks for".to_owned();
        return Some((what, "`nodeform catalog` lists what the region has"));
    }
    let equal = before.iter().filter(|other| other.overlay.weight == placed.overlay.weight);
    let (other, about) =
        equal.into_iter().find_map(|other| Some((other.overlay, contradiction(placed, other)?)))?;
    let what = format!("has no effect: `{}` has the same weight and also says {about}", other.name);
    Some((what, "give one of them another `spec.weight`: the heavier counts"))
}

/// Describes the setting of the same size that two overlays both change.
fn contradiction(one: &Placed<'_>, other: &Placed<'_>) -> Option<String> {
    let both_price = one.overlay.price.is_some() && other.overlay.price.is_some();
    if both_price && !one.spots.is_disjoint(&other.spots) {
        return Some("what some of its sizes cost".to_owned());
    }
    let mut names = one.overlay.capacity.iter().map(|(name, _)| name);
    let both = names.find(|name| other.overlay.capacity.names(name))?;
    let sizes = |placed: &Placed<'_>| -> BTreeSet<(usize, usize)> {
        placed.spots.iter().map(|(pool, size, _)| (*pool, *size)).collect()
    };
    let meet = !sizes(one).is_disjoint(&sizes(other));
    meet.then(|| format!("how much `{both}` some of its sizes have"))
}

/// Returns all offerings that an overlay matches.
fn spots(overlay: &Overlay, pools: &[(&Pool, &Offered)]) -> BTreeSet<Spot> {
    let mut spots = BTreeSet::new();
    for (pool_place, (pool, offered)) in pools.iter().enumerate() {
        let own = of_pool(pool);
        for (place, kind) in offered.types.iter().enumerate() {
            if is_for(overlay, &own, kind) {
                let offerings = kind.offerings.iter().enumerate();
                let meant = offerings.filter(|(_, offering)| is_for_offering(overlay, offering));
                spots.extend(meant.map(|(number, _)| (pool_place, place, number)));
            }
        }
    }
    spots
}

/// Returns the labels of a pool that overlays match: those of its nodes, regardless of their size.
fn of_pool(pool: &Pool) -> Requirements {
    let labels = pool.labels.iter().map(|(key, value)| (key.as_str(), &**value));
    let mut own = Requirements::of_labels(labels);
    own.add_all(&Requirements::of_labels([(label::NODE_POOL, pool.name.as_str())]));
    own
}

fn is_for(overlay: &Overlay, own: &Requirements, kind: &InstanceType) -> bool {
    let mut there = kind.requirements.clone();
    there.add_all(own);
    overlay.requirements.satisfied_by(&there, |_| false).is_ok()
}

fn is_for_offering(overlay: &Overlay, offering: &Offering) -> bool {
    overlay.requirements.intersects(&offering.requirements).is_ok()
}

/// Returns the instance types of a pool with the overlays applied; `None` if none matches.
fn changed(pool: usize, offered: &Offered, counted: &[Placed<'_>]) -> Option<Offered> {
    let mut changed: Option<Offered> = None;
    let mut priced: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut given: BTreeSet<(usize, ResourceName)> = BTreeSet::new();
    for Placed { overlay, spots } in counted {
        for (_, size, number) in spots.range((pool, 0, 0)..(pool + 1, 0, 0)) {
            let kind = &mut changed.get_or_insert_with(|| offered.clone()).types[*size];
            if let Some(change) = overlay.price
                && priced.insert((*size, *number))
            {
                let offering = &mut kind.offerings[*number];
                offering.price = price(change, offering.price);
            }
            for (name, amount) in overlay.capacity.iter() {
                if given.insert((*size, name.clone())) {
                    kind.capacity.set(name.clone(), amount);
                    kind.allocatable.set(name.clone(), amount);
                }
            }
        }
    }
    changed
}

/// Returns the changed price of an offering. A price set by an overlay is known, whatever the list says.
fn price(change: PriceChange, listed: Price) -> Price {
    match change {
        PriceChange::To(_) => Price::Listed(change.of(crate::model::MicroUsdPerHour(0))),
        PriceChange::ByAmount(_) | PriceChange::ByPercent(_) => listed.map(|price| change.of(price)),
    }
}
