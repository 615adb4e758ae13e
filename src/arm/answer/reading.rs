//! How an answer becomes a struct.
//! Must never quote a value of an answer in a fault: customData or a token could be one.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Fields that a struct does not name, by name.
pub(super) type Rest = BTreeMap<String, Value>;

/// Why an answer is not what its API promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is no {what}: {why}")]
pub struct AnswerFault {
    /// What was asked for, as `virtual machine`.
    pub what: &'static str,
    /// What is wrong with it, without its values.
    pub why: String,
}

/// Something that can be read from an answer.
pub trait Answer: Sized {
    /// What it is, for people.
    const WHAT: &'static str;
    /// What Azure writes.
    type Wire: DeserializeOwned;

    /// Takes what is needed.
    ///
    /// # Errors
    /// What is missing.
    fn of(wire: Self::Wire) -> Result<Self, String>;
}

/// Reads one answer.
///
/// # Errors
/// When a field that makes it what it is, is missing or of another type.
pub fn read<A: Answer>(json: Value) -> Result<A, AnswerFault> {
    let fault = |why| AnswerFault { what: A::WHAT, why };
    let wire = serde_json::from_value(json).map_err(|error| fault(without_values(&error)))?;
    A::of(wire).map_err(fault)
}

/// Serde quotes the value that it did not expect: only its own words are kept.
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
