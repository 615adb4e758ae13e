//! Faults in documents: the place, the object, and a hint.
//!
//! A fault is a value for people. It never stops the reading of other documents.

use std::fmt;
use std::sync::Arc;

pub use crate::api::path::{Segment, path_text};

/// Maximum number of faults to keep; longer lists do not help.
pub const FAULTS_MAX: usize = 1000;

/// A fault in a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The source's name, as the user gave it.
    pub file: Arc<str>,
    /// The line, from 1; 0 for the source as a whole.
    pub line: usize,
    /// The path of the field within its object; empty for the document as a whole.
    pub path: Vec<Segment>,
    /// The object as `Kind/name`, if known.
    pub object: Option<String>,
    /// The problem.
    pub message: String,
    /// The suggested fix.
    pub hint: Option<String>,
}

impl Fault {
    /// Creates a fault for a line of a source, outside any field.
    #[must_use]
    pub fn at(file: &Arc<str>, line: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { file: Arc::clone(file), line, path: Vec::new(), object: None, message, hint: None }
    }

    /// Returns the fault with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    /// Writes `file:line: path: message (in Kind/name)`, and the hint on its own line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, path, object, message, hint } = self;
        write!(formatter, "{file}:")?;
        if *line > 0 {
            write!(formatter, "{line}:")?;
        }
        if !path.is_empty() {
            write!(formatter, " {}:", path_text(path))?;
        }
        write!(formatter, " {message}")?;
        if let Some(object) = object {
            write!(formatter, " (in `{object}`)")?;
        }
        match hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Collected faults, up to [`FAULTS_MAX`].
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a fault.
    pub fn add(&mut self, fault: Fault) {
        if !self.is_full() {
            self.0.push(fault);
        }
    }

    /// Returns whether there are no faults so far.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the limit is reached.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.0.len() >= FAULTS_MAX
    }

    /// Returns the faults sorted by file, line and path; if the limit is reached, the last one says so.
    #[must_use]
    pub fn sorted(mut self) -> Vec<Fault> {
        let is_full = self.is_full();
        self.0.sort();
        self.0.dedup();
        if let Some(last) = self.0.last().filter(|_| is_full) {
            let message = format!("reading stopped after {FAULTS_MAX} faults");
            self.0.push(Fault::at(&Arc::clone(&last.file), last.line, message));
        }
        self.0
    }
}
