//! Answers as Azure writes them, to our structs.

use nodeform::arm::answer::{
    LoadBalancer, Machine, ManagedCluster, NetworkInterface, PowerState, Usage, read,
};
use nodeform::arm::{Image, ResourceId};
use serde_json::{Value, json};

fn id(text: &str) -> ResourceId {
    format!("/subscriptions/s/resourceGroups/mc_rg/providers/{text}").parse().unwrap()
}

/// A VM with odd casing, unknown fields and an unknown state.
fn machine() -> Value {
    json!({
        "id": "/subscriptions/s/resourcegroups/MC_RG/providers/microsoft.compute/VIRTUALMACHINES/aks-a",
        "name": "aks-a", "location": "westeurope", "zones": ["2"], "tags": {"karpenter.sh_nodepool": "apps"},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {
            "/subscriptions/s/resourcegroups/mc_rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/k":
                {"principalId": "p", "clientId": "c"}}},
        "newTopLevel": 1,
        "properties": {
            "vmId": "v-1", "priority": "Spot", "provisioningState": "Migrating", "timeCreated": "2026-11-25T10:00:00.123+00:00",
            "hardwareProfile": {"vmSize": "Standard_D4s_v7"}, "newProperty": {"a": [1]},
            "storageProfile": {
                "imageReference": {"communityGalleryImageId": "/CommunityGalleries/G/images/D/versions/1", "exactVersion": "1"},
                "osDisk": {"name": "d", "diskSizeGB": 128, "managedDisk": {"id": "/subscriptions/s/resourceGroups/MC_RG/providers/Microsoft.Compute/disks/d"},
                    "diffDiskSettings": {"option": "Local", "placement": "NvmeDisk"}}},
            "networkProfile": {"networkInterfaces": [
                {"id": "/subscriptions/s/resourceGroups/mc_rg/providers/Microsoft.Network/networkInterfaces/second"},
                {"id": "/subscriptions/s/resourceGroups/mc_rg/providers/Microsoft.Network/networkInterfaces/aks-a", "properties": {"primary": true}}]},
        },
    })
}

#[test]
fn a_vm_is_read_with_odd_casing_unknown_fields_and_states() {
    let machine: Machine = read(machine()).unwrap();
    assert_eq!(machine.id, id("Microsoft.Compute/virtualMachines/aks-a"));
    assert_eq!(machine.zone.as_deref(), Some("2"));
    assert_eq!(machine.provisioning_state.as_deref(), Some("Migrating"));
    assert_eq!(machine.image, Some(Image::Community("/CommunityGalleries/G/images/D/versions/1".to_owned())));
    assert_eq!(machine.time_created.unwrap().to_string(), "2026-11-25T10:00:00.123Z");
    assert_eq!(machine.network_interfaces[0], id("Microsoft.Network/networkInterfaces/aks-a"));
    assert_eq!(machine.identities, [id("Microsoft.ManagedIdentity/userAssignedIdentities/k")]);
    assert_eq!(machine.os_disk.unwrap().placement.as_deref(), Some("NvmeDisk"));
    assert_eq!(machine.rest["newProperty"], json!({"a": [1]}));
}

#[test]
fn a_vm_without_anything_but_its_name_is_a_vm_and_one_without_an_id_is_none() {
    let bare =
        json!({"id": id("Microsoft.Compute/virtualMachines/x").to_string(), "name": "x", "location": "w"});
    let machine: Machine = read(bare).unwrap();
    assert_eq!((machine.vm_id, machine.size, machine.network_interfaces.len()), (None, None, 0));
    let fault = read::<Machine>(json!({"name": "x", "location": "w"})).unwrap_err();
    assert_eq!(fault.to_string(), "the answer is no virtual machine: missing field `id`");
    assert!(read::<Machine>(json!({"id": "/nonsense", "name": "x", "location": "w"})).is_err());
}

#[test]
fn a_nic_knows_its_vm_its_subnet_and_its_pools() {
    let configuration = |n: u32| {
        json!({"name": format!("c{n}"), "properties": {"subnet": {"id": id("Microsoft.Network/virtualNetworks/v/subnets/n").to_string()},
            "loadBalancerBackendAddressPools": [{"id": id("Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/a").to_string()}]}})
    };
    let nic: NetworkInterface = read(json!({
        "id": id("Microsoft.Network/networkInterfaces/x").to_string(), "etag": "W/1",
        "properties": {"ipConfigurations": [configuration(1), configuration(2)], "macAddress": "00",
            "virtualMachine": {"id": id("Microsoft.Compute/virtualMachines/x").to_string()}}}))
    .unwrap();
    assert_eq!((nic.name.as_str(), nic.addresses, nic.subnets.len()), ("x", 2, 1));
    assert_eq!(nic.machine, Some(id("Microsoft.Compute/virtualMachines/x")));
    assert_eq!(nic.backend_pools.len(), 2);
}

