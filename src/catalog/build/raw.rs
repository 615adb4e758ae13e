//! Parses the raw lists into values.
//!
//! Prices keep the decimals of the list; nothing is checked here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Number;

/// The raw lists, as text.
#[derive(Clone, Copy, Debug)]
pub struct RawTexts<'a> {
    /// `prices/retail-ondemand-usd-per-hour.json`: on-demand prices by region and size.
    pub prices: &'a str,
    /// `prices/managed-disk-usd-per-month.json`: tiers of managed disks.
    pub disks: &'a str,
    /// `reference/cluster_autoscaler_sizes.json`: vCPUs, memory, GPUs and architecture by size.
    pub shapes: &'a str,
    /// `reference/known_skus.json`: the sizes with their quota families.
    pub families: &'a str,
    /// `reference/supported_gpus.json`: the supported GPU sizes.
    pub gpus: &'a str,
    /// `reference/locations.json`: the regions with their zone mappings.
    pub locations: &'a str,
    /// `reference/data_disks.json`: maximum number of data disks of a VM, by size.
    pub data_disks: &'a str,
}

/// A raw list that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFault {
    /// The list.
    pub list: &'static str,
    /// The error.
    pub what: String,
}

/// Shape of a size in the autoscaler's list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shape {
    pub(super) vcpu: u32,
    pub(super) memory_mb: u32,
    pub(super) gpu: u32,
    pub(super) architecture: String,
}

/// A known size.
#[derive(Debug, Deserialize)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) family: String,
}

/// A row of the price list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawPrice {
    pub(super) on_demand: Number,
}

/// A supported GPU size.
#[derive(Debug, Deserialize)]
pub(super) struct RawGpu {
    pub(super) gpu: String,
    pub(super) os: Vec<String>,
}

/// A tier of managed disks.
#[derive(Debug, Deserialize)]
pub(super) struct RawTier {
    pub(super) tier: String,
    pub(super) gib: u32,
    pub(super) price: Number,
}

/// The tiers of managed disks.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawDisks {
    pub(super) premium_ssd: Vec<RawTier>,
    pub(super) standard_ssd: Vec<RawTier>,
}

/// A region.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawLocation {
    pub(super) name: String,
    #[serde(default)]
    pub(super) availability_zone_mappings: Vec<RawZone>,
}

/// A zone of a region.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawZone {
    pub(super) logical_zone: String,
}

#[derive(Deserialize)]
struct RawLocations {
    value: Vec<RawLocation>,
}

/// The raw lists as values.
pub(super) struct Raw {
    pub(super) prices: BTreeMap<String, BTreeMap<String, RawPrice>>,
    pub(super) disks: RawDisks,
    pub(super) shapes: BTreeMap<String, Shape>,
    pub(super) families: Vec<Family>,
    pub(super) gpus: BTreeMap<String, RawGpu>,
    pub(super) locations: Vec<RawLocation>,
    pub(super) data_disks: BTreeMap<String, u32>,
}

impl Raw {
    pub(super) fn read(texts: &RawTexts<'_>) -> Result<Self, BuildFault> {
        let RawTexts { prices, disks, shapes, families, gpus, locations, data_disks } = *texts;
        Ok(Self {
            prices: list("prices", prices)?,
            disks: list("disks", disks)?,
            shapes: list("shapes", shapes)?,
            families: list("families", families)?,
            gpus: list("gpus", gpus)?,
            locations: list::<RawLocations>("locations", locations)?.value,
            data_disks: list("data disks", data_disks)?,
        })
    }
}

fn list<T: DeserializeOwned>(list: &'static str, text: &str) -> Result<T, BuildFault> {
    serde_json::from_str(text).map_err(|error| BuildFault { list, what: error.to_string() })
}
