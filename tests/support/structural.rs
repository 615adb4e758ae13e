//! Judges an object by the schema of a CustomResourceDefinition, sharing nothing with `policy`: defaults, the schema by
//! the crate `jsonschema`, list types, and the CEL rules by the crate `cel`.

use std::sync::Arc;

use cel::extensions::strings;
use cel::extractors::This;
use cel::objects::{Key, Map};
use cel::{Context, Env, ExecutionError};
use serde_json::{Value, json};

/// The schema of a definition, ready to judge.
pub(crate) struct Judge {
    schema: Value,
    validator: jsonschema::Validator,
    env: Arc<Env>,
}

impl Judge {
    /// A judge by this schema of a CustomResourceDefinition.
    pub(crate) fn new(schema: Value) -> Self {
        let validator = jsonschema::options().should_validate_formats(true).build(&strict(&schema));
        let mut env = Env::stdlib();
        env.add_extension(strings).expect("no name is there twice");
        Self { validator: validator.expect("the schema is a schema"), schema, env: Arc::new(env) }
    }

    /// Why an API server with this schema refuses the object; nothing when it accepts it. With an old object, the rules
    /// about changes hold as well.
    pub(crate) fn refusals(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let stored = |value: &Value| {
            let mut value = value.clone();
            fill(&self.schema, &mut value);
            value
        };
        let object = stored(object);
        let old = old.map(stored);
        let mut refusals: Vec<String> = self
            .validator
            .iter_errors(&object)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        repeated(&self.schema, &object, "", &mut refusals);
        // As an API server, which runs no rules on what has the wrong shape.
        if refusals.is_empty() {
            let changed = Changed { value: &object, old: old.as_ref() };
            rules(&self.env, &self.schema, &changed, "", &mut refusals);
        }
        refusals
    }
}

/// A part of an object, and what stood there before.
struct Changed<'a> {
    value: &'a Value,
    old: Option<&'a Value>,
}

/// Drops `null` fields and fills in defaults.
fn fill(schema: &Value, value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if !field["default"].is_null() && !fields.contains_key(name) {
                fields.insert(name.clone(), field["default"].clone());
            }
        }
        for (name, value) in fields {
            let field = &schema["properties"][name.as_str()];
            fill(if field.is_null() { &schema["additionalProperties"] } else { field }, value);
        }
    } else if let Some(items) = value.as_array_mut() {
        items.iter_mut().for_each(|item| fill(&schema["items"], item));
    }
}

/// The schema as JSON Schema: unknown fields are refused, sets have no equals. As in an API server, `int32` bounds nothing.
fn strict(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else {
        return schema.clone();
    };
    let mut kept: serde_json::Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| !["default", "description"].contains(&name.as_str()) && !name.starts_with("x-"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
        let properties: Value =
            properties.iter().map(|(name, field)| (name.clone(), strict(field))).collect();
        kept.insert("properties".to_owned(), properties);
        kept.insert("additionalProperties".to_owned(), json!(false));
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get(keyword) {
            kept.insert(keyword.to_owned(), strict(inner));
        }
    }
    if fields.get("x-kubernetes-list-type") == Some(&json!("set")) {
        kept.insert("uniqueItems".to_owned(), json!(true));
    }
    Value::Object(kept)
}

/// Finds items of list-maps that have the keys of an earlier one.
fn repeated(schema: &Value, value: &Value, path: &str, refusals: &mut Vec<String>) {
    if let Some(keys) = schema["x-kubernetes-list-map-keys"].as_array() {
        let mut seen = Vec::new();
        for item in value.as_array().into_iter().flatten() {
            let identity: Vec<&Value> =
                keys.iter().map(|key| &item[key.as_str().expect("a key is text")]).collect();
            if seen.contains(&identity) {
                refusals.push(format!("{path}: {identity:?} is there twice"));
            }
            seen.push(identity);
        }
    }
    each_below(schema, value, path, |schema, value, path| repeated(schema, value, path, refusals));
}

fn each_below<'v>(
    schema: &Value,
    value: &'v Value,
    path: &str,
    mut visit: impl FnMut(&Value, &'v Value, &str),
) {
    for (name, field) in value.as_object().into_iter().flatten() {
        let below = &schema["properties"][name.as_str()];
        let below = if below.is_null() { &schema["additionalProperties"] } else { below };
        visit(below, field, &format!("{path}/{name}"));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        visit(&schema["items"], item, &format!("{path}/{index}"));
    }
}

/// Runs the rules of a schema and of everything below it.
fn rules(env: &Arc<Env>, schema: &Value, part: &Changed<'_>, path: &str, refusals: &mut Vec<String>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let text = rule["rule"].as_str().expect("a rule is text");
        if text.contains("oldSelf") && part.old.is_none() {
            continue;
        }
        match holds(env, text, part) {
            Ok(true) => {}
            Ok(false) => refusals.push(format!("{path}: {}", rule["message"])),
            Err(why) => refusals.push(format!("{path}: {} broke off: {why}", rule["message"])),
        }
    }
    each_below(schema, part.value, path, |schema, value, below| {
        // An API server correlates fields with their old values, not the items of atomic lists.
        let old = part.old.and_then(|old| old.get(below.rsplit('/').next()?));
        rules(env, schema, &Changed { value, old }, below, refusals);
    });
}

/// Whether a rule holds; `Err` when it breaks off in the way in which an API server's would.
///
/// # Panics
/// When the rule cannot be evaluated here at all: then nothing is known.
fn holds(env: &Arc<Env>, rule: &str, part: &Changed<'_>) -> Result<bool, String> {
    let program = env.compile(rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
    let mut context = Context::with_env(env.clone());
    context.add_function("find", find).expect("the name is free");
    context.add_variable_from_value("self", cel_value(part.value));
    if let Some(old) = part.old {
        context.add_variable_from_value("oldSelf", cel_value(old));
    }
    match program.execute(&context) {
        Ok(cel::Value::Bool(holds)) => Ok(holds),
        Ok(other) => panic!("{rule}: gives {other:?}"),
        Err(error @ (ExecutionError::NoSuchKey(_) | ExecutionError::IndexOutOfBounds(_))) => {
            Err(error.to_string())
        }
        Err(error @ ExecutionError::FunctionError { .. }) => Err(error.to_string()),
        Err(error) => panic!("{rule}: {error}"),
    }
}

/// Kubernetes' `find`: the first match of a regular expression, or nothing.
fn find(This(text): This<Arc<String>>, pattern: Arc<String>) -> String {
    let pattern = regex_lite::Regex::new(&pattern).expect("the pattern is one");
    pattern.find(&text).map(|found| found.as_str().to_owned()).unwrap_or_default()
}

fn cel_value(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(number) => cel::Value::Int(number.as_i64().expect("numbers here are whole")),
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => cel::Value::List(Arc::new(items.iter().map(cel_value).collect())),
        Value::Object(fields) => {
            let entries = fields.iter().map(|(name, value)| (Key::from(name.clone()), cel_value(value)));
            cel::Value::Map(Map { map: Arc::new(entries.collect()) })
        }
    }
}
