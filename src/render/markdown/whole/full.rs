//! Every field of what a node is made of, whatever fields there are: what is sent and compared stands on the page.
//!
//! Must never leave a field out because it is not known here.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::model::Resources;
use crate::plan::execution::{Execution, LaunchChoice, MachineId};
use crate::plan::{ChangeId, ClaimSpec, ClaimSpecId, Create};
use crate::render::escape::code_whole;

/// The fields of a claim that the line of its group and those of its choices say.
const SAID_OF_CLAIM: [&str; 4] = ["pool", "primary", "priceMax", "class"];

/// Returns what a claim asks for and what its VMs are made of, an item each.
pub(super) fn claim(claim: &ClaimSpec, id: &ClaimSpecId, execution: Option<&Execution>) -> Vec<String> {
    let mut items =
        vec![format!("class {}, first {}", code_whole(claim.class.as_str()), inline_code(&claim.primary))];
    items.extend(fields(claim, &SAID_OF_CLAIM));
    let Some(execution) = execution else { return items };
    if let Some(launch) = execution.launches.get(id) {
        items.push(format!("capacity {}", amounts(&launch.capacity)));
        items.extend(fields(launch, &["choices", "capacity"]));
    }
    let mut sizes: BTreeMap<&MachineId, Vec<String>> = BTreeMap::new();
    for LaunchChoice { choice, machine, price_max: _ } in execution.choices(id) {
        let size = code_whole(choice.size.as_str());
        let sizes = sizes.entry(machine).or_default();
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    for (machine, sizes) in sizes {
        let made = execution.machines.get(machine);
        let made = made.map_or("not known".to_owned(), |machine| fields(machine, &[]).join("; "));
        items.push(format!("VM of {}: {made}", sizes.join(", ")));
    }
    items
}

/// Returns what one node of a claim has of its own: its name, what its pods ask for, and which these are.
pub(super) fn node(id: &ChangeId, create: &Create, execution: Option<&Execution>) -> String {
    let mut said = vec![code_whole(&create.vm), "requests".to_owned()];
    said.push(amounts(&create.requests));
    let (mut nominated, mut made_for) = (Vec::new(), Vec::new());
    if let Some(execution) = execution {
        let pods = execution.nominations.get(id).into_iter().flatten();
        nominated = pods.map(|pod| code_whole(&pod.to_string())).collect();
        let purposes = execution.made_for.get(id).into_iter().flatten();
        made_for = purposes.map(|purpose| code_whole(purpose.as_str())).collect();
    }
    if !nominated.is_empty() {
        said.push(format!("for waiting {}", nominated.join(", ")));
    }
    if !made_for.is_empty() {
        said.push(format!("(templates {})", made_for.join(", ")));
    }
    said.join(" ")
}

/// Amounts as Kubernetes writes them, with nothing rounded.
fn amounts(resources: &Resources) -> String {
    let amounts =
        resources.iter().map(|(name, amount)| code_whole(&format!("{name}={}", name.exact(amount))));
    amounts.collect::<Vec<_>>().join(", ")
}

/// Returns the fields of a value, an item each; those that say nothing are left out.
fn fields(value: &impl Serialize, said: &[&str]) -> Vec<String> {
    let written = written(value);
    let fields = written.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, value)| !said.contains(&name.as_str()) && !is_nothing(value));
    fields.map(|(name, value)| format!("{name} {}", entries(value))).collect()
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// What is in a field, each entry by itself.
fn entries(value: &Value) -> String {
    let entries: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| code_whole(&inline(item))).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| code_whole(&format!("{key}={}", inline(value)))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            vec![code_whole(&inline(value))]
        }
    };
    entries.join(", ")
}

fn inline_code(value: &impl Serialize) -> String {
    entries(&written(value))
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key}={}", inline(value)));
            fields.collect::<Vec<_>>().join(" ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
