//! VMs that exist before the simulation starts, derived from the fields of their nodes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::disk::Disk;
use super::vm::Running;
use super::{Azure, address, managed_cluster, network, nic, vm};
use crate::sim::draw::Draw;
use crate::sim::json::{members, text};

/// A node that runs on a VM.
#[derive(Clone, Debug)]
pub(crate) struct Existing<'a> {
    /// The VM's name.
    pub(crate) name: &'a str,
    pub(crate) node: &'a Value,
    /// Its NodeClaim, if it has one.
    pub(crate) claim: Option<&'a Value>,
    pub(crate) vm_id: &'a str,
}

impl Azure {
    /// Adds the VM of a node, with NIC and OS disk, as Karpenter would have created them.
    pub(crate) fn add_existing(&mut self, existing: &Existing<'_>, now: Timestamp, draw: Draw) {
        let label = |key: &str| {
            members(existing.node, "/metadata/labels")
                .find(|(name, _)| *name == key)
                .and_then(|(_, value)| value.as_str())
        };
        let created = text(existing.node, "/metadata/creationTimestamp")
            .and_then(|time| time.parse().ok())
            .unwrap_or(now);
        let size = label("node.kubernetes.io/instance-type").unwrap_or_default();
        let zone = label("topology.kubernetes.io/zone")
            .and_then(|zone| zone.strip_prefix(&format!("{}-", self.settings.location)))
            .map(str::to_owned);
        let is_spot = label("karpenter.sh/capacity-type") == Some("spot");
        let tags = self.tags_of(existing, label("karpenter.sh/nodepool"));
        let image = existing
            .claim
            .and_then(|claim| text(claim, "/status/imageID"))
            .map_or_else(|| self.any_image(), str::to_owned);
        let body = self.body_of(
            existing.name,
            &Facts { size, zone: zone.as_deref(), is_spot, image: &image, tags: &tags },
        );
        let lower = existing.name.to_lowercase();
        self.add_nic(existing.name, &tags, draw);
        let disk = Disk {
            name: existing.name.to_owned(),
            size_gb: 128,
            account_type: "Premium_LRS".to_owned(),
            zone: zone.clone(),
            created,
            machine: Some(lower.clone()),
            image: json!({"communityGalleryImageId": image}),
            tags: json!({}),
        };
        self.disks.insert(lower.clone(), disk);
        let sku = self.sku(size).cloned();
        let machine = vm::Machine::running(Running {
            name: existing.name,
            vm_id: existing.vm_id,
            created,
            body,
            sku: sku.as_ref(),
            size,
            zone,
            is_spot,
        });
        self.machines.insert(lower, machine);
    }

    fn tags_of(&self, existing: &Existing<'_>, pool: Option<&str>) -> Value {
        let mut tags = BTreeMap::from([
            ("karpenter.azure.com_cluster".to_owned(), self.settings.cluster.name.clone()),
            ("compute.aks.billing".to_owned(), "linux".to_owned()),
        ]);
        if let Some(pool) = pool {
            tags.insert("karpenter.sh_nodepool".to_owned(), pool.to_owned());
        }
        // nodeform writes its annotations on a claim also as VM tags, with `_` for `/`.
        for (key, value) in
            existing.claim.into_iter().flat_map(|claim| members(claim, "/metadata/annotations"))
        {
            if let (true, Some(value)) = (key.starts_with("nodeform.dev/"), value.as_str()) {
                tags.insert(key.replace('/', "_"), value.to_owned());
            }
        }
        json!(tags)
    }

    fn any_image(&self) -> String {
        self.settings.images.first().map_or_else(String::new, |image| {
            let version = image.versions.last().map_or("1.0.0", |version| version.version.as_str());
            format!("/CommunityGalleries/{}/images/{}/versions/{version}", image.gallery, image.definition)
        })
    }

    fn body_of(&self, name: &str, facts: &Facts<'_>) -> Value {
        let settings = &self.settings;
        let Facts { size, zone, is_spot, image, tags } = facts;
        let identity = managed_cluster::kubelet_identity(settings);
        let mut body = json!({
            "location": settings.location, "tags": tags,
            "identity": {
                "type": "UserAssigned",
                "userAssignedIdentities": {text(&identity, "/resourceId").unwrap_or_default(): {}},
            },
            "properties": {
                "hardwareProfile": {"vmSize": size},
                "storageProfile": {
                    "imageReference": {"communityGalleryImageId": image},
                    "osDisk": {
                        "name": name, "diskSizeGB": 128, "createOption": "FromImage", "deleteOption": "Delete",
                        "caching": "ReadWrite", "managedDisk": {},
                    },
                },
                "networkProfile": {"networkInterfaces": [
                    {"id": self.id(nic::KIND, name), "properties": {"primary": true, "deleteOption": "Delete"}},
                ]},
                "osProfile": {
                    "computerName": name, "adminUsername": settings.cluster.admin_username,
                    "linuxConfiguration": {
                        "disablePasswordAuthentication": true,
                        "ssh": {"publicKeys": [{
                            "path": format!("/home/{}/.ssh/authorized_keys", settings.cluster.admin_username),
                            "keyData": settings.cluster.ssh_public_key,
                        }]},
                    },
                },
                "priority": if *is_spot { "Spot" } else { "Regular" },
            },
        });
        if let Some(zone) = zone {
            body["zones"] = json!([zone]);
        }
        if *is_spot {
            body["properties"]["evictionPolicy"] = json!("Delete");
            body["properties"]["billingProfile"] = json!({"maxPrice": -1});
        }
        body
    }

    fn add_nic(&mut self, name: &str, tags: &Value, draw: Draw) {
        let configuration = json!({
            "name": name,
            "properties": {
                "primary": true, "privateIPAllocationMethod": "Dynamic",
                "subnet": {"id": self.settings.subnet_id()},
                "loadBalancerBackendAddressPools": [{"id": network::pool_id(self, network::POOLS[0])}],
            },
        });
        let body = json!({
            "location": self.settings.location, "tags": tags,
            "properties": {"enableIPForwarding": false, "ipConfigurations": [configuration]},
        });
        let taken = self.nics.values().flat_map(|nic| nic.addresses.iter().copied()).collect();
        let network = &self.settings.network;
        let given =
            address::free(&network.subnet_prefix, &taken, network.addresses_in_use, 1).unwrap_or_default();
        let nic = nic::Nic::attached(name, body, given, draw.guid(&format!("nic {name}")));
        self.nics.insert(name.to_lowercase(), nic);
    }
}

/// Inputs of a VM's body.
struct Facts<'a> {
    size: &'a str,
    zone: Option<&'a str>,
    is_spot: bool,
    image: &'a str,
    tags: &'a Value,
}
