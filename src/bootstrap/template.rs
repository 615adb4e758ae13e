//! The configuration of a node without its token: AgentBaker's `AKSNodeConfig`, in protobuf's JSON mapping.
//!
//! The node controller silently ignores unknown keys, such as misspelt ones, so a test checks every key and type
//! against its published definition. Must never contain the token.

use serde_json::{Value, json};

use super::cluster::{Cluster, Network, NetworkPlugin};
use super::node::Node;
use super::refusal::Refusal;
use super::{custom_data, downloads, fields, gpu, kubelet, labels, linux_os, local_dns};
use crate::api::aks_node_class::{AksNodeClassSpec, WorkloadRuntime};
use crate::model::Digest;
use crate::model::secret_json::drop_nulls;

/// The contract version of the node controller; it rejects any other.
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
    /// Every setting that cannot be applied, by name.
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
                // AKS writes this value if a cluster has identities instead of a service principal.
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
        // Absent settings are omitted: protobuf would accept null, but readers would wonder what it means.
        drop_nulls(&mut config);
        let template = Self { config };
        refusals.extend(custom_data::faults(&template));
        if refusals.is_empty() { Ok(template) } else { Err(refusals) }
    }

    /// Returns the configuration for display; it does not contain the token.
    #[must_use]
    pub const fn shown(&self) -> &Value {
        &self.config
    }

    /// Returns the digest of the configuration, which the plan shows: SHA-256 of its canonical form (RFC 8785).
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
        // AKS's value for the cloud provider, although the VMs are standalone.
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

/// Returns the network configuration. Nodes install Azure's plugin themselves only if pods use addresses of the subnet
/// without Cilium; otherwise a DaemonSet does.
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
        // Refused in `fields`.
        WorkloadRuntime::KataVmIsolation | WorkloadRuntime::KataMshvVmIsolation => {
            "WORKLOAD_RUNTIME_UNSPECIFIED"
        }
    }
}

/// The CA certificate with which nodes verify the API server; read from the kubeconfig or the Pod's service account
/// files.
const CA: &str = "cluster CA";

/// Checks facts that the image's scripts use in files and commands: only plain characters are allowed.
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
