//! The state of a long-running operation.
//!
//! Must never interpret an unknown state as final: only three values are final.

use serde::Deserialize;
use serde_json::Value;

use super::reading::Answer;
use crate::arm::fault::ErrorBody;

/// State of an operation, from the operation resource or from `provisioningState`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationState {
    /// The state.
    pub state: State,
    /// The error, if it failed.
    pub error: Option<ErrorBody>,
}

/// State of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In progress.
    Running,
    /// Succeeded.
    Succeeded,
    /// Failed.
    Failed,
    /// Canceled.
    Canceled,
}

impl State {
    /// Parses a state: only Azure's three final values end an operation.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let is = |end: &str| word.eq_ignore_ascii_case(end);
        if is("Succeeded") {
            Self::Succeeded
        } else if is("Failed") {
            Self::Failed
        } else if is("Canceled") {
            Self::Canceled
        } else {
            Self::Running
        }
    }

    /// Reads the `properties.provisioningState` of a resource; without one, there is nothing to wait for.
    #[must_use]
    pub fn of_resource(resource: &Value) -> Self {
        let state = resource.pointer("/properties/provisioningState").and_then(Value::as_str);
        state.map_or(Self::Succeeded, Self::of)
    }
}

#[derive(Deserialize)]
pub struct Wire {
    status: String,
    #[serde(default)]
    error: Option<Value>,
}

impl Answer for OperationState {
    const WHAT: &'static str = "state of an operation";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        Ok(Self { state: State::of(&wire.status), error: wire.error.as_ref().and_then(ErrorBody::of_inner) })
    }
}
