//! Quota: current usage, and what a new VM requires.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{ArmError, Azure, Sku};
use crate::sim::http::Answer;

/// The names of the limits that apply to all families together.
const REGIONAL: &str = "cores";
const SPOT: &str = "lowPriorityCores";

/// Multiple of the family quota that regional limits have by default: higher than any family's, so that family limits
/// bind first.
const REGIONAL_FACTOR: u64 = 10;

/// Returns the vCPUs that count towards a limit.
fn used(azure: &Azure, limit: &str) -> u64 {
    azure
        .machines
        .values()
        .filter(|machine| match limit {
            SPOT => machine.is_spot,
            REGIONAL => !machine.is_spot,
            family => !machine.is_spot && machine.family.eq_ignore_ascii_case(family),
        })
        .fold(0, |sum, machine| sum.saturating_add(machine.vcpus))
}

fn limit(azure: &Azure, name: &str) -> u64 {
    let settings = &azure.settings;
    let listed =
        settings.quotas.iter().find(|(listed, _)| listed.eq_ignore_ascii_case(name)).map(|(_, limit)| *limit);
    listed.unwrap_or(match name {
        SPOT | REGIONAL => settings.family_quota.saturating_mul(REGIONAL_FACTOR),
        _ => settings.family_quota,
    })
}

/// Checks the quota for a VM of this size. Azure checks it when the VM is requested.
pub(crate) fn check(azure: &Azure, sku: &Sku, is_spot: bool) -> Result<(), ArmError> {
    let limits: &[&str] = if is_spot { &[SPOT] } else { &[sku.family.as_str(), REGIONAL] };
    for name in limits {
        let (current, most) = (used(azure, name), limit(azure, name));
        if current.saturating_add(sku.vcpus) > most {
            return Err(exceeded(azure, name, (most, current, sku.vcpus)));
        }
    }
    Ok(())
}

/// Returns the error of an exceeded limit: (limit, in use, needed).
pub(crate) fn exceeded(azure: &Azure, name: &str, (most, current, needed): (u64, u64, u64)) -> ArmError {
    let what = match name {
        REGIONAL => "Total Regional Cores quota".to_owned(),
        SPOT => "LowPriorityCores quota".to_owned(),
        family => format!("{family} Cores quota"),
    };
    let message = format!(
        "Operation could not be completed as it results in exceeding approved {what}. Additional details - Deployment Model: Resource Manager, Location: {}, Current Limit: {most}, Current Usage: {current}, Additional Required: {needed}, (Minimum) New Limit Required: {}. Submit a request for Quota increase by specifying parameters listed in the 'Details' section for deployment to succeed.",
        azure.settings.location,
        current.saturating_add(needed)
    );
    ArmError::new(409, "OperationNotAllowed", message)
}

pub(crate) fn list(azure: &Azure) -> Answer {
    let families: BTreeSet<&str> = azure.skus.values().map(|sku| sku.family.as_str()).collect();
    let names = [REGIONAL, SPOT].into_iter().chain(families);
    let value: Vec<Value> = names
        .map(|name| {
            let shown = match name {
                REGIONAL => "Total Regional vCPUs".to_owned(),
                SPOT => "Total Regional Spot vCPUs".to_owned(),
                family => format!("{family} vCPUs"),
            };
            json!({
                "name": {"value": name, "localizedValue": shown}, "unit": "Count",
                "currentValue": used(azure, name), "limit": limit(azure, name),
            })
        })
        .chain([json!({
            "name": {"value": "virtualMachines", "localizedValue": "Virtual Machines"}, "unit": "Count",
            "currentValue": azure.machines.len(), "limit": 25_000,
        })])
        .collect();
    Answer::json(200, &json!({"value": value}))
}
