//! `karpenter.azure.com/v1beta1` AKSNodeClass: how the VMs of a pool are created.
//!
//! Must match the CRD of Karpenter's Azure provider field for field.

mod kubelet;
mod linux_os;
mod local_dns;
mod status;
mod sysctls;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use kubelet::{CpuManagerPolicy, Kubelet, TopologyManagerPolicy};
pub use linux_os::{LinuxOsConfig, TransparentHugePageDefrag, TransparentHugePageEnabled};
pub use local_dns::{
    ForwardDestination, ForwardPolicy, LocalDns, LocalDnsMode, Protocol, QueryLogging, ServeStale,
    ZoneOverride,
};
pub use status::{AksNodeClassStatus, ImageRequirement, LocalDnsState, NodeImage};
pub use sysctls::Sysctls;

use super::meta::ObjectMeta;

/// The older version, which is still served.
pub const V1ALPHA2: &str = "karpenter.azure.com/v1alpha2";

/// The fields of the spec that only `v1alpha2` ever had. All others are the same in `v1beta1`; one of this name in a newer
/// version has another meaning.
pub const ONLY_IN_V1ALPHA2: [&str; 1] = ["imageVersion"];

/// How the VMs of a pool are made: image, disk, subnet, kubelet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AksNodeClass {
    /// `karpenter.azure.com/v1beta1`, or the older `v1alpha2` with the same fields.
    pub api_version: String,
    /// `AKSNodeClass`.
    pub kind: String,
    /// Name, labels and annotations of the class.
    pub metadata: ObjectMeta,
    /// What the user wants; absent: every default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<AksNodeClassSpec>,
    /// What was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AksNodeClassStatus>,
}

/// How VMs are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "FIPS is not yet supported for Ubuntu2404",
            "rule": "has(self.fipsMode) && self.fipsMode == 'FIPS' ? (has(self.imageFamily) && self.imageFamily != 'Ubuntu2404') : true",
        },
        {
            "message": "TrustedLaunch is required for FIPS support with Ubuntu2204",
            "rule": "has(self.fipsMode) && self.fipsMode == 'FIPS' ? (has(self.imageFamily) && (self.imageFamily != 'Ubuntu2204' || (has(self.security) && has(self.security.trustedLaunch) && ((has(self.security.trustedLaunch.vtpm) && self.security.trustedLaunch.vtpm) || (has(self.security.trustedLaunch.secureBoot) && self.security.trustedLaunch.secureBoot))))) : true",
        },
        {
            "message": "TrustedLaunch with FIPSMode FIPS is only supported for Ubuntu and Ubuntu2204",
            "rule": "has(self.fipsMode) && self.fipsMode == 'FIPS' && has(self.security) && has(self.security.trustedLaunch) && ((has(self.security.trustedLaunch.vtpm) && self.security.trustedLaunch.vtpm) || (has(self.security.trustedLaunch.secureBoot) && self.security.trustedLaunch.secureBoot)) ? (!has(self.imageFamily) || self.imageFamily == 'Ubuntu' || self.imageFamily == 'Ubuntu2204') : true",
        },
        {
            "message": "kubelet.failSwapOn must be set to false when linuxOSConfig.swapFileSize is specified",
            "rule": "!has(self.linuxOSConfig) || !has(self.linuxOSConfig.swapFileSize) || (has(self.kubelet) && has(self.kubelet.failSwapOn) && self.kubelet.failSwapOn == false)",
        },
        {
            "message": "workloadRuntime KataVmIsolation needs imageFamily AzureLinux and no FIPS",
            "rule": "!has(self.workloadRuntime) || self.workloadRuntime == 'OCIContainer' || (has(self.imageFamily) && self.imageFamily == 'AzureLinux' && (!has(self.fipsMode) || self.fipsMode != 'FIPS'))",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct AksNodeClassSpec {
    /// ARM id of the subnet that the nodes join. Absent: the cluster's own.
    #[serde(skip_serializing_if = "Option::is_none", rename = "vnetSubnetID")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::SUBNET_ID)))]
    pub vnet_subnet_id: Option<String>,
    /// Size of the disk of the operating system in GB (10^9 bytes); also what pods can use as ephemeral storage.
    #[serde(skip_serializing_if = "Option::is_none", rename = "osDiskSizeGB")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = 128, "minimum" = 30, "maximum" = 2048))
    )]
    pub os_disk_size_gb: Option<i32>,
    /// The images that nodes are made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "Ubuntu")))]
    pub image_family: Option<ImageFamily>,
    /// Whether nodes use images with validated cryptography.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fips_mode: Option<FipsMode>,
    /// Tags of the Azure resources. A `/` in a key becomes `_` on Azure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-validations" = [
            {"message": "tags keys must be less than 512 characters", "rule": "self.all(k, size(k) <= 512)"},
            {"message": "tags keys must not contain '<', '>', '%', '&', or '?'", "rule": "self.all(k, !k.matches('[<>%&?]'))"},
            {"message": "tags keys must not contain '\\'", "rule": "self.all(k, !k.contains('\\\\'))"},
            {"message": "tags values must be less than 256 characters", "rule": "self.all(k, size(self[k]) <= 256)"},
        ]))
    )]
    pub tags: Option<BTreeMap<String, String>>,
    /// Settings of the kubelet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<Kubelet>,
    /// How many pods a node may have. Absent: by the network plugin, 250 with Azure CNI overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 10, "maximum" = 250)))]
    pub max_pods: Option<i32>,
    /// Encryption at the host and Trusted Launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
    /// DNS on each node.
    #[serde(skip_serializing_if = "Option::is_none", rename = "localDNS")]
    pub local_dns: Option<LocalDns>,
    /// What is done on sizes with GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Gpu>,
    /// Whether container images are loaded as they are needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_streaming: Option<ArtifactStreaming>,
    /// Swap, huge pages and kernel settings.
    #[serde(skip_serializing_if = "Option::is_none", rename = "linuxOSConfig")]
    pub linux_os_config: Option<LinuxOsConfig>,
    /// What runs containers on the nodes, beside the plain runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_runtime: Option<WorkloadRuntime>,
}

