//! Normalizes objects before they are stored: names, defaults, and the status.

use serde_json::{Value, json};

use super::kinds::{KindId, NODES, PODS, SECRETS};
use super::route::Route;
use super::status::Refusal;
use super::store::Store;
use crate::sim::json::{list, object, set, text, text_or_empty, unset};

/// Prepares an object for creation: its name, namespace and defaults. Drops its status if the kind has a status
/// subresource.
pub(crate) fn new_object(store: &Store, route: &Route, mut new: Value) -> Result<Value, Refusal> {
    let kind = store.kinds.get(route.kind);
    check_kind(store, route, &new)?;
    if text_or_empty(&new, "/metadata/name").is_empty() {
        let Some(prefix) = text(&new, "/metadata/generateName").filter(|prefix| !prefix.is_empty()) else {
            return Err(Refusal::invalid(
                kind,
                "",
                "metadata.name: Required value: name or generateName is required",
            ));
        };
        let about = format!("name {} {prefix}", store.revision());
        let name = format!("{prefix}{}", store.draw().suffix(&about, 5));
        set(&mut new, &["metadata", "name"], json!(name));
    }
    let name = text_or_empty(&new, "/metadata/name").to_owned();
    if !is_valid_name(&name, kind.group == "rbac.authorization.k8s.io") {
        let why = format!(
            "metadata.name: Invalid value: \"{name}\": a lowercase RFC 1123 subdomain must consist of lower case \
             alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
        );
        return Err(Refusal::invalid(kind, &name, &why));
    }
    if kind.is_namespaced {
        let given = text_or_empty(&new, "/metadata/namespace");
        if !given.is_empty() && given != route.namespace {
            let message = format!(
                "the namespace of the provided object does not match the namespace sent on the request ({given} is not {})",
                route.namespace
            );
            return Err(Refusal::bad_request(message));
        }
        set(&mut new, &["metadata", "namespace"], json!(route.namespace));
    } else {
        unset(&mut new, &["metadata", "namespace"]);
    }
    for field in
        ["resourceVersion", "uid", "creationTimestamp", "generation", "deletionTimestamp", "managedFields"]
    {
        unset(&mut new, &["metadata", field]);
    }
    // Only kubelets set the status on creation: they register their node together with it.
    if kind.has_status && route.kind != NODES {
        unset(&mut new, &["status"]);
    }
    defaults(route.kind, &mut new);
    super::fields::check((route.kind, kind), &route.version, (None, &new))?;
    Ok(new)
}

fn check_kind(store: &Store, route: &Route, new: &Value) -> Result<(), Refusal> {
    let kind = store.kinds.get(route.kind);
    let wanted = kind.api_version(&route.version);
    let given = (text(new, "/apiVersion").unwrap_or(&wanted), text(new, "/kind").unwrap_or(&kind.kind));
    if !new.is_object() || given != (wanted.as_str(), kind.kind.as_str()) {
        let message = format!(
            "{} in version \"{}\" cannot be handled as a {}: expected kind {} of {wanted}, got {} of {}",
            kind.kind, route.version, kind.kind, kind.kind, given.1, given.0
        );
        return Err(Refusal::bad_request(message));
    }
    Ok(())
}

/// Checks for an RFC 1123 subdomain; RBAC objects may have any name that is valid in a path.
fn is_valid_name(name: &str, is_free: bool) -> bool {
    if is_free {
        return !name.is_empty() && !name.contains(['/', '%']);
    }
    let is_edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    name.len() <= 253
        && bytes.first().is_some_and(is_edge)
        && bytes.last().is_some_and(is_edge)
        && bytes.iter().all(|byte| is_edge(byte) || matches!(byte, b'-' | b'.'))
}

/// Removes fields that the API server does not store when empty: maps and lists of metadata, and taints of a Node.
pub(crate) fn without_empty(kind: KindId, new: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    let taints = (kind == NODES).then_some(["spec", "taints"]);
    let fields = ["labels", "annotations", "finalizers", "ownerReferences"].map(|field| ["metadata", field]);
    for path in fields.into_iter().chain(taints) {
        if new.pointer(&format!("/{}/{}", path[0], path[1])).is_some_and(is_empty) {
            unset(new, &path);
        }
    }
}

/// Sets defaults that the API server fills in and clients rely on.
pub(crate) fn defaults(kind: KindId, new: &mut Value) {
    if kind == PODS {
        pod_defaults(new);
    } else if kind == SECRETS {
        secret_defaults(new);
    }
}

/// Sets the defaults of a pod.
pub(crate) fn pod_defaults(pod: &mut Value) {
    let spec = object(pod, "spec");
    for (field, value) in [
        ("restartPolicy", json!("Always")),
        ("schedulerName", json!("default-scheduler")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("serviceAccountName", json!("default")),
        ("dnsPolicy", json!("ClusterFirst")),
        ("enableServiceLinks", json!(true)),
        ("priority", json!(0)),
        ("tolerations", json!([])),
    ] {
        spec.entry(field).or_insert(value);
    }
    // Tolerations that the admission plugin DefaultTolerationSeconds adds.
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerations = list(pod, "/spec/tolerations");
        let is_there = tolerations.iter().any(|toleration| {
            let same = text(toleration, "/key").is_none_or(|known| known == key);
            same && text(toleration, "/effect").is_none_or(|effect| effect == "NoExecute")
        });
        if !is_there && let Some(tolerations) = crate::sim::json::list_mut(pod, &["spec", "tolerations"]) {
            tolerations.push(
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}),
            );
        }
    }
    if pod.pointer("/status/phase").is_none() {
        set(pod, &["status", "phase"], json!("Pending"));
    }
}

/// Moves `stringData`, which is write-only, to `data`.
fn secret_defaults(secret: &mut Value) {
    if let Some(Value::Object(plain)) = unset(secret, &["stringData"]) {
        let data = object(secret, "data");
        for (key, value) in plain {
            let text = value.as_str().unwrap_or_default();
            data.insert(key, json!(data_encoding::BASE64.encode(text.as_bytes())));
        }
    }
    object(secret, "data");
    if secret.get("type").is_none() {
        set(secret, &["type"], json!("Opaque"));
    }
}
