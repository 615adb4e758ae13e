//! The document of kind `SimulatedAzure`: settings of the simulated Azure. Every field is optional.

mod defaults;
mod read;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use read::SettingsFault;
pub(crate) use read::{nearest, read};

/// What the simulated Azure is like: the `spec` of a document of kind `SimulatedAzure`,
/// `apiVersion: nodeform.dev/v1alpha1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct SimulatedAzure {
    /// The region, e.g. `westeurope`.
    pub location: String,
    /// The zones of the region, e.g. `["1", "2", "3"]`; empty for a region without zones.
    pub zones: Vec<String>,
    /// The subscription's id, a GUID.
    pub subscription: String,
    /// The tenant's id, a GUID.
    pub tenant: String,
    /// The client id of the identity that nodeform signs in with, a GUID.
    pub client: String,
    /// The managed cluster.
    pub cluster: ClusterSettings,
    /// The cluster's network.
    pub network: NetworkSettings,
    /// Agent pools of the managed cluster. They only show in its description: their nodes are manifests of the world.
    pub agent_pools: Vec<AgentPool>,
    /// Limits in vCPUs: by SKU family as the SKU list spells it, and `cores` (all of the region) and
    /// `lowPriorityCores` (spot). A family that is not listed has `familyQuota`.
    pub quotas: BTreeMap<String, u64>,
    /// The limit of a family that `quotas` does not list, in vCPUs.
    pub family_quota: u64,
    /// Where there is less than any number of VMs: the first entry that fits a VM counts.
    pub capacity: Vec<Capacity>,
    /// Images of community galleries.
    pub images: Vec<Image>,
    /// SKUs as ARM lists them, instead of the default list.
    pub skus: Option<Vec<Value>>,
    /// How long things take.
    pub durations: Durations,
    /// Actions that the identity may take in the cluster's resource groups, with `*` as in role definitions.
    pub permissions: Vec<String>,
    /// Resources a page of a list, 1 or more.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub page_size: u32,
    /// How long an access token is valid, in seconds.
    pub token_seconds: u32,
}

/// The managed cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterSettings {
    /// The cluster's name.
    pub name: String,
    /// Its resource group.
    pub resource_group: String,
    /// The resource group of its nodes; by default `MC_<group>_<cluster>_<location>`.
    pub node_resource_group: Option<String>,
    /// The Kubernetes version, e.g. `1.34.2`.
    pub kubernetes_version: String,
    /// `Running` or `Stopped`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["Running", "Stopped"])))]
    pub power_state: String,
    /// Node auto-provisioning: `Manual` or `Auto`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["Manual", "Auto"])))]
    pub node_provisioning: String,
    /// The name of the administrator of nodes.
    pub admin_username: String,
    /// The public SSH key of nodes.
    pub ssh_public_key: String,
}

/// The cluster's network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkSettings {
    /// `azure`, `kubenet` or `none`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["azure", "kubenet", "none"])))]
    pub plugin: String,
    /// `overlay`, or none.
    pub plugin_mode: Option<String>,
    /// `azure` or `cilium`.
    pub dataplane: Option<String>,
    /// `azure`, `calico`, `cilium` or `none`.
    pub policy: Option<String>,
    /// Addresses of pods (overlay).
    pub pod_cidr: String,
    /// Addresses of Services.
    pub service_cidr: String,
    /// The address of the cluster's DNS.
    pub dns_service_ip: String,
    /// The ARM id of the nodes' subnet. By default the virtual network that AKS makes in the node resource group.
    pub subnet_id: Option<String>,
    /// The addresses of the subnet, e.g. `10.224.0.0/16`; Azure keeps five for itself.
    pub subnet_prefix: String,
    /// Addresses that others have taken, e.g. nodes of agent pools.
    pub addresses_in_use: u32,
}

