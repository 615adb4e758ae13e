//! Exports a revision's whole tree as files of a folder, for tools that can read nothing else.
//!
//! Objects come only from the object database: no filter, no hook, no network. Names that would lead out of the folder
//! are refused, links that lead out of the tree are left out, and existing files are never overwritten.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;

use super::fault::GitFault;
use super::limits::{DEPTH_MAX, ENTRIES_MAX, LINK_BYTES_MAX};
use super::objects::{Entry, Objects};
use super::repository::Repository;
use super::revision::Revision;
use super::tree::{find, shown};
use crate::manifests::source::DUMP_BYTES_MAX;

impl Repository {
    /// Writes every file of a revision into an existing empty folder. Submodules become empty folders.
    ///
    /// # Errors
    /// The first object that cannot be read, or file that cannot be written.
    pub fn export(&self, revision: &Revision, folder: &Path) -> Result<(), GitFault> {
        let objects = Objects { repository: self, revision };
        let mut export = Export { objects, entries: 0, bytes: 0 };
        export.folder(&[], revision.tree, folder)
    }
}

struct Export<'a> {
    objects: Objects<'a>,
    entries: usize,
    bytes: u64,
}

impl Export<'_> {
    fn folder(&mut self, path: &[BString], id: ObjectId, to: &Path) -> Result<(), GitFault> {
        if path.len() > DEPTH_MAX {
            return Err(self.too_much(path, "is a folder too deep", DEPTH_MAX));
        }
        for Entry { name, kind, id } in self.objects.folder(&shown(path), id)? {
            let mut path = path.to_vec();
            path.push(name);
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(self.too_much(&path, "is among too many files and folders", ENTRIES_MAX));
            }
            let target = self.target(&path, to)?;
            match kind {
                EntryKind::Tree => {
                    fs::create_dir(&target).map_err(|error| self.unwritable(&path, &error))?;
                    self.folder(&path, id, &target)?;
                }
                EntryKind::Commit => {
                    fs::create_dir(&target).map_err(|error| self.unwritable(&path, &error))?;
                }
                EntryKind::Blob | EntryKind::BlobExecutable => self.file(&path, id, &target)?,
                EntryKind::Link => self.link(&path, id, &target)?,
            }
        }
        Ok(())
    }

    /// Returns where an entry is written: its name must be a single path component.
    fn target(&self, path: &[BString], folder: &Path) -> Result<PathBuf, GitFault> {
        let name = path.last().map(|name| name.to_str()).and_then(Result::ok);
        let is_name = |name: &&str| !matches!(*name, "" | "." | "..") && !name.contains(['/', '\\', '\0']);
        match name.filter(is_name) {
            Some(name) => Ok(folder.join(name)),
            None => Err(GitFault::Unreadable {
                place: self.objects.place(&shown(path)),
                because: "its name is no name of a file".to_owned(),
            }),
        }
    }

    fn file(&mut self, path: &[BString], id: ObjectId, target: &Path) -> Result<(), GitFault> {
        // All files together are limited to the size of one dump.
        let bytes = self.objects.bytes(&shown(path), id, DUMP_BYTES_MAX.saturating_sub(self.bytes))?;
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let file = fs::OpenOptions::new().write(true).create_new(true).open(target);
        file.and_then(|mut file| file.write_all(&bytes)).map_err(|error| self.unwritable(path, &error))
    }

    /// Writes a link that stays in the tree.
    fn link(&self, path: &[BString], id: ObjectId, target: &Path) -> Result<(), GitFault> {
        if find(self.objects, path).is_err() {
            return Ok(());
        }
        let leads_to = self.objects.bytes(&shown(path), id, LINK_BYTES_MAX)?;
        let Ok(leads_to) = leads_to.to_str() else { return Ok(()) };
        linked(leads_to, target).map_err(|error| self.unwritable(path, &error))
    }

    fn too_much(&self, path: &[BString], what: &str, most: usize) -> GitFault {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        GitFault::TooMuch { place: self.objects.place(&shown(path)), what: what.to_owned(), most }
    }

    fn unwritable(&self, path: &[BString], error: &std::io::Error) -> GitFault {
        let because = format!("it cannot be written to a temporary folder: {error}");
        GitFault::Unreadable { place: self.objects.place(&shown(path)), because }
    }
}

#[cfg(unix)]
fn linked(leads_to: &str, target: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(leads_to, target)
}

#[cfg(not(unix))]
fn linked(_: &str, _: &Path) -> std::io::Result<()> {
    Ok(())
}
