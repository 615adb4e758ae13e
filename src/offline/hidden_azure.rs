//! Azure's facts of a cluster, with its subscription and resource groups hidden like object names by `--names`.
//!
//! A VM must still match its Node, and a subnet its AKSNodeClass: the same cluster gives the same plan.

use serde_json::Value;

use crate::manifests::Names;
use crate::manifests::names::{azure_id, azure_name};
use crate::snapshot::AzureFacts;

/// The field that contains only a resource group's name.
const GROUP: &str = "nodeResourceGroup";

/// Returns the facts with names hidden as requested.
pub(super) fn facts(facts: AzureFacts, names: Names) -> AzureFacts {
    if names == Names::Show {
        return facts;
    }
    let mut json = serde_json::to_value(&facts).expect("facts are JSON");
    replace(&mut json);
    serde_json::from_value(json).expect("ids are texts before and after")
}

fn replace(json: &mut Value) {
    match json {
        Value::String(text) => {
            if let Some(hidden) = azure_id(text) {
                *text = hidden;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(replace),
        Value::Object(fields) => {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(key, mut value)| {
                    replace(&mut value);
                    if let (GROUP, Value::String(name)) = (&*key, &mut value) {
                        *name = azure_name(name);
                    }
                    (azure_id(&key).unwrap_or(key), value)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
