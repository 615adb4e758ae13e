//! Tags of any resource, through ARM's resource `tags/default` below it.

use serde_json::{Map, Value, json};

use super::{ArmError, Azure, Call, nic, route, vm};
use crate::sim::http::Answer;
use crate::sim::json::text_or_empty;

/// Path suffix that addresses the tags of the resource before it.
const END: [&str; 4] = ["providers", "microsoft.resources", "tags", "default"];

/// Returns the path of the tagged resource, if this path addresses its tags.
pub(crate) fn tagged<'a>(rest: &'a [&'a str]) -> Option<&'a [&'a str]> {
    rest.strip_suffix(&END)
}

/// Answers a request about the tags of a VM, an extension, a NIC or a disk.
pub(crate) fn answer(azure: &mut Azure, call: &Call<'_>, resource: &[&str]) -> Result<Answer, ArmError> {
    let before = slot(azure, resource).map(|tags| tags.clone()).ok_or_else(|| {
        let (kind, name) = (call.segment(6), call.segment(7));
        ArmError::not_found(&format!("{}/{kind}", call.segment(5)), name, call.segment(3))
    })?;
    let before = before.as_object().cloned().unwrap_or_default();
    let after = match call.method {
        "GET" => before,
        "DELETE" => Map::new(),
        "PUT" => given(&call.body()?)?,
        "PATCH" => {
            let body = call.body()?;
            patched(before, text_or_empty(&body, "/operation"), given(&body)?)?
        }
        method => return Err(ArmError::method_not_allowed(method)),
    };
    if call.method != "GET" {
        route::tags_of(&json!({"tags": after}))?;
        if let Some(tags) = slot(azure, resource) {
            *tags = Value::Object(after.clone());
        }
        match resource {
            ["virtualmachines", name] => {
                azure.machines.get_mut(*name).into_iter().for_each(vm::Machine::wrote);
            }
            ["networkinterfaces", name] => azure.nics.get_mut(*name).into_iter().for_each(nic::Nic::wrote),
            _ => {}
        }
    }
    let body = json!({
        "id": call.path(), "name": "default", "type": "Microsoft.Resources/tags", "properties": {"tags": after},
    });
    Ok(Answer::json(200, &body))
}

/// Returns the tags of a body.
fn given(body: &Value) -> Result<Map<String, Value>, ArmError> {
    let tags = body.pointer("/properties/tags").cloned().unwrap_or_else(|| json!({}));
    route::tags_of(&json!({"tags": tags}))?;
    Ok(tags.as_object().cloned().unwrap_or_default())
}

/// Applies a tag patch. Tag names are case-insensitive; a delete that gives a value requires the tag to have that
/// value.
fn patched(
    mut tags: Map<String, Value>,
    operation: &str,
    given: Map<String, Value>,
) -> Result<Map<String, Value>, ArmError> {
    let same = |tags: &Map<String, Value>, name: &str| {
        tags.keys().find(|known| known.eq_ignore_ascii_case(name)).cloned()
    };
    match operation {
        "Replace" => return Ok(given),
        "Merge" => {
            for (name, value) in given {
                let known = same(&tags, &name).unwrap_or(name);
                tags.insert(known, value);
            }
        }
        "Delete" => {
            for (name, value) in given {
                if let Some(known) = same(&tags, &name)
                    && (value == "" || tags.get(&known) == Some(&value))
                {
                    tags.remove(&known);
                }
            }
        }
        other => {
            let message = format!("The operation '{other}' is none of Replace, Merge and Delete.");
            return Err(ArmError::new(400, "InvalidTagsPatchOperation", message));
        }
    }
    Ok(tags)
}

/// Returns the stored tags of a resource, if it exists.
fn slot<'a>(azure: &'a mut Azure, resource: &[&str]) -> Option<&'a mut Value> {
    match resource {
        ["virtualmachines", name] => azure.machines.get_mut(*name).map(vm::Machine::tags_mut),
        ["virtualmachines", vm, "extensions", name] => {
            azure.machines.get_mut(*vm)?.extensions.get_mut(*name).map(vm::Extension::tags_mut)
        }
        ["networkinterfaces", name] => azure.nics.get_mut(*name).map(nic::Nic::tags_mut),
        ["disks", name] => azure.disks.get_mut(*name).map(|disk| &mut disk.tags),
        _ => None,
    }
}
