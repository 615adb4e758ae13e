//! Execution of a live plan: the cluster, the machines, and the identity of existing nodes.
//!
//! Only a plan of a live cluster has it, and only such a plan can be applied. It is reviewed and part of the digest:
//! apply only decides when. Must never hold a secret: the public SSH key and the bootstrap configuration are stored as
//! digests.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::change::{ChangeId, Choice, ClaimSpecId};
use super::owner::PodOwner;
use crate::model::{Digest, MicroUsdPerHour, PodKey, Purpose, Resources};

/// How many choices a claim has at most, the primary among them.
pub const CHOICES_MAX: usize = 20;

/// The name of a [`Machine`] inside a plan: ten characters of its digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MachineId(pub Arc<str>);

/// How a live plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Execution {
    /// The cluster that is meant.
    pub cluster: ClusterIdentity,
    /// When the world was seen that the plan was made of; null where nobody knows, and then it is never carried out.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub seen_at: Option<Timestamp>,
    /// What VMs are made of, each once.
    pub machines: BTreeMap<MachineId, Machine>,
    /// How each claim spec is launched.
    pub launches: BTreeMap<ClaimSpecId, Launch>,
    /// The existing nodes that changes touch, held fast by more than their names.
    pub nodes: BTreeMap<ChangeId, NodeIdentity>,
    /// How each removal drains, and what it waits for.
    pub removals: BTreeMap<ChangeId, Removal>,
    /// Where waiting pods are meant to go, by create; sorted.
    pub nominations: BTreeMap<ChangeId, Vec<PodKey>>,
    /// For pods of which owners and templates nodes are made, by create; sorted. Their NodeClaims say so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub made_for: BTreeMap<ChangeId, Vec<Purpose>>,
}

/// A cluster by what no other has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterIdentity {
    /// The UID of its namespace `kube-system`.
    pub uid: Arc<str>,
    /// The managed cluster's id in Azure.
    pub id: Arc<str>,
    /// The resource group of its nodes, in the same subscription.
    pub node_resource_group: Arc<str>,
    /// Azure's region.
    pub location: Arc<str>,
}

/// How a claim spec is launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Launch {
    /// What is tried, in this order, at most [`CHOICES_MAX`]: each holds the pods with every rule kept. Other
    /// combinations of sizes and zones are never tried.
    pub choices: Vec<LaunchChoice>,
    /// Annotations of the claim beside the pool's: the hashes of pool and class, by which drift is seen.
    pub annotations: BTreeMap<Arc<str>, Arc<str>>,
    /// What a node of the first choice has in all, as limits count it.
    pub capacity: Resources,
}

/// One way to launch a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LaunchChoice {
    /// Size, zone and capacity type.
    #[serde(flatten)]
    pub choice: Choice,
    /// The most that it costs the user by the hour; null where its price is unknown.
    pub price_max: Option<MicroUsdPerHour>,
    /// What the VM is made of.
    pub machine: MachineId,
}

/// What a VM of a size is made of: everything but its name, its zone and how it is bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Machine {
    /// The image's id: of a community gallery, or a resource.
    pub image: Arc<str>,
    /// The generation of the hypervisor's interface, `1` or `2`.
    pub generation: u8,
    /// The disk of the operating system.
    pub os_disk: OsDiskSpec,
    /// The network interface.
    pub network: NetworkSpec,
    /// User-assigned identities, by id, sorted.
    pub identities: Vec<Arc<str>>,
    /// Encryption and Trusted Launch.
    pub security: SecuritySpec,
    /// Tags of VM and network interface that all nodes of this machine have.
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether disks of type UltraSSD may be attached; null: not said.
    pub ultra_ssd: Option<bool>,
    /// What its kubelet is told.
    pub kubelet: KubeletSpec,
    /// The user who may log in.
    pub admin_user: Arc<str>,
    /// The digest of the public SSH key.
    pub ssh_key: Digest,
    /// The digest of the bootstrap configuration: kubelet flags, labels, settings of the operating system.
    pub bootstrap: Digest,
}

/// The disk of an operating system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OsDiskSpec {
    /// Its size in GB, as Azure counts them.
    pub size_gb: u32,
    /// Where it lies.
    pub placement: DiskPlacement,
}

