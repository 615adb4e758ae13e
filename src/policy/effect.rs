//! Lists the fields that are valid but do not affect plans, for the reference of the kinds and for readers of
//! manifests.
//!
//! A table, checked against the types by a test. A NodeFleet that uses such a field for something unsupported is
//! refused (`fleet`), so nothing is ignored silently.

use crate::api::Kind;

/// Why a field does not affect plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Without {
    /// Not supported by this version; refused if it requests anything.
    NotYet,
    /// Configures VMs without affecting which ones exist; a change makes nodes drift.
    Setup,
    /// For people, and for applying plans.
    Carried,
}

impl Without {
    /// Returns the text for the reference.
    #[must_use]
    pub const fn said(self) -> &'static str {
        match self {
            Self::NotYet => "No effect yet: refused where it asks for anything.",
            Self::Setup => "No effect on which nodes there are; a change makes nodes drift.",
            Self::Carried => "No effect on which nodes there are.",
        }
    }
}

/// The fields; each entry includes all fields below it.
const FIELDS: [(Kind, &str, Without); 11] = [
    (Kind::NodeFleet, "spec.allow", Without::NotYet),
    (Kind::NodeFleet, "spec.git", Without::Carried),
    (Kind::NodeFleet, "spec.cluster.resourceGroup", Without::Carried),
    (Kind::AksNodeClass, "spec.kubelet", Without::Setup),
    (Kind::AksNodeClass, "spec.linuxOSConfig", Without::Setup),
    (Kind::AksNodeClass, "spec.localDNS.kubeDNSOverrides", Without::Setup),
    (Kind::AksNodeClass, "spec.localDNS.vnetDNSOverrides", Without::Setup),
    (Kind::AksNodeClass, "spec.vnetSubnetID", Without::Setup),
    (Kind::AksNodeClass, "spec.tags", Without::Carried),
    (Kind::NodePool, "spec.template.spec.startupTaints[].timeAdded", Without::Carried),
    (Kind::NodePool, "spec.template.spec.taints[].timeAdded", Without::Carried),
];

