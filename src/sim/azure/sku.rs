//! SKUs: the list as ARM shows it, and the properties that the simulator reads from it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ArmError, Azure, Call};
use crate::sim::http::Answer;
use crate::sim::json::{list as values, text};

/// A VM size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sku {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) vcpus: u64,
    /// Memory in MiB.
    pub(crate) memory_mib: u64,
    pub(crate) gpus: u64,
    pub(crate) is_arm64: bool,
    pub(crate) zones: Vec<String>,
    pub(crate) can_be_spot: bool,
    /// The largest possible ephemeral OS disk, on the cache or the temporary disk, whichever is larger, in bytes.
    pub(crate) ephemeral_bytes: u64,
    /// Whether the subscription may not use the size anywhere in the region.
    pub(crate) is_restricted: bool,
    pub(crate) restricted_zones: Vec<String>,
}

impl Sku {
    /// Reads a size from an entry of the list; `None` if it is not a VM size or lacks a required property.
    pub(crate) fn of(entry: &Value) -> Option<Self> {
        if text(entry, "/resourceType")? != "virtualMachines" {
            return None;
        }
        let capability = |name: &str| {
            values(entry, "/capabilities")
                .iter()
                .find(|capability| text(capability, "/name") == Some(name))
                .and_then(|capability| text(capability, "/value"))
        };
        let number = |name: &str| capability(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let mib = |name: &str| number(name).saturating_mul(1 << 20);
        let texts =
            |found: &[Value]| found.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
        let vcpus = match number("vCPUsAvailable") {
            0 => number("vCPUs"),
            available => available,
        };
        let ephemeral = [number("CachedDiskBytes"), mib("MaxResourceVolumeMB"), mib("NvmeDiskSizeInMiB")];
        Some(Self {
            name: text(entry, "/name")?.to_owned(),
            family: text(entry, "/family")?.to_owned(),
            vcpus,
            memory_mib: mib_of_gb(capability("MemoryGB")?)?,
            gpus: number("GPUs"),
            is_arm64: capability("CpuArchitectureType") == Some("Arm64"),
            zones: texts(values(entry, "/locationInfo/0/zones")),
            can_be_spot: capability("LowPriorityCapable") == Some("True"),
            ephemeral_bytes: if capability("EphemeralOSDiskSupported") == Some("True") {
                ephemeral.into_iter().max().unwrap_or(0)
            } else {
                0
            },
            is_restricted: restrictions(entry, "Location").next().is_some(),
            restricted_zones: restrictions(entry, "Zone")
                .flat_map(|restriction| texts(values(restriction, "/restrictionInfo/zones")))
                .collect(),
        })
    }
}

fn restrictions<'a>(entry: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    values(entry, "/restrictions").iter().filter(move |restriction| text(restriction, "/type") == Some(kind))
}

/// Converts a decimal number of GiB to MiB without floats: `3.5` to 3584.
fn mib_of_gb(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let fraction = fraction.get(..fraction.len().min(6))?;
    let parts = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    whole.parse::<u64>().ok()?.checked_mul(1024)?.checked_add(fraction.parse::<u64>().ok()? * 1024 / parts)
}

/// Returns the list for the region in the filter. Azure sends it as one page.
pub(crate) fn list(azure: &Azure, call: &Call<'_>) -> Result<Answer, ArmError> {
    let filter = call.request.query("$filter");
    let location = filter.as_deref().map(location_of).transpose()?;
    let shown = |entry: &&Value| {
        location.as_ref().is_none_or(|location| {
            values(entry, "/locations")
                .iter()
                .any(|known| known.as_str().is_some_and(|known| known.eq_ignore_ascii_case(location)))
        })
    };
    let value: Vec<&Value> = azure.sku_list.iter().filter(shown).collect();
    Ok(Answer::json(200, &BTreeMap::from([("value", value)])))
}

/// Parses `location eq 'westeurope'`, the only filter that Azure supports here.
fn location_of(filter: &str) -> Result<String, ArmError> {
    let words: Vec<&str> = filter.split_whitespace().collect();
    match words.as_slice() {
        [field, "eq", value] if field.eq_ignore_ascii_case("location") => {
            Ok(value.trim_matches('\'').to_owned())
        }
        _ => Err(ArmError::new(
            400,
            "InvalidFilterInQueryString",
            format!("Invalid $filter '{filter}' specified in the query string."),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_without_floats() {
        assert_eq!(mib_of_gb("16"), Some(16_384));
        assert_eq!(mib_of_gb("3.5"), Some(3_584));
        assert_eq!(mib_of_gb("0.75"), Some(768));
        assert_eq!(mib_of_gb("x"), None);
    }
}
