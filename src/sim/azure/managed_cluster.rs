//! The managed cluster and its agent pools, as AKS returns them.

use serde_json::{Value, json};

use super::{ArmError, Azure, Call};
use crate::sim::http::Answer;
use crate::sim::json::set;
use crate::sim::settings::{AgentPool, SimulatedAzure};

const KIND: &str = "Microsoft.ContainerService/managedClusters";

pub(crate) fn answer(
    azure: &Azure,
    call: &Call<'_>,
    (group, name, rest): (&str, &str, &[&str]),
) -> Result<Answer, ArmError> {
    let settings = &azure.settings;
    let is_it = group == settings.cluster.resource_group.to_lowercase()
        && name == settings.cluster.name.to_lowercase();
    if !is_it {
        return Err(ArmError::not_found(KIND, call.segment(7), call.segment(3)));
    }
    match rest {
        [] => Ok(Answer::json(200, &cluster(azure))),
        ["agentpools"] => {
            let value: Vec<Value> = settings.agent_pools.iter().map(|pool| agent_pool(azure, pool)).collect();
            Ok(Answer::json(200, &json!({"value": value})))
        }
        ["agentpools", name] => settings
            .agent_pools
            .iter()
            .find(|pool| pool.name.to_lowercase() == *name)
            .map(|pool| Answer::json(200, &agent_pool(azure, pool)))
            .ok_or_else(|| {
                ArmError::not_found(&format!("{KIND}/agentPools"), call.segment(9), call.segment(3))
            }),
        _ => Err(super::route::unknown(call)),
    }
}

/// Returns the identity that AKS creates for the kubelets of a cluster.
pub(crate) fn kubelet_identity(settings: &SimulatedAzure) -> Value {
    let about = format!("kubelet identity {}", settings.cluster_arm_id());
    let draw = crate::sim::draw::Draw::new(0);
    json!({
        "resourceId": format!(
            "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{}-agentpool",
            settings.subscription, settings.node_resource_group(), settings.cluster.name
        ),
        "clientId": draw.guid(&format!("{about} client")),
        "objectId": draw.guid(&format!("{about} object")),
    })
}

fn cluster(azure: &Azure) -> Value {
    let settings = &azure.settings;
    let version = &settings.cluster.kubernetes_version;
    let draw = crate::sim::draw::Draw::new(0);
    let pools: Vec<Value> = settings
        .agent_pools
        .iter()
        .map(|pool| {
            let mut profile = pool_properties(settings, pool);
            set(&mut profile, &["name"], json!(pool.name));
            profile
        })
        .collect();
    json!({
        "id": settings.cluster_arm_id(), "name": settings.cluster.name, "type": KIND,
        "location": settings.location, "tags": {},
        "sku": {"name": "Base", "tier": "Standard"},
        "identity": {
            "type": "SystemAssigned", "tenantId": settings.tenant,
            "principalId": draw.guid(&format!("principal {}", settings.cluster_arm_id())),
        },
        "properties": {
            "provisioningState": "Succeeded",
            "powerState": {"code": settings.cluster.power_state},
            "kubernetesVersion": version, "currentKubernetesVersion": version,
            "dnsPrefix": format!("{}-dns", settings.cluster.name),
            "fqdn": settings.fqdn(),
            "azurePortalFQDN": settings.fqdn().replace(".hcp.", ".portal.hcp."),
            "agentPoolProfiles": pools,
            "linuxProfile": {
                "adminUsername": settings.cluster.admin_username,
                "ssh": {"publicKeys": [{"keyData": settings.cluster.ssh_public_key}]},
            },
            "servicePrincipalProfile": {"clientId": "msi"},
            "nodeResourceGroup": settings.node_resource_group(),
            "enableRBAC": true,
            "supportPlan": "KubernetesOfficial",
            "networkProfile": network_profile(settings),
            "identityProfile": {"kubeletidentity": kubelet_identity(settings)},
            "oidcIssuerProfile": {
                "enabled": true,
                "issuerURL": format!("https://{}.oic.prod-aks.azure.com/{}/", settings.location, settings.tenant),
            },
            "nodeProvisioningProfile": {"mode": settings.cluster.node_provisioning},
            "maxAgentPools": 100,
            "resourceUID": draw.guid(&format!("uid {}", settings.cluster_arm_id())).replace('-', ""),
        },
    })
}

fn network_profile(settings: &SimulatedAzure) -> Value {
    let network = &settings.network;
    let mut profile = json!({
        "networkPlugin": network.plugin,
        "serviceCidr": network.service_cidr, "serviceCidrs": [network.service_cidr],
        "dnsServiceIP": network.dns_service_ip,
        "outboundType": "loadBalancer", "loadBalancerSku": "standard",
        "ipFamilies": ["IPv4"],
    });
    let optional = [
        ("networkPluginMode", network.plugin_mode.as_ref()),
        ("networkDataplane", network.dataplane.as_ref()),
        ("networkPolicy", network.policy.as_ref()),
        ("podCidr", network.plugin_mode.as_ref().map(|_| &network.pod_cidr)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            set(&mut profile, &[name], json!(value));
        }
    }
    if network.plugin_mode.is_some() {
        set(&mut profile, &["podCidrs"], json!([network.pod_cidr]));
    }
    profile
}

fn agent_pool(azure: &Azure, pool: &AgentPool) -> Value {
    let settings = &azure.settings;
    json!({
        "id": format!("{}/agentPools/{}", settings.cluster_arm_id(), pool.name),
        "name": pool.name, "type": format!("{KIND}/agentPools"),
        "properties": pool_properties(settings, pool),
    })
}

fn pool_properties(settings: &SimulatedAzure, pool: &AgentPool) -> Value {
    let version = &settings.cluster.kubernetes_version;
    let mut properties = json!({
        "count": pool.count, "vmSize": pool.size, "osDiskSizeGB": 128, "osDiskType": "Managed",
        "kubeletDiskType": "OS", "maxPods": 110, "type": "VirtualMachineScaleSets", "mode": pool.mode,
        "orchestratorVersion": version, "currentOrchestratorVersion": version,
        "provisioningState": "Succeeded", "powerState": {"code": settings.cluster.power_state},
        "enableAutoScaling": pool.enable_auto_scaling, "enableNodePublicIP": false,
        "nodeTaints": pool.node_taints, "nodeLabels": pool.node_labels,
        "osType": "Linux", "osSKU": "Ubuntu", "enableEncryptionAtHost": false, "enableFIPS": false,
    });
    if !settings.zones.is_empty() {
        set(&mut properties, &["availabilityZones"], json!(settings.zones));
    }
    if settings.network.subnet_id.is_some() {
        set(&mut properties, &["vnetSubnetID"], json!(settings.subnet_id()));
    }
    for (name, count) in [("minCount", pool.min_count), ("maxCount", pool.max_count)] {
        if let Some(count) = count {
            set(&mut properties, &[name], json!(count));
        }
    }
    properties
}
