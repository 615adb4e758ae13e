//! A text that must not be seen: tokens, client secrets, customData.
//! Must never gain `Display`, `Serialize`, or a `Debug` that shows the text.

use std::fmt;

/// What every output has in place of a secret; Terraform's words.
pub const SENSITIVE: &str = "(sensitive value)";

/// A text that neither prints nor serialises.
///
/// It is read by [`Secret::reveal`] alone, which only code that sends it has a reason to call.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of a text.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns whether there is no text at all.
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
