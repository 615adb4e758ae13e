//! A VM size in one region: its shape, capabilities and availability.
//!
//! The values are Azure's facts or estimates of them; no rule of Karpenter is applied here.

use std::sync::Arc;

use super::gpu::Gpu;
use super::size_name::SizeName;
use crate::model::SkuName;

/// Which of a size's own disks an ephemeral OS disk would lie on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Placement {
    /// The local NVMe disk.
    NvmeDisk,
    /// The cache of the managed disks.
    CacheDisk,
    /// The temporary disk.
    ResourceDisk,
}

impl Placement {
    /// Returns the name as Azure writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NvmeDisk => "NvmeDisk",
            Self::CacheDisk => "CacheDisk",
            Self::ResourceDisk => "ResourceDisk",
        }
    }
}

/// Room for an ephemeral OS disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EphemeralRoom {
    /// Where the disk would lie.
    pub placement: Placement,
    /// The largest disk in GB (10^9 bytes), cut to a whole number.
    pub size_gb: u32,
}

/// Which generations of virtual machine a size runs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Generations {
    /// Generation 1 (BIOS).
    pub first: bool,
    /// Generation 2 (UEFI).
    pub second: bool,
}

/// What a size can do. What is not said of one is as [`super::assumed`] lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Whether premium disks can be attached, where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub premium_storage: Option<bool>,
    /// Whether the network interface can be accelerated, where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerated_networking: Option<bool>,
    /// Room for an ephemeral OS disk, if any.
    pub ephemeral: Option<EphemeralRoom>,
    /// Whether disks can be encrypted on the host.
    pub encryption_at_host: bool,
    /// The generations of virtual machine; neither where that is not said.
    pub generations: Generations,
    /// Whether trusted launch is ruled out although generation 2 runs.
    pub trusted_launch_disabled: bool,
    /// Whether the size is sold as spot.
    pub spot: bool,
    /// How many data disks can be attached, where the source of the size says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_disks_max: Option<u32>,
    /// Whether ultra disks can be attached to a VM that is in no zone.
    pub ultra_ssd_regional: bool,
    /// The zones (`1`, `2`, …) in which ultra disks can be attached.
    pub ultra_ssd_zones: Vec<Arc<str>>,
}

impl Capabilities {
    /// Returns whether a VM of this size can have trusted launch.
    #[must_use]
    pub const fn trusted_launch(&self) -> bool {
        self.generations.second && !self.trusted_launch_disabled
    }
}

/// A VM size in one region.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// The name.
    pub name: SkuName,
    /// The name's parts; `None` where the name does not follow the grammar.
    pub parts: Option<SizeName>,
    /// The family whose quota the size counts against, as Azure spells it.
    pub quota_family: Arc<str>,
    /// How many vCPUs; those of the parent where the name constrains them.
    pub vcpus: u32,
    /// Memory in bytes; 0 where it is not known.
    pub memory_bytes: i64,
    /// How many GPUs (or other accelerators).
    pub gpus: u32,
    /// What is known of the GPU; `None` where the size is not in the table of supported GPUs.
    pub gpu: Option<Arc<Gpu>>,
    /// The architecture in Kubernetes' words: `amd64`, `arm64`; other words as Azure says them.
    pub arch: Arc<str>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// The zones (`1`, `2`, …) where it is sold, sorted; empty where it is sold in none.
    pub zones: Vec<Arc<str>>,
    /// Why Azure does not sell it to this subscription in this region, if so.
    pub restriction: Option<Arc<str>>,
    /// Whether zones and capabilities are estimated from the name.
    pub is_estimate: bool,
    /// Whether vCPUs, memory and architecture are too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shape_estimate: bool,
}

impl Size {
    /// Returns the series, such as `Dds_v5`; the whole name where it does not follow the grammar.
    #[must_use]
    pub fn series(&self) -> &str {
        self.parts.as_ref().map_or(self.name.as_str(), |parts| &parts.series)
    }

    /// Returns the family letter, such as `D`; empty where the name does not follow the grammar.
    #[must_use]
    pub fn family(&self) -> &str {
        self.parts.as_ref().map_or("", |parts| &parts.family)
    }

    /// Returns the memory in whole MiB.
    #[must_use]
    pub const fn memory_mib(&self) -> i64 {
        self.memory_bytes >> 20
    }

    /// Returns the GPU's name, such as `A100`, where the size is a supported GPU size and its name says it, as
    /// the Azure provider labels nodes; sizes of old series say none.
    #[must_use]
    pub fn gpu_name(&self) -> Option<&str> {
        self.gpu.as_ref()?;
        self.parts.as_ref()?.accelerator.as_deref()
    }
}
