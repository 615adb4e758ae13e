//! Patches: JSON merge patch, JSON patch, strategic merge patch, and server-side apply as create-or-merge.

mod json_patch;
mod merge;
mod strategic;

use serde_json::Value;

use super::kinds::Kind;
use super::status::Refusal;
use crate::sim::http::Request;

/// Patch format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Merge,
    Json,
    Strategic,
    Apply,
}

/// A patch and its format.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(crate) form: Form,
    pub(crate) body: Value,
}

impl Patch {
    /// Reads the patch of a request according to its content type.
    pub(crate) fn of(request: &Request, kind: &Kind) -> Result<Self, Refusal> {
        let content = request.head("content-type").unwrap_or_default();
        let content = content.split(';').next().unwrap_or_default().trim();
        let form = match content {
            "application/merge-patch+json" => Form::Merge,
            "application/json-patch+json" => Form::Json,
            "application/strategic-merge-patch+json" if !kind.is_custom => Form::Strategic,
            "application/apply-patch+yaml" | "application/apply-patch+json" => Form::Apply,
            _ => {
                let message = "the body of the request was in an unknown format - accepted media types include: \
                     application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
                return Err(Refusal::new(415, "UnsupportedMediaType", message));
            }
        };
        let body = if form == Form::Apply {
            super::body::yaml(&request.body)?
        } else {
            super::body::json(&request.body)?
        };
        Ok(Self { form, body })
    }

    /// Returns the patched object.
    pub(crate) fn applied(&self, kind: &Kind, object: &Value) -> Result<Value, Refusal> {
        let mut new = object.clone();
        match self.form {
            Form::Merge => merge::merge(&mut new, &self.body),
            Form::Json => json_patch::apply(&mut new, &self.body)?,
            Form::Apply if kind.is_custom => merge::merge(&mut new, &self.body),
            Form::Strategic | Form::Apply => strategic::merge(&mut new, &self.body),
        }
        Ok(new)
    }
}
