//! Bodies as they are sent: golden text, judged by the official specification.

use std::collections::BTreeMap;
use std::time::Duration;

use nodeform::arm::machine::{SecurityProfile, TrustedLaunch};
use nodeform::arm::{
    Api, BackendPool, BillingExtension, Body, BuyAs, Image, Machine, NetworkInterface, OsDisk, OsLogin,
    Placement, Request, ResourceId, Tags, extension, machine_body, network_interface,
};
use nodeform::model::Secret;
use serde_json::{Value, json};

use super::exchange;
use super::sending::{group, machine_id};
use super::server::{Reply, Seen, Server, token_or};

fn id(text: &str) -> ResourceId {
    format!("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg/providers/{text}")
        .parse()
        .unwrap()
}

fn tags() -> Tags {
    let own = [
        ("karpenter.sh_nodepool", "apps"),
        ("karpenter.azure.com_cluster", "c1"),
        ("compute.aks.billing", "linux"),
    ];
    let own: BTreeMap<String, String> = own.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Tags::layered(&[&own]).unwrap()
}

/// A zonal spot VM with everything on.
fn spot() -> Machine {
    Machine {
        name: "aks-a".to_owned(),
        location: "westeurope".to_owned(),
        zone: Some("1".to_owned()),
        tags: tags(),
        identities: vec![id("microsoft.managedidentity/userAssignedIdentities/agentpool")],
        size: "Standard_D8ads_v6".to_owned(),
        buy_as: BuyAs::Spot,
        image: Image::Community(
            "/CommunityGalleries/AKSUbuntu-x/images/2404gen2TLcontainerd/versions/202507.01.0".to_owned(),
        ),
        os_disk: OsDisk { size_gb: 128, placement: Placement::NvmeDisk, encryption_set: None },
        network_interface: id("Microsoft.Network/networkInterfaces/aks-a"),
        login: OsLogin { user: "azureuser".to_owned(), ssh_public_key: "ssh-rsa AAAA azureuser".to_owned() },
        custom_data: Secret::new("Y2FuYXJ5".to_owned()),
        security: SecurityProfile {
            encryption_at_host: Some(true),
            trusted_launch: Some(TrustedLaunch { secure_boot: true, vtpm: true }),
        },
        ultra_ssd: Some(true),
    }
}

/// A regional on-demand VM with nothing on.
fn plain() -> Machine {
    Machine {
        zone: None,
        identities: Vec::new(),
        size: "Standard_D2s_v5".to_owned(),
        buy_as: BuyAs::OnDemand,
        image: Image::Resource(id("Microsoft.Compute/galleries/g/images/i/versions/1.0.0")),
        os_disk: OsDisk {
            size_gb: 64,
            placement: Placement::Managed,
            encryption_set: Some(id("Microsoft.Compute/diskEncryptionSets/des")),
        },
        security: SecurityProfile::default(),
        ultra_ssd: None,
        ..spot()
    }
}

fn nic(pod_addresses: u32) -> NetworkInterface {
    NetworkInterface {
        name: "aks-a".to_owned(),
        location: "westeurope".to_owned(),
        tags: tags(),
        subnet: id("Microsoft.Network/virtualNetworks/v/subnets/s"),
        security_group: Some(id("Microsoft.Network/networkSecurityGroups/aks-agentpool-12345678-nsg")),
        backend_pools: vec![BackendPool(id(
            "Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/kubernetes",
        ))],
        accelerated_networking: true,
        pod_addresses,
    }
}

fn pretty(body: &Body) -> String {
    serde_json::to_string_pretty(body.shown()).unwrap() + "\n"
}

#[track_caller]
fn golden(name: &str, text: &str) {
    let path = format!("{}/tests/live/azure/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{path}; UPDATE=1 rewrites it");
}

#[test]
fn each_body_is_exactly_its_golden_text() {
    golden("machine-spot.json", &pretty(&machine_body::build(&spot())));
    golden("machine-plain.json", &pretty(&machine_body::build(&plain())));
    golden("nic.json", &pretty(&network_interface::build(&nic(2))));
    let billing = BillingExtension { location: "westeurope".to_owned(), tags: tags() };
    golden("extension.json", &pretty(&extension::build(&billing)));
}

