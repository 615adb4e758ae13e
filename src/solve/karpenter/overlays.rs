//! NodeOverlays: other prices and further resources, where Karpenter's gate for them is open.
//!
//! Of several that are for the same, the heaviest counts, equal ones by name from the end; one that contradicts an
//! equally heavy one before it does not count anywhere. Nothing here chooses sizes.

use std::cmp::Reverse;

use crate::model::{InstanceType, Offering, Overlay, Price, Requirements, ResourceName, Resources};
use crate::policy::Policy;

use super::shelf::Shelf;
use super::template::Template;

/// The overlays that count, the one that counts first in front.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlays<'a>(Vec<&'a Overlay>);

/// What overlays see of a pool: what stands on its nodes whatever their size.
pub(super) fn of_pool(template: &Template<'_>) -> Requirements {
    let pool = template.pool;
    let labels = pool.labels.iter().map(|(key, value)| (key.as_str(), &**value));
    let mut own = Requirements::of_labels(labels);
    own.add_all(&Requirements::of_labels([(crate::model::label::NODE_POOL, pool.name.as_str())]));
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

impl<'a> Overlays<'a> {
    /// Reads the overlays that count.
    pub(super) fn of(policy: &'a Policy, templates: &[Template<'_>], shelves: &[Shelf<'_>]) -> Self {
        let mut ordered: Vec<&Overlay> = policy.overlays.values().collect();
        ordered.sort_by_key(|overlay| Reverse((overlay.weight, &overlay.name)));
        let mut counted: Vec<&Overlay> = Vec::new();
        for overlay in ordered {
            let equal = counted.iter().filter(|other| other.weight == overlay.weight);
            if !equal.into_iter().any(|other| contradict(other, overlay, templates, shelves)) {
                counted.push(overlay);
            }
        }
        Self(counted)
    }

    /// Returns what an offering costs in a pool.
    pub(super) fn price(&self, own: &Requirements, kind: &InstanceType, offering: &Offering) -> Price {
        let mut changes = self.0.iter().filter_map(|overlay| Some((overlay, overlay.price?)));
        let change =
            changes.find(|(overlay, _)| is_for_offering(overlay, offering) && is_for(overlay, own, kind));
        change.map_or(offering.price, |(_, change)| offering.price.map(|price| change.of(price)))
    }

    /// Returns what the nodes of a size have beside its own.
    pub(super) fn capacity(&self, own: &Requirements, kind: &InstanceType) -> Resources {
        let mut more = Resources::none();
        for overlay in self.0.iter().rev().filter(|overlay| is_for(overlay, own, kind)) {
            for (name, amount) in overlay.capacity.iter() {
                more.set(name.clone(), amount);
            }
        }
        more
    }
}

/// Returns whether two overlays say different things of the same.
fn contradict(one: &Overlay, other: &Overlay, templates: &[Template<'_>], shelves: &[Shelf<'_>]) -> bool {
    let names = |overlay: &Overlay| -> Vec<ResourceName> {
        overlay.capacity.iter().map(|(name, _)| name.clone()).collect()
    };
    let of_one = names(one);
    let both_add = names(other).iter().any(|name| of_one.contains(name));
    let both_price = one.price.is_some() && other.price.is_some();
    templates.iter().any(|template| {
        let own = of_pool(template);
        let shelf = &shelves[template.shelf];
        let mut kinds = template.kinds.iter().map(|place| shelf.kinds[place]);
        kinds.any(|kind| {
            let meets = is_for(one, &own, kind) && is_for(other, &own, kind);
            let mut offerings = kind.offerings.iter();
            let priced =
                |offering: &Offering| is_for_offering(one, offering) && is_for_offering(other, offering);
            meets && (both_add || (both_price && offerings.any(priced)))
        })
    })
}
