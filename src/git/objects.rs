//! Objects by id, with faults for missing and too large ones.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;

use super::fault::GitFault;
use super::limits::FOLDER_BYTES_MAX;
use super::repository::{Repository, said};
use super::revision::Revision;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name, as bytes like in Git.
    pub(super) name: BString,
    /// Its kind.
    pub(super) kind: EntryKind,
    /// Its object.
    pub(super) id: ObjectId,
}

/// The objects of one revision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Objects<'a> {
    pub(super) repository: &'a Repository,
    pub(super) revision: &'a Revision,
}

impl Objects<'_> {
    /// Returns the name of a path in messages.
    pub(super) fn place(&self, path: &str) -> String {
        format!("{}:{path}", self.revision.name)
    }

    /// Returns the entries of a folder.
    pub(super) fn folder(&self, path: &str, id: ObjectId) -> Result<Vec<Entry>, GitFault> {
        let unreadable = |error: &dyn std::error::Error| self.unreadable(path, error);
        self.is_within(path, id, FOLDER_BYTES_MAX)?;
        let object = self.repository.inner.try_find_object(id).map_err(|error| unreadable(&error))?;
        let object = object.ok_or_else(|| self.missing(path, id))?;
        let tree = object.try_into_tree().map_err(|error| unreadable(&error))?;
        let entry = |entry: gix::object::tree::EntryRef<'_, '_>| Entry {
            name: entry.filename().to_owned(),
            kind: entry.mode().kind(),
            id: entry.object_id(),
        };
        tree.iter().map(|found| found.map(entry).map_err(|error| unreadable(&error))).collect()
    }

    /// Returns the bytes of a file or a link; their number is checked before decompression.
    pub(super) fn bytes(&self, path: &str, id: ObjectId, most: u64) -> Result<Vec<u8>, GitFault> {
        let unreadable = |error: &dyn std::error::Error| self.unreadable(path, error);
        self.is_within(path, id, most)?;
        let object = self.repository.inner.try_find_object(id).map_err(|error| unreadable(&error))?;
        Ok(object.ok_or_else(|| self.missing(path, id))?.detach().data)
    }

    /// Checks the size of an object before decompression.
    fn is_within(&self, path: &str, id: ObjectId, most: u64) -> Result<(), GitFault> {
        let header =
            self.repository.inner.try_find_header(id).map_err(|error| self.unreadable(path, &error))?;
        let size = header.ok_or_else(|| self.missing(path, id))?.size();
        match size > most {
            true => {
                Err(GitFault::TooMuch { place: self.place(path), what: format!("has {size} bytes"), most })
            }
            false => Ok(()),
        }
    }

    fn missing(&self, path: &str, id: ObjectId) -> GitFault {
        GitFault::Missing { id: id.to_string(), place: self.place(path), extent: self.repository.extent() }
    }

    fn unreadable(&self, path: &str, error: &dyn std::error::Error) -> GitFault {
        GitFault::Unreadable { place: self.place(path), because: said(error) }
    }
}
