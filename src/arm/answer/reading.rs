//! Parses answers into structs.
//!
//! Must never quote a value of an answer in a fault: it could be customData or a token.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Fields without a member of their own, by name.
pub(super) type Rest = BTreeMap<String, Value>;

/// Why an answer does not match its API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is no {what}: {why}")]
pub struct AnswerFault {
    /// The requested object, such as `virtual machine`.
    pub what: &'static str,
    /// The problem, without values.
    pub why: String,
}

/// A type that can be parsed from an answer.
pub trait Answer: Sized {
    /// Display name of the object.
    const WHAT: &'static str;
    /// Azure's representation.
    type Wire: DeserializeOwned;

    /// Converts from Azure's representation.
    ///
    /// # Errors
    /// The missing part.
    fn of(wire: Self::Wire) -> Result<Self, String>;
}

/// Parses one answer.
///
/// # Errors
/// A required field is missing or has another type.
pub fn read<A: Answer>(json: Value) -> Result<A, AnswerFault> {
    let fault = |why| AnswerFault { what: A::WHAT, why };
    let wire = serde_json::from_value(json).map_err(|error| fault(without_values(&error)))?;
    A::of(wire).map_err(fault)
}

/// Returns the message without the unexpected value, which serde quotes.
fn without_values(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((what, rest)) if what.starts_with("invalid") => match rest.rsplit_once(", expected ") {
            Some((_, expected)) => format!("{what}, expected {expected}"),
            None => what.to_owned(),
        },
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Machine;
    use super::*;

    #[test]
    fn a_fault_does_not_quote_what_it_found() {
        let fault = read::<Machine>(json!({"id": ["canary-7"]})).unwrap_err();
        assert!(!fault.to_string().contains("canary"), "{fault}");
        let fault = read::<Machine>(json!({"id": {"canary-8": 1}})).unwrap_err();
        assert!(!fault.to_string().contains("canary"), "{fault}");
        let fault = read::<Machine>(json!("canary-9")).unwrap_err();
        assert!(!fault.to_string().contains("canary"), "{fault}");
    }
}
