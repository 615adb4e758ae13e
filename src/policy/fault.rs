//! Faults in objects, with their field paths. Must never hold a file or a line: the document's reader maps paths to
//! them.

use std::fmt;

pub use crate::api::path::{Segment, path_text, shortened};

/// A fault in an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Its path from the root of the object. For a missing field: where it should be.
    pub path: Vec<Segment>,
    /// The problem, as text for people; names no file.
    pub message: String,
    /// The suggested fix, if there is one.
    pub hint: Option<String>,
}

impl Fault {
    /// Formats the path as people write it: `spec.limits["nvidia.com/gpu"]`, `spec.template.spec.taints[0].key`.
    #[must_use]
    pub fn path_text(&self) -> String {
        path_text(&self.path)
    }

    /// Returns the same fault with a hint.
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
