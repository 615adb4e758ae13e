//! What reading has to say beside its objects: what was assumed, what could not be resolved, what looks wrong.
//!
//! Values for people; nothing is decided by them.

use std::collections::BTreeSet;

/// Something that the head of a plan says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// What it is about.
    pub what: String,
    /// Why, or what follows from it.
    pub why: String,
}

impl Note {
    /// Makes a note.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}

/// Something that looks wrong and keeps nothing from being planned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// What it is about, such as `` `Deployment/default/web` ``.
    pub object: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Everything that reading has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What the input does not say and was taken to be so.
    pub assumed: Vec<Note>,
    /// What points to something that the input does not hold, with what follows.
    pub unresolved: Vec<Note>,
    /// What looks wrong.
    pub remarks: Vec<Remark>,
    /// What of that is about objects that are left out.
    pub faulty: Vec<Remark>,
    /// What of that is about fields that only a later version may know.
    pub later: Vec<Remark>,
    /// The places in [`ReadOptions::scale`](super::ReadOptions::scale) whose workloads are missing, where they may be.
    pub unscaled: BTreeSet<usize>,
}

impl Said {
    /// Returns the same, in order, each once.
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

/// Writes the first few of a list, and how many more there are.
#[must_use]
pub fn listed(items: &[String]) -> String {
    const SHOWN_MAX: usize = 5;
    let mut shown: Vec<String> = items.iter().take(SHOWN_MAX).cloned().collect();
    if items.len() > SHOWN_MAX {
        shown.push(format!("{} more", items.len() - SHOWN_MAX));
    }
    shown.join(", ")
}

/// Writes a number with its noun: `1 pod`, `2 pods`.
#[must_use]
pub fn counted(count: i64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
