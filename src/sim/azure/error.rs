//! ARM errors.

use serde_json::{Value, json};

use crate::sim::http::Answer;

/// An ARM error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArmError {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) details: Vec<Value>,
    pub(crate) headers: Vec<(String, String)>,
}

impl ArmError {
    pub(crate) fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            code: code.to_owned(),
            message: message.into(),
            details: Vec::new(),
            headers: Vec::new(),
        }
    }

    pub(crate) fn not_found(resource_type: &str, name: &str, group: &str) -> Self {
        Self::new(
            404,
            "ResourceNotFound",
            format!(
                "The Resource '{resource_type}/{name}' under resource group '{group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"
            ),
        )
    }

    pub(crate) fn group_not_found(group: &str) -> Self {
        Self::new(404, "ResourceGroupNotFound", format!("Resource group '{group}' could not be found."))
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(409, "Conflict", message)
    }

    pub(crate) fn invalid(target: &str, message: impl Into<String>) -> Self {
        let mut error = Self::new(400, "InvalidParameter", message);
        error.details =
            vec![json!({"code": "InvalidParameter", "target": target, "message": error.message.clone()})];
        error
    }

    pub(crate) fn method_not_allowed(method: &str) -> Self {
        let message = format!("The requested resource does not support http method '{method}'.");
        Self::new(405, "UnsupportedHttpMethod", message)
    }

    pub(crate) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the `error` member of bodies and of failed operations.
    pub(crate) fn object(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if !self.details.is_empty() {
            error["details"] = json!(self.details);
        }
        error
    }

    pub(crate) fn answer(self) -> Answer {
        let mut answer = Answer::json(self.status, &json!({"error": self.object()}));
        answer.headers.extend(self.headers);
        answer.with("x-ms-failure-cause", "gateway")
    }
}
