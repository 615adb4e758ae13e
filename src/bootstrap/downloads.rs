//! Packages that a node downloads at its first start because its image lacks them.
//!
//! Must never name a version that does not match the cluster.

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::node::{Arch, Node};

/// AKS's package mirror for nodes.
const HOST: &str = "https://acs-mirror.azureedge.net";
/// The pause container image, up to Kubernetes 1.34.
pub(super) const PAUSE_IMAGE: &str = "mcr.microsoft.com/oss/kubernetes/pause:3.6";
/// Version of Azure's CNI plugins.
const AZURE_CNI: &str = "1.4.32";
/// Version of the standard CNI plugins.
const CNI_PLUGINS: &str = "1.1.1";

/// Returns `kubeBinaryConfig`; from 1.34 on, images include the Kubernetes binaries.
pub(super) fn binaries(cluster: &Cluster, node: &Node) -> Value {
    let version = &cluster.kubernetes_version;
    let arch = node.arch.as_str();
    let kubernetes = (!version.is_at_least(34))
        .then(|| format!("{HOST}/kubernetes/v{version}/binaries/kubernetes-node-linux-{arch}.tar.gz"));
    let credentials = credential_provider(version.minor).map(|provider| {
        format!("{HOST}/cloud-provider-azure/v{provider}/binaries/azure-acr-credential-provider-linux-{arch}-v{provider}.tar.gz")
    });
    json!({
        "kubeBinaryUrl": kubernetes,
        "linuxCredentialProviderUrl": credentials,
        "podInfraContainerImageUrl": (!version.is_at_least(35)).then_some(PAUSE_IMAGE),
    })
}

/// Returns the version of the credential provider for the kubelet's image pulls, by minor version.
const fn credential_provider(minor: u16) -> Option<&'static str> {
    match minor {
        0..=29 => None,
        30 => Some("1.30.12"),
        31 => Some("1.31.6"),
        32 => Some("1.32.5"),
        _ => Some("1.33.0"),
    }
}

/// Returns the URL of Azure's CNI plugins.
pub(super) fn azure_cni(arch: Arch) -> String {
    let arch = arch.as_str();
    format!("{HOST}/azure-cni/v{AZURE_CNI}/binaries/azure-vnet-cni-linux-{arch}-v{AZURE_CNI}.tgz")
}

/// Returns the URL of the standard CNI plugins.
pub(super) fn cni_plugins(arch: Arch) -> String {
    let arch = arch.as_str();
    format!("{HOST}/cni-plugins/v{CNI_PLUGINS}/binaries/cni-plugins-linux-{arch}-v{CNI_PLUGINS}.tgz")
}
