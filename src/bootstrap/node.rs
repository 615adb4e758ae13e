//! What a node is to be, as the plan decided it.
//! Must never be computed here: capacity and reservations are the catalogue's rules.

use std::collections::BTreeMap;

use crate::model::Taint;

/// A node to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The size of its VM.
    pub size: String,
    /// Its processor's architecture.
    pub arch: Arch,
    /// Its labels; those that a kubelet must not set itself are left to Karpenter's registration.
    pub labels: BTreeMap<String, String>,
    /// Its taints from the start, `karpenter.sh/unregistered:NoExecute` among them.
    pub taints: Vec<Taint>,
    /// The most pods.
    pub max_pods: u32,
    /// What Kubernetes keeps for itself, by resource: `cpu` `100m`, `memory` `1843Mi`.
    pub kube_reserved: BTreeMap<String, String>,
    /// What the system keeps for itself.
    pub system_reserved: BTreeMap<String, String>,
    /// When pods are evicted, by signal: `memory.available` `750Mi`. Limits of the disk are added where they are absent.
    pub eviction_hard: BTreeMap<String, String>,
    /// Its GPUs.
    pub gpu: Gpu,
    /// The family of its image as the label `os-sku-effective` names it: `Ubuntu2404`, `AzureLinux3`.
    pub image_family: String,
    /// Whether it answers DNS itself: the class's mode, resolved.
    pub has_local_dns: bool,
    /// The user who may log in by SSH.
    pub admin_user: String,
}

/// A processor's architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arch {
    /// x86-64.
    Amd64,
    /// ARM of 64 bits.
    Arm64,
}

impl Arch {
    /// As Kubernetes writes it.
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
    /// It has none.
    None,
    /// NVIDIA's.
    Nvidia,
    /// AMD's.
    Amd,
}
