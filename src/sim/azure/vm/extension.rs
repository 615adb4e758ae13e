//! VM extensions.

use serde_json::{Value, json};

use super::{KIND, Machine, MachineState, find};
use crate::sim::azure::operation::{self, Task};
use crate::sim::azure::{ArmError, Azure, Call, Stage, route};
use crate::sim::faults::Ending;
use crate::sim::http::Answer;
use crate::sim::json::{member_mut, set, text_or_empty, unset};

/// A VM extension.
#[derive(Debug, Clone)]
pub(crate) struct Extension {
    pub(crate) name: String,
    /// The body as sent, without its protected settings.
    body: Value,
    pub(crate) is_ready: bool,
}

impl Extension {
    pub(crate) fn tags_mut(&mut self) -> &mut Value {
        member_mut(&mut self.body, "tags")
    }
}

pub(crate) fn answer(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    (vm, rest): (&str, &[&str]),
) -> Result<Answer, ArmError> {
    let machine = find(azure, call, vm)?;
    match (call.method, rest) {
        ("GET", []) => {
            let all: Vec<Value> =
                machine.extensions.values().map(|found| shown(azure, machine, found)).collect();
            Ok(Answer::json(200, &json!({"value": all})))
        }
        ("GET", [name]) => machine
            .extensions
            .get(*name)
            .map(|found| Answer::json(200, &shown(azure, machine, found)))
            .ok_or_else(|| not_found(call)),
        ("PUT", [name]) => put(azure, call, stage, (vm, name)),
        ("PATCH", [name]) => patch(azure, call, (vm, name)),
        ("DELETE", [name]) => {
            if !machine.extensions.contains_key(*name) {
                return Ok(Answer::empty(204));
            }
            let task = Task::DeleteExtension { vm: vm.to_owned(), extension: (*name).to_owned() };
            let wait =
                stage.draw.within(&format!("extension {vm} {name}"), azure.settings.durations.extension);
            let id = operation::begin(azure, call, stage, task, (wait, Ending::AsAsked));
            Ok(operation::announced(azure, call, &id, Answer::empty(202)))
        }
        (method, [] | [_]) => Err(ArmError::method_not_allowed(method)),
        _ => Err(route::unknown(call)),
    }
}

fn not_found(call: &Call<'_>) -> ArmError {
    let message =
        format!("The entity '{}' was not found in virtual machine '{}'.", call.segment(9), call.segment(7));
    ArmError::new(404, "ResourceNotFound", message)
}

fn put(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    (vm, name): (&str, &str),
) -> Result<Answer, ArmError> {
    let mut body = call.body()?;
    route::tags_of(&body)?;
    let machine = find(azure, call, vm)?;
    if machine.state != MachineState::Succeeded {
        let message = format!(
            "Cannot modify extensions in the VM when the VM is not running: '{}' is {}.",
            machine.name,
            machine.state.text()
        );
        return Err(ArmError::new(409, "OperationNotAllowed", message));
    }
    for field in ["publisher", "type", "typeHandlerVersion"] {
        if text_or_empty(&body, &format!("/properties/{field}")).is_empty() {
            return Err(ArmError::invalid(field, format!("Required parameter '{field}' is missing (null).")));
        }
    }
    unset(&mut body, &["properties", "protectedSettings"]);
    let is_new = !machine.extensions.contains_key(name);
    let made = Extension { name: call.segment(9).to_owned(), body, is_ready: false };
    if let Some(machine) = azure.machines.get_mut(vm) {
        machine.extensions.insert(name.to_owned(), made);
    }
    let task = Task::MakeExtension { vm: vm.to_owned(), extension: name.to_owned() };
    let wait = stage
        .draw
        .within(&format!("extension {vm} {name} {}", stage.now), azure.settings.durations.extension);
    let id = operation::begin(azure, call, stage, task, (wait, Ending::AsAsked));
    let machine = find(azure, call, vm)?;
    let body = machine.extensions.get(name).map(|found| shown(azure, machine, found)).unwrap_or_default();
    let status = if is_new { 201 } else { 200 };
    Ok(operation::announced(azure, call, &id, Answer::json(status, &body)))
}

/// Patches an extension; only its tags can change in place.
fn patch(azure: &mut Azure, call: &Call<'_>, (vm, name): (&str, &str)) -> Result<Answer, ArmError> {
    let body = call.body()?;
    route::tags_of(&body)?;
    let Some(extension) = azure.machines.get_mut(vm).and_then(|machine| machine.extensions.get_mut(name))
    else {
        return Err(not_found(call));
    };
    if let Some(tags) = body.get("tags") {
        set(&mut extension.body, &["tags"], tags.clone());
    }
    let machine = find(azure, call, vm)?;
    Ok(Answer::json(
        200,
        &machine.extensions.get(name).map(|found| shown(azure, machine, found)).unwrap_or_default(),
    ))
}

pub(crate) fn made(azure: &mut Azure, vm: &str, name: &str) -> Option<ArmError> {
    if let Some(extension) = azure.machines.get_mut(vm).and_then(|machine| machine.extensions.get_mut(name)) {
        extension.is_ready = true;
    }
    None
}

pub(crate) fn deleted(azure: &mut Azure, vm: &str, name: &str) -> Option<ArmError> {
    if let Some(machine) = azure.machines.get_mut(vm) {
        machine.extensions.remove(name);
    }
    None
}

pub(crate) fn shown(azure: &Azure, machine: &Machine, extension: &Extension) -> Value {
    let mut body = extension.body.clone();
    let state = if extension.is_ready { "Succeeded" } else { "Creating" };
    for (path, value) in [
        (&["name"][..], json!(extension.name)),
        (&["id"], json!(format!("{}/extensions/{}", azure.id(KIND, &machine.name), extension.name))),
        (&["type"], json!(format!("{KIND}/extensions"))),
        (&["location"], json!(azure.settings.location)),
        (&["properties", "provisioningState"], json!(state)),
    ] {
        set(&mut body, path, value);
    }
    body
}
