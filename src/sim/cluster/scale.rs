//! The `scale` subresource.

use serde_json::{Value, json};

use crate::sim::json::{members, number, set, text_or_empty};

/// Returns the scale of a workload.
pub(crate) fn of(object: &Value) -> Value {
    let selector: Vec<String> = members(object, "/spec/selector/matchLabels")
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": text_or_empty(object, "/metadata/name"),
            "namespace": text_or_empty(object, "/metadata/namespace"),
            "uid": text_or_empty(object, "/metadata/uid"),
            "resourceVersion": text_or_empty(object, "/metadata/resourceVersion"),
            "creationTimestamp": text_or_empty(object, "/metadata/creationTimestamp"),
        },
        "spec": {"replicas": number(object, "/spec/replicas").unwrap_or(1)},
        "status": {"replicas": number(object, "/status/replicas").unwrap_or(0), "selector": selector.join(",")},
    })
}

/// Sets the replicas of a workload from a scale.
pub(crate) fn set_on(object: &mut Value, scale: &Value) {
    set(object, &["spec", "replicas"], json!(number(scale, "/spec/replicas").unwrap_or(0)));
}
