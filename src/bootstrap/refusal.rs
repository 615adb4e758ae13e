//! Why a node cannot be made with these settings.
//! Must never repeat a value that could be a secret.

/// A setting that cannot be carried out, by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The field: of the class from `spec`, else as in the cluster's or node's facts.
    pub field: String,
    /// Why, as a clause: `needs AKS-internal image galleries`.
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
