//! Bodies of requests as nodeform sends them.

use nodeform::sim::World;
use serde_json::{Value, json};

/// The token of the bootstrap Secret that [`secret`] describes.
pub(crate) const TOKEN: &str = "abcdef.0123456789abcdef";
const IMAGE: &str = "/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images/2404gen2containerd/versions/202511.12.0";

/// What a VM is made of; one obvious default each.
#[derive(Debug, Clone)]
pub(crate) struct Vm {
    pub(crate) name: String,
    pub(crate) size: String,
    pub(crate) zone: Option<String>,
    pub(crate) is_spot: bool,
    pub(crate) config: Value,
}

impl Vm {
    /// A VM in zone 1 with an AKSNodeConfig that joins.
    pub(crate) fn new(world: &World, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            size: "Standard_D4s_v3".to_owned(),
            zone: Some("1".to_owned()),
            is_spot: false,
            config: node_config(world),
        }
    }

    pub(crate) fn body(&self, world: &World) -> Value {
        let settings = world.settings();
        let group = settings.node_resource_group();
        let Self { name, size, zone, is_spot, config } = self;
        let identity = format!(
            "/subscriptions/{}/resourceGroups/{group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/demo-agentpool",
            settings.subscription
        );
        let mut body = json!({
            "location": settings.location, "tags": tags(),
            "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}},
            "properties": {
                "hardwareProfile": {"vmSize": size},
                "storageProfile": {
                    "imageReference": {"communityGalleryImageId": IMAGE},
                    "osDisk": {"name": name, "diskSizeGB": 128, "createOption": "FromImage", "deleteOption": "Delete"},
                },
                "networkProfile": {"networkInterfaces": [
                    {"id": id(world, "Microsoft.Network/networkInterfaces", name), "properties": {"primary": true, "deleteOption": "Delete"}},
                ]},
                "osProfile": {
                    "computerName": name, "adminUsername": "azureuser", "customData": custom_data(config),
                    "linuxConfiguration": {
                        "disablePasswordAuthentication": true,
                        "ssh": {"publicKeys": [{"path": "/home/azureuser/.ssh/authorized_keys", "keyData": "ssh-ed25519 AAAA"}]},
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
}

fn tags() -> Value {
    json!({"karpenter.azure.com_cluster": "demo", "karpenter.sh_nodepool": "apps", "compute.aks.billing": "linux"})
}

/// The id of a resource in the node resource group.
pub(crate) fn id(world: &World, kind: &str, name: &str) -> String {
    let settings = world.settings();
    format!(
        "/subscriptions/{}/resourceGroups/{}/providers/{kind}/{name}",
        settings.subscription,
        settings.node_resource_group()
    )
}

/// An AKSNodeConfig that joins the world's cluster.
pub(crate) fn node_config(world: &World) -> Value {
    let settings = world.settings();
    let id = settings.subnet_id();
    let part = |at: usize| id.split('/').nth(at).unwrap_or_default().to_owned();
    json!({
        "version": "v1", "kubernetesVersion": settings.cluster.kubernetes_version,
        "apiServerConfig": {"apiServerName": settings.fqdn()},
        "authConfig": {"tenantId": settings.tenant, "subscriptionId": settings.subscription, "useManagedIdentityExtension": true},
        "clusterConfig": {
            "resourceGroup": settings.node_resource_group(), "location": settings.location,
            "clusterNetworkConfig": {"vnetName": part(8), "subnet": part(10)},
        },
        "bootstrappingConfig": {
            "bootstrappingAuthMethod": "BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN", "tlsBootstrappingToken": TOKEN,
        },
        "kubeletConfig": {
            "kubeletFlags": {
                "--max-pods": "110", "--kube-reserved": "cpu=140m,memory=2662Mi", "--eviction-hard": "memory.available<750Mi",
                "--register-with-taints": "karpenter.sh/unregistered:NoExecute",
            },
            "kubeletNodeLabels": {"karpenter.sh/nodepool": "apps", "kubernetes.azure.com/mode": "user"},
        },
    })
}

/// customData of cloud-init that writes an AKSNodeConfig.
pub(crate) fn custom_data(config: &Value) -> String {
    let file = data_encoding::BASE64.encode(config.to_string().as_bytes());
    let cloud = format!(
        "#cloud-config\nwrite_files:\n- path: /opt/azure/containers/aks-node-controller-config.json\n  permissions: \"0755\"\n  owner: root\n  content: !!binary |\n    {file}\n"
    );
    data_encoding::BASE64.encode(cloud.as_bytes())
}

/// The body of a NIC.
pub(crate) fn nic(world: &World, name: &str) -> Value {
    let settings = world.settings();
    let pool = format!(
        "{}/backendAddressPools/aksOutboundBackendPool",
        id(world, "Microsoft.Network/loadBalancers", "kubernetes")
    );
    json!({
        "location": settings.location, "tags": tags(),
        "properties": {
            "enableAcceleratedNetworking": true, "enableIPForwarding": false,
            "ipConfigurations": [{"name": name, "properties": {
                "primary": true, "privateIPAllocationMethod": "Dynamic", "subnet": {"id": settings.subnet_id()},
                "loadBalancerBackendAddressPools": [{"id": pool}],
            }}],
        },
    })
}

/// The Secret of the bootstrap token.
pub(crate) fn secret(expiration: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"},
        "stringData": {
            "token-id": "abcdef", "token-secret": "0123456789abcdef", "expiration": expiration,
            "usage-bootstrap-authentication": "true", "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
        },
    })
}

/// A pod that only a node of the pool `apps` takes.
pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "nodeSelector": {"karpenter.sh/nodepool": "apps"},
            "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}],
        },
    })
}
