//! JSON with its secrets stored separately: request bodies, objects that contain a token. Never puts a secret into the
//! JSON except in [`SecretJson::reveal`], which only sending calls.

use std::fmt;

use serde_json::Value;

use super::secret::{SENSITIVE, Secret};

/// JSON with separately stored secrets. Displaying, comparing or digesting it never exposes one.
#[derive(Clone, PartialEq)]
pub struct SecretJson {
    shown: Value,
    secrets: Vec<SecretPlace>,
}

/// A secret and its position.
#[derive(Clone, PartialEq)]
struct SecretPlace {
    /// RFC 6901 pointer to a string in the JSON.
    pointer: &'static str,
    secret: Secret,
}

impl SecretJson {
    /// Creates JSON without secrets.
    #[must_use]
    pub const fn new(json: Value) -> Self {
        Self { shown: json, secrets: Vec::new() }
    }

    /// Adds a secret at this pointer, whose parent must be an object of the JSON; ignored if it is not.
    #[must_use]
    pub fn with_secret(mut self, pointer: &'static str, secret: Secret) -> Self {
        if put(&mut self.shown, pointer, SENSITIVE) {
            self.secrets.push(SecretPlace { pointer, secret });
        }
        self
    }

    /// Returns the JSON with `(sensitive value)` in place of each secret, for users, digests and logs.
    #[must_use]
    pub const fn shown(&self) -> &Value {
        &self.shown
    }

    /// Returns the secrets, so that they can be hidden in a response that echoes them.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.iter().map(|place| &place.secret)
    }

    /// Returns the JSON to send.
    #[must_use]
    pub fn reveal(&self) -> Secret {
        let mut json = self.shown.clone();
        for SecretPlace { pointer, secret } in &self.secrets {
            put(&mut json, pointer, secret.reveal());
        }
        Secret::new(json.to_string())
    }
}

/// Writes a text at a pointer whose parent is an object. Returns whether that parent exists.
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

/// Removes every null from a JSON value, at any depth.
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
