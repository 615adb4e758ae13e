//! What the NodeClaim of a new node asks for, and what the node will be.
//!
//! A claim lists the primary choice and its substitutes, so that Karpenter could launch it too and so that
//! what Azure may refuse has been reviewed with the rest. Which choices hold the pods is the solution's
//! word; nothing is chosen here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{Choice, ClaimSpec};
use super::evidence::NodeShape;
use crate::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Operator, Pool, Requirement,
    Requirements, SkuName, Zone, label,
};
use crate::solve::{NewNode, Substitute};

/// How much dearer than the primary a substitute may be, in hundredths: so that the reviewed cost means
/// something, and on-demand stays a substitute of spot at about a third of its price.
const SUBSTITUTE_PRICE_PERCENT_MAX: i64 = 300;

/// Returns what the NodeClaim of this node asks for.
#[must_use]
pub fn claim_spec(node: &NewNode, pool: &Pool, offered: &BTreeMap<SkuName, InstanceType>) -> ClaimSpec {
    let listed = listed_substitutes(node, pool, offered);
    let prices = listed.iter().map(|substitute| substitute.effective_price).chain([node.effective_price]);
    let price_max: Option<Vec<MicroUsdPerHour>> = prices.map(crate::model::Price::known).collect();
    let requirements = claim_requirements(node, pool, &listed);
    ClaimSpec {
        pool: pool.name.clone(),
        class: pool.class.clone(),
        primary: Choice {
            size: node.size.clone(),
            zone: node.zone.clone(),
            capacity_type: node.capacity_type,
        },
        price_max: price_max.and_then(|prices| prices.into_iter().max()),
        labels: claim_labels(node, pool, &requirements),
        requirements,
        annotations: pool.annotations.clone(),
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace_period: pool.termination_grace_period,
    }
}

/// Returns the substitutes that the claim lists, cheapest first. A pool that asks for a variety of sizes
/// (`minValues`) gets the dearer ones too.
fn listed_substitutes<'a>(
    node: &'a NewNode,
    pool: &Pool,
    offered: &BTreeMap<SkuName, InstanceType>,
) -> Vec<&'a Substitute> {
    let wants_variety = pool.requirements.iter().any(|(_, requirement)| requirement.min_values().is_some());
    let cap = node.effective_price.known().map(|price| price.percent(SUBSTITUTE_PRICE_PERCENT_MAX));
    let is_affordable = |substitute: &Substitute| match (substitute.effective_price.known(), cap) {
        (Some(price), Some(cap)) => wants_variety || price <= cap,
        (Some(_) | None, None) => true,
        (None, Some(_)) => false,
    };
    let mut listing = Listing::of(node, offered);
    let mut listed: Vec<&Substitute> = node.substitutes.iter().filter(|other| is_affordable(other)).collect();
    listed.sort();
    listed.retain(|substitute| listing.take(substitute));
    listed
}

/// What a claim's lists admit so far. A claim lists sizes, zones and capacity types apart, so that every
/// combination of them may be launched: a substitute joins only where no combination comes in that is
/// offered and does not hold the pods.
struct Listing<'a> {
    holds: BTreeSet<(&'a SkuName, &'a Zone, CapacityType)>,
    offered: &'a BTreeMap<SkuName, InstanceType>,
    sizes: BTreeSet<&'a SkuName>,
    zones: BTreeSet<&'a Zone>,
    kinds: BTreeSet<CapacityType>,
}

impl<'a> Listing<'a> {
    fn of(node: &'a NewNode, offered: &'a BTreeMap<SkuName, InstanceType>) -> Self {
        let substitutes = node.substitutes.iter();
        let holds = substitutes.map(|other| (&other.size, &other.zone, other.capacity_type));
        Self {
            holds: holds.chain([(&node.size, &node.zone, node.capacity_type)]).collect(),
            offered,
            sizes: BTreeSet::from([&node.size]),
            zones: BTreeSet::from([&node.zone]),
            kinds: BTreeSet::from([node.capacity_type]),
        }
    }

    fn take(&mut self, other: &'a Substitute) -> bool {
        let (size, zone, kind) = (&other.size, &other.zone, other.capacity_type);
        if self.admits(&(size, zone, kind)) {
            return true;
        }
        let sizes: BTreeSet<_> = self.sizes.iter().copied().chain([size]).collect();
        let zones: BTreeSet<_> = self.zones.iter().copied().chain([zone]).collect();
        let kinds: BTreeSet<_> = self.kinds.iter().copied().chain([kind]).collect();
        let combinations = sizes.iter().flat_map(|size| {
            let zones = &zones;
            kinds.iter().flat_map(move |kind| zones.iter().map(move |zone| (*size, *zone, *kind)))
        });
        let fits = combinations
            .into_iter()
            .all(|combination| self.admits(&combination) || self.may_list(combination));
        if fits {
            (self.sizes, self.zones, self.kinds) = (sizes, zones, kinds);
        }
        fits
    }

