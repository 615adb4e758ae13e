//! The official description of a forge's API, as one form: OpenAPI 3 and Swagger 2.0 both become operations with schemas of
//! JSON Schema that refuse what is not described.

use std::path::Path;

use serde_json::{Map, Value, json};

/// What differs between the descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Habits {
    /// The file, from the folder of the specifications.
    pub(crate) file: &'static str,
    /// The path of the API on our fakes, where the description does not say.
    pub(crate) base: &'static str,
    /// Lists come as `{"count": 1, "value": []}`, though they are described as lists.
    pub(crate) wraps_lists: bool,
    /// What has no value may be null in answers, though that is not described.
    pub(crate) answers_null: bool,
    /// Objects that hold anything, though they are described otherwise.
    pub(crate) free: &'static [&'static str],
}

/// A description.
#[derive(Clone, Debug)]
pub(crate) struct Specification {
    pub(crate) habits: Habits,
    document: Value,
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The schema of the body.
    pub(crate) body: Option<Value>,
    /// The schema of each answer by its status; of some nothing is described.
    pub(crate) answers: Vec<(u16, Option<Value>)>,
}

/// A parameter of the path or of the query.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) is_query: bool,
    pub(crate) is_required: bool,
    pub(crate) schema: Value,
}

/// Who writes what is judged: clients may send no null and nothing unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Forge,
}