/// What runs containers on the nodes. Only a later provider than that of the other fields knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WorkloadRuntime {
    /// The plain runtime alone.
    OCIContainer,
    /// Kata beside it: pods of its RuntimeClass get a small VM each. Only with Azure Linux, and on sizes that run VMs.
    KataVmIsolation,
    /// The same, by its older name.
    KataMshvVmIsolation,
}

impl WorkloadRuntime {
    /// Returns whether nodes have Kata.
    #[must_use]
    pub const fn is_kata(self) -> bool {
        match self {
            Self::OCIContainer => false,
            Self::KataVmIsolation | Self::KataMshvVmIsolation => true,
        }
    }
}

/// The images that nodes are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ImageFamily {
    /// The Ubuntu that AKS uses for the cluster's version.
    Ubuntu,
    /// Ubuntu 22.04.
    Ubuntu2204,
    /// Ubuntu 24.04.
    Ubuntu2404,
    /// The Azure Linux that AKS uses for the cluster's version.
    AzureLinux,
}

/// Whether nodes use images with validated cryptography.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FipsMode {
    /// They do.
    FIPS,
    /// They do not.
    Disabled,
}

/// Encryption at the host and Trusted Launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Security {
    /// Whether disks are encrypted on the host. Only sizes that support it are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption_at_host: Option<bool>,
    /// Trusted Launch; on when either of its settings is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_launch: Option<TrustedLaunch>,
}

/// The two settings of Trusted Launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TrustedLaunch {
    /// Whether the VM has a virtual trusted platform module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vtpm: Option<bool>,
    /// Whether the VM starts only signed code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secure_boot: Option<bool>,
}

/// What is done on sizes with GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Gpu {
    /// Who installs the drivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "Driver")))]
    pub mode: Option<GpuMode>,
}

/// Who installs the drivers of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GpuMode {
    /// AKS does; only sizes with NVIDIA GPUs are used.
    Driver,
    /// Somebody else does; all sizes with GPUs are used.
    None,
}

/// Whether container images are loaded as they are needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ArtifactStreaming {
    /// Whether it is on; the registry must support it too. When it is on, no arm64 sizes are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}
