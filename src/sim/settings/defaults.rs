//! Default settings of a world.

use std::collections::BTreeMap;

use super::{
    AgentPool, ClusterSettings, Durations, Image, ImageVersion, NetworkSettings, Seconds, SimulatedAzure,
};

/// Public galleries of AKS' node images (karpenter-provider-azure, `pkg/providers/imagefamily`).
const UBUNTU_GALLERY: &str = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2";
const AZURE_LINUX_GALLERY: &str = "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b";

const UBUNTU_IMAGES: [&str; 8] = [
    "2204gen2containerd",
    "2204containerd",
    "2204gen2arm64containerd",
    "2204gen2TLcontainerd",
    "2404gen2containerd",
    "2404containerd",
    "2404gen2arm64containerd",
    "2404gen2TLcontainerd",
];
const AZURE_LINUX_IMAGES: [&str; 8] =
    ["V2gen2", "V2", "V2gen2arm64", "V2gen2TL", "V3gen2", "V3", "V3gen2arm64", "V3gen2TL"];

/// Two versions of each image, so that there is an older one to drift from.
const VERSIONS: [(&str, &str); 2] =
    [("202510.19.0", "2025-10-22T09:00:00Z"), ("202511.12.0", "2025-11-15T09:00:00Z")];

impl Default for SimulatedAzure {
    fn default() -> Self {
        Self {
            location: "westeurope".to_owned(),
            zones: ["1", "2", "3"].map(str::to_owned).to_vec(),
            subscription: "11111111-2222-4333-8444-555555555555".to_owned(),
            tenant: "22222222-3333-4444-8555-666666666666".to_owned(),
            client: "33333333-4444-4555-8666-777777777777".to_owned(),
            cluster: ClusterSettings::default(),
            network: NetworkSettings::default(),
            agent_pools: vec![AgentPool::default()],
            quotas: BTreeMap::new(),
            // The initial quota of enterprise agreements, per family and region.
            family_quota: 350,
            capacity: Vec::new(),
            images: images(),
            skus: None,
            durations: Durations::default(),
            permissions: permissions(),
            page_size: 50,
            token_seconds: 3600,
        }
    }
}

impl Default for ClusterSettings {
    fn default() -> Self {
        Self {
            name: "demo".to_owned(),
            resource_group: "rg-demo".to_owned(),
            node_resource_group: None,
            kubernetes_version: "1.34.2".to_owned(),
            power_state: "Running".to_owned(),
            node_provisioning: "Manual".to_owned(),
            admin_username: "azureuser".to_owned(),
            ssh_public_key:
                "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNpbXVsYXRlZEtleU9mTm9kZXNJblRoaXNXb3JsZDAwMDAw demo"
                    .to_owned(),
        }
    }
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            plugin: "azure".to_owned(),
            plugin_mode: Some("overlay".to_owned()),
            dataplane: Some("cilium".to_owned()),
            policy: Some("cilium".to_owned()),
            pod_cidr: "10.244.0.0/16".to_owned(),
            service_cidr: "10.0.0.0/16".to_owned(),
            dns_service_ip: "10.0.0.10".to_owned(),
            subnet_id: None,
            subnet_prefix: "10.224.0.0/16".to_owned(),
            addresses_in_use: 3,
        }
    }
}

impl Default for AgentPool {
    fn default() -> Self {
        Self {
            name: "system".to_owned(),
            mode: "System".to_owned(),
            size: "Standard_D4s_v3".to_owned(),
            count: 3,
            enable_auto_scaling: false,
            min_count: None,
            max_count: None,
            node_taints: vec!["CriticalAddonsOnly=true:NoSchedule".to_owned()],
            node_labels: BTreeMap::new(),
        }
    }
}

impl Default for Durations {
    fn default() -> Self {
        let range = |from, to| Seconds { from, to };
        Self {
            vm_create: range(20, 120),
            vm_delete: range(20, 60),
            nic: range(2, 5),
            extension: range(10, 30),
            boot: range(30, 60),
            node_ready: range(5, 15),
            node_initialize: range(2, 6),
            pod_start: range(2, 8),
            pod_stop: range(1, 5),
            job: range(60, 120),
        }
    }
}

fn images() -> Vec<Image> {
    let of = |gallery: &str, definitions: &[&str]| {
        definitions
            .iter()
            .map(|definition| Image {
                gallery: gallery.to_owned(),
                definition: (*definition).to_owned(),
                versions: VERSIONS
                    .iter()
                    .map(|(version, published)| ImageVersion {
                        version: (*version).to_owned(),
                        published: (*published).to_owned(),
                    })
                    .collect(),
            })
            .collect::<Vec<_>>()
    };
    [of(UBUNTU_GALLERY, &UBUNTU_IMAGES), of(AZURE_LINUX_GALLERY, &AZURE_LINUX_IMAGES)].concat()
}

/// Returns the permissions of the minimal role that can run nodeform.
fn permissions() -> Vec<String> {
    [
        "Microsoft.Resources/subscriptions/resourceGroups/read",
        "Microsoft.Resources/tags/read",
        "Microsoft.Resources/tags/write",
        "Microsoft.Authorization/permissions/read",
        "Microsoft.ContainerService/managedClusters/read",
        "Microsoft.ContainerService/managedClusters/agentPools/read",
        "Microsoft.Compute/virtualMachines/read",
        "Microsoft.Compute/virtualMachines/write",
        "Microsoft.Compute/virtualMachines/delete",
        "Microsoft.Compute/virtualMachines/extensions/read",
        "Microsoft.Compute/virtualMachines/extensions/write",
        "Microsoft.Compute/disks/read",
        "Microsoft.Compute/disks/delete",
        "Microsoft.Compute/skus/read",
        "Microsoft.Compute/locations/*",
        "Microsoft.Network/networkInterfaces/read",
        "Microsoft.Network/networkInterfaces/write",
        "Microsoft.Network/networkInterfaces/delete",
        "Microsoft.Network/networkInterfaces/join/action",
        "Microsoft.Network/virtualNetworks/read",
        "Microsoft.Network/virtualNetworks/subnets/read",
        "Microsoft.Network/virtualNetworks/subnets/join/action",
        "Microsoft.Network/networkSecurityGroups/read",
        "Microsoft.Network/networkSecurityGroups/join/action",
        "Microsoft.Network/loadBalancers/read",
        "Microsoft.Network/loadBalancers/backendAddressPools/join/action",
        "Microsoft.Network/locations/*",
        "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
    ]
    .map(str::to_owned)
    .to_vec()
}
