//! The plans of a branch: their folders and files. Links are not followed, and files that are too large are not read.

use std::collections::{BTreeSet, VecDeque};

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;

use super::super::fault::GitFault;
use super::super::objects::{Entry, Objects};
use super::address::FolderPath;
use super::clone::{Clone, Tip};
use super::fault::RemoteFault;
use crate::model::shown;
use crate::review::proposal::{Content, FILE_BYTES_MAX, PLAN, is_dated, is_file, is_month, is_plan};

/// An entry in the folder of a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// The month's folder.
    pub month: String,
    /// The name; invalid UTF-8 and control characters are replaced.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    id: ObjectId,
}

/// Maximum number of folders that are searched for misplaced plans.
const LOOKED_MAX: usize = 4_096;

/// Contents of a path of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whether the path is a folder of the branch.
    pub is_there: bool,
    /// The entries in the folders of months.
    pub entries: Vec<PlanEntry>,
}

/// A file of a plan's folder, or what exists in its place.
pub type PlanFile = (String, Content);

/// Returns a name for display. No plan's name contains replaced characters.
fn plain(name: &BString) -> String {
    shown::plain(&name.to_string())
}

impl Clone {
    /// Lists the contents of month folders in order of names, and of folders whose names are mistyped months. Entries
    /// beside them are ignored, unless they have a plan's name.
    ///
    /// # Errors
    /// An object cannot be read.
    pub fn plans(&self, tip: &Tip, path: &FolderPath) -> Result<Found, RemoteFault> {
        let objects = self.objects(tip);
        let mut folder = tip.revision.tree;
        for part in path.parts() {
            let entries = objects.folder(&path.to_string(), folder)?;
            let next = entries.into_iter().find(|entry| entry.name == part.as_bytes());
            let Some(next) = next.filter(|entry| entry.kind == EntryKind::Tree) else {
                return Ok(Found { is_there: false, entries: Vec::new() });
            };
            folder = next.id;
        }
        let mut plans = Vec::new();
        let parent = path.parts().last().map(String::as_str);
        for Entry { name, kind, id } in objects.folder(&path.to_string(), folder)? {
            if kind != EntryKind::Tree {
                continue;
            }
            let month = plain(&name);
            if is_plan(&month) && !parent.is_some_and(is_month) {
                let month = parent.unwrap_or(".").to_owned();
                plans.push(PlanEntry { month, name: plain(&name), is_folder: true, id });
                continue;
            }
            let entries = objects.folder(&format!("{path}/{month}"), id)?.into_iter();
            let entries = entries.map(|Entry { name, kind, id }| PlanEntry {
                month: month.clone(),
                name: plain(&name),
                is_folder: kind == EntryKind::Tree,
                id,
            });
            plans.extend(
                entries.filter(|entry| is_dated(&month) || (entry.is_folder && is_plan(&entry.name))),
            );
        }
        Ok(Found { is_there: true, entries: plans })
    }

    /// Returns the folders of a branch that contain plans in nodeform's layout, sorted; the empty path is the top. Of a
    /// very large tree, only the folders nearest to the top are searched.
    ///
    /// # Errors
    /// An object cannot be read.
    pub fn places(&self, tip: &Tip) -> Result<BTreeSet<String>, RemoteFault> {
        let objects = self.objects(tip);
        let mut places = BTreeSet::new();
        let mut ahead = VecDeque::from([(Vec::<String>::new(), tip.revision.tree)]);
        for _ in 0..LOOKED_MAX {
            let Some((path, id)) = ahead.pop_front() else { break };
            for Entry { name, kind, id } in objects.folder(&path.join("/"), id)? {
                if kind != EntryKind::Tree {
                    continue;
                }
                let name = plain(&name);
                if is_month(&name) && self.holds_plan(objects, id)? {
                    places.insert(path.join("/"));
                } else {
                    ahead.push_back((path.iter().cloned().chain([name]).collect(), id));
                }
            }
        }
        Ok(places)
    }

    /// Returns whether a month's folder contains a plan's folder.
    fn holds_plan(&self, objects: Objects<'_>, month: ObjectId) -> Result<bool, RemoteFault> {
        for entry in objects.folder("", month)?.into_iter().filter(|entry| entry.kind == EntryKind::Tree) {
            if objects.folder("", entry.id)?.iter().any(|entry| entry.name == PLAN.as_bytes()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the files of a plan's folder.
    ///
    /// # Errors
    /// An object cannot be read.
    pub fn files(&self, tip: &Tip, entry: &PlanEntry) -> Result<Vec<PlanFile>, RemoteFault> {
        let PlanEntry { month, name, is_folder, id } = entry;
        let objects = self.objects(tip);
        let place = format!("{month}/{name}");
        if !is_folder {
            return Ok(vec![(place, Content::NoFile)]);
        }
        let mut files = Vec::new();
        for Entry { name, kind, id } in objects.folder(&place, *id)? {
            let name = plain(&name);
            let content = match kind {
                EntryKind::Blob | EntryKind::BlobExecutable => self.content(objects, (&place, &name), id)?,
                EntryKind::Tree | EntryKind::Link | EntryKind::Commit => Content::NoFile,
            };
            files.push((name, content));
        }
        Ok(files)
    }

    fn content(
        &self,
        objects: Objects<'_>,
        (folder, name): (&str, &str),
        id: ObjectId,
    ) -> Result<Content, GitFault> {
        if !is_file(name) {
            return Ok(Content::Bytes(Vec::new()));
        }
        match objects.bytes(&format!("{folder}/{name}"), id, FILE_BYTES_MAX) {
            Ok(bytes) => Ok(Content::Bytes(bytes)),
            Err(GitFault::TooMuch { .. }) => Ok(Content::TooLarge),
            Err(fault) => Err(fault),
        }
    }

    fn objects<'a>(&'a self, tip: &'a Tip) -> Objects<'a> {
        Objects { repository: &self.repository, revision: &tip.revision }
    }
}