#[test]
fn nodes_join_the_pools_of_aks_but_not_those_of_ipv6_or_of_addresses() {
    let pool = |name: &str| json!({"id": id(&format!("Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/{name}")).to_string()});
    let mut by_address = pool("pods");
    by_address["properties"] =
        json!({"loadBalancerBackendAddresses": [{"properties": {"ipAddress": "10.0.0.1"}}]});
    let mut by_nic = pool("kubernetes");
    by_nic["properties"] = json!({"backendIPConfigurations": [{"id": "/x"}],
        "loadBalancerBackendAddresses": [{"properties": {"networkInterfaceIPConfiguration": {"id": "/x"}}}]});
    let pools = [
        by_nic,
        pool("aksOutboundBackendPool"),
        pool("aksOutboundBackendPool-ipv6"),
        pool("kubernetes-ipv6"),
        by_address,
    ];
    let balancer = |name: &str| -> LoadBalancer {
        let lb = id("Microsoft.Network/loadBalancers/x").to_string();
        read(json!({"id": lb, "name": name, "properties": {"backendAddressPools": pools}})).unwrap()
    };
    let joined = |name: &str| -> Vec<String> {
        balancer(name).pools_of_nodes().iter().map(|pool| pool.0.name().to_owned()).collect()
    };
    assert_eq!(joined("Kubernetes"), ["kubernetes", "aksOutboundBackendPool"]);
    assert_eq!(joined("kubernetes-internal").len(), 2);
    assert!(joined("mine").is_empty());
}

#[test]
fn a_cluster_is_read_without_its_secrets() {
    let cluster: ManagedCluster = read(json!({
        "id": id("Microsoft.ContainerService/managedClusters/c1").to_string(), "name": "c1", "location": "westeurope",
        "identity": {"type": "SystemAssigned", "tenantId": "t"},
        "properties": {
            "powerState": {"code": "Stopped"}, "kubernetesVersion": "1.34", "currentKubernetesVersion": "1.34.2",
            "fqdn": "f", "nodeResourceGroup": "mc_rg",
            "servicePrincipalProfile": {"clientId": "msi", "secret": "canary-1"}, "windowsProfile": {"adminPassword": "canary-2"},
            "networkProfile": {"networkPlugin": "azure", "networkPluginMode": "overlay", "dnsServiceIP": "10.0.0.10", "new": 1},
            "identityProfile": {"kubeletidentity": {"clientId": "k", "resourceId": "/x"}},
            "linuxProfile": {"adminUsername": "azureuser", "ssh": {"publicKeys": [{"keyData": "ssh-rsa A"}]}},
            "nodeProvisioningProfile": {"mode": "Auto"}, "httpProxyConfig": {"httpProxy": "http://p", "enabled": true},
            "agentPoolProfiles": [{"name": "system", "mode": "System", "enableAutoScaling": true, "vnetSubnetID": "/s"}],
            "unknownProfile": {"x": 1},
        },
    }))
    .unwrap();
    assert_eq!(cluster.power_state, Some(PowerState::Stopped));
    assert_eq!(cluster.kubernetes_version.as_deref(), Some("1.34.2"));
    assert_eq!(cluster.kubelet_identity.as_ref().unwrap().client_id.as_deref(), Some("k"));
    assert_eq!(cluster.agent_pools[0].subnet.as_deref(), Some("/s"));
    assert!(cluster.has_http_proxy && !cluster.has_custom_ca);
    assert!(cluster.rest.contains_key("unknownProfile"));
    assert!(!format!("{cluster:?}").contains("canary"));
}

#[test]
fn a_quota_may_be_larger_than_32_bits() {
    let usage: Usage = read(
        json!({"unit": "Count", "currentValue": 3_000_000_000_i64, "limit": -1, "name": {"value": "cores"}}),
    )
    .unwrap();
    assert_eq!((usage.current, usage.limit), (3_000_000_000, -1));
}
