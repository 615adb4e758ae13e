//! Rules for requirements, label keys and node class references, shared by several kinds. Must treat all kinds alike,
//! except for the pool's own label, which a NodePool must not use.

use crate::model::label;
use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Whether a key may be the pool's own label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoolKey {
    /// In a NodeClaim, which belongs to one pool, or a NodeOverlay.
    Allowed,
    /// In a NodePool, which cannot choose among pools.
    Refused,
}

/// Returns the faults of a list of requirements.
pub(super) fn faults(spec: &Place<'_>, pool_key: PoolKey) -> Vec<Fault> {
    let mut faults = Vec::new();
    for requirement in spec.items("requirements") {
        if let Some((key, place)) = requirement.text("key").zip(requirement.at("key")) {
            faults.extend(key_fault(&place, key, pool_key));
        }
        if let Some(operator) = requirement.text("operator") {
            faults.extend(values_fault(&requirement, operator));
        }
    }
    faults
}

/// Returns the fault of a label key, in a requirement or among the labels.
pub(super) fn key_fault(place: &Place<'_>, key: &str, pool_key: PoolKey) -> Option<Fault> {
    let domain = key.split('/').next().unwrap_or_default();
    let is_known = key == label::CAPACITY_TYPE || key == label::NODE_POOL;
    if key == label::HOSTNAME {
        let fault =
            place.fault(format!("the label `{key}` is restricted: a node's name is not known beforehand"));
        return Some(fault.hint("use a label of your own"));
    }
    if key == label::NODE_POOL && pool_key == PoolKey::Refused {
        let fault = place.fault(format!("the label `{key}` is restricted: every node of the pool gets it"));
        return Some(fault.hint("leave it out"));
    }
    // A plain suffix match, as in Karpenter's CRD: `notkarpenter.sh` is rejected too.
    (!is_known && domain.ends_with("karpenter.sh")).then(|| {
        place
            .fault(format!("the label `{key}` is restricted: its domain is Karpenter's"))
            .hint(format!("of `karpenter.sh` only `{}` can be required", label::CAPACITY_TYPE))
    })
}

fn values_fault(requirement: &Place<'_>, operator: &str) -> Option<Fault> {
    let values = requirement.items("values");
    match operator {
        "In" if values.is_empty() => Some(
            requirement
                .fault_at("values", "operator `In` needs at least one value")
                .hint("add a value, or use `Exists`"),
        ),
        "In" => few_values_fault(requirement, values.len()),
        "Gt" | "Lt" | "Gte" | "Lte" => {
            let [value] = values.as_slice() else {
                let message = format!("operator `{operator}` needs exactly one value, not {}", values.len());
                return Some(requirement.fault_at("values", message));
            };
            let text = value.value.as_str()?;
            let is_right = text.parse::<i64>().is_ok_and(|number| number >= 0);
            (!is_right).then(|| {
                let message =
                    format!("operator `{operator}` needs a whole number of 0 or more, not {text:?}");
                value.fault(message).hint("write digits in quotes, such as \"4\"")
            })
        }
        // The schema rejects unknown operators; the others accept any values.
        _ => None,
    }
}

fn few_values_fault(requirement: &Place<'_>, listed: usize) -> Option<Fault> {
    let least = requirement.integer("minValues").and_then(|least| usize::try_from(least).ok())?;
    (listed < least).then(|| {
        let message = format!("asks for {least} different values, but `values` lists only {listed}");
        requirement.fault_at("minValues", message).hint("list more values or lower `minValues`")
    })
}

/// Returns the faults of a reference to a node class.
pub(super) fn class_faults(spec: &Place<'_>) -> Vec<Fault> {
    ["group", "kind", "name"]
        .into_iter()
        .filter(|field| spec.text(&format!("nodeClassRef.{field}")) == Some(""))
        .map(|field| spec.fault_at(&format!("nodeClassRef.{field}"), "must not be empty"))
        .collect()
}
