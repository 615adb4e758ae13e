//! Converts the output of schemars to a structural schema, as CustomResourceDefinitions require.
//!
//! Must never add a rule: validation is declared at the types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The structural schema of a type: no references, no `null`, keys in order.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let generator =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    structural(generator.into_root_schema_for::<T>().to_value())
}

fn structural(schema: Value) -> Value {
    let Value::Object(fields) = schema else {
        return schema;
    };
    let mut fields = without_null(fields);
    if let Some(words) = fields.remove("oneOf") {
        choose_among(&mut fields, &words);
    }
    for noise in ["$schema", "title"] {
        fields.remove(noise);
    }
    fields.retain(|_, value| !value.is_null());
    let mut ordered = Map::new();
    let mut names: Vec<String> = fields.keys().cloned().collect();
    names.sort();
    for name in names {
        let value = fields.remove(&name).expect("the name is one of its keys");
        ordered.insert(name.clone(), keyword(&name, value));
    }
    Value::Object(ordered)
}

fn keyword(name: &str, value: Value) -> Value {
    match (name, value) {
        ("properties", Value::Object(properties)) => {
            let mut names: Vec<(String, Value)> = properties.into_iter().collect();
            names.sort_by(|left, right| left.0.cmp(&right.0));
            names.into_iter().map(|(name, schema)| (name, structural(schema))).collect()
        }
        ("items" | "additionalProperties", schema) => structural(schema),
        ("required", Value::Array(mut names)) => {
            names.sort_by(|left, right| left.as_str().cmp(&right.as_str()));
            Value::Array(names)
        }
        ("description", Value::String(text)) => Value::String(reflowed(&text)),
        (_, value) => value,
    }
}

/// An optional field is a field that may be missing; the API server does not keep `null`.
fn without_null(mut fields: Map<String, Value>) -> Map<String, Value> {
    let not_null = |word: &Value| word != &json!("null") && !word.is_null();
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(not_null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(not_null);
    }
    let Some(Value::Array(mut choices)) = fields.remove("anyOf") else {
        return fields;
    };
    let before = choices.len();
    choices.retain(|choice| choice != &json!({"type": "null"}));
    match choices.as_slice() {
        [Value::Object(only)] if before == 2 => {
            let mut merged = without_null(only.clone());
            merged.append(&mut fields);
            merged
        }
        _ => {
            fields.insert("anyOf".to_owned(), Value::Array(choices));
            fields
        }
    }
}

/// Words with a description each become one list of words, described in one text.
fn choose_among(fields: &mut Map<String, Value>, words: &Value) {
    let mut names = Vec::new();
    let mut lines = Vec::new();
    for word in words.as_array().into_iter().flatten() {
        let described = word.get("description").and_then(Value::as_str);
        for name in word
            .get("const")
            .into_iter()
            .chain(word.get("enum").and_then(Value::as_array).into_iter().flatten())
        {
            names.push(name.clone());
            if let (Some(name), Some(text)) = (name.as_str(), described) {
                lines.push(format!("`{name}`: {}", lowered(text)));
            }
        }
    }
    fields.insert("type".to_owned(), json!("string"));
    fields.insert("enum".to_owned(), Value::Array(names));
    let head = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = if lines.is_empty() { head.to_owned() } else { format!("{head}\n\n{}", lines.join("\n\n")) };
    fields.insert("description".to_owned(), Value::String(text));
}

fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    let rest = letters.as_str();
    // A word such as `Azure's` or `UTC` keeps its capital.
    let is_name = ["Azure", "AKS", "Cilium", "GitHub", "GitLab", "Gitea", "Ubuntu", "VM"];
    if is_name.iter().any(|name| text.starts_with(name)) { text.to_owned() } else { format!("{first}{rest}") }
}

/// Lines of one paragraph on one line.
fn reflowed(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}
