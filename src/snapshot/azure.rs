//! Azure's view of a cluster: the `azure` part of a live snapshot.
//!
//! Raw facts, reduced to those that planning and applying need; never a secret, and never customData. Data that was not
//! read is absent, which is not the same as empty. Never decides anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::obstacles::Obstacles;
use crate::model::{ClaimName, Digest, Node, Refusal};

/// The tag by which Karpenter knows its VMs: the name of the NodePool.
pub const KARPENTER_TAG: &str = "karpenter.sh_nodepool";

/// The tag by which nodeform knows its VMs: the identity of the cluster.
pub const OWN_TAG: &str = "nodeform.dev_cluster";

/// What Azure said of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AzureFacts {
    /// The managed cluster.
    pub cluster: ClusterFacts,
    /// The VMs of the node resource group, sorted by id; null where their list could not be read to its end.
    pub vms: Option<Vec<VmFacts>>,
    /// The network interfaces of the node resource group, sorted by id; null where their list could not be read to its end.
    pub interfaces: Option<Vec<InterfaceFacts>>,
    /// The backend pools of load balancers that every node joins, sorted; null where they could not be read.
    pub backend_pools: Option<Vec<Arc<str>>>,
    /// The network security groups that AKS made for its nodes; null where they could not be read.
    pub security_groups: Option<Vec<Arc<str>>>,
    /// The subnets of nodes that were looked at, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub subnets: BTreeMap<Arc<str>, SubnetFacts>,
    /// What the cluster's NodePlans say of plans before; absent where they could not be listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerFacts>,
    /// The newest version of images of community galleries, by its id, of each image that classes without images of their
    /// own can need: `GALLERY/IMAGE`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<Arc<str>, Arc<str>>,
    /// What stands in the way of carrying plans out.
    #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
    pub obstacles: Obstacles,
}

/// What plans before have left for the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LedgerFacts {
    /// The last plan with effects; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Digest>,
    /// The plans that are being carried out or were interrupted, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Digest>,
    /// The names of the plans that are recorded and not over, sorted: what these have begun somebody finishes. Absent
    /// where nobody listed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<BTreeSet<Arc<str>>>,
    /// What Azure refused and what counted when this was read, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
}

/// A managed cluster, as far as its nodes depend on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterFacts {
    /// Its id in Azure.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Azure's region.
    pub location: Arc<str>,
    /// The tenant that its identities are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Arc<str>>,
    /// The resource group of its nodes.
    pub node_resource_group: Arc<str>,
    /// Kubernetes' version, as `1.34.2`.
    pub kubernetes_version: Arc<str>,
    /// Host of the API server, by which nodes reach it.
    pub api_server: Arc<str>,
    /// Its network.
    pub network: NetworkFacts,
    /// The subnet of new nodes where their class names none.
    pub subnet: Option<Arc<str>>,
    /// The client id of the kubelets' identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubelet_client_id: Option<Arc<str>>,
    /// The identities of its nodes' VMs, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<Arc<str>>,
    /// The user of its nodes.
    pub admin_user: Arc<str>,
    /// The public SSH key of its nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_public_key: Option<Arc<str>>,
    /// The CA of the API server: PEM in base64, as a kubeconfig has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<Arc<str>>,
    /// The suffix of the cloud's container registries, where it is none of Azure's own clouds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry_suffix: Option<Arc<str>>,
    /// The disk encryption set of its nodes, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_encryption_set: Option<Arc<str>>,
    /// Whether its nodes go to the internet through a proxy.
    #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
    pub has_http_proxy: bool,
    /// Whether its nodes trust CAs of the user.
    #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
    pub has_custom_ca: bool,
}

/// A cluster's network, in Azure's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkFacts {
    /// `azure` or `none`.
    pub plugin: Arc<str>,
    /// `overlay`; null where pods have addresses of the nodes' subnet.
    pub plugin_mode: Option<Arc<str>>,
    /// `azure` or `cilium`.
    pub dataplane: Option<Arc<str>>,
    /// `none`, `azure`, `calico` or `cilium`.
    pub policy: Option<Arc<str>>,
    /// The address of the cluster's DNS.
    pub dns_service_ip: Option<Arc<str>>,
}

