//! Documents of kind SimulatedAzure, and worlds that cannot be.

use nodeform::sim::{SettingsFault, SimulatedAzure, Start, World};
use serde_json::json;

fn told(faults: &[SettingsFault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn every_field_is_optional() {
    assert_eq!(SimulatedAzure::read(&json!({})), Ok(SimulatedAzure::default()));
    assert_eq!(SimulatedAzure::read(&serde_json::Value::Null), Ok(SimulatedAzure::default()));
    let some = json!({"location": "eastus", "network": {"plugin": "none"}, "durations": {"boot": {"from": 1, "to": 2}}});
    let read = SimulatedAzure::read(&some).expect("it is valid");
    assert_eq!(
        (read.location.as_str(), read.network.plugin.as_str(), read.durations.boot.to),
        ("eastus", "none", 2)
    );
    assert_eq!(read.network.dns_service_ip, SimulatedAzure::default().network.dns_service_ip);
}

#[test]
fn unknown_fields_are_refused_with_the_nearest_name_all_at_once() {
    let spec = json!({
        "locaton": "eastus", "network": {"plugn": "azure"}, "agentPools": [{"name": "a", "cuont": 3}],
        "quotas": {"standardDSv3Family": 10}, "nonsense": 1,
    });
    let faults = SimulatedAzure::read(&spec).expect_err("four fields are unknown");
    assert_eq!(
        told(&faults),
        [
            "spec.agentPools[0].cuont: unknown field; did you mean `count`?",
            "spec.locaton: unknown field; did you mean `location`?",
            "spec.network.plugn: unknown field; did you mean `plugin`?",
            "spec.nonsense: unknown field",
        ]
    );
}

#[test]
fn wrong_types_and_values_are_told_with_their_place() {
    let faults = SimulatedAzure::read(&json!({"pageSize": "many", "zones": 3})).expect_err("both are wrong");
    assert_eq!(
        faults.iter().map(|fault| fault.path.as_str()).collect::<Vec<_>>(),
        ["spec.pageSize", "spec.zones"]
    );
    let spec = json!({"pageSize": 0, "network": {"subnetPrefix": "10.0.0.0/31", "plugin": "calico"}, "cluster": {"powerState": "Off"}});
    let paths: Vec<String> = SimulatedAzure::read(&spec)
        .expect_err("four are wrong")
        .into_iter()
        .map(|fault| fault.path)
        .collect();
    assert_eq!(
        paths,
        ["spec.pageSize", "spec.cluster.powerState", "spec.network.plugin", "spec.network.subnetPrefix"]
    );
}

#[test]
fn a_world_tells_every_manifest_that_it_cannot_hold() {
    let manifests = vec![
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
        json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}},
        ]}),
    ];
    let faults = World::new(Start { manifests, ..Start::default() }).expect_err("three are wrong");
    assert_eq!(
        told(&faults),
        [
            "Thing a: the simulated cluster has no such kind in `example.com/v1`; add its CustomResourceDefinition to the world",
            "ConfigMap : metadata.name is missing",
            "ConfigMap b: the world has another object of this kind and name",
        ]
    );
}
