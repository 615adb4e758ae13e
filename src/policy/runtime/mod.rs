//! Checks of Karpenter and its Azure provider beyond the CustomResourceDefinitions: a valid object that fails them
//! would be stored but never used.
//!
//! Must stay separate from the schema and [`rules`](super::rules), which check the same as the API server.

mod labels;
mod name;
mod schedule;
mod taints;

use serde_json::Value;

use super::buffer::names_no_pods;
use super::fault::Fault;
use super::place::Place;
use crate::api::{Kind, units};
use crate::model::Quantity;

/// Returns the run-time faults of an object: name, labels, taints, schedules and amounts.
#[must_use]
pub fn faults(kind: Kind, object: &Value) -> Vec<Fault> {
    let object = Place::root(object);
    let mut faults = name::faults(kind, &object);
    number_faults(super::schema_of(kind), &object, &mut faults);
    match kind {
        Kind::NodePool => {
            for (key, value) in object.entries("spec.template.metadata.labels") {
                faults.extend(labels::label_faults(&value, key));
            }
            if let Some(template) = object.at("spec.template.spec") {
                faults.extend(labels::requirement_faults(&template));
                faults.extend(taints::faults(&template));
            }
            faults.extend(amount_faults(&object, "spec.limits"));
            faults.extend(object.items("spec.disruption.budgets").iter().filter_map(schedule::fault));
        }
        Kind::NodeClaim => {
            if let Some(spec) = object.at("spec") {
                faults.extend(labels::requirement_faults(&spec));
                faults.extend(taints::faults(&spec));
            }
            faults.extend(amount_faults(&object, "spec.resources.requests"));
        }
        Kind::CapacityBuffer => {
            faults.extend(amount_faults(&object, "spec.limits"));
            faults.extend(buffer_fault(&object));
        }
        Kind::NodeOverlay => {
            if let Some(spec) = object.at("spec") {
                faults.extend(labels::requirement_faults(&spec));
            }
            faults.extend(amount_faults(&object, "spec.capacity"));
        }
        Kind::NodeFleet => {
            faults.extend(amount_faults(&object, "spec.limits"));
            faults.extend(object.items("spec.freeze").iter().filter_map(schedule::fault));
        }
        Kind::AksNodeClass => faults.extend(quota_period_fault(&object)),
        Kind::NodePlan | Kind::NodePlanApproval | Kind::NodePlanChunk => {}
    }
    faults.sort();
    faults
}

/// Reports numbers beyond the 32 bits that Karpenter uses; an API server stores them.
fn number_faults(schema: &Value, part: &Place<'_>, faults: &mut Vec<Fault>) {
    let is_small = schema.get("format").and_then(Value::as_str) == Some("int32");
    let has_limit = schema.get("maximum").is_some();
    if let Some(number) = part.value.as_i64().filter(|number| is_small && i32::try_from(*number).is_err()) {
        // If the schema has a maximum, it has reported the number already.
        if !has_limit {
            faults.push(part.fault(format!("{number} must be from {} to {}", i32::MIN, i32::MAX)));
        }
    }
    for (key, field) in part.own_entries() {
        let known = schema.get("properties").and_then(|known| known.get(key));
        if let Some(schema) = known.or_else(|| schema.get("additionalProperties")) {
            number_faults(schema, &field, faults);
        }
    }
    for item in part.own_items() {
        if let Some(schema) = schema.get("items") {
            number_faults(schema, &item, faults);
        }
    }
}

/// Returns the faults of amounts that are negative or cannot be parsed.
fn amount_faults(object: &Place<'_>, map: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (key, amount) in object.entries(map) {
        let text = match amount.value {
            Value::String(text) if key != "costPerMonth" => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => continue,
        };
        match Quantity::parse(&text) {
            Some(quantity) if quantity.nano() < 0 => {
                faults.push(amount.fault(format!("{text} must not be negative")));
            }
            Some(_) => {}
            None => {
                let fault = amount.fault(format!("{text} is not an amount that can be counted"));
                faults.push(match units::quantity(&text) {
                    Some(hint) => fault.hint(hint),
                    None => fault,
                });
            }
        }
    }
    faults
}

/// Returns the fault of a buffer that references no pods.
fn buffer_fault(object: &Place<'_>) -> Option<Fault> {
    let spec = object.at("spec")?;
    let is_void = !spec.has("podTemplateRef") && !spec.has("scalableRef");
    is_void.then(names_no_pods)
}

/// Checks the CFS quota period: the kernel accepts 1 ms to 1 s.
fn quota_period_fault(object: &Place<'_>) -> Option<Fault> {
    let place = object.at("spec.kubelet.cpuCFSQuotaPeriod")?;
    let text = place.value.as_str()?;
    let nanoseconds = crate::api::text::DurationText(text.to_owned()).nanoseconds();
    let is_right = nanoseconds.is_some_and(|nanoseconds| (1_000_000..=1_000_000_000).contains(&nanoseconds));
    (!is_right).then(|| {
        let meant = units::durations(text).into_iter().find(|meant| meant.ends_with("ms"));
        place.fault(format!("{} must be a duration from `1ms` to `1s`", super::fault::shortened(text))).hint(
            meant
                .map_or_else(|| "the usual period is `100ms`".to_owned(), |meant| format!("write `{meant}`")),
        )
    })
}
