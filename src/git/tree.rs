//! Resolves paths of a revision, following links inside the tree.

use std::collections::VecDeque;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;

use super::fault::GitFault;
use super::limits::{LINK_BYTES_MAX, LINKS_MAX};
use super::objects::Objects;

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The path without links, from the top of the repository.
    pub(super) path: Vec<BString>,
    /// Its kind.
    pub(super) kind: TargetKind,
}

/// Kind of the target of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// A folder.
    Folder(ObjectId),
    /// A file.
    File(ObjectId),
    /// Another repository, at this commit.
    Submodule(ObjectId),
}

/// Formats a path for display; invalid UTF-8 is replaced.
pub(super) fn shown(path: &[BString]) -> String {
    path.iter().map(|part| part.to_str_lossy()).collect::<Vec<_>>().join("/")
}

/// Splits a path at its slashes.
pub(super) fn parts(path: &[u8]) -> Vec<BString> {
    path.split(|byte| *byte == b'/').map(BString::from).collect()
}

/// Resolves a path.
///
/// # Errors
/// It does not exist, leads out of the repository, links form a cycle, or an object is missing.
pub(super) fn find(objects: Objects<'_>, path: &[BString]) -> Result<Target, GitFault> {
    let mut finder =
        Finder { objects, asked: path, folders: vec![objects.revision.tree], real: Vec::new(), links: 0 };
    let mut todo: VecDeque<BString> = path.iter().cloned().collect();
    while let Some(part) = todo.pop_front() {
        if let Some(kind) = finder.step(part, &mut todo)? {
            // A file may only be followed by slashes.
            let rest: Vec<BString> = todo.into_iter().filter(|part| !part.is_empty()).collect();
            return match (kind, rest.is_empty()) {
                (kind, true) | (kind @ TargetKind::Submodule(_), false) => {
                    Ok(Target { path: finder.real, kind })
                }
                (TargetKind::File(_) | TargetKind::Folder(_), false) => {
                    Err(GitFault::NoPath { place: finder.place() })
                }
            };
        }
    }
    let Finder { folders, real, .. } = finder;
    let folder = folders.last().copied().unwrap_or(objects.revision.tree);
    Ok(Target { path: real, kind: TargetKind::Folder(folder) })
}

struct Finder<'a> {
    objects: Objects<'a>,
    asked: &'a [BString],
    /// The folders on the way, from the top.
    folders: Vec<ObjectId>,
    /// Their names, followed by the file's.
    real: Vec<BString>,
    links: usize,
}

impl Finder<'_> {
    fn place(&self) -> String {
        self.objects.place(&shown(self.asked))
    }

    /// Resolves one more path component; returns its kind if it is not a folder.
    fn step(&mut self, part: BString, todo: &mut VecDeque<BString>) -> Result<Option<TargetKind>, GitFault> {
        if part.is_empty() || part == "." {
            return Ok(None);
        }
        if part == ".." {
            if self.real.pop().is_none() {
                return Err(GitFault::LeadsOut { place: self.place() });
            }
            self.folders.pop();
            return Ok(None);
        }
        let folder = self.folders.last().copied().unwrap_or(self.objects.revision.tree);
        let entries = self.objects.folder(&shown(&self.real), folder)?;
        let Some(entry) = entries.into_iter().find(|entry| entry.name == part) else {
            return Err(GitFault::NoPath { place: self.place() });
        };
        if entry.kind == EntryKind::Link {
            self.follow(&part, entry.id, todo)?;
            return Ok(None);
        }
        self.real.push(part);
        match entry.kind {
            EntryKind::Tree => {
                self.folders.push(entry.id);
                Ok(None)
            }
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                Ok(Some(TargetKind::File(entry.id)))
            }
            EntryKind::Commit => Ok(Some(TargetKind::Submodule(entry.id))),
        }
    }

    fn follow(&mut self, link: &BString, id: ObjectId, todo: &mut VecDeque<BString>) -> Result<(), GitFault> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(GitFault::LinkLoop { place: self.place() });
        }
        let mut path = self.real.clone();
        path.push(link.clone());
        let target = self.objects.bytes(&shown(&path), id, LINK_BYTES_MAX)?;
        if target.first() == Some(&b'/') {
            return Err(GitFault::LeadsOut { place: self.place() });
        }
        for part in parts(&target).into_iter().rev() {
            todo.push_front(part);
        }
        Ok(())
    }
}
