//! Sensitive text: tokens, client secrets, customData. Never implements `Display`, `Serialize`, or a `Debug` that shows
//! the text.

use std::fmt;

/// Placeholder for a secret in every output; Terraform's wording.
pub const SENSITIVE: &str = "(sensitive value)";

/// A text that neither prints nor serializes.
///
/// It is only readable through [`Secret::reveal`], which only code that sends it has a reason to call.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text as a secret.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns whether the text is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SENSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_the_text() {
        let secret = Secret::new("canary-1".to_owned());
        assert_eq!(
            format!("{secret:?} {:#?}", Some(&secret)),
            "(sensitive value) Some(\n    (sensitive value),\n)"
        );
    }
}
