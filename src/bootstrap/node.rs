//! A node to be created, as planned.
//!
//! Must never compute its values here: capacity and reservations follow the catalog's rules.

use std::collections::BTreeMap;

use crate::model::Taint;

/// A node to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The VM size.
    pub size: String,
    /// Its CPU architecture.
    pub arch: Arch,
    /// Its labels; those that a kubelet may not set are left to Karpenter's registration.
    pub labels: BTreeMap<String, String>,
    /// Its initial taints, including `karpenter.sh/unregistered:NoExecute`.
    pub taints: Vec<Taint>,
    /// Maximum number of pods.
    pub max_pods: u32,
    /// Resources reserved for Kubernetes, by resource: `cpu` `100m`, `memory` `1843Mi`.
    pub kube_reserved: BTreeMap<String, String>,
    /// Resources reserved for the system.
    pub system_reserved: BTreeMap<String, String>,
    /// Hard eviction thresholds by signal: `memory.available` `750Mi`. Missing disk thresholds are added.
    pub eviction_hard: BTreeMap<String, String>,
    /// Its GPUs.
    pub gpu: Gpu,
    /// The image family as in the label `os-sku-effective`: `Ubuntu2404`, `AzureLinux3`.
    pub image_family: String,
    /// Whether LocalDNS is enabled: the class's mode, resolved.
    pub has_local_dns: bool,
    /// The user that may log in by SSH.
    pub admin_user: String,
}

/// A CPU architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arch {
    /// x86-64.
    Amd64,
    /// 64-bit ARM.
    Arm64,
}

impl Arch {
    /// Returns the name that Kubernetes uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

/// The GPUs of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gpu {
    /// No GPU.
    None,
    /// NVIDIA GPUs.
    Nvidia,
    /// AMD GPUs.
    Amd,
}
