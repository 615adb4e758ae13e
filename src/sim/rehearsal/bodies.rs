//! The bodies that are sent in memory, written by hand from the plan's machine.

use serde_json::{Value, json};

use crate::model::CapacityType;
use crate::plan::execution::{DiskPlacement, Execution, LaunchChoice, Machine};
use crate::plan::mark;

/// What a body is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'a> {
    pub(super) execution: &'a Execution,
    pub(super) choice: &'a LaunchChoice,
    pub(super) machine: &'a Machine,
    /// The name of VM, network interface and disk.
    pub(super) name: &'a str,
    /// What says which change of which plan made it.
    pub(super) own: &'a [(&'static str, String)],
}

impl Made<'_> {
    fn tags(&self) -> Value {
        let mut tags = json!(self.machine.tags);
        for (key, value) in self.own {
            tags[mark::tag(key)] = json!(value);
        }
        tags
    }

    /// The network interface.
    pub(super) fn interface(&self) -> Value {
        let Self { execution, machine, name, .. } = self;
        let network = &machine.network;
        let pools: Vec<Value> = network.backend_pools.iter().map(|id| json!({"id": id})).collect();
        let configuration = |name: &str, is_primary: bool, pools: &[Value]| {
            json!({"name": name, "properties": {
                "primary": is_primary, "privateIPAllocationMethod": "Dynamic",
                "subnet": {"id": network.subnet}, "loadBalancerBackendAddressPools": pools,
            }})
        };
        let mut configurations = vec![configuration(name, true, &pools)];
        for number in 1..=network.pod_addresses {
            configurations.push(configuration(&format!("ipconfig{number}"), false, &[]));
        }
        let mut properties = json!({
            "ipConfigurations": configurations, "enableIPForwarding": false,
            "enableAcceleratedNetworking": network.accelerated_networking,
        });
        if let Some(group) = &network.security_group {
            properties["networkSecurityGroup"] = json!({"id": group});
        }
        json!({"location": execution.cluster.location, "tags": self.tags(), "properties": properties})
    }

    /// The VM.
    pub(super) fn vm(&self, ssh_public_key: &str, custom_data: &str) -> Value {
        let Self { execution, choice, machine, name, .. } = self;
        let nic = execution.cluster.resource("Microsoft.Network/networkInterfaces", name);
        let user = &machine.admin_user;
        let image = match machine.image.starts_with("/CommunityGalleries") {
            true => json!({"communityGalleryImageId": machine.image}),
            false => json!({"id": machine.image}),
        };
        let mut disk = json!({
            "name": name, "createOption": "FromImage", "deleteOption": "Delete", "diskSizeGB": machine.os_disk.size_gb,
        });
        let placement = match machine.os_disk.placement {
            DiskPlacement::Managed => None,
            DiskPlacement::CacheDisk => Some("CacheDisk"),
            DiskPlacement::ResourceDisk => Some("ResourceDisk"),
            DiskPlacement::NvmeDisk => Some("NvmeDisk"),
        };
        if let Some(placement) = placement {
            disk["caching"] = json!("ReadOnly");
            disk["diffDiskSettings"] = json!({"option": "Local", "placement": placement});
        }
        let mut body = json!({
            "location": execution.cluster.location, "tags": self.tags(),
            "properties": {
                "hardwareProfile": {"vmSize": choice.choice.size},
                "storageProfile": {"imageReference": image, "osDisk": disk},
                "networkProfile": {"networkInterfaces": [
                    {"id": nic, "properties": {"primary": true, "deleteOption": "Delete"}},
                ]},
                "osProfile": {
                    "computerName": name, "adminUsername": user, "customData": custom_data,
                    "linuxConfiguration": {
                        "disablePasswordAuthentication": true,
                        "ssh": {"publicKeys": [{
                            "path": format!("/home/{user}/.ssh/authorized_keys"), "keyData": ssh_public_key,
                        }]},
                    },
                },
                "priority": "Regular",
            },
        });
        if choice.choice.zone.as_str() != "0" {
            // A label names the region too: `westeurope-1`.
            let zone = choice.choice.zone.as_str();
            body["zones"] = json!([zone.rsplit('-').next().unwrap_or(zone)]);
        }
        if choice.choice.capacity_type == CapacityType::Spot {
            body["properties"]["priority"] = json!("Spot");
            body["properties"]["evictionPolicy"] = json!("Delete");
            body["properties"]["billingProfile"] = json!({"maxPrice": -1});
        }
        if !machine.identities.is_empty() {
            let identities: serde_json::Map<String, Value> =
                machine.identities.iter().map(|id| (id.to_string(), json!({}))).collect();
            body["identity"] = json!({"type": "UserAssigned", "userAssignedIdentities": identities});
        }
        body
    }

    /// The extension by which Azure bills a VM as an AKS node.
    pub(super) fn extension(&self) -> Value {
        json!({"location": self.execution.cluster.location, "tags": self.tags(), "properties": {
            "publisher": "Microsoft.AKS", "type": "Compute.AKS.Linux.Billing", "typeHandlerVersion": "1.0",
            "autoUpgradeMinorVersion": true, "settings": {},
        }})
    }
}
