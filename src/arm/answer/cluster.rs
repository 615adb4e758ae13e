//! Facts of a managed cluster that nodes depend on.
//!
//! Must never hold a kubeconfig or a service principal's secret.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::reading::{Answer, Rest};
use crate::arm::ResourceId;

/// A managed cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedCluster {
    /// Its id.
    pub id: ResourceId,
    /// Its name.
    pub name: String,
    /// The Azure region.
    pub location: String,
    /// The tenant of the cluster's identity.
    pub tenant: Option<String>,
    /// `Succeeded`, `Updating` and so on.
    pub provisioning_state: Option<String>,
    /// Whether the cluster is running.
    pub power_state: Option<PowerState>,
    /// The API server's Kubernetes version: `currentKubernetesVersion`, otherwise the requested one.
    pub kubernetes_version: Option<String>,
    /// Host of its API server.
    pub fqdn: Option<String>,
    /// Host of a private cluster's API server within its network.
    pub private_fqdn: Option<String>,
    /// The resource group of its nodes.
    pub node_resource_group: Option<String>,
    /// Its network.
    pub network: NetworkProfile,
    /// Its agent pools.
    pub agent_pools: Vec<AgentPool>,
    /// The kubelet's identity.
    pub kubelet_identity: Option<ClusterIdentity>,
    /// The admin user of its nodes.
    pub admin_username: Option<String>,
    /// SSH keys of its nodes.
    pub ssh_public_keys: Vec<String>,
    /// `Manual` or `Auto` (node auto-provisioning: Karpenter runs in AKS).
    pub node_provisioning_mode: Option<String>,
    /// The disk encryption set of its nodes.
    pub disk_encryption_set: Option<ResourceId>,
    /// Whether nodes reach the internet through a proxy.
    pub has_http_proxy: bool,
    /// Whether nodes trust custom CAs.
    pub has_custom_ca: bool,
    /// All other properties.
    pub rest: BTreeMap<String, Value>,
}

/// Power state of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PowerState {
    /// Running.
    Running,
    /// Stopped.
    Stopped,
    /// Any other value.
    Other(String),
}

/// A cluster's network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkProfile {
    /// `azure`, `kubenet` or `none`.
    pub network_plugin: Option<String>,
    /// `overlay`, or absent.
    pub network_plugin_mode: Option<String>,
    /// `azure` or `cilium`.
    pub network_dataplane: Option<String>,
    /// `none`, `calico`, `azure` or `cilium`.
    pub network_policy: Option<String>,
    /// The address of the cluster's DNS.
    #[serde(rename = "dnsServiceIP")]
    pub dns_service_ip: Option<String>,
    /// The address range of pods.
    pub pod_cidr: Option<String>,
    /// How nodes reach the internet.
    pub outbound_type: Option<String>,
    /// `standard` or `basic`.
    pub load_balancer_sku: Option<String>,
    /// `IPv4`, `IPv6`.
    pub ip_families: Vec<String>,
}

/// An agent pool of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentPool {
    /// Its name.
    pub name: String,
    /// `System`, `User`, `Gateway`.
    #[serde(default)]
    pub mode: Option<String>,
    /// The subnet of its nodes; absent: AKS's own subnet.
    #[serde(default, rename = "vnetSubnetID")]
    pub subnet: Option<String>,
    /// Whether the cluster autoscaler scales it.
    #[serde(default)]
    pub enable_auto_scaling: Option<bool>,
    /// Number of its nodes.
    #[serde(default)]
    pub count: Option<i64>,
    /// Its VM size.
    #[serde(default)]
    pub vm_size: Option<String>,
    /// Labels of its nodes.
    #[serde(default)]
    pub node_labels: Option<BTreeMap<String, String>>,
    /// Taints of its nodes.
    #[serde(default)]
    pub node_taints: Option<Vec<String>>,
}

/// An identity of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterIdentity {
    /// Its resource id.
    #[serde(default)]
    pub resource_id: Option<String>,
    /// Its client id.
    #[serde(default)]
    pub client_id: Option<String>,
    /// Its object id.
    #[serde(default)]
    pub object_id: Option<String>,
}

