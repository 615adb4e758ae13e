//! Rules for the NodePool. Must only check that fields of static pools are compatible; other code decides whether
//! static pools are used.

use serde_json::Value;

use super::requirements::{self, PoolKey};
use crate::model::Quantity;
use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Returns the faults of a pool.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else {
        return Vec::new();
    };
    let mut faults = static_faults(&spec);
    if let Some(template) = spec.at("template.spec") {
        faults.extend(requirements::faults(&template, PoolKey::Refused));
        faults.extend(requirements::class_faults(&template));
    }
    for (key, label) in spec.entries("template.metadata.labels") {
        faults.extend(requirements::key_fault(&label, key, PoolKey::Refused));
    }
    faults.extend(spec.items("disruption.budgets").iter().filter_map(window_fault));
    faults
}

/// Maximum number of nodes that a pool may request: no AKS cluster has more.
const REPLICAS_MAX: i64 = 5_000;

fn static_faults(spec: &Place<'_>) -> Vec<Fault> {
    if !spec.has("replicas") {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (name, limit) in spec.entries("limits").into_iter().filter(|(name, _)| *name != "nodes") {
        let fault =
            limit.fault(format!("a pool with `replicas` can only be limited by `nodes`, not by `{name}`"));
        faults.push(fault.hint("remove this limit, or `spec.replicas`"));
    }
    let limit = spec.at("limits.nodes").and_then(|limit| quantity(limit.value)).unwrap_or(i64::MAX);
    if let Some(replicas) = spec.integer("replicas").filter(|asked| (*asked).min(limit) > REPLICAS_MAX) {
        let message = format!("{replicas} nodes are more than a cluster of AKS may have: 5,000");
        faults.push(
            spec.fault_at("replicas", message)
                .hint("ask for fewer, or limit the pool to fewer (`spec.limits.nodes`)"),
        );
    }
    if spec.has("weight") {
        let fault = spec.fault_at("weight", "a pool with `replicas` has no weight: pods do not choose it");
        faults.push(fault.hint("remove `spec.weight`, or `spec.replicas`"));
    }
    faults
}

/// Parses a quantity, which may be written as a number.
fn quantity(value: &Value) -> Option<i64> {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    Some(Quantity::parse(&text)?.units_down())
}

/// Returns the fault of a schedule without a duration, or the reverse.
pub(super) fn window_fault(window: &Place<'_>) -> Option<Fault> {
    let (there, missing) = match (window.has("schedule"), window.has("duration")) {
        (true, false) => ("schedule", "duration"),
        (false, true) => ("duration", "schedule"),
        (true, true) | (false, false) => return None,
    };
    let fault =
        window.fault_at(missing, format!("is missing: `{there}` has a meaning only with `{missing}`"));
    Some(fault.hint(format!("add `{missing}`, or remove `{there}` so that it always holds")))
}

/// Returns the faults of a change to a pool.
pub(super) fn faults_of_change(old: &Place<'_>, new: &Place<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    if old.has("spec.replicas") != new.has("spec.replicas") {
        let message = "a pool cannot change between a fixed number of nodes and nodes by need";
        faults.push(new.fault_at("spec.replicas", message).hint("make a new pool"));
    }
    for field in ["group", "kind"] {
        let path = format!("spec.template.spec.nodeClassRef.{field}");
        if old.text(&path) != new.text(&path) {
            faults.push(new.fault_at(&path, "cannot be changed").hint("make a new pool"));
        }
    }
    faults
}
