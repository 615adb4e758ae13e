//! Row of one size.

use serde::Serialize;

use crate::catalog::filter::{CatalogFilter, gpus, label_of, memory_bytes};
use crate::catalog::{Catalog, NO_ZONE, Offered, RegionZones};
use crate::model::{
    CapacityType, DataDisks, InstanceType, MicroUsdPerHour, OsDisk, Price, ResourceName, SkuName, Zone, label,
};

/// One size of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CatalogRow {
    /// The size.
    pub size: SkuName,
    /// Its family letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Its series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// CPU in thousandths of a core.
    pub cpu_milli: i64,
    /// Memory in bytes.
    pub memory_bytes: i64,
    /// How many GPUs.
    pub gpus: i64,
    /// The GPU's name, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_name: Option<String>,
    /// The architecture.
    pub arch: String,
    /// The zones where it can be had, without "no zone".
    pub zones: Vec<Zone>,
    /// How sure the zones are.
    pub zones_known: ZonesKnown,
    /// The lowest price on demand.
    pub on_demand: ShownPrice,
    /// The lowest price as spot; absent where it is not sold as spot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<ShownPrice>,
    /// What the OS disk costs beside it.
    pub os_disk: ShownPrice,
    /// Whether the OS disk is on the VM's own storage.
    pub is_os_disk_ephemeral: bool,
    /// CPU that pods, daemonsets included, may use, in thousandths of a core.
    pub allocatable_cpu_milli: i64,
    /// Memory that pods, daemonsets included, may use, in bytes.
    pub allocatable_memory_bytes: i64,
    /// How many data disks can be attached.
    pub data_disks: DataDisks,
    /// Whether capabilities are estimated from the size's name.
    pub is_estimate: bool,
    /// Whether vCPUs, memory and architecture are, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_shape_estimate: bool,
}

/// How sure the zones of a size are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ZonesKnown {
    /// Azure or the given list says so.
    Listed,
    /// The region's zones, taken to hold for every size.
    Estimated,
    /// It is not known which zones the region has.
    Unknown,
}

/// A price as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShownPrice {
    /// US dollars by the hour as a decimal; absent where no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_hour: Option<String>,
    /// Whether a rule estimated it.
    pub is_estimate: bool,
}

impl From<Price> for ShownPrice {
    fn from(price: Price) -> Self {
        Self { usd_per_hour: price.known().map(decimal), is_estimate: price.is_estimate() }
    }
}

/// Writes an amount as a decimal with four places, or more where they say something.
pub(super) fn decimal(amount: MicroUsdPerHour) -> String {
    let (whole, fraction) = (amount.0.div_euclid(1_000_000), amount.0.rem_euclid(1_000_000));
    let digits = format!("{fraction:06}");
    let (kept, rest) = digits.split_at(4);
    format!("{whole}.{kept}{}", rest.trim_end_matches('0'))
}

/// Returns the rows of the types that the filter shows, sorted by name.
#[must_use]
pub fn rows(catalog: &Catalog, offered: &Offered, filter: &CatalogFilter) -> Vec<CatalogRow> {
    let shown = offered.types.iter().filter(|offered| filter.accepts(offered));
    shown.map(|offered| row(offered, catalog)).collect()
}

fn row(offered: &InstanceType, catalog: &Catalog) -> CatalogRow {
    let label = |key: &str| label_of(offered, key).map(str::to_owned);
    let os_disk = match offered.os_disk {
        OsDisk::Ephemeral => Price::Listed(MicroUsdPerHour(0)),
        OsDisk::Managed(price) => price,
    };
    CatalogRow {
        size: offered.name.clone(),
        family: label(label::SKU_FAMILY),
        series: label(label::SKU_SERIES),
        cpu_milli: offered.capacity.get(&ResourceName::Cpu),
        memory_bytes: memory_bytes(offered),
        gpus: gpus(offered),
        gpu_name: label(label::SKU_GPU_NAME),
        arch: label(label::ARCH).unwrap_or_else(|| "?".into()),
        zones: zones(offered),
        zones_known: zones_known(offered, catalog.zones()),
        on_demand: lowest(offered, CapacityType::OnDemand).unwrap_or(Price::Unknown).into(),
        spot: lowest(offered, CapacityType::Spot).map(ShownPrice::from),
        os_disk: os_disk.into(),
        is_os_disk_ephemeral: offered.os_disk == OsDisk::Ephemeral,
        allocatable_cpu_milli: offered.allocatable.get(&ResourceName::Cpu),
        allocatable_memory_bytes: offered.allocatable.get(&ResourceName::Memory),
        data_disks: catalog.data_disks_of_type(offered),
        is_estimate: offered.is_estimate,
        is_shape_estimate: catalog.size(&offered.name).is_some_and(|sold| sold.size.is_shape_estimate),
    }
}

fn zones(offered: &InstanceType) -> Vec<Zone> {
    let available = offered.offerings.iter().filter(|offering| offering.is_available);
    let mut zones: Vec<Zone> = available.map(|offering| offering.zone.clone()).collect();
    zones.retain(|zone| zone.as_str() != NO_ZONE);
    zones.sort();
    zones.dedup();
    zones
}

const fn zones_known(offered: &InstanceType, region: &RegionZones) -> ZonesKnown {
    match (region, offered.is_estimate) {
        (RegionZones::Unknown, true) => ZonesKnown::Unknown,
        (RegionZones::Zones(_), true) => ZonesKnown::Estimated,
        (RegionZones::None, _) | (RegionZones::Zones(_) | RegionZones::Unknown, false) => ZonesKnown::Listed,
    }
}

/// The lowest price of a way to buy; unknown where it is sold but no price is known, `None` where not sold.
fn lowest(offered: &InstanceType, capacity_type: CapacityType) -> Option<Price> {
    let sold = offered.offerings.iter().filter(|offering| offering.is_available);
    sold.filter(|offering| offering.capacity_type == capacity_type)
        .map(|offering| offering.price)
        .min_by_key(|price| (price.known().is_none(), price.known()))
}
