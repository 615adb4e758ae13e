//! Validates a configuration against the published definition of AKSNodeConfig.

use std::collections::BTreeMap;

use serde_json::Value;

const TEXT: &str = include_str!("aks_node_config.txt");

/// Messages and enums by name.
struct Definition {
    messages: BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>,
    enums: BTreeMap<&'static str, Vec<&'static str>>,
}

fn definition() -> Definition {
    let mut definition = Definition { messages: BTreeMap::new(), enums: BTreeMap::new() };
    for paragraph in TEXT.split("\n\n") {
        let mut lines = paragraph.lines().filter(|line| !line.starts_with('#'));
        let Some((kind, name)) = lines.next().and_then(|line| line.split_once(' ')) else { continue };
        let lines = lines.map(str::trim);
        if kind == "message" {
            let fields = lines.map(|line| line.split_once(' ').unwrap()).collect();
            definition.messages.insert(name, fields);
        } else {
            definition.enums.insert(name, lines.collect());
        }
    }
    definition
}

/// Returns keys and values that do not match the definition, by path.
pub(super) fn faults(config: &Value) -> Vec<String> {
    let definition = definition();
    let mut faults = Vec::new();
    definition.message("Configuration", config, "", &mut faults);
    faults
}

impl Definition {
    fn message(&self, name: &str, value: &Value, at: &str, faults: &mut Vec<String>) {
        let Value::Object(object) = value else {
            faults.push(format!("{at}: no {name}"));
            return;
        };
        for (key, value) in object {
            let at = format!("{at}/{key}");
            match self.messages[name].get(key.as_str()) {
                Some(kind) => self.value(kind, value, &at, faults),
                None => faults.push(format!("{at}: unknown")),
            }
        }
    }

    fn value(&self, kind: &str, value: &Value, at: &str, faults: &mut Vec<String>) {
        if let Some(each) = kind.strip_prefix("repeated ") {
            match value.as_array() {
                Some(list) => list.iter().for_each(|value| self.value(each, value, at, faults)),
                None => faults.push(format!("{at}: no list")),
            }
        } else if let Some(each) = kind.strip_prefix("map<string,").and_then(|rest| rest.strip_suffix('>')) {
            match value.as_object() {
                Some(map) => map
                    .iter()
                    .for_each(|(key, value)| self.value(each, value, &format!("{at}/{key}"), faults)),
                None => faults.push(format!("{at}: no map")),
            }
        } else if self.messages.contains_key(kind) {
            self.message(kind, value, at, faults);
        } else if let Some(values) = self.enums.get(kind) {
            if !value.as_str().is_some_and(|value| values.contains(&value)) {
                faults.push(format!("{at}: no {kind}"));
            }
        } else {
            let fits = match kind {
                "string" => value.is_string(),
                "bool" => value.is_boolean(),
                "int32" => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
                "double" => value.is_number(),
                other => panic!("unknown type {other}"),
            };
            if !fits {
                faults.push(format!("{at}: no {kind}"));
            }
        }
    }
}

#[test]
fn the_definition_is_whole_and_finds_what_is_wrong() {
    let definition = definition();
    assert_eq!(definition.messages.values().map(BTreeMap::len).sum::<usize>(), TOTAL);
    let wrong = serde_json::json!({"version": 1, "kubeletConfig": {"kubeletFlags": {"--a": 1}, "maxPods": 1},
        "clusterConfig": {"vmType": "VM"}, "customCaCerts": "x", "localDnsProfile": []});
    assert_eq!(
        faults(&wrong),
        [
            "/clusterConfig/vmType: no VmType",
            "/customCaCerts: no list",
            "/kubeletConfig/kubeletFlags/--a: no string",
            "/kubeletConfig/maxPods: unknown",
            "/localDnsProfile: no LocalDnsProfile",
            "/version: no string",
        ]
    );
}

/// Number of fields in the published definition.
const TOTAL: usize = 256;
