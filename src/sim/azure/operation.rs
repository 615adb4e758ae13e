//! Long-running operations: their effects when they end, and how they are polled.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{ArmError, Azure, Call, Stage};
use crate::sim::agenda::{Event, azure_time};
use crate::sim::faults::Ending;
use crate::sim::http::Answer;

/// Effect of an operation when it ends. Names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    MakeVm(String),
    DeleteVm(String),
    MakeExtension { vm: String, extension: String },
    DeleteExtension { vm: String, extension: String },
    MakeNic(String),
    DeleteNic(String),
    DeleteDisk(String),
}

impl Task {
    fn provider(&self) -> &'static str {
        match self {
            Self::MakeVm(_)
            | Self::DeleteVm(_)
            | Self::MakeExtension { .. }
            | Self::DeleteExtension { .. }
            | Self::DeleteDisk(_) => "Microsoft.Compute",
            Self::MakeNic(_) | Self::DeleteNic(_) => "Microsoft.Network",
        }
    }

    const fn is_delete(&self) -> bool {
        matches!(
            self,
            Self::DeleteVm(_) | Self::DeleteExtension { .. } | Self::DeleteNic(_) | Self::DeleteDisk(_)
        )
    }
}

/// An operation.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) task: Task,
    pub(crate) started: Timestamp,
    pub(crate) ended: Option<Timestamp>,
    /// The error with which it failed.
    pub(crate) error: Option<ArmError>,
    /// Whether another operation superseded it.
    pub(crate) is_canceled: bool,
    /// How it will end, given the faults that were active when it started.
    pub(crate) ending: Ending,
    api_version: String,
}

impl Operation {
    fn status(&self) -> &'static str {
        match (&self.ended, &self.error, self.is_canceled) {
            (_, _, true) => "Canceled",
            (None, _, _) => "InProgress",
            (Some(_), Some(_), _) => "Failed",
            (Some(_), None, _) => "Succeeded",
        }
    }
}

/// Starts an operation that ends after a wait.
pub(crate) fn begin(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    task: Task,
    (wait, ending): (jiff::SignedDuration, Ending),
) -> String {
    let id = stage.draw.guid(&format!("operation {} {:?}", azure.operations.len(), task));
    if ending != Ending::Never {
        stage.agenda.after(stage.now, wait, Event::OperationEnds(id.clone()));
    }
    let operation = Operation {
        id: id.clone(),
        task,
        started: stage.now,
        ended: None,
        error: None,
        is_canceled: false,
        ending,
        api_version: call.api_version.clone(),
    };
    azure.operations.insert(id.clone(), operation);
    id
}

/// Returns the URL of an operation's status; with `monitor`, the URL that ends with the resource's own answer.
pub(crate) fn address(azure: &Azure, call: &Call<'_>, id: &str, monitor: bool) -> String {
    let Some(operation) = azure.operations.get(id) else { return String::new() };
    let provider = operation.task.provider();
    let (kind, query) = match (provider, monitor) {
        ("Microsoft.Network", true) => ("operationResults", ""),
        (_, true) => ("operations", "&monitor=true"),
        (_, false) => ("operations", ""),
    };
    call.absolute(&format!(
        "/subscriptions/{}/providers/{provider}/locations/{}/{kind}/{id}?api-version={}{query}",
        azure.settings.subscription, azure.settings.location, operation.api_version
    ))
}

/// Returns the answer with the headers for polling an operation.
pub(crate) fn announced(azure: &Azure, call: &Call<'_>, id: &str, answer: Answer) -> Answer {
    let is_delete = azure.operations.get(id).is_some_and(|operation| operation.task.is_delete());
    let mut answer =
        answer.with("Azure-AsyncOperation", address(azure, call, id, false)).with("Retry-After", "10");
    if is_delete {
        answer = answer.with("Location", address(azure, call, id, true));
    }
    answer
}

/// Answers a poll of either URL.
pub(crate) fn poll(azure: &Azure, call: &Call<'_>, id: &str) -> Result<Answer, ArmError> {
    let operation = azure.operations.get(id).ok_or_else(|| {
        ArmError::new(404, "NotFound", format!("The entity '{id}' was not found in this location."))
    })?;
    let is_monitor = call.request.query("monitor").is_some() || call.lower().contains(&"operationresults");
    if !is_monitor {
        let answer = Answer::json(200, &shown(azure, operation));
        return Ok(if operation.ended.is_none() { answer.with("Retry-After", "10") } else { answer });
    }
    Ok(match (operation.ended, &operation.error) {
        (None, _) if !operation.is_canceled => {
            Answer::empty(202).with("Location", address(azure, call, id, true)).with("Retry-After", "10")
        }
        (_, Some(error)) => ArmError { status: 409, ..error.clone() }.answer(),
        (_, None) if operation.task.is_delete() => Answer::empty(204),
        (_, None) => Answer::empty(200),
    })
}

fn shown(azure: &Azure, operation: &Operation) -> Value {
    let mut body = json!({
        "id": format!(
            "/subscriptions/{}/providers/{}/locations/{}/operations/{}",
            azure.settings.subscription, operation.task.provider(), azure.settings.location, operation.id
        ),
        "name": operation.id, "status": operation.status(), "startTime": azure_time(operation.started),
    });
    if let Some(ended) = operation.ended {
        body["endTime"] = json!(azure_time(ended));
    }
    if operation.is_canceled {
        body["error"] = json!({"code": "OperationPreempted", "message": "Operation execution has been preempted by a more recent operation."});
    } else if let Some(error) = &operation.error {
        body["error"] = error.object();
    }
    body
}

/// Ends an operation and applies its effect.
pub(crate) fn end(azure: &mut Azure, stage: &mut Stage<'_>, id: &str) {
    let Some(operation) = azure.operations.get(id) else { return };
    if operation.ended.is_some() || operation.is_canceled {
        return;
    }
    let (task, ending) = (operation.task.clone(), operation.ending.clone());
    let error = match task {
        Task::MakeVm(name) => super::vm::made(azure, stage, &name, &ending),
        Task::DeleteVm(name) => super::vm::deleted(azure, stage, &name),
        Task::MakeExtension { vm, extension } => super::vm::extension_made(azure, &vm, &extension),
        Task::DeleteExtension { vm, extension } => super::vm::extension_deleted(azure, &vm, &extension),
        Task::MakeNic(name) => super::nic::made(azure, &name),
        Task::DeleteNic(name) => {
            azure.nics.remove(&name);
            None
        }
        Task::DeleteDisk(name) => {
            azure.disks.remove(&name);
            None
        }
    };
    if let Some(operation) = azure.operations.get_mut(id) {
        operation.ended = Some(stage.now);
        operation.error = error;
    }
}

/// Cancels the running operations of a resource that a newer one supersedes.
pub(crate) fn preempt(azure: &mut Azure, now: Timestamp, holds: impl Fn(&Task) -> bool) {
    for operation in azure.operations.values_mut() {
        if operation.ended.is_none() && holds(&operation.task) {
            operation.ended = Some(now);
            operation.is_canceled = true;
        }
    }
}
