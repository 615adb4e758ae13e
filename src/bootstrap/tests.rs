//! Configurations and customData for clusters, nodes and classes.

mod class_fields;

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::Value;

use super::*;
use crate::api::aks_node_class::AksNodeClassSpec;
use crate::model::{Effect, Taint};

pub(super) fn cluster() -> Cluster {
    Cluster {
        tenant: "11111111-1111-1111-1111-111111111111".to_owned(),
        subscription: "00000000-0000-0000-0000-000000000001".to_owned(),
        node_resource_group: "MC_rg_c1_westeurope".to_owned(),
        location: "westeurope".to_owned(),
        api_server: "c1-abc.hcp.westeurope.azmk8s.io".to_owned(),
        ca_certificate: "LS0tLS1CRUdJTg==".to_owned(),
        kubelet_identity: "33333333-3333-3333-3333-333333333333".to_owned(),
        dns_service_ip: "10.0.0.10".to_owned(),
        kubernetes_version: "1.34.2".parse().unwrap(),
        network: Network {
            plugin: NetworkPlugin::AzureOverlay,
            is_cilium: true,
            vnet_guid: Some("44444444-4444-4444-4444-444444444444".to_owned()),
            subnet: Subnet {
                vnet: "aks-vnet-12345678".to_owned(),
                vnet_resource_group: "MC_rg_c1_westeurope".to_owned(),
                name: "aks-subnet".to_owned(),
            },
            security_group: "aks-agentpool-12345678-nsg".to_owned(),
            route_table: "aks-agentpool-12345678-routetable".to_owned(),
        },
        registry_suffix: None,
    }
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

pub(super) fn node() -> Node {
    Node {
        size: "Standard_D4s_v5".to_owned(),
        arch: Arch::Amd64,
        labels: map(&[("karpenter.sh/nodepool", "apps"), ("kubernetes.io/mine", "dropped"), ("team", "a")]),
        taints: vec![
            Taint::new("karpenter.sh/unregistered", "", Effect::NoExecute),
            Taint::new("team", "a", Effect::NoSchedule),
        ],
        max_pods: 250,
        kube_reserved: map(&[("cpu", "140m"), ("memory", "2867Mi")]),
        system_reserved: BTreeMap::new(),
        eviction_hard: map(&[("memory.available", "750Mi")]),
        gpu: Gpu::None,
        image_family: "Ubuntu2404".to_owned(),
        has_local_dns: false,
        admin_user: "azureuser".to_owned(),
    }
}

pub(super) fn token() -> BootstrapToken {
    BootstrapToken::from_random(&(0..64).collect::<Vec<u8>>()).unwrap()
}

/// Returns the configuration as the node controller reads it on the node.
fn written(custom_data: &crate::model::Secret) -> Value {
    let document = String::from_utf8(BASE64.decode(custom_data.reveal().as_bytes()).unwrap()).unwrap();
    let lines: Vec<&str> = document.lines().collect();
    assert_eq!(
        &lines[..6],
        [
            "#cloud-config",
            "write_files:",
            "- path: /opt/azure/containers/aks-node-controller-config.json",
            "  permissions: \"0755\"",
            "  owner: root",
            "  content: !!binary |",
        ]
    );
    assert_eq!(lines.len(), 7);
    serde_json::from_slice(&BASE64.decode(lines[6].trim().as_bytes()).unwrap()).unwrap()
}

#[test]
fn a_plain_node_gets_exactly_this_configuration() {
    let template = Template::build(&cluster(), &node(), &AksNodeClassSpec::default()).unwrap();
    let text = serde_json::to_string_pretty(template.shown()).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bootstrap/tests/plain.json");
    if std::env::var_os("UPDATE").is_some() {
        write(path, &text);
    }
    assert_eq!(text, read(path), "UPDATE=1 rewrites {path}");
}

#[expect(clippy::disallowed_methods, reason = "golden text of a test")]
fn write(path: &str, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "golden text of a test")]
pub(super) fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn custom_data_has_the_token_and_nothing_else_shows_it() {
    let template = Template::build(&cluster(), &node(), &AksNodeClassSpec::default()).unwrap();
    let custom_data = template.custom_data(&token());
    let config = written(&custom_data);
    assert_eq!(config["bootstrappingConfig"]["tlsBootstrappingToken"], token().whole().reveal());
    assert_eq!(schema::faults(&config), Vec::<String>::new());
    let shown = format!("{template:?} {custom_data:?} {:?} {}", token(), template.digest());
    let secret = token().whole().reveal().split_once('.').unwrap().1.to_owned();
    assert!(!shown.contains(&secret), "{shown}");
    assert!(!shown.contains(custom_data.reveal()));
}

