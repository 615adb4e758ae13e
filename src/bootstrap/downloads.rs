//! What a node downloads at its first start because its image does not hold it.
//! Must never name a version that the cluster does not have.

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::node::{Arch, Node};

/// Where AKS keeps packages of nodes.
const HOST: &str = "https://acs-mirror.azureedge.net";
/// The container that holds a pod's network, up to Kubernetes 1.34.
pub(super) const PAUSE_IMAGE: &str = "mcr.microsoft.com/oss/kubernetes/pause:3.6";
/// Azure's CNI plugins.
const AZURE_CNI: &str = "1.4.32";
/// The common CNI plugins.
const CNI_PLUGINS: &str = "1.1.1";

/// `kubeBinaryConfig`: from 1.34 on images hold Kubernetes' own binaries.
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

/// The provider that lets the kubelet load images of the cluster's registries, by minor version.
const fn credential_provider(minor: u16) -> Option<&'static str> {
    match minor {
        0..=29 => None,
        30 => Some("1.30.12"),
        31 => Some("1.31.6"),
        32 => Some("1.32.5"),
        _ => Some("1.33.0"),
    }
}

/// Address of Azure's CNI plugins.
pub(super) fn azure_cni(arch: Arch) -> String {
    let arch = arch.as_str();
    format!("{HOST}/azure-cni/v{AZURE_CNI}/binaries/azure-vnet-cni-linux-{arch}-v{AZURE_CNI}.tgz")
}

/// Address of the common CNI plugins.
pub(super) fn cni_plugins(arch: Arch) -> String {
    let arch = arch.as_str();
    format!("{HOST}/cni-plugins/v{CNI_PLUGINS}/binaries/cni-plugins-linux-{arch}-v{CNI_PLUGINS}.tgz")
}
