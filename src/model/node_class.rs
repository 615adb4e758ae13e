//! AKSNodeClass: how a pool's VMs are built, limited to the fields that determine suitable sizes and capacity.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ClassName, Digest};

/// The family of the node's operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ImageFamily {
    /// Ubuntu, of the version that AKS chooses.
    Ubuntu,
    /// Ubuntu 22.04.
    Ubuntu2204,
    /// Ubuntu 24.04.
    Ubuntu2404,
    /// Azure Linux.
    AzureLinux,
}

/// Who installs GPU drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GpuMode {
    /// AKS does, for NVIDIA sizes only.
    Driver,
    /// Nobody does; every GPU size is offered.
    None,
}

/// An AKSNodeClass as the solver reads it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeClass {
    /// Its name.
    pub name: ClassName,
    /// The OS disk in GB (10^9 bytes); also the node's ephemeral storage.
    pub os_disk_gb: u32,
    /// The operating system.
    pub image_family: ImageFamily,
    /// Whether FIPS images are used.
    pub is_fips: bool,
    /// The most pods on a node; `None` leaves it to the network plugin.
    pub pods_max: Option<u32>,
    /// Whether encryption at host is asked for.
    pub encryption_at_host: bool,
    /// Whether trusted launch (vTPM or secure boot) is asked for.
    pub trusted_launch: bool,
    /// Whether the node-local DNS is required.
    pub local_dns: bool,
    /// Who installs GPU drivers.
    pub gpu_mode: GpuMode,
    /// Whether artifact streaming is asked for explicitly.
    pub artifact_streaming: bool,
    /// Whether its nodes have the runtime Kata, which only sizes that run VMs can.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_kata: bool,
    /// Tags of its VMs, as the class says them.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether it is not in the input and its pool's nodes are planned with Karpenter's defaults.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_assumed: bool,
    /// The static hash of its spec, as Karpenter writes it.
    pub hash: Arc<str>,
    /// The digest of its whole spec.
    pub spec_digest: Digest,
}
