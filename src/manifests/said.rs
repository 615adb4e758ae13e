//! Messages from reading an input: assumptions, unresolved references, and suspicious findings.
//!
//! Values for people; they never decide anything.

use std::collections::BTreeSet;

/// A note at the head of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Its subject.
    pub what: String,
    /// The reason, or the consequence.
    pub why: String,
}

impl Note {
    /// Creates a note.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}

/// A suspicious finding that does not prevent planning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// Its subject, such as `` `Deployment/default/web` ``.
    pub object: String,
    /// The problem.
    pub what: String,
    /// The suggested fix.
    pub hint: Option<String>,
}

/// All messages from reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Assumptions about missing input.
    pub assumed: Vec<Note>,
    /// References to objects that the input does not hold, with the consequence.
    pub unresolved: Vec<Note>,
    /// Suspicious findings.
    pub remarks: Vec<Remark>,
    /// Findings about objects that are left out.
    pub faulty: Vec<Remark>,
    /// Findings about fields that only a later version may know.
    pub later: Vec<Remark>,
    /// Indices in [`ReadOptions::scale`](super::ReadOptions::scale) whose workloads are missing, if they may be.
    pub unscaled: BTreeSet<usize>,
}

impl Said {
    /// Returns the messages sorted and deduplicated.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        let Self { assumed, unresolved, remarks, faulty: _, later: _, unscaled: _ } = &mut self;
        for notes in [assumed, unresolved] {
            notes.sort();
            notes.dedup();
        }
        remarks.sort();
        remarks.dedup();
        self
    }
}

/// Formats the first few items of a list, and the number of the others.
#[must_use]
pub fn listed(items: &[String]) -> String {
    const SHOWN_MAX: usize = 5;
    let mut shown: Vec<String> = items.iter().take(SHOWN_MAX).cloned().collect();
    if items.len() > SHOWN_MAX {
        shown.push(format!("{} more", items.len() - SHOWN_MAX));
    }
    shown.join(", ")
}

/// Formats a number with its noun: `1 pod`, `2 pods`.
#[must_use]
pub fn counted(count: i64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
