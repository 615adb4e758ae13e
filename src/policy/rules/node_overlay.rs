//! Rules for the NodeOverlay. Must never compare overlays: only callers with all overlays can detect conflicts.

use super::requirements::{self, PoolKey};
use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Returns the faults of an overlay.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else { return Vec::new() };
    let mut faults = requirements::faults(&spec, PoolKey::Allowed);
    for requirement in spec.items("requirements") {
        if requirement.text("operator") == Some("NotIn") && requirement.items("values").is_empty() {
            let fault = requirement.fault_at("values", "operator `NotIn` needs at least one value");
            faults.push(fault.hint("add a value, or use `DoesNotExist`"));
        }
    }
    if spec.has("price") && spec.has("priceAdjustment") {
        let fault = spec.fault_at("priceAdjustment", "cannot be combined with `price`");
        faults.push(fault.hint("an overlay has one of the two: remove the other"));
    }
    for (name, amount) in spec.entries("capacity") {
        if matches!(name, "cpu" | "memory" | "ephemeral-storage" | "pods") {
            let fault = amount.fault(format!("`{name}` is what the size has, and cannot be overlaid"));
            faults.push(fault.hint("name extended resources only, such as `example.com/device`"));
        }
    }
    faults
}
