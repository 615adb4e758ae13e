//! What is wrong with an object, and where.
//! Must never hold a file or a line: whoever read the document knows how a path maps to them.

use std::fmt;

pub use crate::api::path::{Segment, path_text, shortened};

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Where it is, from the root of the object. Of a field that is missing: where it should be.
    pub path: Vec<Segment>,
    /// What is wrong, for people; names no file.
    pub message: String,
    /// What to do about it, where that can be said.
    pub hint: Option<String>,
}

impl Fault {
    /// The path as people write it: `spec.limits["nvidia.com/gpu"]`, `spec.template.spec.taints[0].key`.
    #[must_use]
    pub fn path_text(&self) -> String {
        path_text(&self.path)
    }

    /// The same fault with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.path_text(), self.message)
    }
}
