//! The wire types keep what the user wrote, and an AKSNodeClass has Karpenter's static hash.

#![expect(clippy::unwrap_used, reason = "tests fail")]

use nodeform::api::Kind;
use nodeform::api::aks_node_class::{AksNodeClass, AksNodeClassSpec};
use nodeform::api::capacity_buffer::CapacityBuffer;
use nodeform::api::node_claim::NodeClaim;
use nodeform::api::node_class_hash::{HASH_VERSION, static_hash};
use nodeform::api::node_fleet::NodeFleet;
use nodeform::api::node_overlay::NodeOverlay;
use nodeform::api::node_plan::{NodePlan, NodePlanChunk};
use nodeform::api::node_plan_approval::NodePlanApproval;
use nodeform::api::node_pool::NodePool;
use serde_json::{Value, json};

fn hash_of(spec: &Value) -> String {
    let spec: AksNodeClassSpec = serde_json::from_value(spec.clone()).unwrap();
    static_hash(&spec)
}

#[test]
fn the_hash_of_a_node_class_is_karpenters() {
    let Some(text) = crate::shared::shared("data/azure/reference/aksnodeclass_hash_vectors.json") else {
        return;
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["hashVersion"], HASH_VERSION);
    let vectors = file["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 12);
    for vector in vectors {
        assert_eq!(hash_of(&vector["spec"]), vector["hash"].as_str().unwrap(), "{}", vector["case"]);
    }
}

/// Two different valid values for a leaf of the schema.
fn two_values(name: &str, schema: &Value) -> [Value; 2] {
    if let Some(words) = schema["enum"].as_array() {
        return [words[0].clone(), words[1].clone()];
    }
    let texts = |one: &str, two: &str| [json!(one), json!(two)];
    match (schema["type"].as_str().unwrap(), name) {
        ("boolean", _) => [json!(false), json!(true)],
        ("integer", _) => {
            let least = schema["minimum"].as_i64().unwrap_or(0);
            [json!(least), json!(least + 1)]
        }
        (_, "cpuCFSQuotaPeriod") => texts("100ms", "200ms"),
        (_, "cacheDuration" | "serveStaleDuration") => texts("1h", "90m"),
        (_, "netIPv4IPLocalPortRange") => texts("1024 60999", "2048 60999"),
        (_, "containerLogMaxSize" | "swapFileSize") => texts("1Gi", "2Gi"),
        (_, "zone") => texts("a.example", "b.example"),
        ("string", _) => texts("one", "two"),
        (other, _) => panic!("no values for {name} of type {other}"),
    }
}

/// An object in which every field of the schema has the first of its two values.
fn filled(name: &str, schema: &Value) -> Value {
    if let Some(fields) = schema["properties"].as_object() {
        return fields.iter().map(|(name, field)| (name.clone(), filled(name, field))).collect();
    }
    match schema["type"].as_str() {
        Some("array") => json!([filled(name, &schema["items"])]),
        Some("object") => json!({"key": filled(name, &schema["additionalProperties"])}),
        _ => two_values(name, schema)[0].clone(),
    }
}

/// JSON pointers of all leaves below a schema, with the second value of each.
fn leaves(name: &str, schema: &Value, pointer: &str, found: &mut Vec<(String, Value)>) {
    if let Some(fields) = schema["properties"].as_object() {
        for (name, field) in fields {
            leaves(name, field, &format!("{pointer}/{name}"), found);
        }
    } else if schema["type"] == "array" {
        leaves(name, &schema["items"], &format!("{pointer}/0"), found);
    } else if schema["type"] == "object" {
        leaves(name, &schema["additionalProperties"], &format!("{pointer}/key"), found);
    } else {
        found.push((pointer.to_owned(), two_values(name, schema)[1].clone()));
    }
}

#[test]
fn every_field_of_a_node_class_but_its_tags_changes_the_hash() {
    let schema: Value = serde_json::from_str(Kind::AksNodeClass.facts().schema).unwrap();
    let schema = &schema["properties"]["spec"];
    let base = filled("spec", schema);
    let mut found = Vec::new();
    leaves("spec", schema, "", &mut found);
    assert!(found.len() > 70, "the walk found only {} fields", found.len());
    let mut hashes = std::collections::BTreeMap::from([(hash_of(&base), "the base".to_owned())]);
    for (pointer, value) in found {
        let mut changed = base.clone();
        *changed.pointer_mut(&pointer).unwrap() = value;
        let hash = hash_of(&changed);
        // Hashes of this version were made before there was a runtime to choose.
        if pointer.starts_with("/tags/") || pointer == "/workloadRuntime" {
            assert_eq!(hash, hash_of(&base), "{pointer} must not change the hash");
        } else if let Some(same) = hashes.insert(hash, pointer.clone()) {
            panic!("{pointer} has the hash of {same}");
        }
    }
}

#[test]
fn a_field_that_is_absent_hashes_unlike_one_that_is_false_or_zero() {
    let absent = hash_of(&json!({}));
    assert_ne!(hash_of(&json!({"security": {"encryptionAtHost": false}})), absent);
    assert_ne!(
        hash_of(&json!({"linuxOSConfig": {"sysctls": {"vmSwappiness": 0}}})),
        hash_of(&json!({"linuxOSConfig": {"sysctls": {}}}))
    );
}

#[test]
fn the_order_of_a_list_does_not_change_the_hash() {
    let hash = |names: [&str; 2]| hash_of(&json!({"kubelet": {"allowedUnsafeSysctls": names}}));
    assert_eq!(hash(["kernel.sem", "net.*"]), hash(["net.*", "kernel.sem"]));
}

#[test]
fn writing_an_object_again_keeps_what_the_user_wrote() {
    let pool = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "general", "resourceVersion": "17", "managedFields": [{"manager": "kubectl"}]},
        "spec": {
            "template": {
                "metadata": {"labels": {}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                    "requirements": [],
                    "taints": [],
                    "expireAfter": "720h",
                    "terminationGracePeriod": "1h60m3600s",
                },
            },
            "limits": {"cpu": 4, "memory": "1024Mi", "nodes": "10"},
            "disruption": {"consolidateAfter": "Never", "budgets": [{"nodes": "010%"}, {"nodes": "5", "schedule": "@daily", "duration": "1h0m0s"}]},
        },
    });
    let read: NodePool = serde_json::from_value(pool.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), pool);
}

