//! How a size can be had: every zone and "no zone", on demand and as spot.
//!
//! What quota and recent refusals of Azure take away is not known here.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::price::PricedSize;
use crate::model::{
    CapacityType, LabelKey, Offering, Operator, Price, Region, Requirement, Requirements, Zone, label,
};

/// Azure's "no zone".
pub const NO_ZONE: &str = "0";
/// The label that says whether ultra disks can be attached.
pub(super) const ULTRA_SSD: &str = "karpenter.azure.com/sku-storage-ultra-ssd";
/// The second name of [`label::AKS_SCALE_SET_PRIORITY`].
pub(super) const AKS_PRIORITY: &str = "kubernetes.azure.com/priority";
/// The ways to buy that Azure's price list knows.
const BOUGHT: [CapacityType; 2] = [CapacityType::OnDemand, CapacityType::Spot];

/// Makes the offerings of sizes of one region. It keeps what many sizes share, so that they share it in memory.
pub(super) struct Offerings<'a> {
    region: &'a Region,
    made: BTreeMap<(Arc<str>, CapacityType), (Zone, Requirements)>,
    ultra_ssd: LabelKey,
    without_ultra_ssd: Requirement,
    with_ultra_ssd: Requirement,
}

impl<'a> Offerings<'a> {
    pub(super) fn new(region: &'a Region) -> Self {
        Self {
            region,
            made: BTreeMap::new(),
            ultra_ssd: LabelKey::new(ULTRA_SSD),
            without_ultra_ssd: Requirement::one("false"),
            with_ultra_ssd: Requirement::new(Operator::In, ["false", "true"]),
        }
    }

    /// Returns the offerings of a size, sorted by zone and capacity type.
    pub(super) fn of(&mut self, sold: &PricedSize) -> Vec<Offering> {
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
        offerings
    }

    fn one(&mut self, sold: &PricedSize, zone: &Arc<str>, capacity_type: CapacityType) -> Offering {
        let region = self.region;
        let key = (zone.clone(), capacity_type);
        let made = self.made.entry(key).or_insert_with(|| shared_labels(region, zone, capacity_type));
        let (zone_name, mut requirements) = made.clone();
        let capabilities = &sold.size.capabilities;
        let has_ultra_ssd = if &**zone == NO_ZONE {
            capabilities.ultra_ssd_regional
        } else {
            capabilities.ultra_ssd_zones.contains(zone)
        };
        let ultra_ssd = if has_ultra_ssd { &self.with_ultra_ssd } else { &self.without_ultra_ssd };
        requirements.set(self.ultra_ssd.clone(), ultra_ssd.clone());
        let (price, is_available) = terms(sold, capacity_type);
        Offering { zone: zone_name, capacity_type, price, is_available, requirements }
    }
}

fn terms(sold: &PricedSize, capacity_type: CapacityType) -> (Price, bool) {
    match capacity_type {
        CapacityType::OnDemand => (sold.price.on_demand, true),
        CapacityType::Spot => (sold.price.spot, sold.size.capabilities.spot),
        CapacityType::Reserved => (Price::Unknown, false),
    }
}

fn shared_labels(region: &Region, zone: &str, capacity_type: CapacityType) -> (Zone, Requirements) {
    let (zone, scope) = match zone {
        NO_ZONE => (Zone::new(NO_ZONE), "regional"),
        digits => (Zone::new(format!("{region}-{digits}")), "zonal"),
    };
    let priority = priority(capacity_type);
    let requirements = Requirements::of_labels([
        (label::ZONE, zone.as_str()),
        (label::CAPACITY_TYPE, capacity_type.as_str()),
        (label::PLACEMENT_SCOPE, scope),
        (label::AKS_SCALE_SET_PRIORITY, priority),
        (AKS_PRIORITY, priority),
    ]);
    (zone, requirements)
}

const fn priority(capacity_type: CapacityType) -> &'static str {
    match capacity_type {
        CapacityType::OnDemand | CapacityType::Reserved => "regular",
        CapacityType::Spot => "spot",
    }
}

/// Returns what the labels of a type's available offerings are, taken together.
pub(super) fn together(offerings: &[Offering]) -> Requirements {
    let mut all = Requirements::none();
    let available = || offerings.iter().filter(|offering| offering.is_available);
    for key in [
        label::ZONE,
        label::CAPACITY_TYPE,
        label::PLACEMENT_SCOPE,
        label::AKS_SCALE_SET_PRIORITY,
        AKS_PRIORITY,
        ULTRA_SSD,
    ] {
        let listed = available().filter_map(|offering| offering.requirements.get(key)?.listed());
        all.set(LabelKey::new(key), Requirement::new(Operator::In, listed.flatten()));
    }
    all
}
