//! Cluster facts that its nodes need.
//!
//! Must never hold a credential.

use super::version::KubernetesVersion;

/// The cluster that a node joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The tenant of the cluster's identities.
    pub tenant: String,
    /// The subscription of the nodes.
    pub subscription: String,
    /// The resource group of the nodes.
    pub node_resource_group: String,
    /// The Azure region.
    pub location: String,
    /// Host of the API server, without scheme; with the port if it is not 443.
    pub api_server: String,
    /// The CA of the API server: PEM in base64, as a kubeconfig has it.
    pub ca_certificate: String,
    /// The client id of the kubelet's identity.
    pub kubelet_identity: String,
    /// The address of the cluster's DNS.
    pub dns_service_ip: String,
    /// The Kubernetes version of new nodes.
    pub kubernetes_version: KubernetesVersion,
    /// The network of its nodes and pods.
    pub network: Network,
    /// The suffix of the cloud's container registries, if it is not one of Azure's own clouds.
    pub registry_suffix: Option<String>,
}

/// The network of nodes and pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The network plugin, which assigns pod addresses.
    pub plugin: NetworkPlugin,
    /// Whether Cilium is the data plane.
    pub is_cilium: bool,
    /// The GUID of the VNet (`resourceGuid`), if pods use an overlay.
    pub vnet_guid: Option<String>,
    /// The subnet of the node.
    pub subnet: Subnet,
    /// Name of AKS's security group, such as `aks-agentpool-12345678-nsg`.
    pub security_group: String,
    /// Name of AKS's route table, such as `aks-agentpool-12345678-routetable`.
    pub route_table: String,
}

/// The network plugin, which assigns pod addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkPlugin {
    /// Azure CNI overlay: pods have their own address range.
    AzureOverlay,
    /// Azure CNI: pods have addresses from the subnet.
    Azure,
    /// No Azure plugin: the user provides one.
    None,
}

/// A subnet, identified by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subnet {
    /// The VNet.
    pub vnet: String,
    /// The VNet's resource group.
    pub vnet_resource_group: String,
    /// The subnet.
    pub name: String,
}
