//! Selects the files of a revision to read, with the same rules for folders as for files on disk.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;

use super::fault::GitFault;
use super::limits::{DEFINITION_BYTES_MAX, DEPTH_MAX, ENTRIES_MAX};
use super::objects::{Entry, Objects};
use super::repository::Repository;
use super::revision::Revision;
use super::tree::{Target, TargetKind, find, parts, shown};
use crate::manifests::folder::{Foreign, Layout, Tool, Unrendered, layout};
use crate::manifests::source::{
    DUMP_BYTES_MAX, IGNORE_FILE, LeavesOut, is_hidden, is_manifest, is_passed_over,
};

/// What to read of a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Files and folders, from the top of the repository, with `/`; the empty path is the top itself.
    pub paths: Vec<String>,
    /// Whether folders are read recursively.
    pub is_recursive: bool,
}

/// A file of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The path from the top of the repository, with links unresolved.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether it was found in a folder, rather than named.
    pub is_walked: bool,
}

/// Something that exists and was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// A subfolder, because folders are not read recursively.
    Folder(String),
    /// A submodule, with its commit.
    Submodule(String, String),
    /// A link that leads out of the repository.
    Link(String),
}

/// Result of the read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The files, without duplicates, in the order of the requested paths.
    pub files: Vec<FoundFile>,
    /// What exists and was not read, sorted.
    pub unread: BTreeSet<Unread>,
    /// Folders that were not read because kustomize or helm must render them; paths are from the top.
    pub unrendered: Vec<Unrendered>,
    /// Files of other tools in the folders, the first of each; not read.
    pub foreign: BTreeMap<Foreign, String>,
    /// Folders of plans under review, as `REV:path`; not read.
    pub plans: BTreeSet<String>,
    /// The requested folders, as `REV:path`.
    pub folders: Vec<String>,
    /// Folders of vendored dependencies, which are never read.
    pub vendored: Vec<String>,
}

impl Repository {
    /// Returns whether a revision has a file or folder of this path.
    ///
    /// # Errors
    /// It cannot be determined.
    pub fn has(&self, revision: &Revision, path: &str) -> Result<bool, GitFault> {
        match find(Objects { repository: self, revision }, &parts(path.as_bytes())) {
            Ok(_) => Ok(true),
            Err(GitFault::NoPath { .. }) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Reads the manifests of a revision: the named files, and from folders those with a manifest's extension that are
    /// neither hidden nor ignored.
    ///
    /// # Errors
    /// Everything that cannot be read, together.
    pub fn read(
        &self,
        revision: &Revision,
        ask: &Ask,
        ignored: &mut dyn LeavesOut,
    ) -> Result<Found, Vec<GitFault>> {
        let objects = Objects { repository: self, revision };
        let mut walk = Walk {
            objects,
            is_recursive: ask.is_recursive,
            ignored,
            found: Found::default(),
            listed: Vec::new(),
            faults: Vec::new(),
            seen: BTreeSet::new(),
            entries: 0,
            bytes: 0,
        };
        for path in &ask.paths {
            walk.named(&parts(path.as_bytes()));
        }
        if walk.faults.is_empty() { Ok(walk.found) } else { Err(walk.faults) }
    }
}

/// A file of a folder, before it is decided whether to read it.
struct Listed {
    /// The path with links unresolved.
    path: Vec<BString>,
    /// The path without links.
    real: Vec<BString>,
    id: ObjectId,
}

struct Walk<'a> {
    objects: Objects<'a>,
    is_recursive: bool,
    ignored: &'a mut dyn LeavesOut,
    found: Found,
    /// The files of the current folder and its subfolders.
    listed: Vec<Listed>,
    faults: Vec<GitFault>,
    /// Paths without links that were read, to avoid duplicates.
    seen: BTreeSet<Vec<BString>>,
    entries: usize,
    bytes: u64,
}

impl Walk<'_> {
    /// Reads a path that the user named.
    fn named(&mut self, path: &[BString]) {
        let path: Vec<BString> =
            path.iter().filter(|part| !part.is_empty() && *part != ".").cloned().collect();
        match find(self.objects, &path) {
            Err(fault) => self.faults.push(fault),
            Ok(Target { path: real, kind }) => match kind {
                TargetKind::Folder(id) => {
                    self.ignored.start(&shown(&path));
                    self.come_down(&path);
                    self.found.folders.push(self.objects.place(&shown(&path)));
                    self.folder(&path, real, id);
                    self.sorted_out();
                }
                TargetKind::File(id) => {
                    let name = path.last().map(|name| name.to_str_lossy().into_owned()).unwrap_or_default();
                    if Tool::of_file(&name).is_some() {
                        self.listed.push(Listed { path, real, id });
                        self.sorted_out();
                    } else {
                        self.file(Listed { path, real, id }, false);
                    }
                }
                TargetKind::Submodule(_) => {
                    self.faults.push(GitFault::Submodule { place: self.objects.place(&shown(&path)) });
                }
            },
        }
    }

