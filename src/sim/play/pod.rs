//! Properties of pods that controllers and kubelets need.

use std::collections::BTreeMap;

use serde_json::Value;

use super::quantity::{Milli, milli};
use crate::sim::json::{list, members, text, text_or_empty};

/// Amounts by resource name.
pub(crate) type Amounts = BTreeMap<String, Milli>;

/// Returns whether the pod's condition `Ready` is true.
pub(crate) fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready") == Some("True")
}

/// Returns the status of a condition of any object.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a str> {
    list(object, "/status/conditions")
        .iter()
        .find(|condition| text(condition, "/type") == Some(kind))
        .and_then(|condition| text(condition, "/status"))
}

/// Returns whether its containers have ended for good.
pub(crate) fn has_ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), Some("Succeeded" | "Failed"))
}

pub(crate) fn is_terminating(pod: &Value) -> bool {
    text(pod, "/metadata/deletionTimestamp").is_some()
}

/// Returns the node that it is bound to.
pub(crate) fn node(pod: &Value) -> Option<&str> {
    text(pod, "/spec/nodeName").filter(|name| !name.is_empty())
}

/// Returns the UID of its controller.
pub(crate) fn controller(object: &Value) -> Option<&str> {
    list(object, "/metadata/ownerReferences")
        .iter()
        .find(|owner| crate::sim::json::is_true(owner, "/controller"))
        .and_then(|owner| text(owner, "/uid"))
}

/// Returns a pod's effective requests: the sum of its containers and sidecars, or its largest init container, and one
/// `pods` slot.
pub(crate) fn requests(pod: &Value) -> Amounts {
    let mut running = Amounts::new();
    for container in list(pod, "/spec/containers") {
        add(&mut running, &of_container(container));
    }
    let mut largest = Amounts::new();
    let mut sidecars = Amounts::new();
    for container in list(pod, "/spec/initContainers") {
        let mut wanted = of_container(container);
        if text(container, "/restartPolicy") == Some("Always") {
            add(&mut sidecars, &wanted);
        } else {
            // An init container runs beside the sidecars before it.
            add(&mut wanted, &sidecars);
            for (name, amount) in wanted {
                let slot = largest.entry(name).or_insert(0);
                *slot = (*slot).max(amount);
            }
        }
    }
    add(&mut running, &sidecars);
    for (name, amount) in largest {
        let slot = running.entry(name).or_insert(0);
        *slot = (*slot).max(amount);
    }
    for (name, amount) in members(pod, "/spec/resources/requests") {
        running.insert(name.clone(), milli(amount));
    }
    for (name, amount) in members(pod, "/spec/overhead") {
        *running.entry(name.clone()).or_insert(0) += milli(amount);
    }
    running.insert("pods".to_owned(), 1_000);
    running
}

/// Returns the requests of a container; a limit without a request counts as a request.
fn of_container(container: &Value) -> Amounts {
    let mut wanted = Amounts::new();
    for (name, amount) in members(container, "/resources/limits") {
        wanted.insert(name.clone(), milli(amount));
    }
    for (name, amount) in members(container, "/resources/requests") {
        wanted.insert(name.clone(), milli(amount));
    }
    wanted
}

/// Adds amounts to others.
pub(crate) fn add(to: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        *to.entry(name.clone()).or_insert(0) += amount;
    }
}

/// Returns whether a taint is tolerated.
pub(crate) fn tolerates(tolerations: &[Value], taint: &Value) -> bool {
    tolerations.iter().any(|toleration| {
        let effect = text_or_empty(toleration, "/effect");
        let key = text_or_empty(toleration, "/key");
        let same_value = match text(toleration, "/operator").unwrap_or("Equal") {
            "Exists" => true,
            _ => text_or_empty(toleration, "/value") == text_or_empty(taint, "/value"),
        };
        let same_key = if key.is_empty() {
            text(toleration, "/operator") == Some("Exists")
        } else {
            key == text_or_empty(taint, "/key")
        };
        same_key && same_value && (effect.is_empty() || effect == text_or_empty(taint, "/effect"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn init_containers_count_where_they_ask_for_more() {
        let pod = json!({"spec": {
            "containers": [
                {"resources": {"requests": {"cpu": "100m"}}}, {"resources": {"limits": {"cpu": "200m", "memory": "1Ki"}}},
            ],
            "initContainers": [
                {"restartPolicy": "Always", "resources": {"requests": {"cpu": "50m"}}},
                {"resources": {"requests": {"cpu": "600m"}}},
            ],
            "overhead": {"cpu": "10m"},
        }});
        let wanted = requests(&pod);
        assert_eq!(wanted["cpu"], 660);
        assert_eq!(wanted["memory"], 1_024_000);
    }

    #[test]
    fn a_toleration_without_a_key_needs_exists() {
        let taint = json!({"key": "a", "value": "b", "effect": "NoSchedule"});
        for (toleration, holds) in [
            (json!({"operator": "Exists"}), true),
            (json!({"key": "a", "value": "b"}), true),
            (json!({"key": "a", "operator": "Exists", "effect": "NoExecute"}), false),
            (json!({"key": "a", "value": "c"}), false),
            (json!({}), false),
        ] {
            assert_eq!(tolerates(std::slice::from_ref(&toleration), &taint), holds, "{toleration}");
        }
    }
}
