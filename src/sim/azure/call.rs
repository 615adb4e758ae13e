//! Parsed requests to ARM.

use jiff::Timestamp;
use serde_json::Value;

use super::ArmError;
use crate::sim::agenda::Agenda;
use crate::sim::draw::Draw;
use crate::sim::faults::Faults;
use crate::sim::http::Request;

/// Context of a handler besides the subscription itself.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) now: Timestamp,
    pub(crate) agenda: &'a mut Agenda,
    pub(crate) faults: &'a mut Faults,
    pub(crate) draw: Draw,
}

/// A request to ARM.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) request: &'a Request,
    pub(crate) method: &'a str,
    /// The path's segments, as written.
    segments: Vec<String>,
    /// The segments in lower case, for comparison.
    lower: Vec<String>,
    pub(crate) api_version: String,
}

impl<'a> Call<'a> {
    pub(crate) fn of(request: &'a Request) -> Self {
        let path = request.path();
        let segments: Vec<String> = path.trim_matches('/').split('/').map(str::to_owned).collect();
        let lower = segments.iter().map(|segment| segment.to_lowercase()).collect();
        let api_version = request.query("api-version").unwrap_or_default();
        Self { request, method: request.method.as_str(), segments, lower, api_version }
    }

    /// Returns the segments in lower case.
    pub(crate) fn lower(&self) -> Vec<&str> {
        self.lower.iter().map(String::as_str).collect()
    }

    /// Returns a segment as written, empty if there is none.
    pub(crate) fn segment(&self, at: usize) -> &str {
        self.segments.get(at).map_or("", String::as_str)
    }

    /// Returns the resource's path without the query.
    pub(crate) fn path(&self) -> String {
        format!("/{}", self.segments.join("/"))
    }

    /// Returns the body, which must be a JSON object.
    pub(crate) fn body(&self) -> Result<Value, ArmError> {
        match serde_json::from_slice::<Value>(&self.request.body) {
            Ok(body @ Value::Object(_)) => Ok(body),
            Ok(_) | Err(_) => Err(ArmError::new(
                400,
                "InvalidRequestContent",
                "The request content was invalid and could not be deserialized: expected a JSON object.",
            )),
        }
    }

    /// Returns an absolute URL on the host that received the request.
    pub(crate) fn absolute(&self, path_and_query: &str) -> String {
        let host = self.request.head("host").unwrap_or("management.azure.com");
        format!("https://{host}{path_and_query}")
    }
}

/// The resource type of a path: `Microsoft.Compute/virtualMachines/extensions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceType {
    /// Provider and type, in lower case.
    pub(crate) lower: String,
    /// Provider and type, as written in the request.
    pub(crate) written: String,
    /// The type without its provider, as written in the request.
    pub(crate) leaf: String,
}

impl Call<'_> {
    /// Returns the resource type that the path names.
    pub(crate) fn resource_type(&self) -> ResourceType {
        let Some(at) = self.lower.iter().rposition(|segment| segment == "providers") else {
            let is_group = self.lower.get(2).is_some_and(|segment| segment == "resourcegroups");
            let written = if is_group {
                "Microsoft.Resources/subscriptions/resourceGroups"
            } else {
                "Microsoft.Resources/subscriptions"
            };
            return ResourceType {
                lower: written.to_lowercase(),
                written: written.to_owned(),
                leaf: written.rsplit('/').next().unwrap_or_default().to_owned(),
            };
        };
        let types: Vec<&str> = self.segments.iter().skip(at + 2).step_by(2).map(String::as_str).collect();
        let written = format!("{}/{}", self.segment(at + 1), types.join("/"));
        ResourceType { lower: written.to_lowercase(), written, leaf: types.join("/") }
    }
}
