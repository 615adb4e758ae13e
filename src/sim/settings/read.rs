//! Parses a document into settings: unknown fields are rejected with the nearest name, and all faults are reported
//! together.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::SimulatedAzure;

/// A fault in a document of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFault {
    /// Its path, e.g. `spec.network.plugin`.
    pub path: String,
    /// The fault and how to fix it.
    pub message: String,
}

impl fmt::Display for SettingsFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

impl SimulatedAzure {
    /// Reads the `spec` of a document of kind `SimulatedAzure`.
    ///
    /// # Errors
    /// All faults found.
    pub fn read(spec: &Value) -> Result<Self, Vec<SettingsFault>> {
        let settings: Self = read("spec", spec)?;
        let mut faults = Vec::new();
        let mut want = |holds: bool, path: &str, message: &str| {
            if !holds {
                faults.push(SettingsFault { path: format!("spec.{path}"), message: message.to_owned() });
            }
        };
        want(settings.page_size > 0, "pageSize", "must be at least 1");
        want(
            ["Running", "Stopped"].contains(&settings.cluster.power_state.as_str()),
            "cluster.powerState",
            "must be `Running` or `Stopped`",
        );
        want(
            ["Manual", "Auto"].contains(&settings.cluster.node_provisioning.as_str()),
            "cluster.nodeProvisioning",
            "must be `Manual` or `Auto`",
        );
        want(
            ["azure", "kubenet", "none"].contains(&settings.network.plugin.as_str()),
            "network.plugin",
            "must be `azure`, `kubenet` or `none`",
        );
        want(
            super::super::azure::address_range(&settings.network.subnet_prefix).is_some(),
            "network.subnetPrefix",
            "must be an IPv4 prefix of at most 29 bits, such as `10.224.0.0/16`",
        );
        for (at, image) in settings.images.iter().enumerate() {
            let is_dated =
                image.versions.iter().all(|version| version.published.parse::<Timestamp>().is_ok());
            want(
                is_dated,
                &format!("images[{at}].versions"),
                "`published` must be a time such as `2025-11-15T09:00:00Z`",
            );
        }
        want(
            super::super::azure::address_range(&settings.network.subnet_prefix)
                .is_none_or(|(_, count)| settings.network.addresses_in_use <= count),
            "network.addressesInUse",
            "must not be more than the subnet has",
        );
        want(!settings.location.is_empty(), "location", "must not be empty");
        if faults.is_empty() { Ok(settings) } else { Err(faults) }
    }
}

/// Reads a value whose type has a default for every optional field and serializes all of them.
///
/// # Errors
/// Each unknown field with the nearest name, and each member of the value with a wrong type.
pub(crate) fn read<T: DeserializeOwned + Serialize>(
    path: &str,
    value: &Value,
) -> Result<T, Vec<SettingsFault>> {
    let empty = Map::new();
    let members = match value {
        Value::Object(members) => members,
        Value::Null => &empty,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(vec![fault(path, "must be an object".to_owned())]);
        }
    };
    match serde_json::from_value::<T>(Value::Object(members.clone())) {
        Ok(read) => {
            // Serializing the parsed value yields every known field; other fields are unknown.
            let known = serde_json::to_value(&read).unwrap_or(Value::Null);
            let mut faults = Vec::new();
            unknown(path, &Value::Object(members.clone()), &known, &mut faults);
            if faults.is_empty() { Ok(read) } else { Err(faults) }
        }
        Err(first) => Err(wrong_types::<T>(path, members, &first)),
    }
}

/// Parses each member alone, so that every wrong one is reported.
fn wrong_types<T: DeserializeOwned>(
    path: &str,
    members: &Map<String, Value>,
    first: &serde_json::Error,
) -> Vec<SettingsFault> {
    let mut faults: Vec<SettingsFault> = members
        .iter()
        .filter_map(|(name, value)| {
            let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
            let error = serde_json::from_value::<T>(alone).err()?;
            let text = error.to_string();
            (!text.starts_with("missing field")).then(|| fault(&format!("{path}.{name}"), text))
        })
        .collect();
    if faults.is_empty() {
        faults.push(fault(path, first.to_string()));
    }
    faults
}

fn unknown(path: &str, given: &Value, known: &Value, faults: &mut Vec<SettingsFault>) {
    match (given, known) {
        (Value::Object(given), Value::Object(known)) => {
            for (name, value) in given {
                let place = format!("{path}.{name}");
                match known.get(name) {
                    Some(known) => unknown(&place, value, known, faults),
                    None => faults.push(fault(&place, unknown_field(name, known.keys()))),
                }
            }
        }
        (Value::Array(given), Value::Array(known)) => {
            for (at, (value, known)) in given.iter().zip(known).enumerate() {
                unknown(&format!("{path}[{at}]"), value, known, faults);
            }
        }
        _ => {}
    }
}

fn unknown_field<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    match nearest(name, known.map(String::as_str)) {
        Some(nearest) => format!("unknown field; did you mean `{nearest}`?"),
        None => "unknown field".to_owned(),
    }
}

/// Returns the known name nearest to a name, if one is near enough.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let nearest = known.map(|other| (far(other), other)).min().filter(|(distance, _)| *distance <= 3);
    nearest.map(|(_, nearest)| nearest)
}

fn fault(path: &str, message: String) -> SettingsFault {
    SettingsFault { path: path.to_owned(), message }
}
