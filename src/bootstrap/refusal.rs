//! Refusals: settings with which a node cannot be created.
//!
//! Must never repeat a value that could be a secret.

/// A setting that cannot be applied, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The field: a class field from `spec` on, otherwise the name of a cluster or node fact.
    pub field: String,
    /// The reason, as a clause: `needs AKS-internal image galleries`.
    pub why: String,
}

impl Refusal {
    pub(super) fn new(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { field: field.into(), why: why.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.field, self.why)
    }
}