    /// Enters the parent folders of a named one.
    fn come_down(&mut self, path: &[BString]) {
        for (depth, _) in path.iter().enumerate() {
            let above = path.get(..depth).unwrap_or_default();
            let Ok(Target { kind: TargetKind::Folder(id), .. }) = find(self.objects, above) else { continue };
            if let Ok(entries) = self.objects.folder(&shown(above), id) {
                self.enter(above, &entries);
            }
        }
    }

    /// Enters a folder and reads its ignore rules.
    fn enter(&mut self, path: &[BString], entries: &[Entry]) {
        let file = entries.iter().find(|entry| entry.name == IGNORE_FILE && entry.kind == EntryKind::Blob);
        let rules = file.map(|file| self.objects.bytes(&shown(path), file.id, DEFINITION_BYTES_MAX));
        let rules = rules.and_then(|rules| rules.map_err(|fault| self.faults.push(fault)).ok());
        self.ignored.enter(&shown(path), rules.as_deref());
    }

    fn folder(&mut self, path: &[BString], real: Vec<BString>, id: ObjectId) {
        if !self.seen.insert(real.clone()) {
            return;
        }
        if path.len() > DEPTH_MAX {
            self.too_much(path, "is a folder too deep", u64::try_from(DEPTH_MAX).unwrap_or(u64::MAX));
            return;
        }
        let mut entries = match self.objects.folder(&shown(path), id) {
            Ok(entries) => entries,
            Err(fault) => {
                self.faults.push(fault);
                return;
            }
        };
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        self.enter(path, &entries);
        for entry in entries {
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                if self.entries == ENTRIES_MAX + 1 {
                    let most = u64::try_from(ENTRIES_MAX).unwrap_or(u64::MAX);
                    self.too_much(path, "is among too many files and folders", most);
                }
                return;
            }
            self.entry(path, &real, entry);
        }
        self.ignored.leave();
    }

    fn entry(&mut self, folder: &[BString], real: &[BString], entry: Entry) {
        let name = entry.name.to_str_lossy().into_owned();
        if is_hidden(&name) {
            return;
        }
        let below = |folder: &[BString]| {
            let mut path = folder.to_vec();
            path.push(entry.name.clone());
            path
        };
        let (path, real) = (below(folder), below(real));
        let is_folder = entry.kind == EntryKind::Tree;
        if is_folder && is_passed_over(&name) {
            self.found.vendored.push(self.objects.place(&shown(&path)));
            return;
        }
        if self.ignored.leaves_out(&shown(&path), is_folder) {
            return;
        }
        match entry.kind {
            EntryKind::Tree => self.inner_folder(&path, real, entry.id),
            EntryKind::Blob | EntryKind::BlobExecutable => {
                self.listed.push(Listed { path, real, id: entry.id });
            }
            EntryKind::Link => self.link(&path, is_manifest(&name)),
            EntryKind::Commit => self.submodule(&path, entry.id),
        }
    }

    fn inner_folder(&mut self, path: &[BString], real: Vec<BString>, id: ObjectId) {
        if self.is_recursive {
            self.folder(path, real, id);
        } else {
            self.found.unread.insert(Unread::Folder(self.objects.place(&shown(path))));
        }
    }

    fn submodule(&mut self, path: &[BString], id: ObjectId) {
        self.found.unread.insert(Unread::Submodule(self.objects.place(&shown(path)), id.to_string()));
    }

    /// Treats a link like its target, as on disk.
    fn link(&mut self, path: &[BString], is_manifest: bool) {
        match find(self.objects, path) {
            Ok(Target { path: real, kind }) => match kind {
                TargetKind::Folder(id) => self.inner_folder(path, real, id),
                TargetKind::File(id) => self.listed.push(Listed { path: path.to_vec(), real, id }),
                TargetKind::Submodule(id) => self.submodule(path, id),
            },
            Err(GitFault::LeadsOut { place }) if !is_manifest => {
                self.found.unread.insert(Unread::Link(place));
            }
            // Dangling links without a manifest's name are ignored.
            Err(GitFault::NoPath { .. } | GitFault::LinkLoop { .. }) if !is_manifest => {}
            Err(fault) => self.faults.push(fault),
        }
    }

    /// Reads the manifests among the listed files, and records what must be rendered.
    fn sorted_out(&mut self) {
        let listed = std::mem::take(&mut self.listed);
        let paths: Vec<String> = listed.iter().map(|file| shown(&file.path)).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let objects = self.objects;
        let definition = |index: usize| {
            let (path, file) = (paths.get(index)?, listed.get(index)?);
            String::from_utf8(objects.bytes(path, file.id, DEFINITION_BYTES_MAX).ok()?).ok()
        };
        let Layout { manifests, unrendered, foreign, plans } = layout(&paths, definition);
        let is_read: BTreeSet<usize> = manifests.into_iter().collect();
        for (_, file) in listed.into_iter().enumerate().filter(|(index, _)| is_read.contains(index)) {
            self.file(file, true);
        }
        // Subfolders of a folder to render are not read, with or without `-R`.
        let roots: Vec<String> = unrendered.iter().map(|root| self.objects.place(&root.folder)).collect();
        let is_part = |folder: &str| {
            roots
                .iter()
                .any(|root| folder.strip_prefix(root.as_str()).is_some_and(|rest| rest.starts_with('/')))
        };
        self.found.unread.retain(|unread| !matches!(unread, Unread::Folder(folder) if is_part(folder)));
        self.found.unrendered.extend(unrendered);
        self.found.foreign.extend(foreign);
        self.found.plans.extend(plans.iter().map(|folder| self.objects.place(folder)));
    }

    /// Reads a file, which was named or found in a folder.
    fn file(&mut self, Listed { path, real, id }: Listed, is_walked: bool) {
        if !self.seen.insert(real) {
            return;
        }
        let shown = shown(&path);
        // All files together are limited to the size of one dump.
        match self.objects.bytes(&shown, id, DUMP_BYTES_MAX.saturating_sub(self.bytes)) {
            Ok(bytes) if bytes.starts_with(LFS_POINTER) => {
                self.faults.push(GitFault::LfsPointer { place: self.objects.place(&shown) });
            }
            Ok(bytes) => {
                self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                self.found.files.push(FoundFile { path: shown, bytes, is_walked });
            }
            Err(fault) => self.faults.push(fault),
        }
    }

    fn too_much(&mut self, path: &[BString], what: &str, most: u64) {
        let place = self.objects.place(&shown(path));
        self.faults.push(GitFault::TooMuch { place, what: what.to_owned(), most });
    }
}

/// First bytes of every Git LFS pointer.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