/// An agent pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct AgentPool {
    /// The pool's name.
    pub name: String,
    /// `System` or `User`.
    pub mode: String,
    /// The VM size.
    pub size: String,
    /// How many nodes it has.
    pub count: u32,
    /// Whether the cluster autoscaler scales it.
    pub enable_auto_scaling: bool,
    /// The fewest nodes, when the cluster autoscaler scales it.
    pub min_count: Option<u32>,
    /// The most nodes, when the cluster autoscaler scales it.
    pub max_count: Option<u32>,
    /// Taints of its nodes, as `key=value:Effect`.
    pub node_taints: Vec<String>,
    /// Labels of its nodes.
    pub node_labels: BTreeMap<String, String>,
}

/// How many VMs fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase")]
pub struct Capacity {
    /// The VM size; any where it is not given.
    #[serde(default)]
    pub size: Option<String>,
    /// The zone; any where it is not given.
    #[serde(default)]
    pub zone: Option<String>,
    /// `Regular` or `Spot`; both where it is not given.
    #[serde(default)]
    pub priority: Option<String>,
    /// How many VMs fit.
    pub vms: u64,
}

/// An image definition of a community gallery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// The gallery's public name.
    pub gallery: String,
    /// The image definition, e.g. `2404gen2containerd`.
    pub definition: String,
    /// Its versions.
    pub versions: Vec<ImageVersion>,
}

/// A version of an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase")]
pub struct ImageVersion {
    /// The version, e.g. `202511.12.0`.
    pub version: String,
    /// When it was published, e.g. `2025-11-15T09:00:00Z`.
    pub published: String,
}

/// How long things take, in seconds of the simulated clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct Durations {
    /// Making a VM; one in twenty takes longer.
    pub vm_create: Seconds,
    /// Deleting a VM.
    pub vm_delete: Seconds,
    /// Making or deleting a NIC.
    pub nic: Seconds,
    /// Installing an extension.
    pub extension: Seconds,
    /// From a running VM to its kubelet.
    pub boot: Seconds,
    /// From a registered node to its Ready condition.
    pub node_ready: Seconds,
    /// Until the cloud provider has initialised a node.
    pub node_initialize: Seconds,
    /// From a bound pod to its Ready condition.
    pub pod_start: Seconds,
    /// From an evicted pod to its end, at most its grace period.
    pub pod_stop: Seconds,
    /// How long the pods of a Job run.
    pub job: Seconds,
}

/// A range of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Seconds {
    /// The shortest.
    pub from: u32,
    /// The longest.
    pub to: u32,
}

impl SimulatedAzure {
    /// The resource group of the nodes.
    #[must_use]
    pub fn node_resource_group(&self) -> String {
        self.cluster.node_resource_group.clone().unwrap_or_else(|| {
            format!("MC_{}_{}_{}", self.cluster.resource_group, self.cluster.name, self.location)
        })
    }

    /// The eight digits by which AKS names the resources of a cluster.
    pub(crate) fn cluster_id(&self) -> String {
        let name = format!("{}/{}", self.cluster.resource_group, self.cluster.name);
        format!("{:08}", super::draw::Draw::new(0).below(&name, 100_000_000))
    }

    /// The cluster's own name in DNS, which its kubelets call.
    #[must_use]
    pub fn fqdn(&self) -> String {
        format!("{}-dns-{}.hcp.{}.azmk8s.io", self.cluster.name, self.cluster_id(), self.location)
    }

    /// The ARM id of the nodes' subnet.
    #[must_use]
    pub fn subnet_id(&self) -> String {
        self.network.subnet_id.clone().unwrap_or_else(|| {
            format!(
                "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Network/virtualNetworks/aks-vnet-{}/subnets/aks-subnet",
                self.subscription,
                self.node_resource_group(),
                self.cluster_id()
            )
        })
    }

    /// The ARM id of the managed cluster.
    #[must_use]
    pub fn cluster_arm_id(&self) -> String {
        format!(
            "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.ContainerService/managedClusters/{}",
            self.subscription, self.cluster.resource_group, self.cluster.name
        )
    }

    /// The name by which Kubernetes knows a zone of the region: `<location>-<zone>`.
    pub(crate) fn zone_label(&self, zone: &str) -> String {
        format!("{}-{zone}", self.location)
    }
}
