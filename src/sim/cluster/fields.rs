//! Field validation on every write: invalid labels, changes of `providerID`, and unknown fields are refused.
//!
//! A real API server drops unknown fields unless the client requests `fieldValidation=Strict`; here they are refused,
//! so that clients never write fields that a real cluster would not keep. CEL rules are left to the real API server.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::kinds::{Kind, KindId, NODES};
use super::status::Refusal;
use crate::sim::json::{list, members, text, text_or_empty};

/// Maximum length of a label's value and of the name in its key.
const LABEL_MAX: usize = 63;

/// The fields of every object's metadata.
const METADATA: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The definitions shipped with this program, used by worlds without CustomResourceDefinitions of their own.
const DEFINITIONS: [&str; 7] = [
    include_str!("../../../crds/karpenter.sh_nodepools.yaml"),
    include_str!("../../../crds/karpenter.sh_nodeclaims.yaml"),
    include_str!("../../../crds/karpenter.azure.com_aksnodeclasses.yaml"),
    include_str!("../../../crds/nodeform.dev_nodefleets.yaml"),
    include_str!("../../../crds/nodeform.dev_nodeplans.yaml"),
    include_str!("../../../crds/nodeform.dev_nodeplanapprovals.yaml"),
    include_str!("../../../crds/nodeform.dev_nodeplanchunks.yaml"),
];

/// Their schemas, by `plural.group/version`.
static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let definitions = DEFINITIONS.into_iter().filter_map(|text| serde_saphyr::from_str::<Value>(text).ok());
    let schemas = definitions.flat_map(|definition| {
        let name = text_or_empty(&definition, "/metadata/name").to_owned();
        let versions = list(&definition, "/spec/versions").to_vec();
        versions.into_iter().filter_map(move |version| {
            let key = format!("{name}/{}", text(&version, "/name")?);
            Some((key, version.pointer("/schema/openAPIV3Schema")?.clone()))
        })
    });
    schemas.collect()
});

/// Refuses an object with invalid fields. `before` is the stored object, if any.
pub(super) fn check(
    (id, kind): (KindId, &Kind),
    version: &str,
    (before, new): (Option<&Value>, &Value),
) -> Result<(), Refusal> {
    let name = text_or_empty(new, "/metadata/name");
    // Stored fields and labels stay valid: only changes are checked.
    let stored = before.map(|before| unknown(kind, version, before)).unwrap_or_default();
    if let Some(unknown) = unknown(kind, version, new).into_iter().find(|path| !stored.contains(path)) {
        let message = format!(
            "{} in version \"{version}\" cannot be handled as a {}: strict decoding error: unknown field \"{unknown}\"",
            kind.kind, kind.kind
        );
        return Err(Refusal::bad_request(message));
    }
    let stored = |key: &str| before.and_then(|before| before["metadata"]["labels"].get(key));
    for (key, value) in members(new, "/metadata/labels").filter(|(key, value)| stored(key) != Some(value)) {
        if let Some(why) = no_label(key, value.as_str().unwrap_or_default()) {
            return Err(Refusal::invalid(kind, name, &format!("metadata.labels: Invalid value: {why}")));
        }
    }
    let provider = |object: &Value| text_or_empty(object, "/spec/providerID").to_owned();
    let known = before.map(provider).filter(|known| id == NODES && !known.is_empty());
    if known.is_some_and(|known| known != provider(new)) {
        let why =
            "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid";
        return Err(Refusal::invalid(kind, name, why));
    }
    Ok(())
}

/// Returns why a key and value are not a valid label.
fn no_label(key: &str, value: &str) -> Option<String> {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    for text in [name, value] {
        if text.len() > LABEL_MAX {
            return Some(format!("\"{text}\": must be no more than {LABEL_MAX} bytes"));
        }
    }
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_edge = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let is_valid = |text: &str| {
        let bytes = text.as_bytes();
        bytes.iter().copied().all(is_inner) && is_edge(bytes.first()) && is_edge(bytes.last())
    };
    let rule = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let wrong = [name, value].into_iter().find(|text| !is_valid(text));
    wrong.map(|text| format!("\"{text}\": {rule}"))
}