    fn admits(&self, (size, zone, kind): &(&SkuName, &Zone, CapacityType)) -> bool {
        self.sizes.contains(size) && self.zones.contains(zone) && self.kinds.contains(kind)
    }

    /// Whether a combination holds the pods or cannot be had. The solution keeps the cheapest substitutes
    /// only, so that one bought in a way of which it keeps none is dearer than the claim's highest price.
    fn may_list(&self, (size, zone, kind): (&SkuName, &Zone, CapacityType)) -> bool {
        let holds = self.holds.contains(&(size, zone, kind));
        let is_kept = self.holds.iter().any(|(other, _, way)| *other == size && *way == kind);
        let is_offered = self.offered.get(size).is_some_and(|known| {
            let same = |offering: &&Offering| offering.zone == *zone && offering.capacity_type == kind;
            known.offerings.iter().filter(same).any(|offering| offering.is_available)
        });
        holds || !is_kept || !is_offered
    }
}

fn claim_requirements(node: &NewNode, pool: &Pool, listed: &[&Substitute]) -> Requirements {
    // Registration and initialization are states of a node, not something to launch by.
    let states = [label::REGISTERED, label::INITIALIZED];
    let mut requirements = Requirements::none();
    for (key, requirement) in pool.node_requirements().iter() {
        if !states.contains(&key.as_str()) {
            requirements.add(key.clone(), requirement.clone());
        }
    }
    for (key, value) in &node.labels {
        requirements.add(key.clone(), Requirement::one(value));
    }
    let sizes = listed.iter().map(|other| other.size.as_str()).chain([node.size.as_str()]);
    let zones = listed.iter().map(|other| other.zone.as_str()).chain([node.zone.as_str()]);
    let kinds = listed.iter().map(|other| other.capacity_type.as_str()).chain([node.capacity_type.as_str()]);
    requirements.add(LabelKey::new(label::INSTANCE_TYPE), Requirement::new(Operator::In, sizes));
    requirements.add(LabelKey::new(label::ZONE), Requirement::new(Operator::In, zones));
    requirements.add(LabelKey::new(label::CAPACITY_TYPE), Requirement::new(Operator::In, kinds));
    requirements
}

/// Returns the labels of the claim: the pool's, those that pods asked for, and every well-known one that
/// has a single value already, so that nothing takes the node for a stranger before it has joined.
fn claim_labels(node: &NewNode, pool: &Pool, requirements: &Requirements) -> BTreeMap<LabelKey, Arc<str>> {
    let well_known = |key: &LabelKey| {
        label::WELL_KNOWN.contains(&key.as_str()) || label::WELL_KNOWN_AZURE.contains(&key.as_str())
    };
    let mut labels = BTreeMap::new();
    for (key, requirement) in requirements.iter() {
        if let Some(value) = requirement.single().filter(|_| well_known(key)) {
            labels.insert(key.clone(), value.clone());
        }
    }
    labels.extend(node.labels.clone());
    labels.extend(pool.labels.clone());
    labels.insert(LabelKey::new(label::NODE_POOL), Arc::from(pool.name.as_str()));
    labels.insert(LabelKey::new(label::NODE_CLASS), Arc::from(pool.class.as_str()));
    labels
}

/// Returns what the node will have once it has joined. Without the instance type, which a complete
/// catalogue has, its labels are the claim's.
#[must_use]
pub fn node_shape(node: &NewNode, claim: &ClaimSpec, kind: Option<&InstanceType>) -> NodeShape {
    let mut labels = BTreeMap::new();
    let mut take = |requirements: &Requirements| {
        for (key, requirement) in requirements.iter() {
            if let Some(value) = requirement.single() {
                labels.insert(key.clone(), value.clone());
            }
        }
    };
    take(&claim.requirements);
    if let Some(kind) = kind {
        take(&kind.requirements);
        let chosen = kind
            .offerings
            .iter()
            .find(|offering| offering.zone == node.zone && offering.capacity_type == node.capacity_type);
        if let Some(offering) = chosen {
            take(&offering.requirements);
        }
    }
    labels.extend(claim.labels.clone());
    let settled = [
        (label::INSTANCE_TYPE, node.size.as_str()),
        (label::ZONE, node.zone.as_str()),
        (label::CAPACITY_TYPE, node.capacity_type.as_str()),
        (label::REGISTERED, "true"),
        (label::INITIALIZED, "true"),
    ];
    labels.extend(settled.map(|(key, value)| (LabelKey::new(key), Arc::from(value))));
    NodeShape {
        capacity: node.capacity.clone(),
        allocatable: node.allocatable.clone(),
        daemon_requests: node.daemon_requests.clone(),
        labels,
        is_estimate: node.is_estimate,
    }
}
