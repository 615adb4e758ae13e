//! NodeClaim of a new node, and the expected node.
//!
//! A claim lists the primary choice and its substitutes. So Karpenter could launch it too, and the alternatives to what
//! Azure may refuse are reviewed with the rest. The solution decides which choices fit the pods; nothing is chosen
//! here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{Choice, ClaimSpec};
use super::evidence::NodeShape;
use crate::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Operator, Pool, Requirement,
    Requirements, SkuName, Zone, label,
};
use crate::solve::price::PriceBook;
use crate::solve::{NewNode, Substitute};

/// Maximum price of a substitute, in percent of the primary's. It keeps the reviewed cost meaningful, and on-demand
/// remains a substitute for spot at about a third of its price.
const SUBSTITUTE_PRICE_PERCENT_MAX: i64 = 300;

/// Instance types of a class, and their prices.
#[derive(Clone, Copy, Debug)]
pub struct Shelf<'a> {
    /// The instance types by name.
    pub offered: &'a BTreeMap<SkuName, InstanceType>,
    /// The user's prices.
    pub book: &'a PriceBook<'a>,
}

/// Returns the NodeClaim spec of this node.
#[must_use]
pub fn claim_spec(node: &NewNode, pool: &Pool, shelf: Shelf<'_>) -> ClaimSpec {
    let listed = listed_substitutes(node, shelf);
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

/// Returns the substitutes that the claim lists, cheapest first. Those that `minValues` needs come before all others,
/// even if they cost more.
fn listed_substitutes<'a>(node: &'a NewNode, shelf: Shelf<'a>) -> Vec<&'a Substitute> {
    let is_needed = |substitute: &Substitute| node.variety.among.contains(substitute);
    let cap = node.effective_price.known().map(|price| price.percent(SUBSTITUTE_PRICE_PERCENT_MAX));
    let is_affordable = |substitute: &Substitute| match (substitute.effective_price.known(), cap) {
        (Some(price), Some(cap)) => price <= cap || is_needed(substitute),
        (Some(_) | None, None) => true,
        (None, Some(_)) => false,
    };
    let mut listing = Listing::of(node, shelf);
    let mut listed: Vec<&Substitute> = node.substitutes.iter().filter(|other| is_affordable(other)).collect();
    listed.sort_by_key(|substitute| (!is_needed(substitute), *substitute));
    listed.retain(|substitute| listing.take(substitute));
    listed
}

/// The claim's lists so far. A claim lists sizes, zones and capacity types separately, so every combination may be
/// launched. A substitute is only added if it admits no combination that is available at the claim's maximum price and
/// does not fit the pods.
struct Listing<'a> {
    holds: BTreeSet<Combination<'a>>,
    shelf: Shelf<'a>,
    sizes: BTreeSet<&'a SkuName>,
    zones: BTreeSet<&'a Zone>,
    kinds: BTreeSet<CapacityType>,
    /// Highest price so far; `None` if a price is unknown, which means no maximum.
    price_max: Option<MicroUsdPerHour>,
    /// Lowest price of an admitted combination that is not known to fit the pods.
    stranger: Option<MicroUsdPerHour>,
}

type Combination<'a> = (&'a SkuName, &'a Zone, CapacityType);

impl<'a> Listing<'a> {
    fn of(node: &'a NewNode, shelf: Shelf<'a>) -> Self {
        let substitutes = node.substitutes.iter();
        let holds = substitutes.map(|other| (&other.size, &other.zone, other.capacity_type));
        Self {
            holds: holds.chain([(&node.size, &node.zone, node.capacity_type)]).collect(),
            shelf,
            sizes: BTreeSet::from([&node.size]),
            zones: BTreeSet::from([&node.zone]),
            kinds: BTreeSet::from([node.capacity_type]),
            price_max: node.effective_price.known(),
            stranger: None,
        }
    }

    /// Adds a substitute that is no cheaper than the previous ones, if the lists allow it.
    fn take(&mut self, other: &'a Substitute) -> bool {
        let (size, zone, kind) = (&other.size, &other.zone, other.capacity_type);
        let sizes: BTreeSet<_> = self.sizes.iter().copied().chain([size]).collect();
        let zones: BTreeSet<_> = self.zones.iter().copied().chain([zone]).collect();
        let kinds: BTreeSet<_> = self.kinds.iter().copied().chain([kind]).collect();
        let combinations = sizes.iter().flat_map(|size| {
            let zones = &zones;
            kinds.iter().flat_map(move |kind| zones.iter().map(move |zone| (*size, *zone, *kind)))
        });
        let strangers = combinations.filter(|combination| !self.admits(combination));
        let stranger = strangers.filter_map(|combination| self.price_of_stranger(combination)).min();
        let stranger = [stranger, self.stranger].into_iter().flatten().min();
        let price = other.effective_price.known();
        let price_max = self.price_max.zip(price).map(|(most, price)| most.max(price));
        let fits = stranger.is_none_or(|stranger| price_max.is_some_and(|most| most < stranger));
        if fits {
            (self.sizes, self.zones, self.kinds) = (sizes, zones, kinds);
            (self.price_max, self.stranger) = (price_max, stranger);
        }
        fits
    }

    fn admits(&self, (size, zone, kind): &Combination<'_>) -> bool {
        self.sizes.contains(size) && self.zones.contains(zone) && self.kinds.contains(kind)
    }

    /// Returns the price of an available combination that is not known to fit the pods. An unknown price counts as the
    /// highest: a claim with a maximum price excludes it.
    fn price_of_stranger(&self, combination: Combination<'_>) -> Option<MicroUsdPerHour> {
        let (size, zone, kind) = combination;
        if self.holds.contains(&combination) {
            return None;
        }
        let known = self.shelf.offered.get(size)?;
        let same = |offering: &&Offering| offering.zone == *zone && offering.capacity_type == kind;
        let offering = known.offerings.iter().filter(same).find(|offering| offering.is_available)?;
        let price = self.shelf.book.quote(known, offering).effective.known();
        Some(price.unwrap_or(MicroUsdPerHour(i64::MAX)))
    }
}

fn claim_requirements(node: &NewNode, pool: &Pool, listed: &[&Substitute]) -> Requirements {
    // Registration and initialization are states of a node, not launch requirements.
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
    let asked: Vec<(LabelKey, Requirement)> = requirements
        .iter()
        .filter(|(_, requirement)| requirement.min_values().is_some())
        .map(|(key, requirement)| (key.clone(), requirement.clone()))
        .collect();
    for (key, requirement) in asked {
        let least = node.variety.asked.get(&key).copied();
        requirements.set(key, requirement.with_min_values(least));
    }
    requirements
}

/// Returns the labels of the claim: the pool's, those that pods request, and all well-known ones with a single value,
/// so that the node is not mistaken for another before it joins.
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

/// Returns the expected node once it has joined. Without the instance type, which a complete catalogue has, its labels
/// are the claim's.
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
