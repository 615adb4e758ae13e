//! The cluster facts that its nodes need. Never guesses: facts that were not read are named.

use std::sync::Arc;

use crate::bootstrap::{Cluster, KubernetesVersion, Network, NetworkPlugin, Refusal, Subnet};
use crate::snapshot::azure::{AzureFacts, ClusterFacts, NetworkFacts};

/// Creates a refusal of a fact or a field.
pub(super) fn refusal(field: impl Into<String>, why: impl Into<String>) -> Refusal {
    Refusal { field: field.into(), why: why.into() }
}

/// Returns the cluster's settings that are not supported yet, whatever the node.
pub(super) fn unsupported(cluster: &ClusterFacts) -> Vec<Refusal> {
    const WHY: &str = "nodeform makes no nodes with it yet; use an agent pool for such nodes";
    let said = [
        (cluster.disk_encryption_set.is_some(), "the cluster's disk encryption set"),
        (cluster.has_http_proxy, "the cluster's HTTP proxy"),
        (cluster.has_custom_ca, "the cluster's own certificate authorities"),
    ];
    said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| refusal(what, WHY)).collect()
}

/// Returns the cluster facts for a node in this subnet. Facts that were not read are empty, and the node's
/// configuration rejects them by name.
///
/// # Errors
/// A version or a subnet that cannot be parsed, or no unique security group.
pub(super) fn cluster(facts: &AzureFacts, subnet: &str) -> Result<Cluster, Vec<Refusal>> {
    let ClusterFacts { network, .. } = &facts.cluster;
    let version: Result<KubernetesVersion, Refusal> =
        facts.cluster.kubernetes_version.parse().map_err(|why: String| refusal("Kubernetes version", why));
    let parts =
        SubnetId::of(subnet).ok_or_else(|| refusal("subnet", format!("`{subnet}` is no id of a subnet")));
    let group = security_group(facts);
    let (kubernetes_version, parts, security_group) = match (version, parts, group) {
        (Ok(version), Ok(parts), Ok(group)) => (version, parts, name_of(&group).to_owned()),
        (version, parts, group) => {
            return Err([version.err(), parts.err(), group.err()].into_iter().flatten().collect());
        }
    };
    let text = |fact: &Option<Arc<str>>| fact.as_deref().unwrap_or_default().to_owned();
    let own = &facts.cluster;
    Ok(Cluster {
        tenant: text(&own.tenant),
        subscription: subscription(own).to_owned(),
        node_resource_group: own.node_resource_group.to_string(),
        location: own.location.to_string(),
        api_server: own.api_server.to_string(),
        ca_certificate: text(&own.ca_certificate),
        kubelet_identity: text(&own.kubelet_client_id),
        dns_service_ip: text(&network.dns_service_ip),
        kubernetes_version,
        network: Network {
            plugin: plugin(network),
            is_cilium: network.dataplane.as_deref() == Some("cilium"),
            vnet_guid: facts
                .subnets
                .get(subnet)
                .and_then(|subnet| subnet.network_guid.as_deref())
                .map(str::to_owned),
            subnet: Subnet {
                vnet: parts.network.to_owned(),
                vnet_resource_group: parts.resource_group.to_owned(),
                name: parts.name.to_owned(),
            },
            // AKS uses the same number in both names.
            route_table: security_group.replace("-nsg", "-routetable"),
            security_group,
        },
        registry_suffix: own.registry_suffix.as_deref().map(str::to_owned),
    })
}

fn plugin(network: &NetworkFacts) -> NetworkPlugin {
    match (&*network.plugin, network.plugin_mode.as_deref()) {
        ("azure", Some("overlay")) => NetworkPlugin::AzureOverlay,
        ("azure", _) => NetworkPlugin::Azure,
        _ => NetworkPlugin::None,
    }
}

/// Returns the subscription from a managed cluster's id.
pub(super) fn subscription(cluster: &ClusterFacts) -> &str {
    cluster.id.split('/').nth(2).unwrap_or_default()
}

/// Returns the security group that AKS created for its nodes.
///
/// # Errors
/// There is none, there are several, or they could not be read.
pub(super) fn security_group(facts: &AzureFacts) -> Result<Arc<str>, Refusal> {
    let field = "security group of AKS";
    match facts.security_groups.as_deref() {
        Some([one]) => Ok(one.clone()),
        Some([]) => Err(refusal(field, "there is none in the node resource group")),
        Some(several) => {
            Err(refusal(field, format!("there are {} in the node resource group", several.len())))
        }
        None => Err(refusal(field, "could not be read")),
    }
}

/// Returns the last segment of an id.
fn name_of(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or_default()
}

/// The segments of a subnet's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubnetId<'a> {
    /// The id of its virtual network.
    pub(super) network_id: &'a str,
    resource_group: &'a str,
    network: &'a str,
    name: &'a str,
}

impl<'a> SubnetId<'a> {
    /// Parses `/subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/N`, ignoring
    /// case.
    pub(super) fn of(id: &'a str) -> Option<Self> {
        let parts: Vec<&str> = id.split('/').collect();
        let ["", subscriptions, _, groups, group, providers, provider, networks, network, subnets, name] =
            parts.as_slice()
        else {
            return None;
        };
        let words = [
            (subscriptions, "subscriptions"),
            (groups, "resourceGroups"),
            (providers, "providers"),
            (provider, "Microsoft.Network"),
            (networks, "virtualNetworks"),
            (subnets, "subnets"),
        ];
        let is_so = words.iter().all(|(word, expected)| word.eq_ignore_ascii_case(expected));
        let network_id = &id[..id.len() - name.len() - subnets.len() - 2];
        is_so.then_some(Self { network_id, resource_group: group, network, name })
    }
}
