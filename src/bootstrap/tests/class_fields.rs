//! Tests that every class field is in the table and applied where the table says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{cluster, node};
use crate::api::aks_node_class::AksNodeClassSpec;
use crate::bootstrap::{FIELDS, Goes, Gpu, Node, Template, refusals};

/// Returns a class with every applicable field set to a value other than the default.
fn everything_json() -> Value {
    let zone = |name: &str| {
        json!({"zone": name, "queryLogging": "Log", "protocol": "PreferUDP", "forwardDestination": "VnetDNS",
            "forwardPolicy": "Random", "maxConcurrent": 7, "cacheDuration": "1h1m1s", "serveStaleDuration": "90s",
            "serveStale": "Immediate"})
    };
    let mut sysctls = json!({"netIPv4IPLocalPortRange": "32768 60999", "netIPv4TCPTwReuse": true});
    for (number, (name, _)) in crate::bootstrap::linux_os::SYSCTLS.iter().enumerate() {
        if sysctls.get(name).is_none() {
            sysctls[*name] = json!(1000 + number);
        }
    }
    json!({
        "artifactStreaming": {"enabled": true},
        "fipsMode": "Disabled",
        "gpu": {"mode": "None"},
        "imageFamily": "AzureLinux",
        "kubelet": {"allowedUnsafeSysctls": ["kernel.msg*", "net.core.somaxconn"], "containerLogMaxFiles": 3,
            "containerLogMaxSize": "20Mi", "cpuCFSQuota": false, "cpuCFSQuotaPeriod": "50ms", "cpuManagerPolicy": "static",
            "failSwapOn": false, "imageGCHighThresholdPercent": 70, "imageGCLowThresholdPercent": 60,
            "podPidsLimit": 100, "topologyManagerPolicy": "single-numa-node"},
        "linuxOSConfig": {"swapFileSize": "1500Mi", "sysctls": sysctls, "transparentHugePageDefrag": "defer+madvise",
            "transparentHugePageEnabled": "never"},
        "localDNS": {"mode": "Required", "kubeDNSOverrides": [zone("."), zone("cluster.local")],
            "vnetDNSOverrides": [zone("."), zone("cluster.local")]},
        "maxPods": 42,
        "osDiskSizeGB": 64,
        "security": {"encryptionAtHost": true, "trustedLaunch": {"secureBoot": true, "vtpm": true}},
        "tags": {"a": "b"},
        "vnetSubnetID": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
        "workloadRuntime": "OCIContainer",
    })
}

pub(in crate::bootstrap) fn everything() -> AksNodeClassSpec {
    serde_json::from_value(everything_json()).unwrap()
}

/// Collects the leaves of a value: `a.b`, `a[]`, `a[].b`.
fn leaves(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) if at != "tags" => {
            for (key, value) in object {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                leaves(value, &at, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| leaves(value, &format!("{at}[]"), found)),
        Value::Object(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            found.insert(at.to_owned());
        }
    }
}

/// Returns the leaves of the class's JSON schema.
fn schema_leaves() -> BTreeSet<String> {
    fn walk(schema: &Value, at: &str, found: &mut BTreeSet<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            for (key, schema) in properties {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                walk(schema, &at, found);
            }
        } else if schema["type"] == "array" {
            walk(&schema["items"], &format!("{at}[]"), found);
        } else {
            found.insert(at.to_owned());
        }
    }
    let schema: Value = serde_json::from_str(&super::read(SCHEMA)).unwrap();
    let mut found = BTreeSet::new();
    walk(&schema["properties"]["spec"], "", &mut found);
    found
}

/// The generated schema of the class.
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/aksnodeclass.json");

fn row(leaf: &str) -> Vec<&'static crate::bootstrap::Field> {
    let is_of = |path: &str| match path.strip_suffix(".*") {
        Some(group) => leaf.strip_prefix(group).is_some_and(|rest| rest.starts_with('.')),
        None => path == leaf,
    };
    FIELDS.iter().filter(|field| is_of(field.path)).collect()
}