impl Specification {
    /// Reads a description; without it, says loudly what is left out. `NODEFORM_REQUIRE_SHARED` insists on it.
    pub(crate) fn read(habits: Habits) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = root.join("../shared/forge-specs").join(habits.file);
        let Ok(text) = std::fs::read_to_string(&path) else {
            assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "{} is required", path.display());
            eprintln!("LEFT OUT: requests to a forge are not judged, {} is absent", path.display());
            return None;
        };
        Some(Self::of(habits, &text))
    }

    /// Reads a description that lies in the tests.
    pub(crate) fn of(habits: Habits, text: &str) -> Self {
        Self { habits, document: serde_json::from_str(text).expect("a description is JSON") }
    }

    /// Adds operations that the description leaves out.
    pub(crate) fn with(mut self, text: &str) -> Self {
        let more: Value = serde_json::from_str(text).expect("a description is JSON");
        for part in ["paths", "definitions"] {
            merge(&mut self.document[part], more[part].clone());
        }
        self
    }

    /// The path of the API.
    fn base(&self) -> &str {
        let described = self.document["basePath"].as_str().unwrap_or(self.habits.base);
        described.trim_end_matches('/')
    }

    /// Finds what a reference means.
    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => {
                let found = self.document.pointer(reference.trim_start_matches('#'));
                self.resolved(found.unwrap_or_else(|| panic!("{reference} is not described")))
            }
            None => value,
        }
    }

    /// Finds the operation of a method and a path.
    pub(crate) fn operation(&self, method: &str, path: &str) -> Result<Operation, String> {
        let undescribed = || format!("{method} {path} is not described");
        let rest = path.strip_prefix(self.base()).ok_or_else(undescribed)?;
        let paths = self.document["paths"].as_object().expect("paths");
        let mut matching: Vec<&String> = paths.keys().filter(|template| is_of(template, rest)).collect();
        // `/pulls/comments` is not `/pulls/{number}`: fewer parameters first.
        matching.sort_by_key(|template| template.matches('{').count());
        let name = method.to_lowercase();
        let known = matching.into_iter().find(|template| paths[*template][&name].is_object());
        let template = known.ok_or_else(undescribed)?;
        let found = &paths[template][&name];
        Ok(self.read_operation(method, template, found))
    }

    fn read_operation(&self, method: &str, template: &str, found: &Value) -> Operation {
        let described = found["parameters"].as_array().into_iter().flatten().map(|one| self.resolved(one));
        let described: Vec<&Value> = described.collect();
        let mut body = self.resolved(&found["requestBody"])["content"]["application/json"]["schema"].clone();
        if let Some(parameter) = described.iter().find(|parameter| parameter["in"] == "body") {
            body = parameter["schema"].clone();
        }
        let parameters = described.iter().filter(|parameter| parameter["in"] != "body").map(|parameter| {
            let schema = if parameter["schema"].is_object() { &parameter["schema"] } else { *parameter };
            Parameter {
                name: parameter["name"].as_str().expect("a name").to_owned(),
                is_query: parameter["in"] == "query",
                is_required: parameter["required"] == true,
                schema: schema.clone(),
            }
        });
        let answers = found["responses"].as_object().expect("answers").iter().map(|(status, answer)| {
            let answer = self.resolved(answer);
            let content = &answer["content"]["application/json"]["schema"];
            let schema = if content.is_object() { content } else { &answer["schema"] };
            (status.parse().expect("a status"), schema.is_object().then(|| schema.clone()))
        });
        Operation {
            method: method.to_owned(),
            path: template.to_owned(),
            parameters: parameters.collect(),
            body: body.is_object().then_some(body),
            answers: answers.collect(),
        }
    }

    /// Returns what of a value is not as described.
    pub(crate) fn faults(&self, schema: &Value, value: &Value, side: Side) -> Vec<String> {
        let mut whole = self.strict(schema, side);
        let names = ["/definitions", "/components/schemas"];
        let all = names.iter().find_map(|place| self.document.pointer(place)).and_then(Value::as_object);
        let all = all.into_iter().flatten().map(|(name, schema)| {
            let is_free = self.habits.free.contains(&name.as_str());
            (name.clone(), if is_free { json!({}) } else { self.strict(schema, side) })
        });
        whole["$defs"] = Value::Object(all.collect::<Map<String, Value>>());
        let validator = jsonschema::validator_for(&whole).expect("a schema");
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    /// A schema that refuses fields that it does not name.
    fn strict(&self, schema: &Value, side: Side) -> Value {
        let Some(fields) = schema.as_object() else { return schema.clone() };
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().expect("a name");
            return json!({"$ref": format!("#/$defs/{name}")});
        }
        let mut strict = Map::new();
        let (properties, required) = self.properties(schema);
        if !properties.is_empty() {
            let may_be_null = side == Side::Forge && self.habits.answers_null;
            let property = |(name, schema): (String, Value)| {
                let schema = self.strict(&schema, side);
                (name, if may_be_null { or_null(schema) } else { schema })
            };
            let properties: Map<String, Value> = properties.into_iter().map(property).collect();
            strict.insert("properties".to_owned(), properties.into());
            strict.insert("additionalProperties".to_owned(), false.into());
            strict.insert("required".to_owned(), required.into());
        }
        for key in ["type", "enum", "minimum", "maximum", "maxLength"] {
            strict.extend(fields.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        strict.extend(fields.get("items").map(|items| ("items".to_owned(), self.strict(items, side))));
        for key in ["oneOf", "anyOf"] {
            let parts = fields.get(key).and_then(Value::as_array);
            let parts =
                parts.map(|parts| parts.iter().map(|part| self.strict(part, side)).collect::<Vec<_>>());
            // Two descriptions of the same object may both fit.
            strict.extend(parts.map(|parts| ("anyOf".to_owned(), parts.into())));
        }
        let strict = Value::Object(strict);
        if fields.get("nullable") == Some(&Value::Bool(true)) { or_null(strict) } else { strict }
    }

    /// The fields of an object and which of them must be there, with those of what it extends.
    fn properties(&self, schema: &Value) -> (Map<String, Value>, Vec<Value>) {
        let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let mut required = schema["required"].as_array().cloned().unwrap_or_default();
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let (more, also) = self.properties(self.resolved(part));
            properties.extend(more);
            required.extend(also);
        }
        (properties, required)
    }

    /// An object of a schema with all that it must have, made up, and these fields.
    pub(crate) fn sample(&self, name: &str, fields: Value) -> Value {
        let places = [format!("/definitions/{name}"), format!("/components/schemas/{name}")];
        let schema = places.iter().find_map(|place| self.document.pointer(place));
        let mut schema = schema.unwrap_or_else(|| panic!("{name} is not described")).clone();
        schema["nullable"] = false.into();
        let mut sample = self.made_up(&schema);
        merge(&mut sample, fields);
        sample
    }

    fn made_up(&self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        if schema["nullable"] == true {
            return Value::Null;
        }
        if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
            return first.clone();
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(first) = schema[key].as_array().and_then(|parts| parts.first()) {
                return self.made_up(first);
            }
        }
        let (properties, required) = self.properties(schema);
        match schema["type"].as_str() {
            Some("string") => "made-up".into(),
            Some("integer" | "number") => 1.into(),
            Some("boolean") => false.into(),
            Some("array") => json!([]),
            _ => {
                let field = |name: &Value| {
                    let name = name.as_str().expect("a name");
                    (name.to_owned(), self.made_up(&properties[name]))
                };
                Value::Object(required.iter().map(field).collect())
            }
        }
    }
}

fn or_null(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

/// Whether a path is one of a template's.
fn is_of(template: &str, path: &str) -> bool {
    let (parts, names): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    let is_same = |(part, name): (&&str, &&str)| (part.starts_with('{') && !name.is_empty()) || part == name;
    parts.len() == names.len() && parts.iter().zip(&names).all(is_same)
}

/// Puts the fields of one object over those of another.
pub(crate) fn merge(whole: &mut Value, fields: Value) {
    match (whole, fields) {
        (Value::Object(whole), Value::Object(fields)) => {
            for (name, value) in fields {
                merge(whole.entry(name).or_insert(Value::Null), value);
            }
        }
        (whole, fields) => *whole = fields,
    }
}