/// Returns the paths of the fields that the kind does not have.
fn unknown(kind: &Kind, version: &str, object: &Value) -> Vec<String> {
    let metadata = members(object, "/metadata").map(|(key, _)| key);
    let others = metadata.filter(|key| !METADATA.contains(&key.as_str()));
    let mut found: Vec<String> = others.map(|key| format!("metadata.{key}")).collect();
    let Some(schema) = SCHEMAS.get(&format!("{}/{version}", kind.resource())) else { return found };
    for part in ["spec", "status"] {
        if let Some(value) = object.get(part) {
            unknown_in(&schema["properties"][part], value, part, &mut found);
        }
    }
    found
}

fn unknown_in(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let is_open = schema["x-kubernetes-preserve-unknown-fields"] == true;
            let properties = &schema["properties"];
            let more = schema.get("additionalProperties").filter(|more| **more != false);
            for (key, value) in fields {
                let path = format!("{path}.{key}");
                match properties.get(key).or(more) {
                    Some(schema) => unknown_in(schema, value, &path, found),
                    None if is_open || !properties.is_object() => {}
                    None => found.push(path),
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                unknown_in(&schema["items"], item, &format!("{path}[{at}]"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::kinds::Kinds;
    use super::*;

    fn said(plural: (&str, &str, &str), before: Option<&Value>, new: &Value) -> String {
        let mut kinds = Kinds::built_in();
        super::super::kinds::usual_definitions().iter().for_each(|definition| kinds.define(definition));
        let (group, version, plural) = plural;
        let id = kinds.by_plural(group, version, plural).expect("the kind is known");
        let checked = check((id, kinds.get(id)), version, (before, new));
        checked
            .err()
            .map_or_else(|| "taken".to_owned(), |refusal| format!("{} {}", refusal.code, refusal.message))
    }

    #[test]
    fn every_kind_that_this_program_brings_has_a_schema() {
        let kinds: BTreeSet<&str> = SCHEMAS.keys().filter_map(|key| Some(key.split_once('/')?.0)).collect();
        assert_eq!(kinds.len(), DEFINITIONS.len(), "{kinds:?}");
    }

    #[test]
    fn fields_that_a_kind_does_not_have_are_refused_by_their_path() {
        let claims = ("karpenter.sh", "v1", "nodeclaims");
        let claim = |spec: Value| json!({"metadata": {"name": "a"}, "spec": spec});
        let known = claim(json!({"requirements": [{"key": "a", "operator": "In", "values": ["b"]}]}));
        assert_eq!(said(claims, None, &known), "taken");
        let unknown = claim(json!({"requirements": [{"key": "a", "operator": "In", "valuez": ["b"]}]}));
        assert!(said(claims, None, &unknown).ends_with("unknown field \"spec.requirements[0].valuez\""));
        assert_eq!(said(claims, Some(&unknown), &unknown), "taken", "what is stored stays valid");
        let node = json!({"metadata": {"name": "n", "label": {}}});
        assert!(said(("", "v1", "nodes"), None, &node).ends_with("unknown field \"metadata.label\""));
    }

    #[test]
    fn long_labels_and_another_provider_id_are_refused() {
        let node = |labels: Value, id: &str| json!({"metadata": {"name": "n", "labels": labels}, "spec": {"providerID": id}});
        let nodes = ("", "v1", "nodes");
        let long = node(json!({"team": "a".repeat(64)}), "azure:///a");
        assert!(said(nodes, None, &long).contains("must be no more than 63 bytes"));
        assert_eq!(said(nodes, Some(&long), &long), "taken", "what is stored stays valid");
        assert!(said(nodes, None, &node(json!({"team": "a b"}), "")).contains("must consist of"));
        assert_eq!(said(nodes, None, &node(json!({"example.com/team": "a-1", "empty": ""}), "")), "taken");
        let (none, first, other) =
            (node(json!({}), ""), node(json!({}), "azure:///a"), node(json!({}), "azure:///b"));
        assert_eq!(said(nodes, Some(&none), &first), "taken");
        assert!(said(nodes, Some(&first), &other).contains("may not change providerID"));
        assert!(said(nodes, Some(&first), &none).contains("may not change providerID"));
    }
}
