//! HTTP requests and responses as plain values.

use jiff::SignedDuration;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::cluster::Watch;

/// One HTTP request.
#[derive(Clone)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path with its query, as sent.
    pub target: String,
    /// The headers; names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl fmt::Debug for Request {
    // Headers and body carry tokens and customData.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.target)
    }
}

impl Request {
    /// Creates a request without headers and body.
    #[must_use]
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: BTreeMap::new(),
            body: Vec::new(),
        }
    }

    /// Adds a header with a lower-case name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Adds a JSON body.
    #[must_use]
    pub fn json(mut self, body: &Value) -> Self {
        self.body = written(body);
        self.header("content-type", "application/json")
    }

    /// Returns the decoded path without the query.
    pub(crate) fn path(&self) -> String {
        decoded(self.target.split('?').next().unwrap_or_default(), false)
    }

    /// Returns the query parameter of this name; names are case-insensitive, as in ARM.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            decoded(key, true).eq_ignore_ascii_case(name).then(|| decoded(value, true))
        })
    }

    pub(crate) fn head(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the bearer token of the `Authorization` header.
    pub(crate) fn bearer(&self) -> Option<&str> {
        let value = self.head("authorization")?;
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    }
}

/// Outcome of a request.
#[derive(Clone, Debug)]
pub enum Response {
    /// An answer.
    Answer(Answer),
    /// The request was applied, but its answer never arrives: the connection is cut.
    Lost,
    /// The request was applied, but its answer never arrives, and the connection stays open.
    Silent,
    /// An answer that is delayed by this much time on the host's clock.
    Late(Answer, SignedDuration),
    /// A watch: events are sent as they happen.
    Watch(Watch),
}

/// One HTTP answer.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers, in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl fmt::Debug for Answer {
    // A token endpoint's body is a secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({} bytes)", self.status, self.body.len())
    }
}

impl Answer {
    /// Creates an answer without a body.
    pub(crate) const fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    /// Creates an answer with a JSON body.
    pub(crate) fn json(status: u16, body: &impl Serialize) -> Self {
        Self::empty(status).with_json(body)
    }

    /// Returns the answer with this body.
    pub(crate) fn with_json(mut self, body: &impl Serialize) -> Self {
        self.body = written(body);
        self.with("Content-Type", "application/json")
    }

    /// Returns the answer with one more header.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the header of this name; names are case-insensitive.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON, or null if it is not JSON.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// Serializes to JSON. Cannot fail: all keys are strings.
fn written(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).unwrap_or_default()
}

/// Decodes percent escapes, and plus signs if they encode spaces. Invalid UTF-8 is replaced, not rejected.
pub(crate) fn decoded(text: &str, plus_is_space: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = (byte == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(if byte == b'+' && plus_is_space { b' ' } else { byte });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
