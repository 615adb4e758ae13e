//! Remarks about objects of older versions or other clouds: the place, the change, and the advice. Must never decide
//! anything: remarks are for people.

use std::sync::Arc;

use crate::manifests::{Fault, Segment};

/// Kind of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// A field has a new name, place or form.
    Moved,
    /// A field has no counterpart and is removed.
    Lost,
    /// A former default is written out, or something else is worth knowing.
    Noted,
    /// A field of a valid object has another name on AKS.
    Foreign,
    /// A field of a valid object has no meaning on AKS and is kept.
    Left,
    /// A field that plans ignore exists in no later version and is removed.
    Dropped,
}

/// A remark, located in the original text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Its kind.
    pub sort: Sort,
    /// Its message, with file, line and path.
    pub fault: Fault,
}

/// The current object, and the remarks about it.
pub(super) struct Job<'a> {
    pub(super) file: &'a Arc<str>,
    /// The object as `Kind/name`.
    pub(super) object: String,
    pub(super) remarks: &'a mut Vec<Remark>,
}

impl Job<'_> {
    /// Adds a remark about a field. In the path, `[3]` is the fourth item of a list.
    pub(super) fn say(&mut self, sort: Sort, at: (usize, &[&str]), message: String, hint: Option<String>) {
        let (line, path) = at;
        let segment = |part: &&str| {
            let index = part.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            match index.and_then(|index| index.parse().ok()) {
                Some(index) => Segment::Index(index),
                None => Segment::Key((*part).to_owned()),
            }
        };
        let fault = Fault {
            file: Arc::clone(self.file),
            line,
            path: path.iter().map(segment).collect(),
            object: Some(self.object.clone()),
            message,
            hint,
        };
        self.remarks.push(Remark { sort, fault });
    }

    /// Reports that a field has another name or place.
    pub(super) fn moved(&mut self, at: (usize, &[&str]), now: &str) {
        self.say(Sort::Moved, at, format!("is now {now}"), None);
    }

    /// Reports that a field is removed.
    pub(super) fn lost(&mut self, at: (usize, &[&str]), message: &str, hint: &str) {
        self.say(Sort::Lost, at, message.to_owned(), Some(hint.to_owned()));
    }
}