/// Where the disk of an operating system lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DiskPlacement {
    /// A managed disk.
    Managed,
    /// On the host, in the cache.
    CacheDisk,
    /// On the host, on the temporary disk.
    ResourceDisk,
    /// On the host, on an NVMe disk.
    NvmeDisk,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkSpec {
    /// The subnet, by id.
    pub subnet: Arc<str>,
    /// The security group, by id; null where the subnet has its own.
    pub security_group: Option<Arc<str>>,
    /// Backend pools of load balancers, by id, sorted.
    pub backend_pools: Vec<Arc<str>>,
    /// Whether packets go past the host's switch.
    pub accelerated_networking: bool,
    /// How many addresses of the subnet it has for pods.
    pub pod_addresses: u32,
}

/// Encryption and Trusted Launch of a VM; null: not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecuritySpec {
    /// Whether disks are encrypted on the host.
    pub encryption_at_host: Option<bool>,
    /// Whether only signed code starts.
    pub secure_boot: Option<bool>,
    /// Whether there is a virtual trusted platform module.
    pub vtpm: Option<bool>,
}

/// What a kubelet is told, as far as it decides what the node holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KubeletSpec {
    /// The most pods.
    pub max_pods: u32,
    /// What Kubernetes keeps for itself, by resource.
    pub kube_reserved: BTreeMap<Arc<str>, Arc<str>>,
    /// What the system keeps for itself, by resource.
    pub system_reserved: BTreeMap<Arc<str>, Arc<str>>,
    /// When pods are evicted, by signal.
    pub eviction_hard: BTreeMap<Arc<str>, Arc<str>>,
}

/// An existing node with its VM: what must be the same when it is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeIdentity {
    /// The Node's UID; null where there is no Node yet.
    pub node_uid: Option<Arc<str>>,
    /// The NodeClaim's UID.
    pub claim_uid: Option<Arc<str>>,
    /// The VM's id in Azure.
    pub vm: Option<Arc<str>>,
    /// What no other VM ever has, also none of the same name (`vmId`).
    pub vm_id: Option<Arc<str>>,
    /// Its network interfaces, by id, sorted.
    pub interfaces: Vec<Arc<str>>,
    /// The managed disk of its operating system, by id.
    pub os_disk: Option<Arc<str>>,
}

impl NodeIdentity {
    /// Returns the ids of what has the VM's tags beside it and is there for certain: its network interfaces, and the disk
    /// where it is one of its own.
    pub fn tagged_beside_vm(&self) -> impl Iterator<Item = &Arc<str>> {
        self.interfaces.iter().chain(self.os_disk.iter().filter(|disk| disk.starts_with('/')))
    }
}

/// How a node is removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Removal {
    /// How long the node may drain at most; null: as long as PodDisruptionBudgets ask.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub grace: Option<SignedDuration>,
    /// The creates whose nodes must be Ready first: they take its pods. Sorted.
    pub after: Vec<ChangeId>,
    /// Whose pods are evicted: the removal is approved for these. Sorted.
    pub owners: Vec<PodOwner>,
}

impl ClusterIdentity {
    /// Returns whether it is the same cluster; Azure writes ids in capital letters or not.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let is_alike = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
        self.uid == other.uid
            && is_alike(&self.id, &other.id)
            && is_alike(&self.node_resource_group, &other.node_resource_group)
            && is_alike(&self.location, &other.location)
    }

    /// Returns the id of a resource of the group of the nodes; `kind` is such as `Microsoft.Compute/virtualMachines`.
    #[must_use]
    pub fn resource(&self, kind: &str, name: &str) -> String {
        let subscription = self.id.split('/').nth(2).unwrap_or_default();
        let group = &self.node_resource_group;
        format!("/subscriptions/{subscription}/resourceGroups/{group}/providers/{kind}/{name}")
    }
}

impl Execution {
    /// Returns what a create may launch, in order; nothing for a claim spec that is not in the plan.
    #[must_use]
    pub fn choices(&self, spec: &ClaimSpecId) -> &[LaunchChoice] {
        self.launches.get(spec).map_or(&[], |launch| &launch.choices)
    }
}
