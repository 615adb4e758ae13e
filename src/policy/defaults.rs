//! Fills in the defaults of a schema, as an API server does before it stores an object. Must never change a value that
//! the user set: only absent fields, or `null` fields with a default, get a value.

use serde_json::Value;

/// Returns the value with the schema's defaults and without `null` fields.
#[must_use]
pub fn with_defaults(schema: &Value, value: &Value) -> Value {
    let mut filled = value.clone();
    fill(schema, &mut filled);
    filled
}

fn fill(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            let known = schema.get("properties").and_then(Value::as_object);
            for (name, field) in known.into_iter().flatten() {
                if let Some(default) = field.get("default").filter(|_| !fields.contains_key(name)) {
                    fields.insert(name.clone(), default.clone());
                }
            }
            let others = schema.get("additionalProperties");
            for (name, field) in fields {
                if let Some(schema) = known.and_then(|known| known.get(name)).or(others) {
                    fill(schema, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| fill(schema, item));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
