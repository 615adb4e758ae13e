//! Reports named or adjacent files that were not read, in one place, so that nothing is skipped silently.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::exit::Failure;
use super::super::ui::Ui;
use crate::manifests::folder::Foreign;
use crate::render::words::count;

/// Maximum number of names in a line.
const NAMED_MAX: usize = 3;

/// Files that were read and files that were not, by name.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct PassedBy {
    /// Subfolders not read because `-R` was not given, as shown.
    pub(super) unread_folders: Vec<String>,
    /// Paths excluded by `--exclude` and `.nodeformignore`.
    pub(super) left_out: Vec<String>,
    /// Folders that are never entered.
    pub(super) vendored: Vec<String>,
    /// Files of other tools in the folders, the first of each tool.
    pub(super) foreign: BTreeMap<Foreign, String>,
    /// Folders of reviewed plans.
    pub(super) plans: BTreeSet<String>,
    /// Folders that were searched.
    pub(super) folders: Vec<String>,
    /// Names of the sources that were read, as in messages.
    pub(super) read: BTreeSet<String>,
}

impl PassedBy {
    /// Adds the skipped files of another input.
    pub(in super::super) fn append(&mut self, mut other: Self) {
        self.unread_folders.append(&mut other.unread_folders);
        self.left_out.append(&mut other.left_out);
        self.vendored.append(&mut other.vendored);
        self.foreign.append(&mut other.foreign);
        self.plans.append(&mut other.plans);
        self.folders.append(&mut other.folders);
        self.read.append(&mut other.read);
    }

    /// Reports skipped files. `strays` are the sources of documents that are not objects.
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

    /// Reports skipped folders of reviewed plans.
    pub(in super::super) fn say_plans(&self, ui: Ui) {
        if !self.plans.is_empty() {
            let (noun, plans) = (folders_of(&self.plans), listed(self.plans.iter()));
            ui.aside(&format!("note: skipped {noun} of reviewed plans: {plans}\n"));
        }
    }

    /// Returns the failure for an input without objects: what was read, what was not, and why.
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
