//! Separates a dump from manifests that contradict it.
//!
//! Objects from a cluster have UIDs, hand-written ones do not. If that does not separate them, two definitions of one
//! object remain a fault. `overlay` lays the manifests over the dump.

use std::sync::Arc;

use super::fault::Fault;
use super::found::Found;
use super::said::{Note, listed};
use super::source::Source;
use super::{Overlay, keep, overlay};

/// An object with two definitions, one from a cluster and one written by hand.
#[derive(Debug)]
pub struct Contradiction {
    /// The fault of the second one if neither is laid over the other.
    pub fault: Fault,
    /// The source of the definition without a UID.
    pub written: Arc<str>,
}

/// Sources, separated by origin.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// Sources from a cluster, or all sources if nothing is laid over anything.
    pub made: Vec<Source>,
    /// Manifests to lay over them.
    pub written: Vec<Source>,
}

impl Sides {
    /// Separates sources by their contents.
    pub(super) fn of(sources: Vec<Source>, found: &Found) -> Self {
        let is_made = |name: &str| found.made.files.contains(name);
        let is_plain = found.contradictions.iter().all(|contradiction| !is_made(&contradiction.written));
        if found.contradictions.is_empty() || !is_plain {
            return Self { made: sources, written: Vec::new() };
        }
        let (made, written) = sources.into_iter().partition(|source| is_made(&source.name));
        Self { made, written }
    }

    /// Reads the manifests laid over the dump; returns the result, the number of sources, and the faults of individual
    /// objects.
    pub(super) fn found(self) -> ((Found, usize), Vec<Fault>) {
        let note = self.note();
        let ((base, mut faults), (with, further)) = (keep(self.made), keep(self.written));
        faults.extend(further);
        (overlay::found(base, Overlay { with, note, ..Overlay::default() }), faults)
    }

    /// Returns a note about the manifests that are laid over the dump.
    #[must_use]
    pub fn note(&self) -> Option<Note> {
        let names = |sources: &[Source]| {
            let names: Vec<String> = sources.iter().map(|source| format!("`{}`", source.name)).collect();
            listed(&names)
        };
        let whose = if self.written.len() == 1 { "its objects have" } else { "their objects have" };
        (!self.written.is_empty()).then(|| {
            Note::new(
                format!("{} laid over what runs", names(&self.written)),
                format!("{whose} no `metadata.uid`, and those of {} do", names(&self.made)),
            )
        })
    }
}
