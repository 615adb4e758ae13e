//! The facts of a cluster that its nodes must know.
//! Must never hold a credential.

use super::version::KubernetesVersion;

/// The cluster that a node joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The tenant of its identities.
    pub tenant: String,
    /// The subscription of its nodes.
    pub subscription: String,
    /// The resource group of its nodes.
    pub node_resource_group: String,
    /// Azure's region.
    pub location: String,
    /// Host of the API server, without scheme; with a port where it is not 443.
    pub api_server: String,
    /// The CA of the API server: PEM in base64, as a kubeconfig has it.
    pub ca_certificate: String,
    /// The client id of the kubelet's identity.
    pub kubelet_identity: String,
    /// The address of the cluster's DNS.
    pub dns_service_ip: String,
    /// The version that nodes get.
    pub kubernetes_version: KubernetesVersion,
    /// The network of its nodes and pods.
    pub network: Network,
    /// The suffix of the cloud's container registries, where it is none of Azure's own clouds.
    pub registry_suffix: Option<String>,
}

/// The network of nodes and pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Who gives pods their addresses.
    pub plugin: NetworkPlugin,
    /// Whether Cilium carries the packets.
    pub is_cilium: bool,
    /// The GUID of the VNet (`resourceGuid`), where pods have an overlay.
    pub vnet_guid: Option<String>,
    /// The subnet of the node.
    pub subnet: Subnet,
    /// Name of the security group of AKS, as `aks-agentpool-12345678-nsg`.
    pub security_group: String,
    /// Name of the route table of AKS, as `aks-agentpool-12345678-routetable`.
    pub route_table: String,
}

/// Who gives pods their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkPlugin {
    /// Azure CNI with an overlay: pods have a range of their own.
    AzureOverlay,
    /// Azure CNI: pods have addresses of the subnet.
    Azure,
    /// None of Azure's: the user brings one.
    None,
}

/// A subnet by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subnet {
    /// The VNet.
    pub vnet: String,
    /// The VNet's resource group.
    pub vnet_resource_group: String,
    /// The subnet.
    pub name: String,
}
