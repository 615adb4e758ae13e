//! The ways in: what was named on the command line, and the bytes behind it.
//!
//! Each way in is an [`Origin`]; each origin has a reader of its own. What the bytes mean is `manifests`'
//! business.

mod files;
mod unrendered;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::Failure;
use crate::manifests::Source;
use crate::manifests::folder::{self, Foreign, Unrendered};

/// Where manifests come from.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct InputArguments {
    /// Files or folders with manifests; `-` is standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,
    /// The same as INPUT, as in kubectl; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "INPUT")]
    pub(super) filenames: Vec<PathBuf>,
    /// Read folders with all folders in them
    #[arg(short = 'R', long)]
    pub(super) recursive: bool,
}

/// One way in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// `-`.
    StandardInput,
    /// A folder with files.
    Folder(PathBuf),
    /// A file, or a path that leads nowhere.
    File(PathBuf),
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The files' bytes.
    pub(super) sources: Vec<Source>,
    /// Folders in folders that were not read, since `-R` was not given, as they are shown.
    pub(super) unread_folders: Vec<String>,
    /// Folders that were not read, since kustomize or helm has to render them.
    unrendered: Vec<Unrendered>,
    /// Files of other tools in the folders, the first of each; they are not read.
    foreign: BTreeMap<Foreign, String>,
}

impl Origin {
    /// Returns the way in that a path on the command line means.
    #[must_use]
    fn of(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            Self::StandardInput
        } else if path.is_dir() {
            Self::Folder(path.to_owned())
        } else {
            Self::File(path.to_owned())
        }
    }
}

impl InputArguments {
    /// Returns whether no input was named.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.filenames.is_empty()
    }

    /// Returns whether this existing file was named as an input.
    #[must_use]
    pub(super) fn reads(&self, file: &Path) -> bool {
        files::is_among(file, self.inputs.iter().chain(&self.filenames))
    }

    /// Returns the ways in, in the order in which they were named.
    #[must_use]
    fn origins(&self) -> Vec<Origin> {
        self.inputs.iter().chain(&self.filenames).map(|path| Origin::of(path)).collect()
    }

    /// Returns what is read beside the folders to render: the inputs in which none of these lies, as they were
    /// named, and the folders of the manifests in the others.
    fn shown_beside(&self, inputs: &Inputs) -> BTreeSet<String> {
        let is_beside = |path: &&PathBuf| {
            let apart = |root: &Unrendered| {
                !Path::new(&root.folder).starts_with(path) && !path.starts_with(&root.folder)
            };
            path.as_os_str() != "-" && inputs.unrendered.iter().all(apart)
        };
        let named: Vec<&PathBuf> = self.inputs.iter().chain(&self.filenames).filter(is_beside).collect();
        let is_within = |name: &str| named.iter().any(|path| Path::new(name).starts_with(path));
        let names = inputs.sources.iter().map(|source| source.name.as_str());
        let others = names.filter(|name| !name.starts_with('<') && !is_within(name)).map(folder::parent);
        named.iter().map(|path| path.display().to_string()).chain(others.map(str::to_owned)).collect()
    }

    /// Reads everything that was named, folders in the order of their files' names, each file once.
    ///
    /// # Errors
    /// Everything that cannot be read, at once.
    pub(super) fn read(&self) -> Result<Inputs, Failure> {
        let inputs = files::read(&self.origins(), self.recursive)?;
        if !inputs.unrendered.is_empty() {
            return Err(unrendered::refused(&inputs.unrendered, &self.shown_beside(&inputs)));
        }
        if !inputs.sources.is_empty() {
            return Ok(inputs);
        }
        if !inputs.foreign.is_empty() {
            return Err(unrendered::foreign(&inputs.foreign));
        }
        let failure = Failure::error("no file to read: the folders hold no `.yaml`, `.yml` or `.json` file");
        Err(if inputs.unread_folders.is_empty() {
            failure
        } else {
            failure.hint("add `-R` to read the folders inside them as well")
        })
    }
}
