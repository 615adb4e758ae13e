//! What is said about an object of an older guide, or of another cloud's: where, what, and what to do.
//! Must never decide anything: a remark is for people.

use std::sync::Arc;

use crate::manifests::{Fault, Segment};

/// What a remark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// Something has another name, place or form now.
    Moved,
    /// Something has no counterpart and is left out.
    Lost,
    /// Something was implied before and is written out, or is worth knowing.
    Noted,
    /// Something in an object that is valid has another name on AKS.
    Foreign,
    /// Something in an object that is valid has no meaning on AKS, and stays as it is.
    Left,
    /// Something in an object that is planned without it is in no later version, and is left out.
    Dropped,
}

/// A remark, with its place in the text as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it says.
    pub sort: Sort,
    /// The words, with file, line and path.
    pub fault: Fault,
}

/// The object that is looked at, and what is said about it.
pub(super) struct Job<'a> {
    pub(super) file: &'a Arc<str>,
    /// The object as `Kind/name`.
    pub(super) object: String,
    pub(super) remarks: &'a mut Vec<Remark>,
}

impl Job<'_> {
    /// Adds a remark about a field. In the path `[3]` is the fourth item of a list.
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

    /// Says that a field has another name or place.
    pub(super) fn moved(&mut self, at: (usize, &[&str]), now: &str) {
        self.say(Sort::Moved, at, format!("is now {now}"), None);
    }

    /// Says that a field is left out.
    pub(super) fn lost(&mut self, at: (usize, &[&str]), message: &str, hint: &str) {
        self.say(Sort::Lost, at, message.to_owned(), Some(hint.to_owned()));
    }
}
