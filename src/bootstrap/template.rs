//! The configuration of a node without its token: AgentBaker's `AKSNodeConfig`, as protobuf writes JSON.
//!
//! The node controller passes over keys that it does not know, so a misspelt one would be lost in silence: a test holds
//! every key and type against its published definition. Must never hold the token.

use serde_json::{Value, json};

use super::cluster::{Cluster, Network, NetworkPlugin};
use super::node::Node;
use super::refusal::Refusal;
use super::{custom_data, downloads, fields, gpu, kubelet, labels, linux_os, local_dns};
use crate::api::aks_node_class::{AksNodeClassSpec, WorkloadRuntime};
use crate::model::Digest;
use crate::model::secret_json::drop_nulls;

/// The version of the contract with the node controller; it refuses any other.
const VERSION: &str = "v1";

/// The configuration of one node without its token.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(super) config: Value,
}

impl Template {
    /// Builds the configuration.
    ///
    /// # Errors
    /// Every setting that cannot be carried out, by its name.
    pub fn build(cluster: &Cluster, node: &Node, class: &AksNodeClassSpec) -> Result<Self, Vec<Refusal>> {
        let mut refusals = fields::refusals(class);
        let flags = kubelet::flags(cluster, node, class);
        let node_labels = labels::of(cluster, node, class);
        refusals.extend(kubelet::faults(&flags, node));
        refusals.extend(labels::faults(&node_labels));
        refusals.extend(facts(cluster, node));
        let mut config = json!({
            "version": VERSION,
            "apiServerConfig": {"apiServerName": cluster.api_server},
            "kubernetesCaCert": cluster.ca_certificate,
            "kubernetesVersion": cluster.kubernetes_version.to_string(),
            "authConfig": {
                "tenantId": cluster.tenant,
                "subscriptionId": cluster.subscription,
                "assignedIdentityId": cluster.kubelet_identity,
                "useManagedIdentityExtension": true,
                // AKS writes this word where a cluster has identities instead of a service principal.
                "servicePrincipalId": "msi",
            },
            "bootstrappingConfig": {"bootstrappingAuthMethod": "BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN"},
            "clusterConfig": cluster_config(cluster),
            "networkConfig": network_config(&cluster.network, node),
            "kubeBinaryConfig": downloads::binaries(cluster, node),
            "customCloudConfig": cluster.registry_suffix.as_ref().map(|suffix| json!({"containerRegistryDnsSuffix": suffix})),
            "kubeletConfig": {
                "kubeletFlags": flags,
                "kubeletNodeLabels": node_labels,
                "kubeletDiskType": "KUBELET_DISK_OS_DISK",
                "enableKubeletConfigFile": false,
            },
            "customLinuxOsConfig": linux_os::config(class, &mut refusals),
            "localDnsProfile": local_dns::config(node, class, &mut refusals),
            "gpuConfig": gpu::config(node, class),
            "vmSize": node.size,
            "linuxAdminUsername": node.admin_user,
            "isVhd": true,
            "enableSsh": true,
            "enableUnattendedUpgrade": false,
            "enableArtifactStreaming": labels::streams_artifacts(node, class),
            "workloadRuntime": class.workload_runtime.map(runtime),
            "needsCgroupv2": true,
        });
        // An absent setting is no key: protobuf takes null for absent, but a person would ask what it means.
        drop_nulls(&mut config);
        let template = Self { config };
        refusals.extend(custom_data::faults(&template));
        if refusals.is_empty() { Ok(template) } else { Err(refusals) }
    }

    /// The configuration, for people; the token is not in it.
    #[must_use]
    pub const fn shown(&self) -> &Value {
        &self.config
    }

    /// The digest of the configuration, which the plan shows: SHA-256 of its canonical form (RFC 8785).
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_json(&self.config).unwrap_or_else(|_| Digest::of_bytes(self.config.to_string().as_bytes()))
    }
}

