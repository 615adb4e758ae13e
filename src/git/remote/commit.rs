//! A commit that adds one folder to a branch and changes nothing else.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::{Entry, EntryKind};
use gix::objs::{Commit, Tree};
use jiff::Timestamp;

use super::super::fault::GitFault;
use super::super::repository::said;
use super::clone::{Clone, Tip};
use super::fault::RemoteFault;

/// Name of the committer.
const COMMITTER: &str = "nodeform";
/// Email of the committer, by which a branch's tip is recognized as nodeform's own.
pub const COMMITTER_EMAIL: &str = "nodeform@nodeform.dev";

/// A file in a parent folder of the added one, created if it does not exist.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// Depth of its folder.
    pub depth: usize,
    /// Its name.
    pub name: &'static str,
    /// Its content.
    pub text: &'a str,
}

/// The addition of a commit.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// The folder's path, from the top.
    pub path: &'a [String],
    /// Its files.
    pub files: &'a [(&'static str, String)],
    /// The file that is added beside the folder.
    pub beside: Beside<'a>,
    /// The commit message.
    pub message: &'a str,
    /// The commit time.
    pub at: Timestamp,
}

impl Clone {
    /// Creates a commit whose only parent is the target, with the target's files plus one folder: however it is merged,
    /// the target gets only this folder. Returns its id. It exists only in the clone.
    ///
    /// # Errors
    /// A part of the path exists and is not a folder, or objects cannot be read or written.
    pub fn commit(&self, target: &Tip, addition: Addition<'_>) -> Result<String, RemoteFault> {
        let Addition { path, message, at, .. } = addition;
        let tree = self.with_folder(Some(target.revision.tree), 0, addition)?;
        let signature = gix::actor::Signature {
            name: COMMITTER.into(),
            email: COMMITTER_EMAIL.into(),
            time: gix::date::Time { seconds: at.as_second(), offset: 0 },
        };
        let commit = Commit {
            tree,
            parents: std::iter::once(target.id).collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: message.into(),
            extra_headers: Vec::new(),
        };
        let written = self.repository.inner.write_object(&commit);
        let place = path.join("/");
        Ok(written
            .map_err(|error| GitFault::Unreadable { place, because: said(&error) })?
            .detach()
            .to_string())
    }

    /// Returns a tree with the new folder at the rest of the path.
    fn with_folder(
        &self,
        tree: Option<ObjectId>,
        depth: usize,
        addition: Addition<'_>,
    ) -> Result<ObjectId, RemoteFault> {
        let Addition { path, files, beside, .. } = addition;
        let place = path.get(..depth).unwrap_or_default().join("/");
        let unreadable = |because: String| GitFault::Unreadable { place: place.clone(), because };
        let repository = &self.repository.inner;
        let mut entries: Vec<Entry> = match tree {
            Some(id) => {
                let tree = repository.find_tree(id).map_err(|error| unreadable(said(&error)))?;
                let tree = tree.decode().map_err(|error| unreadable(said(&error)))?;
                tree.entries.iter().map(|entry| (*entry).into()).collect()
            }
            None => Vec::new(),
        };
        match path.get(depth) {
            Some(name) => {
                let before = entries.iter().position(|entry| entry.filename == name.as_bytes());
                let before = before.map(|place| entries.remove(place));
                if before.as_ref().is_some_and(|entry| entry.mode.kind() != EntryKind::Tree) {
                    return Err(unreadable(format!("`{name}` is there and is no folder")).into());
                }
                let oid = self.with_folder(before.map(|entry| entry.oid), depth + 1, addition)?;
                entries.push(Entry {
                    mode: EntryKind::Tree.into(),
                    filename: BString::from(name.as_str()),
                    oid,
                });
            }
            None => {
                if !entries.is_empty() {
                    return Err(unreadable("the folder is there already".to_owned()).into());
                }
                for (name, text) in files {
                    let blob = repository.write_blob(text).map_err(|error| unreadable(said(&error)))?;
                    let (mode, oid) = (EntryKind::Blob.into(), blob.detach());
                    entries.push(Entry { mode, filename: BString::from(*name), oid });
                }
            }
        }
        let is_there = entries.iter().any(|entry| entry.filename == beside.name.as_bytes());
        if depth == beside.depth && !is_there {
            let blob = repository.write_blob(beside.text).map_err(|error| unreadable(said(&error)))?;
            let (mode, oid) = (EntryKind::Blob.into(), blob.detach());
            entries.push(Entry { mode, filename: BString::from(beside.name), oid });
        }
        entries.sort();
        let written = repository.write_object(&Tree { entries });
        Ok(written.map_err(|error| unreadable(said(&error)))?.detach())
    }
}