/// A VM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VmFacts {
    /// Its id in Azure, as it was written.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// What no other VM ever has, also none of the same name.
    pub vm_id: Option<Arc<str>>,
    /// Its size.
    pub size: Option<Arc<str>>,
    /// Its zone, as `1`.
    pub zone: Option<Arc<str>>,
    /// Whether it is a spot VM.
    #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
    pub is_spot: bool,
    /// `Creating`, `Succeeded`, `Failed`, `Deleting` and so on.
    pub provisioning_state: Option<Arc<str>>,
    /// The image that it was made from.
    pub image: Option<Arc<str>>,
    /// When it was made.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub created: Option<Timestamp>,
    /// Its tags.
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
    /// Its network interfaces, by id.
    pub interfaces: Vec<Arc<str>>,
    /// The disk of its operating system, by id where it is a managed one.
    pub os_disk: Option<Arc<str>>,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InterfaceFacts {
    /// Its id in Azure, as it was written.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// `Succeeded`, `Failed` and so on.
    pub provisioning_state: Option<Arc<str>>,
    /// The VM that it belongs to, by id.
    pub vm: Option<Arc<str>>,
    /// Its tags.
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
}

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubnetFacts {
    /// Its addresses.
    pub prefixes: Vec<Arc<str>>,
    /// Whether AKS made it, which has its own network security group then.
    pub is_managed: bool,
    /// The GUID of its virtual network (`resourceGuid`), which nodes of an overlay carry as a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_guid: Option<Arc<str>>,
}

/// Whose a node's VM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// nodeform made it.
    Own,
    /// Karpenter created it: its tag, and none of nodeform's.
    Karpenter,
    /// Neither made it for this cluster: an agent pool of AKS, another cluster, or somebody else.
    Foreign,
    /// The node's VM is not among those that Azure listed, or the list could not be read.
    Unknown,
}

impl AzureFacts {
    /// Returns the VM of a node: by its `providerID`, whatever the case of its letters.
    #[must_use]
    pub fn vm_of(&self, node: &Node) -> Option<&VmFacts> {
        let id = node.provider_id.as_deref()?.strip_prefix("azure://")?;
        self.vms.as_deref()?.iter().find(|vm| vm.id.eq_ignore_ascii_case(id))
    }

    /// Returns the VMs that nodeform made for a claim, by their names.
    pub fn vms_of<'a>(&'a self, claim: &'a ClaimName) -> impl Iterator<Item = &'a VmFacts> {
        self.vms.iter().flatten().filter(move |vm| is_of_claim(&vm.name, &vm.tags, claim))
    }

    /// Returns whether a node that nodeform made is on its way out and has no VM any more: what is left of it is objects,
    /// and perhaps a network interface. What was not listed to its end, and a Node that is Ready, says nothing.
    #[must_use]
    pub fn has_lost_vm(&self, node: &Node) -> bool {
        let Some(claim) = node.claim.as_ref().filter(|_| node.claimed.is_own) else { return false };
        let is_listed = self.vms.is_some() && self.interfaces.is_some();
        let is_up = node.uid.is_some() && node.is_ready();
        let is_there = self.vm_of(node).is_some() || self.vms_of(claim).next().is_some();
        node.claimed.is_deleted_by_hand() && is_listed && !is_up && !is_there && !is_of_scale_set(node)
    }

    /// Returns whose a node is, seen from the cluster of this identity (the UID of its `kube-system`): what carries another
    /// cluster's tag is never this one's, whatever its name. Azure does not heed the case of tag names.
    #[must_use]
    pub fn owner_of(&self, node: &Node, cluster: Option<&str>) -> Owner {
        if is_of_scale_set(node) {
            return Owner::Foreign;
        }
        let Some(vm) = self.vm_of(node) else { return Owner::Unknown };
        let value = |name: &str| {
            let mut found = vm.tags.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| &**value)
        };
        match (value(OWN_TAG), value(KARPENTER_TAG)) {
            (Some(uid), _) if cluster.is_none_or(|cluster| cluster == uid) => Owner::Own,
            (None, Some(_)) => Owner::Karpenter,
            (Some(_) | None, _) => Owner::Foreign,
        }
    }
}

fn is_of_scale_set(node: &Node) -> bool {
    let id = node.provider_id.as_deref();
    id.is_some_and(|id| id.to_ascii_lowercase().contains("/virtualmachinescalesets/"))
}

/// Returns whether nodeform made a resource for a claim: it has its tag, and is named `aks-CLAIM`, with the number of the
/// attempt after the first.
#[must_use]
pub fn is_of_claim(name: &str, tags: &BTreeMap<Arc<str>, Arc<str>>, claim: &ClaimName) -> bool {
    let rest = name.strip_prefix("aks-").and_then(|name| name.strip_prefix(claim.as_str()));
    let is_attempt = |rest: &str| {
        let number = rest.strip_prefix('-').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    tags.keys().any(|key| key.eq_ignore_ascii_case(OWN_TAG))
        && rest.is_some_and(|rest| rest.is_empty() || is_attempt(rest))
}
