//! A string that is never shown: client secrets, access tokens, customData.

use std::fmt;

/// A secret string. It can be neither printed nor serialized.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Sensitive(String);

impl Sensitive {
    /// Wraps a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself. Call it only where the value is needed.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Sensitive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(sensitive value)")
    }
}