fn cluster_config(cluster: &Cluster) -> Value {
    let Network { subnet, security_group, route_table, .. } = &cluster.network;
    json!({
        "resourceGroup": cluster.node_resource_group,
        "location": cluster.location,
        // The word under which AKS runs the cloud provider; the VMs themselves stand alone.
        "vmType": "VM_TYPE_VMSS",
        "useInstanceMetadata": true,
        "loadBalancerConfig": {
            "loadBalancerSku": "LOAD_BALANCER_SKU_STANDARD",
            "excludeMasterFromStandardLoadBalancer": true,
            "maxLoadBalancerRuleCount": 250,
        },
        "clusterNetworkConfig": {
            "vnetName": subnet.vnet,
            "vnetResourceGroup": subnet.vnet_resource_group,
            "subnet": subnet.name,
            "securityGroupName": security_group,
            "routeTable": route_table,
            "coreDnsServiceIp": cluster.dns_service_ip,
        },
    })
}

/// Nodes set up Azure's plugin themselves only where pods take addresses of the subnet and Cilium is not there; else a
/// DaemonSet does.
fn network_config(network: &Network, node: &Node) -> Value {
    let is_azure = network.plugin == NetworkPlugin::Azure && !network.is_cilium;
    json!({
        "networkPlugin": if is_azure { "NETWORK_PLUGIN_AZURE" } else { "NETWORK_PLUGIN_NONE" },
        "vnetCniPluginsUrl": downloads::azure_cni(node.arch),
        "cniPluginsUrl": downloads::cni_plugins(node.arch),
    })
}

const fn runtime(runtime: WorkloadRuntime) -> &'static str {
    match runtime {
        WorkloadRuntime::OCIContainer => "WORKLOAD_RUNTIME_OCI_CONTAINER",
        // Refused by name in `fields`.
        WorkloadRuntime::KataVmIsolation | WorkloadRuntime::KataMshvVmIsolation => {
            "WORKLOAD_RUNTIME_UNSPECIFIED"
        }
    }
}

/// The certificate by which nodes know the API server; read from the kubeconfig, or from the Pod's own files.
const CA: &str = "cluster CA";

/// Facts that the scripts of the image put into files and commands: plain characters only.
fn facts(cluster: &Cluster, node: &Node) -> Vec<Refusal> {
    let network = &cluster.network;
    let facts = [
        ("tenant", &cluster.tenant),
        ("subscription", &cluster.subscription),
        ("node resource group", &cluster.node_resource_group),
        ("location", &cluster.location),
        ("API server", &cluster.api_server),
        (CA, &cluster.ca_certificate),
        ("kubelet identity", &cluster.kubelet_identity),
        ("DNS service IP", &cluster.dns_service_ip),
        ("VNet", &network.subnet.vnet),
        ("VNet's resource group", &network.subnet.vnet_resource_group),
        ("subnet", &network.subnet.name),
        ("security group", &network.security_group),
        ("route table", &network.route_table),
        ("VM size", &node.size),
        ("admin user", &node.admin_user),
    ];
    let is_plain = |c: char| c.is_alphanumeric() || "-_.:/+=()[]".contains(c);
    let empty = facts.iter().filter(|(_, fact)| fact.is_empty());
    let empty = empty.map(|(name, _)| match *name {
        CA => Refusal::new(
            CA,
            "is in no kubeconfig: set `certificate-authority-data` of the cluster (`az aks get-credentials` does)",
        ),
        name => Refusal::new(name, "cannot be determined"),
    });
    let odd = facts.iter().filter(|(_, fact)| !fact.chars().all(is_plain));
    let mut refusals: Vec<Refusal> = empty
        .chain(odd.map(|(name, _)| Refusal::new(*name, "has a character that no such name has")))
        .collect();
    if network.plugin == NetworkPlugin::AzureOverlay && network.vnet_guid.is_none() {
        refusals.push(Refusal::new(
            "VNet's resourceGuid",
            "cannot be determined, and nodes of an overlay carry it as a label",
        ));
    }
    refusals
}
