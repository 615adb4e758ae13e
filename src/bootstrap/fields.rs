//! Table of every AKSNodeClass field: where it is applied, or why it is refused.
//!
//! One test checks that every field of the class's schema is listed here; another sets each field and checks that it is
//! applied. Must never ignore a field.

use super::refusal::Refusal;
use crate::api::aks_node_class::{AksNodeClassSpec, FipsMode};

/// A field of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its path under `spec`; `[]` matches each entry, `.*` each field of the group.
    pub path: &'static str,
    /// Where it is applied.
    pub goes: Goes,
}

/// Where a field is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// The node's configuration, at this JSON pointer (RFC 6901); `*` matches any key.
    Config(&'static str),
    /// Properties of the VM.
    Machine(&'static str),
    /// Properties of the NIC, and names in the configuration.
    NetworkInterface(&'static str),
    /// The plan's choice of the image or the size.
    Choice(&'static str),
    /// As `Choice`, but these values are refused.
    RefusedWhen(&'static str),
}

const fn field(path: &'static str, goes: Goes) -> Field {
    Field { path, goes }
}

/// All fields of an AKSNodeClass.
pub const FIELDS: &[Field] = &[
    field("artifactStreaming.enabled", Goes::Config("/enableArtifactStreaming")),
    field("fipsMode", Goes::RefusedWhen("FIPS: its images are only in galleries within AKS")),
    field("gpu.mode", Goes::Config("/gpuConfig/configGpuDriver")),
    field(
        "imageFamily",
        Goes::Config("/kubeletConfig/kubeletNodeLabels/kubernetes.azure.com~1os-sku-requested"),
    ),
    field(
        "kubelet.allowedUnsafeSysctls[]",
        Goes::Config("/kubeletConfig/kubeletFlags/--allowed-unsafe-sysctls"),
    ),
    field(
        "kubelet.containerLogMaxFiles",
        Goes::Config("/kubeletConfig/kubeletFlags/--container-log-max-files"),
    ),
    field(
        "kubelet.containerLogMaxSize",
        Goes::Config("/kubeletConfig/kubeletFlags/--container-log-max-size"),
    ),
    field("kubelet.cpuCFSQuota", Goes::Config("/kubeletConfig/kubeletFlags/--cpu-cfs-quota")),
    field("kubelet.cpuCFSQuotaPeriod", Goes::Config("/kubeletConfig/kubeletFlags/--cpu-cfs-quota-period")),
    field("kubelet.cpuManagerPolicy", Goes::Config("/kubeletConfig/kubeletFlags/--cpu-manager-policy")),
    field("kubelet.failSwapOn", Goes::Config("/kubeletConfig/kubeletFlags/--fail-swap-on")),
    field(
        "kubelet.imageGCHighThresholdPercent",
        Goes::Config("/kubeletConfig/kubeletFlags/--image-gc-high-threshold"),
    ),
    field(
        "kubelet.imageGCLowThresholdPercent",
        Goes::Config("/kubeletConfig/kubeletFlags/--image-gc-low-threshold"),
    ),
    field("kubelet.podPidsLimit", Goes::Config("/kubeletConfig/kubeletFlags/--pod-max-pids")),
    field(
        "kubelet.topologyManagerPolicy",
        Goes::Config("/kubeletConfig/kubeletFlags/--topology-manager-policy"),
    ),
    field("linuxOSConfig.swapFileSize", Goes::Config("/customLinuxOsConfig/swapFileSize")),
    field("linuxOSConfig.sysctls.*", Goes::Config("/customLinuxOsConfig/sysctlConfig/*")),
    field("linuxOSConfig.transparentHugePageDefrag", Goes::Config("/customLinuxOsConfig/transparentDefrag")),
    field(
        "linuxOSConfig.transparentHugePageEnabled",
        Goes::Config("/customLinuxOsConfig/transparentHugepageSupport"),
    ),
    field("localDNS.kubeDNSOverrides[].*", Goes::Config("/localDnsProfile/kubeDnsOverrides/*")),
    field("localDNS.mode", Goes::Config("/localDnsProfile/enableLocalDns")),
    field("localDNS.vnetDNSOverrides[].*", Goes::Config("/localDnsProfile/vnetDnsOverrides/*")),
    field("maxPods", Goes::Config("/kubeletConfig/kubeletFlags/--max-pods")),
    field(
        "osDiskSizeGB",
        Goes::Machine("storageProfile.osDisk.diskSizeGB, and whether the disk is ephemeral"),
    ),
    field("security.encryptionAtHost", Goes::Machine("securityProfile.encryptionAtHost")),
    field(
        "security.trustedLaunch.secureBoot",
        Goes::Machine("securityProfile.uefiSettings.secureBootEnabled"),
    ),
    field("security.trustedLaunch.vtpm", Goes::Machine("securityProfile.uefiSettings.vTpmEnabled")),
    field("tags", Goes::Machine("tags, of the NIC and the extension too")),
    field("vnetSubnetID", Goes::NetworkInterface("ipConfigurations[].subnet, and clusterNetworkConfig")),
    field(
        "workloadRuntime",
        Goes::RefusedWhen(
            "KataVmIsolation, KataMshvVmIsolation: their images are only in galleries within AKS",
        ),
    ),
];

/// Returns a refusal for each value of the class that cannot be applied to any node.
#[must_use]
pub fn refusals(class: &AksNodeClassSpec) -> Vec<Refusal> {
    const WHY: &str =
        "needs images that are only in galleries within AKS; remove it, or use an agent pool for such nodes";
    let mut refusals = Vec::new();
    if class.fips_mode == Some(FipsMode::FIPS) {
        refusals.push(Refusal::new("spec.fipsMode", format!("FIPS {WHY}")));
    }
    if class.workload_runtime.is_some_and(|runtime| runtime.is_kata()) {
        refusals.push(Refusal::new("spec.workloadRuntime", format!("Kata {WHY}")));
    }
    refusals
}
