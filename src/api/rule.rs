//! CEL rules that occur in more than one place of the schemas, as values.
//!
//! Must only contain text for an API server; the same rules for offline use are in `policy`.

use schemars::Schema;
use serde_json::{Value, json};

/// Returns the rules for a list of requirements.
pub(crate) fn requirements() -> Value {
    json!([
        {
            "message": "requirements with operator 'In' must have a value defined",
            "rule": "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
        },
        {
            "message": "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value",
            "rule": "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt' || x.operator == 'Gte' || x.operator == 'Lte') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
        },
        {
            "message": "requirements with 'minValues' must have at least that many values specified in the 'values' field",
            "rule": "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
        },
    ])
}

/// Returns the rules for the requirements of a NodeOverlay.
pub(crate) fn overlay_requirements() -> Value {
    json!([
        {
            "message": "requirements with operator 'NotIn' must have a value defined",
            "rule": "self.all(x, x.operator == 'NotIn' ? x.values.size() != 0 : true)",
        },
        {
            "message": "requirements with operator 'In' must have a value defined",
            "rule": "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
        },
        {
            "message": "requirements operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single positive integer value",
            "rule": "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt' || x.operator == 'Gte' || x.operator == 'Lte') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
        },
    ])
}

/// Returns the rules for the key of a requirement.
pub(crate) fn requirement_key() -> Value {
    json!([
        {
            "message": "label domain \"karpenter.sh\" is restricted",
            "rule": "self in [\"karpenter.sh/capacity-type\", \"karpenter.sh/nodepool\"] || !self.find(\"^([^/]+)\").endsWith(\"karpenter.sh\")",
        },
        {"message": "label \"kubernetes.io/hostname\" is restricted", "rule": "self != \"kubernetes.io/hostname\""},
    ])
}

/// Adds the rule that keys of requirements must not name the pool: a pool cannot select among pools.
pub(crate) fn forbid_pool_key(schema: &mut Schema) {
    let rules = schema
        .pointer_mut("/items/properties/key/x-kubernetes-validations")
        .and_then(Value::as_array_mut)
        .expect("a requirement's key has rules");
    rules.insert(
        1,
        json!({
            "message": "label \"karpenter.sh/nodepool\" is restricted",
            "rule": "self != \"karpenter.sh/nodepool\"",
        }),
    );
}
