//! `Status` objects, in kube-apiserver's words.

use serde_json::{Value, json};

use super::kinds::Kind;
use crate::sim::http::Answer;

/// A request refused by the API server.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) details: Value,
}

impl Refusal {
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Value::Null }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn forbidden() -> Self {
        let message = "User \"reader\" may only read";
        Self::new(403, "Forbidden", message)
    }

    pub(crate) fn no_such_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::about(kind, name, 404, "NotFound", format!("{} \"{name}\" not found", kind.resource()))
    }

    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.resource());
        Self::about(kind, name, 409, "AlreadyExists", message)
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.resource());
        Self::about(kind, name, 409, "Conflict", message)
    }

    pub(crate) fn invalid(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is invalid: {why}", kind.kind);
        Self::about(kind, name, 422, "Invalid", message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }

    /// Creates a refusal about one object.
    fn about(kind: &Kind, name: &str, code: u16, reason: &'static str, message: String) -> Self {
        let details = json!({"name": name, "group": kind.group, "kind": kind.plural});
        Self { code, reason, message, details }
    }

    /// Returns the refusal with causes.
    pub(crate) fn caused_by(mut self, causes: Value) -> Self {
        crate::sim::json::set(&mut self.details, &["causes"], causes);
        self
    }

    /// Returns the answer.
    pub(crate) fn answer(&self) -> Answer {
        Answer::json(self.code, &self.object())
    }

    /// Returns the `Status` object.
    pub(crate) fn object(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        status
    }
}

/// Returns the `Status` of success for one object.
pub(crate) fn success(kind: &Kind, name: &str, uid: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": name, "group": kind.group, "kind": kind.plural, "uid": uid},
    })
}