#[test]
fn every_field_of_every_kind_is_written_again() {
    for kind in Kind::ALL {
        let facts = kind.facts();
        let schema: Value = serde_json::from_str(facts.schema).unwrap();
        let mut object = json!({
            "apiVersion": format!("{}/{}", facts.group, facts.version),
            "kind": facts.kind,
            "metadata": {"name": "one"},
        });
        for part in ["spec", "status"] {
            let schema = &schema["properties"][part];
            if !schema.is_null() {
                object[part] = sample(schema);
            }
        }
        let again = match kind {
            Kind::AksNodeClass => {
                serde_json::to_value(serde_json::from_value::<AksNodeClass>(object.clone()).unwrap())
            }
            Kind::CapacityBuffer => {
                serde_json::to_value(serde_json::from_value::<CapacityBuffer>(object.clone()).unwrap())
            }
            Kind::NodeOverlay => {
                serde_json::to_value(serde_json::from_value::<NodeOverlay>(object.clone()).unwrap())
            }
            Kind::NodeClaim => {
                serde_json::to_value(serde_json::from_value::<NodeClaim>(object.clone()).unwrap())
            }
            Kind::NodeFleet => {
                serde_json::to_value(serde_json::from_value::<NodeFleet>(object.clone()).unwrap())
            }
            Kind::NodePlan => {
                serde_json::to_value(serde_json::from_value::<NodePlan>(object.clone()).unwrap())
            }
            Kind::NodePlanApproval => {
                serde_json::to_value(serde_json::from_value::<NodePlanApproval>(object.clone()).unwrap())
            }
            Kind::NodePlanChunk => {
                serde_json::to_value(serde_json::from_value::<NodePlanChunk>(object.clone()).unwrap())
            }
            Kind::NodePool => {
                serde_json::to_value(serde_json::from_value::<NodePool>(object.clone()).unwrap())
            }
        };
        assert_eq!(again.unwrap(), object, "{}", facts.kind);
    }
}

/// Some value for a schema, with every field; texts need not match their patterns.
fn sample(schema: &Value) -> Value {
    if let Some(fields) = schema["properties"].as_object() {
        return fields.iter().map(|(name, field)| (name.clone(), sample(field))).collect();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str() {
        Some("array") => json!([sample(&schema["items"])]),
        Some("object") => json!({"key": sample(&schema["additionalProperties"])}),
        Some("boolean") => json!(true),
        Some("integer") => json!(1),
        Some("string") => json!("one"),
        _ => json!(4),
    }
}

#[test]
fn a_kind_is_found_by_its_group_and_version() {
    assert_eq!(Kind::of("karpenter.sh/v1", "NodePool"), Some(Kind::NodePool));
    assert_eq!(Kind::of("karpenter.azure.com/v1alpha2", "AKSNodeClass"), Some(Kind::AksNodeClass));
    for version in ["v1beta1", "v1alpha1"] {
        let version = format!("autoscaling.x-k8s.io/{version}");
        assert_eq!(Kind::of(&version, "CapacityBuffer"), Some(Kind::CapacityBuffer));
    }
    assert_eq!(Kind::of("karpenter.sh/v1beta1", "NodePool"), None);
    assert_eq!(Kind::of("v1", "Pod"), None);
    assert_eq!(Kind::of_group("karpenter.sh", "NodePool"), Some(Kind::NodePool));
}
