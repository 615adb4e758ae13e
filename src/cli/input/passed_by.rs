//! What was named or lies beside what was read, and was not read: said in one place, so that nothing is left out
//! without a word.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::exit::Failure;
use super::super::ui::Ui;
use crate::manifests::folder::Foreign;
use crate::render::words::count;

/// The most names that a line has.
const NAMED_MAX: usize = 3;

/// What was read and what was not, by name.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct PassedBy {
    /// Folders in folders, since `-R` was not given, as they are shown.
    pub(super) unread_folders: Vec<String>,
    /// What `--exclude` and `.nodeformignore` leave out.
    pub(super) left_out: Vec<String>,
    /// Folders that are never walked into.
    pub(super) vendored: Vec<String>,
    /// Files of other tools in the folders, the first of each.
    pub(super) foreign: BTreeMap<Foreign, String>,
    /// Folders of plans that people review.
    pub(super) plans: BTreeSet<String>,
    /// Folders that were looked into.
    pub(super) folders: Vec<String>,
    /// What was read, by the name that messages call it.
    pub(super) read: BTreeSet<String>,
}

impl PassedBy {
    /// Adds what another input passed by.
    pub(in super::super) fn append(&mut self, mut other: Self) {
        self.unread_folders.append(&mut other.unread_folders);
        self.left_out.append(&mut other.left_out);
        self.vendored.append(&mut other.vendored);
        self.foreign.append(&mut other.foreign);
        self.plans.append(&mut other.plans);
        self.folders.append(&mut other.folders);
        self.read.append(&mut other.read);
    }

    /// Says what was not read. `strays` are the sources of documents that are no objects.
    pub(in super::super) fn say(&self, strays: &BTreeSet<Arc<str>>, ui: Ui) {
        if !strays.is_empty() {
            ui.aside(&format!("note: skipped, no Kubernetes objects: {}\n", listed(strays.iter())));
        }
        self.say_plans(ui);
        if !self.unread_folders.is_empty() {
            let folders = listed(self.unread_folders.iter());
            ui.aside(&format!("warning: not read, since `-R` was not given: {folders}\n"));
        }
    }

    /// Says which folders of reviewed plans were not read.
    pub(in super::super) fn say_plans(&self, ui: Ui) {
        if !self.plans.is_empty() {
            let (noun, plans) = (folders_of(&self.plans), listed(self.plans.iter()));
            ui.aside(&format!("note: skipped {noun} of reviewed plans: {plans}\n"));
        }
    }

    /// The failure of an input without any object: what was read, what was not, and why.
    pub(in super::super) fn nothing_found(&self, strays: &BTreeSet<Arc<str>>) -> Failure {
        let Self { unread_folders, left_out, vendored, foreign, plans, folders, read } = self;
        let mut parts = Vec::new();
        if !strays.is_empty() {
            let noun = if strays.len() == 1 { "file" } else { "files" };
            parts.push(format!("{} {noun} without a kind ({})", strays.len(), listed(strays.iter())));
        }
        let empty: Vec<&String> = read.iter().filter(|name| !strays.contains(name.as_str())).collect();
        if !empty.is_empty() {
            parts.push(format!("nothing in {}", listed(empty.into_iter())));
        }
        if read.is_empty() && !folders.is_empty() {
            parts.push(format!("no file ending in .yaml, .yml or .json in {}", listed(folders.iter())));
        }
        for (tool, file) in foreign {
            parts.push(format!("files of {} (`{file}`) are no manifests", tool.as_str()));
        }
        if !plans.is_empty() {
            parts.push(format!("{} of reviewed plans, skipped: {}", folders_of(plans), listed(plans.iter())));
        }
        for (why, paths) in [
            ("not read, since `-R` was not given", unread_folders),
            ("left out by `--exclude` or `.nodeformignore`", left_out),
            ("never read in folders", vendored),
        ] {
            if !paths.is_empty() {
                parts.push(format!("{why}: {}", listed(paths.iter())));
            }
        }
        let failure = Failure::error(format!("no object of Kubernetes: {}", parts.join("; ")));
        self.hinted(failure, !strays.is_empty())
    }

    fn hinted(&self, mut failure: Failure, has_strays: bool) -> Failure {
        if self.read.contains(super::STANDARD_INPUT) {
            failure = failure.hint("check whether the command before the pipe failed");
        }
        failure = self.foreign.keys().fold(failure, |failure, tool| failure.hint(tool.hint()));
        if !self.unread_folders.is_empty() {
            failure.hint("add `-R` to read the folders inside as well")
        } else if has_strays || self.foreign.is_empty() {
            failure.hint("name files or folders with manifests, or a dump of a cluster")
        } else {
            failure
        }
    }
}

fn folders_of(plans: &BTreeSet<String>) -> String {
    count(plans.len(), "folder")
}

/// Lists the first few names.
pub(in super::super) fn listed<T: AsRef<str>>(names: impl ExactSizeIterator<Item = T>) -> String {
    let count = names.len();
    let shown: Vec<String> = names.take(NAMED_MAX).map(|name| format!("`{}`", name.as_ref())).collect();
    match count.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
