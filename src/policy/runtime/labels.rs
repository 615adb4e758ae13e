//! Labels and requirements that Karpenter rejects at run time, and labels reserved by the Azure provider. Must never
//! check that a size has a value: that is a warning of the plan, not a fault of the pool.

use crate::model::label;
use crate::policy::fault::{Fault, shortened};
use crate::policy::nearest::did_you_mean;
use crate::policy::place::Place;

/// Domain of the Azure provider's labels.
const KARPENTER_AZURE: &str = "karpenter.azure.com";
/// Domain of AKS' labels.
const AKS: &str = "kubernetes.azure.com";
/// A label of the provider that users must not require.
const HYPERV_GENERATION: &str = "karpenter.azure.com/sku-hyperv-generation";
/// Old AKS labels without a domain, which AKS sets itself.
const AKS_BARE: [&str; 4] = ["accelerator", "agentpool", "storageprofile", "storagetier"];
/// Maximum length of a label value.
const VALUE_LETTERS_MAX: usize = 63;

/// The known values of labels.
const KNOWN_VALUES: &[(&str, &[&str])] = &[
    (label::CAPACITY_TYPE, &["on-demand", "reserved", "spot"]),
    (label::PLACEMENT_SCOPE, &["regional", "zonal"]),
    (label::SKU_GPU_MANUFACTURER, &["amd", "nvidia"]),
    ("karpenter.azure.com/sku-networking-accelerated", &["false", "true"]),
    ("karpenter.azure.com/sku-storage-premium-capable", &["false", "true"]),
    ("karpenter.azure.com/sku-storage-ultra-ssd", &["false", "true"]),
    (label::AKS_MODE, &["system", "user"]),
    (label::AKS_SCALE_SET_PRIORITY, &["regular", "spot"]),
    ("kubernetes.azure.com/priority", &["regular", "spot"]),
    ("kubernetes.azure.com/os-sku", &["AzureLinux", "Ubuntu"]),
    (label::AKS_FIPS_ENABLED, &["true"]),
];

/// Labels that AKS only sets on nodes of agent pools.
const OF_AGENT_POOLS: [&str; 2] = ["agentpool", "kubernetes.azure.com/agentpool"];

/// Syntax of a label key.
const KEY_HINT: &str =
    "a key is at most 63 letters, digits, `-`, `_` and `.`, with a DNS name and `/` before it if need be";

/// Returns the faults of one label of a template.
pub(super) fn label_faults(place: &Place<'_>, key: &str) -> Vec<Fault> {
    let mut faults: Vec<Fault> = restricted_fault(place, key).into_iter().collect();
    if !is_qualified_name(key) {
        let message = format!("the key {} is not a label's key", shortened(key));
        faults.push(place.fault(message).hint(KEY_HINT));
    }
    faults
}

/// Returns the faults of the requirements of a template or a claim.
pub(super) fn requirement_faults(spec: &Place<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for requirement in spec.items("requirements") {
        let Some((key, place)) = requirement.text("key").zip(requirement.at("key")) else { continue };
        faults.extend(restricted_fault(&place, key));
        if !is_qualified_name(key) && !key.is_empty() {
            faults.push(place.fault(format!("{} is not a label's key", shortened(key))).hint(KEY_HINT));
        }
        for value in requirement.items("values") {
            let Some(text) = value.value.as_str() else { continue };
            if !is_label_value(text) {
                faults.push(value.fault(format!("{} is not a label's value", shortened(text))).hint(
                    "a value is at most 63 letters, digits, `-`, `_` and `.`, and begins and ends with a letter or digit",
                ));
            }
        }
        faults.extend(known_values_fault(&requirement, key));
    }
    faults
}

fn restricted_fault(place: &Place<'_>, key: &str) -> Option<Fault> {
    let domain = key.split('/').next().unwrap_or_default();
    let open = || {
        let known = label::WELL_KNOWN_AZURE.into_iter().chain(label::ADMITTED_AZURE);
        known.filter(|known| *known != HYPERV_GENERATION)
    };
    let is_kept = domain.ends_with(KARPENTER_AZURE) || domain.ends_with(AKS) || AKS_BARE.contains(&key);
    if !is_kept || open().any(|known| known == key) {
        return None;
    }
    let fault = place.fault(format!("`{key}`: unknown label in a reserved domain"));
    if OF_AGENT_POOLS.contains(&key) {
        return Some(fault.hint(
            "AKS alone sets it, on agent pools: give the pool a label of your own in `spec.template.metadata.labels`",
        ));
    }
    Some(match did_you_mean(key, open()) {
        Some(hint) => fault.hint(hint),
        None => fault.hint("use a label of your own, or one of `karpenter.azure.com/sku-…`"),
    })
}

/// Returns the fault of a requirement without any known value. As in Karpenter, one known value among others suffices.
fn known_values_fault(requirement: &Place<'_>, key: &str) -> Option<Fault> {
    let (_, known) = KNOWN_VALUES.iter().find(|(label, _)| *label == key)?;
    let values: Vec<&str> =
        requirement.items("values").iter().filter_map(|value| value.value.as_str()).collect();
    let first = values.first().filter(|_| requirement.text("operator") == Some("In"))?;
    if values.iter().any(|value| known.contains(value)) {
        return None;
    }
    let names: Vec<String> = known.iter().map(|value| format!("`{value}`")).collect();
    let message = format!("`{key}` is never {}: it is one of {}", shortened(first), names.join(", "));
    let fault = requirement.fault_at("values", message);
    Some(match did_you_mean(first, known.iter().copied()) {
        Some(hint) => fault.hint(hint),
        None => fault,
    })
}

/// Returns whether a text is a label key: a name of at most 63 characters, with an optional DNS name (at most 253)
/// before it.
pub(super) fn is_qualified_name(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_prefix_right = prefix.is_none_or(super::name::is_dns_subdomain);
    is_prefix_right && !name.is_empty() && is_label_value(name)
}

/// Returns whether a text is a label value.
pub(super) fn is_label_value(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let ends = [text.bytes().next(), text.bytes().next_back()];
    text.len() <= VALUE_LETTERS_MAX
        && text.bytes().all(is_inner)
        && ends.into_iter().flatten().all(|byte| byte.is_ascii_alphanumeric())
}
