//! Canonical bytes and their digest: equal values serialize identically on every machine.

use std::fmt;

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of these bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest of a value's canonical JSON (RFC 8785).
    ///
    /// # Errors
    /// When the value has no JSON form, such as a map with keys that are not text.
    pub fn of_json(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self::of_bytes(&serde_json_canonicalizer::to_vec(value)?))
    }

    /// Returns the first `length` characters (at most 52) of the digest in lower-case base32: what names
    /// are made of.
    #[must_use]
    pub fn base32(&self, length: usize) -> String {
        let mut text = BASE32_NOPAD.encode(&self.0).to_ascii_lowercase();
        text.truncate(length);
        text
    }
}

impl std::str::FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = text.strip_prefix("sha256:").and_then(|hex| HEXLOWER.decode(hex.as_bytes()).ok());
        let bytes = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.map(Self).ok_or_else(|| format!("`{text}` is not `sha256:` and 64 lower-case hex digits"))
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        super::written::text::serialize(self, serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::written::text::deserialize(deserializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sha256:{}", HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn the_order_of_keys_does_not_change_the_digest() {
        let one: serde_json::Value = serde_json::from_str(r#"{"b":1,"a":[true,"x"]}"#).expect("is JSON");
        let two: serde_json::Value = serde_json::from_str(r#"{"a":[true,"x"],"b":1}"#).expect("is JSON");
        assert_eq!(Digest::of_json(&one).expect("has a form"), Digest::of_json(&two).expect("has a form"));
        assert_eq!(Digest::of_bytes(b"").base32(10), "4oymiquy7q");
    }
}
