//! Answers to requests, parsed as far as sending needs.
//!
//! Must never keep a header that is not listed here.

use std::time::Duration;

use azure_core::http::RawResponse;
use azure_core::http::headers::HeaderName;
use serde_json::Value;

use super::failure::{Call, Failure, NotArm};
use super::transport::looks_like_html;
use crate::arm::fault::{ErrorBody, Received};

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The HTTP status.
    pub(super) status: u16,
    /// The JSON body; null if there is none.
    pub(super) body: Value,
    /// The headers that are read.
    pub(super) headers: AnswerHeaders,
}

/// The headers that are read.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerHeaders {
    pub(super) request_id: Option<String>,
    pub(super) async_operation: Option<String>,
    pub(super) location: Option<String>,
    pub(super) retry_after_seconds: Option<u64>,
}

impl AnswerHeaders {
    fn of(response: &RawResponse) -> Self {
        let text = |name: &'static str| {
            response.headers().get_optional_str(&HeaderName::from_static(name)).map(str::to_owned)
        };
        Self {
            request_id: text("x-ms-request-id").map(|id| printable(&id)),
            async_operation: text("azure-asyncoperation"),
            location: text("location"),
            retry_after_seconds: text("retry-after").and_then(|text| text.trim().parse().ok()),
        }
    }

    /// Returns how long Azure asks to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.retry_after_seconds.map(Duration::from_secs)
    }
}

/// Returns the printable part of an id as Azure writes it: at most 64 letters, digits and dashes.
fn printable(id: &str) -> String {
    id.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '_')).take(64).collect()
}

impl Answer {
    /// Returns the parts from which a fault is classified.
    pub(super) const fn received(&self) -> Received {
        Received { status: self.status, retry_after_seconds: self.headers.retry_after_seconds }
    }

    /// Parses a response. Anything that Resource Manager would not send is a failure.
    pub(super) fn of(response: &RawResponse, call: &Call) -> Result<Self, Failure> {
        let status = u16::from(response.status());
        let headers = AnswerHeaders::of(response);
        let bytes: &[u8] = response.body().as_ref();
        let not_arm = |what| Failure::NotArm {
            call: call.clone(),
            status,
            what,
            request_id: headers.request_id.clone(),
        };
        if (300..400).contains(&status) {
            return Err(not_arm(NotArm::Redirect { to: redirected_to(headers.location.as_deref()) }));
        }
        if looks_like_html(bytes) {
            // Azure's own front door sends HTML when overloaded; its status is correct and worth a retry.
            let what = if status >= 500 { NotArm::HtmlOfFrontDoor } else { NotArm::Html };
            return Err(not_arm(what));
        }
        let body = match bytes.trim_ascii() {
            [] => Value::Null,
            json => match serde_json::from_slice(json) {
                Ok(body) => body,
                Err(error) if error.is_eof() => {
                    return Err(not_arm(NotArm::TruncatedJson { bytes: bytes.len() }));
                }
                Err(error) => {
                    return Err(not_arm(NotArm::NotJson { line: error.line(), column: error.column() }));
                }
            },
        };
        // If any server's 404 were taken for Azure's, the resource would count as deleted.
        if status == 404 && !body.is_null() && !has_code(&body) {
            return Err(not_arm(NotArm::NoCode));
        }
        Ok(Self { status, body, headers })
    }
}

/// Returns whether an error has a code, as all of Azure's errors have.
fn has_code(body: &Value) -> bool {
    ErrorBody::of(body).is_some_and(|error| !error.code.is_empty())
}

/// Returns the origin of a redirect, without path and query.
fn redirected_to(location: Option<&str>) -> String {
    let url = location.and_then(|location| url::Url::parse(location).ok());
    url.map_or_else(|| "somewhere".to_owned(), |url| url.origin().ascii_serialization())
}
