//! A dump with manifests beside it that say otherwise of the same objects: which is which.
//!
//! What a cluster made has UIDs, what people write has none. Where that does not tell them apart, two definitions of
//! one object stay a fault. What comes of laying the one over the other is the business of `overlay`.

use std::sync::Arc;

use super::fault::Fault;
use super::found::Found;
use super::said::{Note, listed};
use super::source::Source;
use super::{Overlay, keep, overlay};

/// An object of which a cluster made one definition, and somebody wrote another.
#[derive(Debug)]
pub struct Contradiction {
    /// What is wrong with the second, where neither is laid over the other.
    pub fault: Fault,
    /// The source of the one without a UID.
    pub written: Arc<str>,
}

/// Sources, told apart.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// What a cluster made, or everything, where nothing is laid over anything.
    pub made: Vec<Source>,
    /// Manifests that are laid over it.
    pub written: Vec<Source>,
}

impl Sides {
    /// Tells sources apart by what was found in them.
    pub(super) fn of(sources: Vec<Source>, found: &Found) -> Self {
        let is_made = |name: &str| found.made.files.contains(name);
        let is_plain = found.contradictions.iter().all(|contradiction| !is_made(&contradiction.written));
        if found.contradictions.is_empty() || !is_plain {
            return Self { made: sources, written: Vec::new() };
        }
        let (made, written) = sources.into_iter().partition(|source| is_made(&source.name));
        Self { made, written }
    }

    /// Reads manifests laid over what a cluster made; returns what was found, with how many sources it came from,
    /// beside everything that is wrong with the sources one by one.
    pub(super) fn found(self) -> ((Found, usize), Vec<Fault>) {
        let note = self.note();
        let ((base, mut faults), (with, further)) = (keep(self.made), keep(self.written));
        faults.extend(further);
        (overlay::found(base, Overlay { with, note, ..Overlay::default() }), faults)
    }

    /// Says which manifests are laid over what runs.
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
