//! Renames AKSNodeClass fields that differ from a known field only in case, since their meaning is certain.
//!
//! All other unknown fields stay as written, so that validation reports them: their meaning is unknown.

use serde_json::Value;

use super::remark::Job;
use super::syntax::Node;
use crate::api::Kind;

/// Renames fields of a class, at any depth. Returns whether anything changed.
pub(super) fn class(root: &mut Node, job: &mut Job<'_>) -> bool {
    let Ok(schema) = serde_json::from_str::<Value>(Kind::AksNodeClass.facts().schema) else { return false };
    let Some(spec) = schema.pointer("/properties/spec") else { return false };
    root.edit_at("spec", |node| fields(node, spec, &mut vec!["spec".to_owned()], job))
}

fn fields(node: &mut Node, schema: &Value, path: &mut Vec<String>, job: &mut Job<'_>) -> bool {
    if let Some(items) = schema.get("items") {
        return node.edit_parts(|place, _, item| {
            path.push(format!("[{place}]"));
            let is_changed = fields(item, items, path, job);
            path.pop();
            is_changed
        });
    }
    let Some(known) = schema.get("properties").and_then(Value::as_object) else { return false };
    let mut renamed = Vec::new();
    for entry in node.entries() {
        let is_meant = |name: &&String| name.eq_ignore_ascii_case(&entry.key) && node.get(name).is_none();
        if !known.contains_key(&*entry.key)
            && let Some(name) = known.keys().find(is_meant)
        {
            path.push(entry.key.to_string());
            let at: Vec<&str> = path.iter().map(String::as_str).collect();
            job.moved((entry.line, &at), &format!("`{name}`"));
            path.pop();
            renamed.push((entry.key.to_string(), name.clone()));
        }
    }
    let mut is_changed = !renamed.is_empty();
    for (old, new) in &renamed {
        if let Some(entry) = node.entry_mut(old) {
            *entry = entry.clone().renamed(new);
        }
    }
    is_changed |= node.edit_parts(|_, key, value| {
        let Some(schema) = known.get(key) else { return false };
        path.push(key.to_owned());
        let is_changed = fields(value, schema, path, job);
        path.pop();
        is_changed
    });
    is_changed
}
