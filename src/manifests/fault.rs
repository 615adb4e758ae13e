//! What is wrong with a document: where, in which object, and what to do about it.
//!
//! A fault is a value for people. It never stops the reading of other documents.

use std::fmt;
use std::sync::Arc;

pub use crate::api::path::{Segment, path_text};

/// The most faults that are kept; a file that is wrong throughout needs no longer list.
pub const FAULTS_MAX: usize = 1000;

/// Something wrong in a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The source's name, as the user gave it.
    pub file: Arc<str>,
    /// The line, from 1; 0 where the source as a whole is meant.
    pub line: usize,
    /// The path of the field within its object; empty where the document as a whole is meant.
    pub path: Vec<Segment>,
    /// The object as `Kind/name`, where it is known.
    pub object: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Fault {
    /// Makes a fault of a line of a source, outside any field.
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
    /// Writes `file:line: path: message (in Kind/name)`, and the hint on a line of its own.
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

/// Faults as they are found, up to [`FAULTS_MAX`].
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Keeps a fault.
    pub fn add(&mut self, fault: Fault) {
        if !self.is_full() {
            self.0.push(fault);
        }
    }

    /// Returns whether nothing is wrong so far.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether no more faults are kept.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.0.len() >= FAULTS_MAX
    }

    /// Returns the faults by file, line and path; where they are as many as are kept, the last says so.
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