#[test]
fn every_leaf_of_the_schema_has_one_row_and_every_row_a_leaf() {
    let leaves = schema_leaves();
    assert!(leaves.len() > 60, "{leaves:?}");
    let mut used = BTreeSet::new();
    for leaf in &leaves {
        let rows = row(leaf);
        assert_eq!(rows.len(), 1, "{leaf}: {rows:?}");
        used.insert(rows[0].path);
    }
    let all: BTreeSet<&str> = FIELDS.iter().map(|field| field.path).collect();
    assert_eq!(used, all);
}

#[test]
fn the_class_of_these_tests_sets_every_leaf_of_the_schema() {
    let mut set = BTreeSet::new();
    leaves(&everything_json(), "", &mut set);
    assert_eq!(set, schema_leaves());
}

/// Returns the value at a pointer; a trailing `*` is ignored.
fn at<'a>(config: &'a Value, pointer: &str) -> Option<&'a Value> {
    config.pointer(pointer.strip_suffix("/*").unwrap_or(pointer))
}

/// Returns a node as planned from a class, with the values that the plan resolves.
fn node_of(class: &AksNodeClassSpec) -> Node {
    let has_local_dns = class.local_dns.is_some();
    let max_pods = class.max_pods.and_then(|pods| u32::try_from(pods).ok()).unwrap_or(250);
    Node { gpu: Gpu::Nvidia, has_local_dns, max_pods, ..node() }
}

#[test]
fn every_row_that_names_a_place_in_the_configuration_arrives_there() {
    let plain = AksNodeClassSpec::default();
    let config = |class: &AksNodeClassSpec| {
        Template::build(&cluster(), &node_of(class), class).unwrap().shown().clone()
    };
    let (without, with) = (config(&plain), config(&everything()));
    let mut seen = 0;
    for field in FIELDS {
        if let Goes::Config(pointer) = field.goes {
            assert!(at(&with, pointer).is_some(), "{}: nothing at {pointer}", field.path);
            assert_ne!(at(&without, pointer), at(&with, pointer), "{}", field.path);
            seen += 1;
        }
    }
    assert_eq!(seen, 22);
}

#[test]
fn every_kernel_setting_and_dns_field_arrives_with_its_value() {
    let config = Template::build(&cluster(), &node_of(&everything()), &everything()).unwrap().shown().clone();
    let sysctls = &everything_json()["linuxOSConfig"]["sysctls"];
    for (of_class, of_controller) in crate::bootstrap::linux_os::SYSCTLS {
        assert_eq!(
            config["customLinuxOsConfig"]["sysctlConfig"][of_controller], sysctls[of_class],
            "{of_class}"
        );
    }
    let zone = json!({"queryLogging": "Log", "protocol": "PreferUDP", "forwardDestination": "VnetDNS", "forwardPolicy": "Random",
        "maxConcurrent": 7, "cacheDurationInSeconds": 3661, "serveStaleDurationInSeconds": 90, "serveStale": "Immediate"});
    for list in ["vnetDnsOverrides", "kubeDnsOverrides"] {
        assert_eq!(config["localDnsProfile"][list]["."], zone);
        assert_eq!(config["localDnsProfile"][list]["cluster.local"], zone);
    }
    assert_eq!(config["customLinuxOsConfig"]["swapFileSize"], 1500);
}

#[test]
fn what_aks_keeps_to_itself_is_refused_by_name() {
    for (field, value) in [
        ("fipsMode", "FIPS"),
        ("workloadRuntime", "KataVmIsolation"),
        ("workloadRuntime", "KataMshvVmIsolation"),
    ] {
        let class: AksNodeClassSpec = serde_json::from_value(json!({field: value})).unwrap();
        let refused = refusals(&class);
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].field, format!("spec.{field}"));
        assert!(Template::build(&cluster(), &node(), &class).is_err());
    }
    assert!(refusals(&everything()).is_empty());
}
