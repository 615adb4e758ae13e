//! Judges what a client sends and what a fake answers by a forge's official description.

use serde_json::Value;

use super::specification::{Habits, Operation, Side, Specification};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// As it came, encoded.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) authorization: String,
    /// The version of GitHub's API.
    pub(crate) version: String,
    pub(crate) body: String,
}

impl Asked {
    /// The request in one line, with its body in the next.
    pub(crate) fn shown(&self) -> String {
        let query: Vec<String> = self.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let body = if self.body.is_empty() { String::new() } else { format!("\n  {}", self.body) };
        format!("{} {}{query}{body}", self.method, self.path)
    }
}

const GITEA: Habits =
    Habits { file: "gitea.json", base: "/api/v1", wraps_lists: false, answers_null: true, free: &[] };
/// As on a server of a company.
pub(crate) const GITHUB: Habits =
    Habits { file: "github.json", base: "/api/v3", wraps_lists: false, answers_null: false, free: &[] };
/// Its description lies beside this file.
const GITLAB: Habits =
    Habits { file: "gitlab.json", base: "/api/v4", wraps_lists: false, answers_null: false, free: &[] };
/// Properties come by name, each with its type, and not as the lists that are described.
pub(crate) const AZURE_DEVOPS: Habits = Habits {
    file: "azure-devops.json",
    base: "",
    wraps_lists: true,
    answers_null: true,
    free: &["PropertiesCollection"],
};

/// Gitea, with who may be assigned.
pub(crate) fn gitea() -> Option<Specification> {
    let described = Specification::read(GITEA)?;
    Some(described.with(include_str!("gitea-assignees.json")))
}

/// GitLab, as far as its documentation was written down here.
pub(crate) fn gitlab() -> Specification {
    Specification::of(GITLAB, include_str!("gitlab.json"))
}

/// Azure DevOps, with who is signed in.
pub(crate) fn azure_devops() -> Option<Specification> {
    let described = Specification::read(AZURE_DEVOPS)?;
    Some(described.with(include_str!("azure-devops-connection.json")))
}

/// Judges a request; returns what it asks for.
pub(crate) fn request(specification: &Specification, asked: &Asked) -> Result<Operation, String> {
    let operation = specification.operation(&asked.method, &asked.path)?;
    let about = format!("{} {}", operation.method, operation.path);
    for (name, value) in &asked.query {
        let known =
            operation.parameters.iter().find(|parameter| parameter.is_query && parameter.name == *name);
        let known = known.ok_or_else(|| format!("{about}: query `{name}` is not described"))?;
        let typed = match known.schema["type"].as_str() {
            Some("integer") => value.parse::<i64>().map(Value::from).ok(),
            Some("boolean") => value.parse::<bool>().map(Value::from).ok(),
            _ => Some(Value::from(value.clone())),
        };
        let typed = typed.ok_or_else(|| format!("{about}: query `{name}={value}` is of another type"))?;
        let mut schema = known.schema.clone();
        if let Some(fields) = schema.as_object_mut() {
            // Of a parameter, not of a schema.
            fields.remove("required");
        }
        none(&about, specification.faults(&schema, &typed, Side::Client))?;
    }
    for parameter in
        operation.parameters.iter().filter(|parameter| parameter.is_query && parameter.is_required)
    {
        if !asked.query.iter().any(|(name, _)| *name == parameter.name) {
            return Err(format!("{about}: query `{}` is missing", parameter.name));
        }
    }
    match (&operation.body, asked.body.is_empty()) {
        (Some(schema), false) => {
            let body: Value =
                serde_json::from_str(&asked.body).map_err(|error| format!("{about}: {error}"))?;
            none(&about, specification.faults(schema, &body, Side::Client))?;
        }
        (None, false) => return Err(format!("{about}: a body is not described")),
        (Some(_), true) => return Err(format!("{about}: the body is missing")),
        (None, true) => {}
    }
    Ok(operation)
}

/// Judges an answer of a fake.
pub(crate) fn answer(
    specification: &Specification,
    operation: &Operation,
    status: u16,
    body: &Value,
) -> Result<(), String> {
    let about = format!("answer {status} of {} {}", operation.method, operation.path);
    let described = operation.answers.iter().find(|(described, _)| *described == status);
    let Some((_, schema)) = described else { return Err(format!("{about} is not described")) };
    let Some(schema) = schema else { return Ok(()) };
    let is_list = schema["type"] == "array";
    let body = if specification.habits.wraps_lists && is_list { &body["value"] } else { body };
    none(&about, specification.faults(schema, body, Side::Forge))
}

fn none(about: &str, faults: Vec<String>) -> Result<(), String> {
    if faults.is_empty() { Ok(()) } else { Err(format!("{about}: {}", faults.join("; "))) }
}
