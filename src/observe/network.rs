//! The subnets of nodes: AKS's own, and those that agent pools and classes name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::azure::Reader;
use super::{Ask, KarpenterVariables, ObserveFault};
use crate::arm::answer::{Subnet, VirtualNetwork};
use crate::arm::{Api, Request, ResourceId};
use crate::snapshot::azure::SubnetFacts;

/// Name of the node subnet in a virtual network that AKS created.
const SUBNET: &str = "aks-subnet";

/// Finds the subnet of nodes if agent pools name none: the one that AKS created, else the one in Karpenter's variables.
pub(super) async fn subnet_of_nodes(
    reader: &mut Reader<'_, impl Ask>,
    group: &ResourceId,
    variables: &KarpenterVariables,
) -> Result<Option<Arc<str>>, Vec<ObserveFault>> {
    if let Some(found) = subnet_of_aks(reader, group).await {
        return Ok(Some(found));
    }
    let said = variables.subnet().map_err(|fault| vec![fault])?;
    if said.is_none() {
        let why = "agent pools name none, AKS created no virtual network, and VNET_SUBNET_ID is not set";
        reader.gap("the subnet of nodes", why);
    }
    Ok(said)
}

/// Finds the subnet that AKS created, if any.
async fn subnet_of_aks(reader: &mut Reader<'_, impl Ask>, group: &ResourceId) -> Option<Arc<str>> {
    let networks =
        reader.list::<VirtualNetwork>("virtual networks", &Request::list_virtual_networks(group)).await?;
    let own: Vec<&VirtualNetwork> = networks.iter().filter(|network| is_of_aks(&network.name)).collect();
    let subnets = own.iter().flat_map(|network| &network.subnets);
    let found = subnets.map(|subnet| &subnet.id).find(|id| id.name() == SUBNET);
    found.map(|id| id.to_string().into())
}

/// Returns whether AKS created a virtual network: `aks-vnet-12345678`.
fn is_of_aks(name: &str) -> bool {
    let number = name.strip_prefix("aks-vnet-");
    number.is_some_and(|number| number.len() == 8 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads subnets by id, and the virtual network of each; those that could not be read are absent and reported.
pub(super) async fn subnets(
    reader: &mut Reader<'_, impl Ask>,
    group: &ResourceId,
    ids: BTreeSet<Arc<str>>,
) -> BTreeMap<Arc<str>, SubnetFacts> {
    let mut networks: BTreeMap<ResourceId, Option<Arc<str>>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for text in ids {
        let what = format!("subnet `{text}`");
        let Some((id, network)) = parsed(&text) else {
            reader.gap(&what, "it is no id of a subnet");
            continue;
        };
        let Some(subnet) = reader.one::<Subnet>(&what, &id, Api::Network).await else { continue };
        if !networks.contains_key(&network) {
            let what = format!("virtual network `{}`", network.name());
            let read = reader.one::<VirtualNetwork>(&what, &network, Api::Network).await;
            networks.insert(network.clone(), read.and_then(|read| read.resource_guid).map(Arc::from));
        }
        let is_managed = network.is_in_group(group) && is_of_aks(network.name()) && id.name() == SUBNET;
        let prefixes = subnet.prefixes.into_iter().map(Arc::from).collect();
        let network_guid = networks.get(&network).cloned().flatten();
        found.insert(text, SubnetFacts { prefixes, is_managed, network_guid });
    }
    found
}

/// Returns the ids of a subnet and its virtual network.
fn parsed(text: &str) -> Option<(ResourceId, ResourceId)> {
    let id: ResourceId = text.parse().ok()?;
    let id = id.expect_kind("Microsoft.Network/virtualNetworks/subnets").ok()?;
    let network = id.parent()?;
    Some((id, network))
}
