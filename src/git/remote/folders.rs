//! The plans of a branch: their folders, and the files of one. Links are not followed, and what is too large is not read.

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::EntryKind;

use super::super::fault::GitFault;
use super::super::objects::{Entry, Objects};
use super::address::FolderPath;
use super::clone::{Clone, Tip};
use super::fault::RemoteFault;
use crate::review::proposal::{Content, DESTROYS, FILE_BYTES_MAX, MARKDOWN, PLAN, is_month};

/// Something in the folder of a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// The month's folder.
    pub month: String,
    /// The name; what is no UTF-8, and what a terminal would obey, is replaced.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    id: ObjectId,
}

/// A file of a plan's folder, or what stands in the place of one.
pub type PlanFile = (String, Content);

/// A name as it may be shown. No plan has one in which something is replaced.
fn plain(name: &BString) -> String {
    let letters = name.chars();
    letters.map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter }).collect()
}

impl Clone {
    /// Lists what lies in the folders of months, in order of names. What lies beside them is somebody else's.
    ///
    /// # Errors
    /// An object cannot be read.
    pub fn plans(&self, tip: &Tip, path: &FolderPath) -> Result<Vec<PlanEntry>, RemoteFault> {
        let objects = self.objects(tip);
        let mut folder = tip.revision.tree;
        for part in path.parts() {
            let entries = objects.folder(&path.to_string(), folder)?;
            let next = entries.into_iter().find(|entry| entry.name == part.as_bytes());
            let Some(next) = next.filter(|entry| entry.kind == EntryKind::Tree) else {
                return Ok(Vec::new());
            };
            folder = next.id;
        }
        let mut plans = Vec::new();
        for Entry { name, kind, id } in objects.folder(&path.to_string(), folder)? {
            let Some(month) = name.to_str().ok().filter(|name| is_month(name)) else { continue };
            if kind != EntryKind::Tree {
                continue;
            }
            let entries = objects.folder(&format!("{path}/{month}"), id)?;
            plans.extend(entries.into_iter().map(|Entry { name, kind, id }| PlanEntry {
                month: month.to_owned(),
                name: plain(&name),
                is_folder: kind == EntryKind::Tree,
                id,
            }));
        }
        Ok(plans)
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
        if !matches!(name, MARKDOWN | PLAN | DESTROYS) {
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