#[test]
fn every_cluster_and_node_stays_within_the_published_definition() {
    let mut seen = 0;
    for version in ["1.29.9", "1.30.0", "1.31.1", "1.33.5", "v1.34.0", "1.35.0", "1.37.1"] {
        for plugin in [NetworkPlugin::AzureOverlay, NetworkPlugin::Azure, NetworkPlugin::None] {
            for gpu in [Gpu::None, Gpu::Nvidia, Gpu::Amd] {
                let mut cluster = cluster();
                cluster.kubernetes_version = version.parse().unwrap();
                cluster.network.plugin = plugin;
                cluster.network.is_cilium = gpu != Gpu::None;
                cluster.registry_suffix = (gpu == Gpu::Amd).then(|| "azurecr.local.test".to_owned());
                let node = Node { gpu, has_local_dns: gpu == Gpu::Nvidia, arch: Arch::Arm64, ..node() };
                let class = class_fields::everything();
                let template = Template::build(&cluster, &node, &class).unwrap();
                assert_eq!(schema::faults(&written(&template.custom_data(&token()))), Vec::<String>::new());
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 63);
}

#[test]
fn the_digest_changes_with_the_configuration_and_not_with_the_token() {
    let class = AksNodeClassSpec::default();
    let digest = |node: &Node| Template::build(&cluster(), node, &class).unwrap().digest();
    assert_eq!(digest(&node()), digest(&node()));
    assert_ne!(digest(&node()), digest(&Node { max_pods: 30, ..node() }));
}

#[test]
fn settings_that_would_break_out_of_their_line_are_refused_by_name_all_at_once() {
    let mut cluster = cluster();
    cluster.location = "west$(reboot)".to_owned();
    cluster.kubelet_identity = String::new();
    cluster.network.vnet_guid = None;
    let mut node = node();
    node.labels.insert("a b".to_owned(), "x".to_owned());
    node.labels.insert("team".to_owned(), "a,b=c".to_owned());
    node.taints.push(Taint::new("t", "x y", Effect::NoSchedule));
    let mut class = AksNodeClassSpec::default();
    class.kubelet.get_or_insert_default().allowed_unsafe_sysctls =
        Some(vec!["kernel.msg* --anonymous-auth=true".to_owned()]);
    class.linux_os_config.get_or_insert_default().swap_file_size = Some("12x".to_owned());
    let refusals = Template::build(&cluster, &node, &class).unwrap_err();
    let text: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "`spec.kubelet.allowedUnsafeSysctls`: has a character that a flag of the kubelet cannot carry",
            "`taints[t]`: is no taint of Kubernetes",
            "`labels[a b]`: is no label of Kubernetes",
            "`labels[team]`: is no label of Kubernetes",
            "`kubelet identity`: cannot be determined",
            "`location`: has a character that no such name has",
            "`VNet's resourceGuid`: cannot be determined, and nodes of an overlay carry it as a label",
            "`spec.linuxOSConfig.swapFileSize`: `12x` is no size (as `1500Mi`)",
        ]
    );
}

#[test]
fn custom_data_that_azure_would_refuse_for_its_length_is_refused_before() {
    let mut node = node();
    for number in 0..900 {
        node.labels.insert(format!("example.com/label-{number}"), "x".repeat(63));
    }
    let refusals = Template::build(&cluster(), &node, &AksNodeClassSpec::default()).unwrap_err();
    assert!(refusals[0].to_string().starts_with("`customData`: "), "{refusals:?}");
}

#[test]
fn versions_that_are_none_are_refused() {
    for text in ["", "1", "1.34", "1.x.2", "1.34.", "1.34.2;reboot", "1.99999999.0"] {
        assert!(text.parse::<KubernetesVersion>().is_err(), "{text}");
    }
    assert!("v1.34.0-rc.1".parse::<KubernetesVersion>().unwrap().is_at_least(34));
}
