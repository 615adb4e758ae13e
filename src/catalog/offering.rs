//! Offerings of a size: every zone and "no zone", each on demand and as spot.
//!
//! Does not consider quotas and Azure's recent refusals.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::price::PricedSize;
use crate::model::{
    CapacityType, LabelKey, Offering, Operator, Price, Region, Requirement, Requirements, Zone, label,
};

/// Azure's "no zone".
pub const NO_ZONE: &str = "0";
/// Another label with the value of [`label::AKS_SCALE_SET_PRIORITY`].
const AKS_PRIORITY: &str = "kubernetes.azure.com/priority";
/// Capacity types in Azure's price list.
const BOUGHT: [CapacityType; 2] = [CapacityType::OnDemand, CapacityType::Spot];

/// Builds the offerings of sizes of one region. Caches parts that many sizes have in common, so that they share memory.
pub(super) struct Offerings<'a> {
    region: &'a Region,
    /// The labels that all sizes share.
    shared: Requirements,
    made: BTreeMap<Terms, (Zone, Requirements)>,
    together: BTreeMap<Ways, Requirements>,
}

/// Zones, spot availability and ultra disk support of a size; few combinations exist.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Ways {
    zones: Vec<Arc<str>>,
    is_spot: bool,
    is_ultra_ssd_regional: bool,
    ultra_ssd_zones: Vec<Arc<str>>,
}

/// Inputs that determine the labels of an offering.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Terms {
    zone: Arc<str>,
    capacity_type: CapacityType,
    has_ultra_ssd: bool,
}

impl<'a> Offerings<'a> {
    pub(super) const fn new(region: &'a Region, shared: Requirements) -> Self {
        Self { region, shared, made: BTreeMap::new(), together: BTreeMap::new() }
    }

    /// Returns the offerings of a size, sorted by zone and capacity type, and their labels combined with the shared
    /// ones.
    pub(super) fn of(&mut self, sold: &PricedSize) -> (Vec<Offering>, Requirements) {
        let no_zone: Arc<str> = Arc::from(NO_ZONE);
        let zones = std::iter::once(&no_zone).chain(&sold.size.zones);
        let mut offerings = Vec::with_capacity(2 * (sold.size.zones.len() + 1));
        for zone in zones {
            for capacity_type in BOUGHT {
                offerings.push(self.one(sold, zone, capacity_type));
            }
        }
        offerings
            .sort_by(|left, right| (&left.zone, left.capacity_type).cmp(&(&right.zone, right.capacity_type)));
        let capabilities = &sold.size.capabilities;
        let ways = Ways {
            zones: sold.size.zones.clone(),
            is_spot: capabilities.spot,
            is_ultra_ssd_regional: capabilities.ultra_ssd_regional,
            ultra_ssd_zones: capabilities.ultra_ssd_zones.clone(),
        };
        let labels = self.together.entry(ways).or_insert_with(|| together(&self.shared, &offerings));
        (offerings, labels.clone())
    }

    fn one(&mut self, sold: &PricedSize, zone: &Arc<str>, capacity_type: CapacityType) -> Offering {
        let capabilities = &sold.size.capabilities;
        let has_ultra_ssd = if &**zone == NO_ZONE {
            capabilities.ultra_ssd_regional
        } else {
            capabilities.ultra_ssd_zones.contains(zone)
        };
        let region = self.region;
        let terms = Terms { zone: zone.clone(), capacity_type, has_ultra_ssd };
        let made = self.made.entry(terms).or_insert_with_key(|terms| labels(region, terms));
        let (zone, requirements) = made.clone();
        let (price, is_available) = price(sold, capacity_type);
        Offering { zone, capacity_type, price, is_available, reserved_count: None, requirements }
    }
}

fn price(sold: &PricedSize, capacity_type: CapacityType) -> (Price, bool) {
    match capacity_type {
        CapacityType::OnDemand => (sold.price.on_demand, true),
        CapacityType::Spot => (sold.price.spot, sold.size.capabilities.spot),
        CapacityType::Reserved => (Price::Unknown, false),
    }
}

fn labels(region: &Region, terms: &Terms) -> (Zone, Requirements) {
    let (zone, scope) = match &*terms.zone {
        NO_ZONE => (Zone::new(NO_ZONE), "regional"),
        number => (Zone::new(format!("{region}-{number}")), "zonal"),
    };
    let priority = priority(terms.capacity_type);
    let ultra_ssd: &[&str] = if terms.has_ultra_ssd { &["false", "true"] } else { &["false"] };
    let requirements = Requirements::of_labels([
        (label::ZONE, zone.as_str()),
        (label::CAPACITY_TYPE, terms.capacity_type.as_str()),
        (label::PLACEMENT_SCOPE, scope),
        (label::AKS_SCALE_SET_PRIORITY, priority),
        (AKS_PRIORITY, priority),
    ]);
    (zone, requirements.with(label::ULTRA_SSD, Requirement::new(Operator::In, ultra_ssd)))
}

const fn priority(capacity_type: CapacityType) -> &'static str {
    match capacity_type {
        CapacityType::OnDemand | CapacityType::Reserved => "regular",
        CapacityType::Spot => "spot",
    }
}

/// Adds to the shared labels the union of the label values of a type's available offerings.
fn together(shared: &Requirements, offerings: &[Offering]) -> Requirements {
    let mut all = shared.clone();
    let available = || offerings.iter().filter(|offering| offering.is_available);
    for key in [
        label::ZONE,
        label::CAPACITY_TYPE,
        label::PLACEMENT_SCOPE,
        label::AKS_SCALE_SET_PRIORITY,
        AKS_PRIORITY,
        label::ULTRA_SSD,
    ] {
        let listed = available().filter_map(|offering| offering.requirements.get(key)?.listed());
        all.set(LabelKey::new(key), Requirement::new(Operator::In, listed.flatten()));
    }
    all
}
