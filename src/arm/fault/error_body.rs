//! The body of an error: a tree of codes and messages.
//!
//! Must never follow it deeper than Azure nests errors, nor keep messages of unlimited length.

use serde_json::Value;

use super::detail::POLICY;
use crate::model::shown::is_obeyed;

/// Maximum length of a stored message, in characters.
pub(super) const MESSAGE_MAX: usize = 600;
/// Maximum depth. Azure's deepest known errors (policy, deployment) have four levels.
const DEPTH_MAX: usize = 8;
/// Maximum number of errors read from one body.
const COUNT_MAX: usize = 64;

/// Maximum number of policies named.
const POLICIES_MAX: usize = 3;

/// An Azure error with its causes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// Azure's code.
    pub code: String,
    /// Azure's message, on one line.
    pub message: String,
    /// Its causes: `details`, then `innererror`.
    pub causes: Vec<Self>,
}

impl ErrorBody {
    /// Parses the body of an answer: an object with `error`, or the error itself, as some providers send it.
    #[must_use]
    pub fn of(body: &Value) -> Option<Self> {
        match body.get("error") {
            Some(error @ Value::Object(_)) => Self::of_inner(error),
            // Error of an identity provider: a code with a separate description.
            Some(Value::String(code)) => Some(Self {
                code: code.clone(),
                message: text(body, "error_description").map(one_line).unwrap_or_default(),
                causes: Vec::new(),
            }),
            Some(_) | None => Self::of_inner(body),
        }
    }

    /// Parses an error in a field of its own, as in an operation.
    #[must_use]
    pub fn of_inner(error: &Value) -> Option<Self> {
        read(error, DEPTH_MAX)
    }

    /// Returns this error and all its causes, outermost first.
    #[must_use]
    pub fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        let mut next = 0;
        while let Some(error) = all.get(next).copied() {
            next += 1;
            all.extend(error.causes.iter().take(COUNT_MAX.saturating_sub(all.len())));
        }
        all
    }
}

fn read(error: &Value, depth: usize) -> Option<ErrorBody> {
    let code = text(error, "code");
    let message = text(error, "message");
    if depth == 0 || (code.is_none() && message.is_none()) {
        return None;
    }
    let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let inner = ["innererror", "innerError"].iter().find_map(|key| error.get(key));
    let causes =
        details.iter().take(COUNT_MAX).chain(inner).filter_map(|cause| read(cause, depth - 1)).collect();
    Some(ErrorBody {
        code: code.unwrap_or_default().chars().take(MESSAGE_MAX).filter(|c| !is_obeyed(*c)).collect(),
        message: with_policies(one_line(message.unwrap_or_default()), error),
        causes,
    })
}

/// Appends the policies that an error names outside its message.
fn with_policies(message: String, error: &Value) -> String {
    let infos = error.get("additionalInfo").and_then(Value::as_array).into_iter().flatten();
    let named = infos.filter_map(|info| {
        let info = info.get("info")?;
        let definition =
            text(info, "policyDefinitionDisplayName").or_else(|| text(info, "policyDefinitionName"));
        let assignment =
            text(info, "policyAssignmentDisplayName").or_else(|| text(info, "policyAssignmentName"));
        let definition = definition.map(|name| format!("`{}`", one_line(name)));
        let assignment = assignment.map(|name| format!("assignment `{}`", one_line(name)));
        let parts: Vec<String> = definition.into_iter().chain(assignment).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    });
    let named: Vec<String> = named.take(POLICIES_MAX).collect();
    if named.is_empty() { message } else { format!("{message} {POLICY}{}", named.join("; ")) }
}

fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Returns one line without control characters, truncated to the maximum.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(|c: char| c.is_whitespace() || is_obeyed(c)).filter(|word| !word.is_empty()) {
        let word_length = word.chars().count();
        if length + word_length >= MESSAGE_MAX {
            let left = MESSAGE_MAX.saturating_sub(length + 2);
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(word.chars().take(left));
            line.push('…');
            return line;
        }
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += word_length;
    }
    line
}