/// Returns why a field, such as `spec.git.branch`, does not affect plans; `None` if it does.
#[must_use]
pub fn without_effect(kind: Kind, field: &str) -> Option<Without> {
    let is_below =
        |of: &str| field.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    FIELDS.iter().find(|(of, at, _)| *of == kind && is_below(at)).map(|(_, _, why)| *why)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::{FIELDS, Without, without_effect};
    use crate::api::Kind;
    use crate::model::{Digest, NodeClass};
    use crate::policy::{WireObject, parse, schema_of};

    /// Returns sample values for a leaf of a class: all enum values, or two.
    fn values_of(schema: &Value) -> Vec<Value> {
        if let Some(words) = schema["enum"].as_array() {
            return words.clone();
        }
        match schema["type"].as_str() {
            Some("boolean") => vec![json!(false), json!(true)],
            Some("integer") => vec![json!(40), json!(60)],
            _ => vec![json!("one"), json!("two")],
        }
    }

    /// Returns every leaf below a schema: its path, and objects that hold only one of its values each.
    fn leaves(schema: &Value) -> Vec<(String, Vec<Value>)> {
        let below =
            |schema: &Value, step: &str, wrap: &dyn Fn(Value) -> Value| -> Vec<(String, Vec<Value>)> {
                let joined =
                    |rest: String| if rest.is_empty() { step.to_owned() } else { format!("{step}{rest}") };
                leaves(schema)
                    .into_iter()
                    .map(|(rest, values)| (joined(rest), values.into_iter().map(wrap).collect()))
                    .collect()
            };
        if let Some(fields) = schema["properties"].as_object() {
            let required = required(schema);
            return fields
                .iter()
                .flat_map(|(name, field)| {
                    let holder = |value| {
                        let mut holder = required.clone();
                        holder.insert(name.clone(), value);
                        Value::Object(holder)
                    };
                    below(field, &format!(".{name}"), &holder)
                })
                .collect();
        }
        match schema["type"].as_str() {
            Some("array") => below(&schema["items"], "[]", &|value| json!([value])),
            Some("object") => below(&schema["additionalProperties"], ".*", &|value| json!({"key": value})),
            _ => vec![(String::new(), values_of(schema))],
        }
    }

    /// Returns the required fields of an object with sample values.
    fn required(schema: &Value) -> Map<String, Value> {
        let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let value = |field: &Value| match field["type"].as_str() {
            Some("array") => json!([]),
            Some("object") => Value::Object(required(field)),
            _ => values_of(field)[0].clone(),
        };
        names.map(|name| (name.to_owned(), value(&schema["properties"][name]))).collect()
    }

    /// Returns the part of a class that planning uses: everything except drift hashes and tags.
    fn planned_with(spec: &Value) -> NodeClass {
        let wire = json!({"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass",
                          "metadata": {"name": "c"}, "spec": spec});
        let wire = serde_json::from_value(wire).expect("is a class");
        let class = crate::policy::node_class::node_class(&wire);
        let nothing = Digest::of_json(&()).expect("has a form");
        NodeClass { hash: "".into(), spec_digest: nothing, tags: Default::default(), ..class }
    }

    #[test]
    fn the_fields_of_a_class_that_decide_about_nodes_are_the_others() {
        let schema = schema_of(Kind::AksNodeClass);
        let leaves = leaves(&schema["properties"]["spec"]);
        assert!(leaves.len() > 70, "{}", leaves.len());
        let absent = planned_with(&json!({}));
        let mut faults = Vec::new();
        for (path, values) in leaves {
            let path = format!("spec{path}");
            let is_planned_with = values.iter().any(|spec| planned_with(spec) != absent);
            let is_marked = without_effect(Kind::AksNodeClass, &path).is_some();
            if is_marked == is_planned_with {
                faults.push(format!("{path}: marked {is_marked}, planned with {is_planned_with}"));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn a_fleet_is_refused_where_it_asks_for_what_has_no_effect_yet() {
        let samples = json!({
            "mode": "auto", "suspend": true, "allow": [{"name": "a"}], "safety": {"maxLossNodes": 1},
            "git": {"repository": "https://example.com/a"}, "approve": {"replace": "hold"},
            "cluster": {"location": "westeurope"}, "freeze": [{"name": "f"}], "limits": {"nodes": 1},
            "minValuesPolicy": "BestEffort", "prefer": "availability", "preferences": {"maxExtraCostPercent": 7},
            "prices": {"costPerNode": "1"}, "spread": {"minHosts": 7}, "strategy": "karpenter",
        });
        let fleet = |spec: Value| {
            let value = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet",
                               "metadata": {"name": "f"}, "spec": spec});
            parse(&[WireObject { kind: Kind::NodeFleet, value: &value }]).map(|policy| policy.fleet)
        };
        let schema = schema_of(Kind::NodeFleet);
        let known: BTreeSet<&String> =
            schema["properties"]["spec"]["properties"].as_object().expect("fields").keys().collect();
        let samples = samples.as_object().expect("fields");
        assert_eq!(samples.keys().collect::<BTreeSet<_>>(), known, "a sample of each field");
        let nothing = fleet(json!({})).expect("is valid");
        for (name, sample) in samples {
            let found = fleet(json!({name.as_str(): sample}));
            match without_effect(Kind::NodeFleet, &format!("spec.{name}")) {
                Some(Without::NotYet) => assert!(found.is_err(), "{name}"),
                Some(Without::Setup | Without::Carried) => assert_eq!(found, Ok(nothing.clone()), "{name}"),
                None => assert!(found.is_ok_and(|fleet| fleet != nothing), "{name}"),
            }
        }
        let grouped = fleet(json!({"cluster": {"resourceGroup": "rg"}})).expect("is valid");
        assert_eq!(grouped, nothing, "the resource group decides nothing");
    }

    #[test]
    fn each_field_of_the_table_is_one_of_the_kind() {
        for (kind, path, _) in FIELDS {
            let schema = schema_of(kind);
            let mut here = schema;
            for step in path.split('.') {
                let (name, is_list) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
                here = &here["properties"][name];
                assert!(here.is_object(), "{path}");
                here = if is_list { &here["items"] } else { here };
            }
        }
    }
}
