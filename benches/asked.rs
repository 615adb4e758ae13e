//! Which figures are asked for: those that are named as arguments, else all.

/// The names that were given.
pub(crate) struct Asked(pub(crate) Vec<String>);

impl Asked {
    /// Takes the arguments that are no flags: cargo adds some of its own.
    pub(crate) fn of_arguments() -> Self {
        Self(std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect())
    }

    /// Whether a figure is asked for.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|asked| asked == name)
    }
}