#[derive(Deserialize)]
pub struct Wire {
    id: String,
    #[serde(default)]
    name: Option<String>,
    location: String,
    #[serde(default)]
    identity: Option<WireTenant>,
    #[serde(default)]
    properties: WireProperties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTenant {
    #[serde(default)]
    tenant_id: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireProperties {
    provisioning_state: Option<String>,
    power_state: Option<WirePower>,
    kubernetes_version: Option<String>,
    current_kubernetes_version: Option<String>,
    fqdn: Option<String>,
    #[serde(rename = "privateFQDN")]
    private_fqdn: Option<String>,
    node_resource_group: Option<String>,
    network_profile: Option<NetworkProfile>,
    agent_pool_profiles: Option<Vec<AgentPool>>,
    identity_profile: Option<BTreeMap<String, ClusterIdentity>>,
    linux_profile: Option<WireLinux>,
    node_provisioning_profile: Option<WireMode>,
    #[serde(rename = "diskEncryptionSetID")]
    disk_encryption_set_id: Option<String>,
    http_proxy_config: Option<Value>,
    security_profile: Option<WireSecurity>,
    /// Never stored: it can contain a secret.
    #[serde(rename = "servicePrincipalProfile")]
    _service_principal_profile: Option<serde::de::IgnoredAny>,
    /// Never stored: it can contain a password.
    #[serde(rename = "windowsProfile")]
    _windows_profile: Option<serde::de::IgnoredAny>,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Deserialize)]
struct WirePower {
    #[serde(default)]
    code: Option<String>,
}

#[derive(Deserialize)]
struct WireMode {
    #[serde(default)]
    mode: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireLinux {
    #[serde(default)]
    admin_username: Option<String>,
    #[serde(default)]
    ssh: Option<WireSsh>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSsh {
    #[serde(default)]
    public_keys: Vec<WireKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireKey {
    #[serde(default)]
    key_data: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSecurity {
    #[serde(default, rename = "customCATrustCertificates")]
    custom_ca_trust_certificates: Option<Vec<serde::de::IgnoredAny>>,
}

impl Answer for ManagedCluster {
    const WHAT: &'static str = "managed cluster";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        let Wire { id, name, location, identity, properties: p } = wire;
        let (admin_username, ssh) = p.linux_profile.map_or((None, None), |l| (l.admin_username, l.ssh));
        let keys = ssh.map(|ssh| ssh.public_keys).unwrap_or_default();
        let mut identities = p.identity_profile.unwrap_or_default();
        let id: ResourceId = id.parse().map_err(|fault: crate::arm::ResourceIdFault| fault.to_string())?;
        Ok(Self {
            name: name.unwrap_or_else(|| id.name().to_owned()),
            id,
            location,
            tenant: identity.and_then(|identity| identity.tenant_id),
            provisioning_state: p.provisioning_state,
            power_state: p.power_state.and_then(|power| power.code).map(power_state),
            kubernetes_version: p.current_kubernetes_version.or(p.kubernetes_version),
            fqdn: p.fqdn,
            private_fqdn: p.private_fqdn,
            node_resource_group: p.node_resource_group,
            network: p.network_profile.unwrap_or_default(),
            agent_pools: p.agent_pool_profiles.unwrap_or_default(),
            kubelet_identity: identities.remove("kubeletidentity"),
            admin_username,
            ssh_public_keys: keys.into_iter().filter_map(|key| key.key_data).collect(),
            node_provisioning_mode: p.node_provisioning_profile.and_then(|profile| profile.mode),
            disk_encryption_set: p.disk_encryption_set_id.and_then(|id| id.parse().ok()),
            has_http_proxy: p.http_proxy_config.is_some_and(|config| is_proxy(&config)),
            has_custom_ca: p
                .security_profile
                .and_then(|profile| profile.custom_ca_trust_certificates)
                .is_some_and(|certificates| !certificates.is_empty()),
            rest: p.rest,
        })
    }
}

fn power_state(code: String) -> PowerState {
    match code.as_str() {
        "Running" => PowerState::Running,
        "Stopped" => PowerState::Stopped,
        _ => PowerState::Other(code),
    }
}

/// Returns whether a proxy is configured and not disabled.
fn is_proxy(config: &Value) -> bool {
    let is_off = config.get("enabled") == Some(&Value::Bool(false));
    let named = ["httpProxy", "httpsProxy"].iter().any(|key| config.get(key).is_some_and(Value::is_string));
    named && !is_off
}
