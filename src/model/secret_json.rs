//! JSON in which secrets lie apart: bodies of requests, objects that hold a token.
//! Must never put a secret into the JSON but in [`SecretJson::reveal`], which only sending calls.

use std::fmt;

use serde_json::Value;

use super::secret::{SENSITIVE, Secret};

/// JSON with the places of its secrets. What is shown, compared or digested never has one.
#[derive(Clone, PartialEq)]
pub struct SecretJson {
    shown: Value,
    secrets: Vec<SecretPlace>,
}

/// A secret and where it belongs.
#[derive(Clone, PartialEq)]
struct SecretPlace {
    /// RFC 6901 pointer to a text in the JSON.
    pointer: &'static str,
    secret: Secret,
}

impl SecretJson {
    /// JSON without secrets.
    #[must_use]
    pub const fn new(json: Value) -> Self {
        Self { shown: json, secrets: Vec::new() }
    }

    /// Adds a secret at this place, whose parent must be an object of the JSON; a place without one stays without.
    #[must_use]
    pub fn with_secret(mut self, pointer: &'static str, secret: Secret) -> Self {
        if put(&mut self.shown, pointer, SENSITIVE) {
            self.secrets.push(SecretPlace { pointer, secret });
        }
        self
    }

    /// The JSON with `(sensitive value)` in place of each secret: for people, digests and logs.
    #[must_use]
    pub const fn shown(&self) -> &Value {
        &self.shown
    }

    /// The secrets, so that an answer that repeats one is not shown.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.iter().map(|place| &place.secret)
    }

    /// The JSON as it is sent.
    #[must_use]
    pub fn reveal(&self) -> Secret {
        let mut json = self.shown.clone();
        for SecretPlace { pointer, secret } in &self.secrets {
            put(&mut json, pointer, secret.reveal());
        }
        Secret::new(json.to_string())
    }
}

/// Writes a text at a pointer whose parent is an object. Returns whether there is such a parent.
fn put(json: &mut Value, pointer: &str, text: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    match json.pointer_mut(parent) {
        Some(Value::Object(object)) => {
            object.insert(key.to_owned(), Value::String(text.to_owned()));
            true
        }
        Some(_) | None => false,
    }
}

impl fmt::Debug for SecretJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shown)
    }
}

/// Takes every null out of a JSON value, at any depth.
pub fn drop_nulls(json: &mut Value) {
    match json {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_in_what_is_sent_and_in_nothing_else() {
        let body =
            SecretJson::new(json!({"a": {"b": 1}})).with_secret("/a/c", Secret::new("canary".to_owned()));
        assert_eq!(format!("{body:?}"), r#"{"a":{"b":1,"c":"(sensitive value)"}}"#);
        assert_eq!(body.reveal().reveal(), r#"{"a":{"b":1,"c":"canary"}}"#);
    }
}
