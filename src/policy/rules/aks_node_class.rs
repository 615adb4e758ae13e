//! Rules for the AKSNodeClass. Must never check that a size or an image exists: the catalogue does.

use super::{local_dns, sysctls};
use crate::policy::fault::{Fault, shortened};
use crate::policy::place::Place;

/// Returns the faults of a node class.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else {
        return Vec::new();
    };
    let mut faults = fips_faults(&spec);
    faults.extend(swap_fault(&spec));
    faults.extend(kata_fault(&spec));
    faults.extend(image_gc_fault(&spec));
    faults.extend(tag_faults(&spec));
    faults.extend(sysctls::faults(&spec));
    faults.extend(local_dns::faults(&spec));
    faults
}

fn fips_faults(spec: &Place<'_>) -> Vec<Fault> {
    if spec.text("fipsMode") != Some("FIPS") {
        return Vec::new();
    }
    let is_trusted = ["vtpm", "secureBoot"]
        .iter()
        .any(|setting| spec.flag(&format!("security.trustedLaunch.{setting}")) == Some(true));
    let family = spec.text("imageFamily");
    let fault = match (family, is_trusted) {
        (None, _) => Some(spec.fault_at("imageFamily", "is missing: `fipsMode: FIPS` needs it")),
        (Some("Ubuntu2404"), _) => {
            let fault = spec.fault_at("imageFamily", "`Ubuntu2404` has no FIPS images yet");
            Some(fault.hint("use `Ubuntu`, `Ubuntu2204` or `AzureLinux`, or `fipsMode: Disabled`"))
        }
        (Some("Ubuntu2204"), false) => {
            let fault = spec.fault_at(
                "security.trustedLaunch",
                "`fipsMode: FIPS` with `Ubuntu2204` needs Trusted Launch",
            );
            Some(fault.hint("set `security.trustedLaunch.vtpm: true`"))
        }
        (Some("AzureLinux"), true) => {
            let message = "`fipsMode: FIPS` with Trusted Launch is only there for `Ubuntu` and `Ubuntu2204`";
            Some(
                spec.fault_at("security.trustedLaunch", message)
                    .hint("remove Trusted Launch or change `imageFamily`"),
            )
        }
        (Some(_), true | false) => None,
    };
    fault.into_iter().collect()
}

fn swap_fault(spec: &Place<'_>) -> Option<Fault> {
    let is_refused = spec.has("linuxOSConfig.swapFileSize") && spec.flag("kubelet.failSwapOn") != Some(false);
    is_refused.then(|| {
        spec.fault_at("linuxOSConfig.swapFileSize", "the kubelet does not start on a node with swap")
            .hint("set `kubelet.failSwapOn: false`")
    })
}

/// Checks Kata, which is only available on Azure Linux and without FIPS.
fn kata_fault(spec: &Place<'_>) -> Option<Fault> {
    let runtime = spec.text("workloadRuntime").filter(|runtime| runtime.starts_with("Kata"))?;
    if spec.text("imageFamily") != Some("AzureLinux") {
        let fault = spec.fault_at("imageFamily", format!("`workloadRuntime: {runtime}` needs `AzureLinux`"));
        return Some(fault.hint("set `imageFamily: AzureLinux`, or `workloadRuntime: OCIContainer`"));
    }
    (spec.text("fipsMode") == Some("FIPS")).then(|| {
        spec.fault_at("fipsMode", format!("there is no FIPS image with `workloadRuntime: {runtime}`"))
            .hint("set `fipsMode: Disabled`, or `workloadRuntime: OCIContainer`")
    })
}

fn image_gc_fault(spec: &Place<'_>) -> Option<Fault> {
    let low = spec.integer("kubelet.imageGCLowThresholdPercent")?;
    let high = spec.integer("kubelet.imageGCHighThresholdPercent").filter(|high| *high <= low)?;
    let message = format!("{high} must be above `imageGCLowThresholdPercent`, which is {low}");
    Some(spec.fault_at("kubelet.imageGCHighThresholdPercent", message))
}

fn tag_faults(spec: &Place<'_>) -> Vec<Fault> {
    // Azure's limits on the keys and values of tags.
    const KEY_LETTERS_MAX: usize = 512;
    const VALUE_LETTERS_MAX: usize = 256;
    let mut faults = Vec::new();
    for (key, tag) in spec.entries("tags") {
        if key.chars().count() > KEY_LETTERS_MAX {
            faults.push(tag.fault(format!("the key is longer than {KEY_LETTERS_MAX} characters")));
        }
        if let Some(letter) = key.chars().find(|letter| r"<>%&?\".contains(*letter)) {
            faults.push(tag.fault(format!("the key {} must not contain `{letter}`", shortened(key))));
        }
        if tag.value.as_str().is_some_and(|value| value.chars().count() > VALUE_LETTERS_MAX) {
            faults.push(tag.fault(format!("the value is longer than {VALUE_LETTERS_MAX} characters")));
        }
    }
    faults
}
