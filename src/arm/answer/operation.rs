//! The state of a long-running operation.
//! Must never take an unknown state for an end: only three words are ends.

use serde::Deserialize;
use serde_json::Value;

use super::reading::Answer;
use crate::arm::fault::ErrorBody;

/// How far an operation is, from its own resource or from `provisioningState`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationState {
    /// How far it is.
    pub state: State,
    /// What went wrong, where it failed.
    pub error: Option<ErrorBody>,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    Running,
    /// It has ended well.
    Succeeded,
    /// It has failed.
    Failed,
    /// It was cancelled.
    Canceled,
}

impl State {
    /// Reads a state: only Azure's three words are ends, any other one goes on.
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

    /// Reads the `properties.provisioningState` of a resource; one without has nothing to wait for.
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
