//! Network resources that AKS provides for the nodes: virtual network and subnet, security group, load balancer.

use serde_json::{Value, json};

use super::{ArmError, Azure, Call, Stage, page};
use crate::sim::http::Answer;

/// The parts of a subnet's id: resource group, network, subnet.
struct SubnetId {
    group: String,
    network: String,
    subnet: String,
}

fn subnet_parts(azure: &Azure) -> SubnetId {
    let id = azure.settings.subnet_id();
    let part = |at: usize| id.split('/').nth(at).unwrap_or_default().to_owned();
    SubnetId { group: part(4), network: part(8), subnet: part(10) }
}

pub(crate) fn virtual_network(
    azure: &Azure,
    call: &Call<'_>,
    (group, rest): (&str, &[&str]),
) -> Result<Answer, ArmError> {
    let known = subnet_parts(azure);
    let is_here = group == known.group.to_lowercase();
    let is_network = |name: &str| is_here && name == known.network.to_lowercase();
    match rest {
        [] => {
            let value = if is_here { vec![network(azure, &known)] } else { Vec::new() };
            Ok(Answer::json(200, &json!({"value": value})))
        }
        [name] if is_network(name) => Ok(Answer::json(200, &network(azure, &known))),
        [name, "subnets"] if is_network(name) => {
            Ok(Answer::json(200, &json!({"value": [subnet(azure, &known)]})))
        }
        [name, "subnets", inner] if is_network(name) && *inner == known.subnet.to_lowercase() => {
            Ok(Answer::json(200, &subnet(azure, &known)))
        }
        [name, "subnets", _] if is_network(name) => {
            let message =
                format!("Resource {}/subnets/{} not found.", network_id(azure, &known), call.segment(9));
            Err(ArmError::new(404, "NotFound", message))
        }
        [_, ..] => {
            Err(ArmError::not_found("Microsoft.Network/virtualNetworks", call.segment(7), call.segment(3)))
        }
    }
}

fn network_id(azure: &Azure, known: &SubnetId) -> String {
    format!(
        "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Network/virtualNetworks/{}",
        azure.settings.subscription, known.group, known.network
    )
}

fn network(azure: &Azure, known: &SubnetId) -> Value {
    let id = network_id(azure, known);
    json!({
        "name": known.network, "id": id, "etag": "W/\"1\"", "type": "Microsoft.Network/virtualNetworks",
        "location": azure.settings.location,
        "properties": {
            "provisioningState": "Succeeded",
            "resourceGuid": crate::sim::draw::Draw::new(0).guid(&id),
            "addressSpace": {"addressPrefixes": [azure.settings.network.subnet_prefix]},
            "subnets": [subnet(azure, known)],
        },
    })
}

/// Returns the subnet. It lists every IP configuration in it, so clients can count the free addresses.
fn subnet(azure: &Azure, known: &SubnetId) -> Value {
    let network = &azure.settings.network;
    let id = format!("{}/subnets/{}", network_id(azure, known), known.subnet);
    let of_others = (0..network.addresses_in_use).map(|at| {
        let set = azure.id("Microsoft.Compute/virtualMachineScaleSets", "aks-system-vmss");
        json!({"id": format!("{set}/virtualMachines/{at}/networkInterfaces/aks-system-vmss/ipConfigurations/ipconfig1")})
    });
    let of_nics = azure.nics.values().flat_map(|nic| nic.configuration_ids(azure));
    let configurations: Vec<Value> = of_others.chain(of_nics.map(|id| json!({"id": id}))).collect();
    let mut properties = json!({
        "provisioningState": "Succeeded", "addressPrefix": network.subnet_prefix,
        "ipConfigurations": configurations, "delegations": [],
        "privateEndpointNetworkPolicies": "Disabled", "privateLinkServiceNetworkPolicies": "Enabled",
    });
    // In a network managed by AKS, the security group is attached to the subnet; in a user's network, to the NICs.
    if network.subnet_id.is_none() {
        properties["networkSecurityGroup"] = json!({"id": security_group_id(azure)});
    }
    json!({
        "name": known.subnet, "id": id, "etag": "W/\"1\"",
        "type": "Microsoft.Network/virtualNetworks/subnets", "properties": properties,
    })
}

fn security_group_name(azure: &Azure) -> String {
    format!("aks-agentpool-{}-nsg", azure.settings.cluster_id())
}

pub(crate) fn security_group_id(azure: &Azure) -> String {
    azure.id("Microsoft.Network/networkSecurityGroups", &security_group_name(azure))
}

pub(crate) fn security_group(
    azure: &Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    rest: &[&str],
) -> Result<Answer, ArmError> {
    let name = security_group_name(azure);
    let body = json!({
        "name": name, "id": security_group_id(azure), "etag": "W/\"1\"",
        "type": "Microsoft.Network/networkSecurityGroups", "location": azure.settings.location,
        "properties": {"provisioningState": "Succeeded", "securityRules": [], "defaultSecurityRules": []},
    });
    one_or_all(azure, call, stage, (name, body, rest))
}

/// Returns the id of a backend pool of the cluster's load balancer.
pub(crate) fn pool_id(azure: &Azure, pool: &str) -> String {
    format!("{}/backendAddressPools/{pool}", azure.id("Microsoft.Network/loadBalancers", "kubernetes"))
}

/// The backend pools that nodes can join.
pub(crate) const POOLS: [&str; 2] = ["aksOutboundBackendPool", "kubernetes"];

pub(crate) fn load_balancer(
    azure: &Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    rest: &[&str],
) -> Result<Answer, ArmError> {
    let pools: Vec<Value> = POOLS
        .iter()
        .map(|pool| {
            let id = pool_id(azure, pool);
            let members: Vec<Value> = azure
                .nics
                .values()
                .flat_map(|nic| nic.configurations_in_pool(azure, &id))
                .map(|id| json!({"id": id}))
                .collect();
            json!({
                "name": pool, "id": id, "etag": "W/\"1\"",
                "type": "Microsoft.Network/loadBalancers/backendAddressPools",
                "properties": {"provisioningState": "Succeeded", "backendIPConfigurations": members},
            })
        })
        .collect();
    let body = json!({
        "name": "kubernetes", "id": azure.id("Microsoft.Network/loadBalancers", "kubernetes"), "etag": "W/\"1\"",
        "type": "Microsoft.Network/loadBalancers", "location": azure.settings.location,
        "sku": {"name": "Standard", "tier": "Regional"},
        "properties": {"provisioningState": "Succeeded", "backendAddressPools": pools},
    });
    one_or_all(azure, call, stage, ("kubernetes".to_owned(), body, rest))
}

/// Answers for a type of which the node resource group has exactly one resource.
fn one_or_all(
    azure: &Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    (name, body, rest): (String, Value, &[&str]),
) -> Result<Answer, ArmError> {
    match rest {
        [] => Ok(page::answer(azure, call, stage, [(name.to_lowercase(), move || body)].into_iter())),
        [asked] if *asked == name.to_lowercase() => Ok(Answer::json(200, &body)),
        [_] => Err(ArmError::not_found(&call.resource_type().written, call.segment(7), call.segment(3))),
        _ => Err(super::route::unknown(call)),
    }
}