#[test]
fn custom_data_is_sent_and_not_shown() {
    let body = machine_body::build(&spot());
    assert!(body.reveal().reveal().contains(r#""customData":"Y2FuYXJ5""#));
    assert!(
        !format!("{body:?} {:?} {:?}", spot(), Request::create_machine(&machine_id(), body.clone()))
            .contains("Y2FuYXJ5")
    );
}

/// Answers as Azure would, with what was put.
fn azure(seen: &Seen) -> Reply {
    let id = seen.path.clone();
    let name = id.rsplit('/').next().unwrap().to_owned();
    let operation = |provider: &str, version: &str| {
        format!(
            "https://{}/subscriptions/00000000-0000-0000-0000-000000000001/providers/{provider}/locations/westeurope/operations/1?api-version={version}",
            seen.header("host")
        )
    };
    let put: Value = serde_json::from_str(&seen.body).unwrap_or_default();
    match (seen.method.as_str(), id.contains("/operations/")) {
        (_, true) => Reply::json(200, json!({"status": "Succeeded", "name": "1", "startTime": "2026-01-01T00:00:00+00:00"})),
        ("PUT", _) if id.contains("networkInterfaces") => Reply::json(
            201,
            json!({"id": id, "name": name, "location": "westeurope", "tags": put["tags"], "properties": {"provisioningState": "Succeeded"}}),
        )
        .with("azure-asyncoperation", operation("Microsoft.Network", "2024-03-01")),
        ("PUT", _) => Reply::json(
            201,
            json!({"id": id, "name": name, "location": "westeurope", "tags": put["tags"], "properties": {"provisioningState": "Creating"}}),
        )
        .with("azure-asyncoperation", operation("Microsoft.Compute", "2024-07-01")),
        ("DELETE", _) => Reply::text(204, ""),
        ("PATCH", _) if id.ends_with("/tags/default") => Reply::json(
            200,
            json!({"id": id, "name": "default", "type": "Microsoft.Resources/tags", "properties": put["properties"]}),
        ),
        ("PATCH", _) => Reply::json(200, json!({"id": id, "name": name, "location": "westeurope", "identity": put["identity"]})),
        _ if id.ends_with("/tags/default") => {
            Reply::json(200, json!({"id": id, "name": "default", "type": "Microsoft.Resources/tags", "properties": {"tags": {}}}))
        }
        _ if id.contains("/subnets/") => Reply::json(200, json!({"id": id, "name": name, "properties": {"provisioningState": "Succeeded"}})),
        _ if id.ends_with("/skus") || id.ends_with("s") => Reply::json(200, json!({"value": []})),
        _ => Reply::json(200, json!({"id": id, "name": name, "location": "westeurope", "properties": {"provisioningState": "Succeeded"}})),
    }
}

#[tokio::test]
async fn every_request_is_what_the_official_specification_says() {
    let server = Server::start(|seen, _| token_or(seen, || azure(seen)));
    let client = server.client();
    let nic_id = id("Microsoft.Network/networkInterfaces/aks-a");
    let extension_id = machine_id().child("extensions", extension::BILLING_EXTENSION).unwrap();
    let billing = BillingExtension { location: "westeurope".to_owned(), tags: tags() };
    let identity = id("Microsoft.ManagedIdentity/userAssignedIdentities/agentpool");
    let writes = [
        Request::put_network_interface(&nic_id, network_interface::build(&nic(0))),
        Request::put_network_interface(&nic_id, network_interface::build(&nic(30))),
        Request::create_machine(&machine_id(), machine_body::build(&spot())),
        Request::create_machine(&machine_id(), machine_body::build(&plain())),
        Request::put_extension(&extension_id, extension::build(&billing)),
        Request::merge_tags(&machine_id(), &tags()),
        Request::remove_tags(&machine_id(), &tags()),
        Request::add_identities(&machine_id(), &[identity]),
    ];
    for request in writes {
        let operation = client.begin(&request).await.unwrap();
        client.finish(&operation, Duration::from_secs(60)).await.unwrap();
    }
    for request in [Request::delete_machine(&machine_id()), Request::delete_network_interface(&nic_id)] {
        client.begin(&request).await.unwrap();
    }
    let subscription = "00000000-0000-0000-0000-000000000001";
    let image =
        nodeform::arm::request::CommunityImage { gallery: "AKSUbuntu-x", definition: "2404gen2containerd" };
    let lists = [
        Request::list_machines(&group()),
        Request::list_network_interfaces(&group()),
        Request::list_load_balancers(&group()),
        Request::list_security_groups(&group()),
        Request::list_permissions(&group()),
        Request::list_skus(subscription, "westeurope"),
        Request::list_usages(subscription, "westeurope"),
        Request::list_image_versions(subscription, "westeurope", &image),
    ];
    for request in &lists {
        client.list(request).await.unwrap();
    }
    client
        .get(&Request::read(&id("Microsoft.Network/virtualNetworks/v/subnets/n"), Api::Network))
        .await
        .unwrap();
    let cluster = id("Microsoft.ContainerService/managedClusters/c1");
    client.managed_cluster(&cluster).await.unwrap();
    let recording = server.recording();
    assert!(recording.lines().count() >= 30, "{recording}");
    exchange::validate(&recording);
}
