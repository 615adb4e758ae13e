//! Validates the fields of an AKSNodeConfig. The real reader silently ignores unknown fields, such as misspelt ones;
//! this one rejects them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

const LIST: &str = include_str!("fields.txt");
const ROOT: &str = "Configuration";
/// The parsed list, read once.
static SCHEMA: LazyLock<Schema<'static>> = LazyLock::new(|| Schema::of(LIST));

/// Messages with their fields, and enums with their values.
struct Schema<'a> {
    messages: BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>,
    enums: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Schema<'a> {
    fn of(text: &'a str) -> Self {
        let mut schema = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        let (mut is_enum, mut name) = (false, "");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix("  ") {
                Some(value) if is_enum => {
                    schema.enums.entry(name).or_default().insert(value);
                }
                Some(field) => {
                    if let Some((field, kind)) = field.split_once(' ') {
                        schema.messages.entry(name).or_default().insert(field, kind);
                    }
                }
                None => {
                    let (sort, rest) = line.split_once(' ').unwrap_or((line, ""));
                    (is_enum, name) = (sort == "enum", rest);
                }
            }
        }
        schema
    }

    fn message(&self, name: &str, value: &Value, path: &str, faults: &mut Vec<String>) {
        let (Some(fields), Some(members)) = (self.messages.get(name), value.as_object()) else {
            faults.push(format!("`{path}` must be an object"));
            return;
        };
        for (member, value) in members {
            let place = if path.is_empty() { member.clone() } else { format!("{path}.{member}") };
            match fields.get(member.as_str()) {
                None => faults.push(format!("AKSNodeConfig has no field `{place}`")),
                // In protobuf's JSON mapping, null is an absent field.
                Some(_) if value.is_null() => {}
                Some(kind) => self.field(kind, value, &place, faults),
            }
        }
    }

    fn field(&self, kind: &str, value: &Value, path: &str, faults: &mut Vec<String>) {
        if let Some(inner) = kind.strip_suffix('*') {
            match value.as_array() {
                Some(items) => items.iter().for_each(|item| self.field(inner, item, path, faults)),
                None => faults.push(format!("`{path}` must be a list")),
            }
        } else if let Some(inner) = kind.strip_prefix("map<string,").and_then(|rest| rest.strip_suffix('>')) {
            match value.as_object() {
                Some(members) => {
                    for (key, value) in members {
                        self.field(inner, value, &format!("{path}.{key}"), faults);
                    }
                }
                None => faults.push(format!("`{path}` must be an object")),
            }
        } else if self.messages.contains_key(kind) {
            self.message(kind, value, path, faults);
        } else if !self.is_plain(kind, value) {
            faults.push(format!("`{path}` is no {kind}"));
        }
    }

    fn is_plain(&self, kind: &str, value: &Value) -> bool {
        match kind {
            "string" => value.is_string(),
            "bool" => value.is_boolean(),
            "int32" => {
                // Protobuf's JSON mapping accepts numbers as strings too.
                let number = value.as_i64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
                number.is_some_and(|number| i32::try_from(number).is_ok())
            }
            "double" => value.is_number(),
            name => self
                .enums
                .get(name)
                .is_some_and(|values| value.as_str().is_some_and(|text| values.contains(text))),
        }
    }
}

/// Returns everything in an AKSNodeConfig that does not match its schema.
pub(crate) fn faults(config: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    SCHEMA.message(ROOT, config, "", &mut faults);
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_misspelt_field_and_wrong_type_is_named() {
        let config = json!({
            "version": "v1", "kubernetesVersoin": "1.34.2", "enableSsh": "yes", "cseTimeout": "900",
            "kubeletConfig": {
                "kubeletFlags": {"--max-pods": 30}, "kubeletNodeLabels": {"a": "b"}, "kubeletDiskType": "OS",
            },
            "localDnsProfile": {"vnetDnsOverrides": {".": {"protocl": "PreferUDP"}}},
            "customCaCerts": "x",
        });
        assert_eq!(
            faults(&config),
            [
                "`customCaCerts` must be a list",
                "`enableSsh` is no bool",
                "`kubeletConfig.kubeletDiskType` is no KubeletDisk",
                "`kubeletConfig.kubeletFlags.--max-pods` is no string",
                "AKSNodeConfig has no field `kubernetesVersoin`",
                "AKSNodeConfig has no field `localDnsProfile.vnetDnsOverrides...protocl`",
            ]
        );
    }

    #[test]
    fn the_list_has_the_fields_that_the_controller_has() {
        let schema = Schema::of(LIST);
        assert_eq!(schema.messages.values().map(BTreeMap::len).sum::<usize>(), 256);
        assert_eq!(schema.enums.len(), 8);
    }
}
