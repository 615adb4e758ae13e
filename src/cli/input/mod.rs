//! Inputs: the sources named on the command line, and their bytes.
//!
//! Each source is an [`Origin`]; each origin has its own reader. Parsing is the task of `manifests`.

mod checkout;
mod files;
mod ignored;
mod kubectl;
mod passed_by;
mod render;
#[cfg(feature = "git")]
mod revision;
mod unrendered;

pub(super) use files::real;
pub(super) use kubectl::{KubectlArguments, Listing};
pub(super) use passed_by::{PassedBy, listed};

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::Failure;
use super::headings;
use crate::manifests::Source;
use crate::manifests::folder::Unrendered;
use crate::snapshot::Gap;
use crate::upgrade::{Upgraded, upgrade};
use checkout::Checkout;
use files::{Purpose, Walking};
use ignored::Ignored;
use render::{Rendered, Rendering, Unrenderable};

/// What messages call the source that standard input is.
pub(super) const STANDARD_INPUT: &str = "<stdin>";

/// Where manifests come from.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct InputArguments {
    /// Files or folders with manifests; `-` is standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,
    /// The same as INPUT, as in kubectl; repeatable
    #[arg(short = 'f', long = "filename", value_name = "INPUT", help_heading = headings::INPUT)]
    pub(super) filenames: Vec<PathBuf>,
    /// Read folders with their subfolders
    #[arg(short = 'R', long, help_heading = headings::INPUT)]
    pub(super) recursive: bool,
    /// Leave these files and folders out, as a `.gitignore` does; repeatable
    ///
    /// A file `.nodeformignore` in a folder does the same
    #[arg(long, value_name = "GLOB", help_heading = headings::INPUT)]
    pub(super) exclude: Vec<String>,
    /// Render folders of kustomize and helm with this machine's tools
    ///
    /// The `kustomize`, `kubectl` or `helm` of this machine renders them, also those of `--git`
    #[arg(long, help_heading = headings::INPUT)]
    pub(super) render: bool,
    /// Render charts with these values; repeatable, the last one wins
    #[arg(long, value_name = "FILE", requires = "render", help_heading = headings::INPUT)]
    pub(super) helm_values: Vec<PathBuf>,
    #[cfg(feature = "git")]
    #[command(flatten)]
    pub(super) git: revision::GitArguments,
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
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// What people call it where two inputs stand side by side.
    pub(super) name: String,
    /// The commit, of a revision of Git.
    pub(super) commit: Option<String>,
    /// The files.
    pub(super) files: Vec<InputFile>,
    /// Folders that were not read, since kustomize or helm has to render them.
    unrendered: Vec<ToRender>,
    /// The names of files that kustomize or helm makes manifests of, where they are read to be rewritten.
    pub(super) parts: BTreeSet<String>,
    /// Folders that could not be rendered, though that was asked for.
    unrenderable: Vec<Unrenderable>,
    /// The names of sources that were rendered, each with the command that made it.
    pub(super) rendered: BTreeMap<String, String>,
    /// What is there and could not be read, beside folders that could not be rendered.
    pub(super) gaps: Vec<Gap>,
    /// What was named or lies beside it, and was not read.
    pub(super) passed_by: PassedBy,
    /// Whether nothing came from standard input, though it was named.
    is_standard_input_blank: bool,
    /// The files and folders that were read, every link followed.
    pub(super) read: BTreeSet<PathBuf>,
}

/// A folder that kustomize or helm has to render.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ToRender {
    /// Its path from what was named; empty where it was named itself.
    place: String,
    /// The folder.
    folder: Unrendered,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(super) struct InputFile {
    /// Its path from what was named: what it is called on both sides of a comparison.
    pub(super) place: String,
    /// Its name in messages, and its bytes.
    pub(super) source: Source,
}

/// What is planned, and what it is compared to.
#[derive(Debug)]
pub(super) struct Sides {
    /// The input that the change starts from, where there is one.
    pub(super) before: Option<Inputs>,
    /// The input that is planned.
    pub(super) after: Inputs,
}

impl Sides {
    /// Returns the files and folders of both sides, every link followed.
    #[must_use]
    pub(super) fn read(&self) -> BTreeSet<PathBuf> {
        let Self { before, after } = self;
        before.iter().chain([after]).flat_map(|side| &side.read).cloned().collect()
    }
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

impl Inputs {
    /// Returns the input with the files of a revision called as they are in its work tree.
    #[must_use]
    pub(super) fn named_as_in_work_tree(mut self) -> Self {
        for file in self.files.iter_mut().filter(|_| self.commit.is_some()) {
            if file.source.name == format!("{}:{}", self.name, file.place) {
                file.source.name.clone_from(&file.place);
            }
        }
        self
    }

    /// Adds to a failure whose lines are not those of a file where they can be seen.
    pub(super) fn explained(rendered: &BTreeMap<String, String>, failure: Failure) -> Failure {
        let is_named = |name: &String| failure.faults.iter().any(|fault| fault.contains(name.as_str()));
        let named: Vec<String> = rendered
            .iter()
            .filter(|(name, _)| is_named(name))
            .map(|(name, command)| {
                format!("lines of `{name}` are those of the rendered output: see `{command}`")
            })
            .collect();
        named.into_iter().fold(failure, Failure::hint)
    }

    /// Rewrites the files as `validate --fix` would; returns the places of those that changed.
    pub(super) fn upgrade(&mut self) -> Vec<String> {
        let sources: Vec<Source> = self.files.iter().map(|file| file.source.clone()).collect();
        let mut changed = Vec::new();
        for Upgraded { name, text, .. } in upgrade(&sources) {
            let Some(text) = text else { continue };
            for file in self.files.iter_mut().filter(|file| file.source.name == name) {
                file.source.bytes.clone_from(&text);
                changed.push(file.place.clone());
            }
        }
        changed
    }

    /// Returns what is there and is not in these inputs.
    #[must_use]
    pub(super) fn all_gaps(&self) -> Vec<Gap> {
        let unrenderable = unrendered::gaps(&self.unrenderable);
        self.gaps.iter().cloned().chain(unrenderable).collect()
    }

    /// Returns the failure to render folders, where there was one.
    #[must_use]
    pub(super) fn unrenderable(&self) -> Vec<String> {
        unrendered::unrenderable(&self.unrenderable).faults
    }

    /// The failure of folders that have to be rendered, beside everything that is wrong with what was read.
    fn refused(self) -> Failure {
        let folders: Vec<Unrendered> = self.unrendered.iter().map(|root| root.folder.clone()).collect();
        let mut failure = unrendered::refused(&folders);
        let faults = crate::offline::read(self.sources()).err().unwrap_or_default();
        failure.faults.splice(0..0, faults.iter().map(ToString::to_string));
        failure
    }

    /// Says which folders are for kustomize or helm to render, so that only these know what their files come to.
    #[must_use]
    pub(super) fn unchecked(&self) -> Option<String> {
        let folders: Vec<Unrendered> = self.unrendered.iter().map(|root| root.folder.clone()).collect();
        (!self.parts.is_empty()).then(|| unrendered::unchecked(&folders))
    }

    /// Returns the files' bytes.
    #[must_use]
    pub(super) fn sources(self) -> Vec<Source> {
        self.files.into_iter().map(|file| file.source).collect()
    }
}

impl InputArguments {
    /// Returns whether no input was named.
    #[must_use]
    /// Returns the plan's file that is the only input; nothing where the input is something else.
    pub(super) fn saved_plan(&self) -> Option<&Path> {
        let mut named = self.inputs.iter().chain(&self.filenames);
        let (path, None) = (named.next()?, named.next()) else { return None };
        super::explain_plan::is_plan(path).then_some(path.as_path())
    }

    pub(super) fn is_empty(&self) -> bool {
        let has_files = !self.inputs.is_empty() || !self.filenames.is_empty();
        #[cfg(feature = "git")]
        let has_files = has_files || self.git.names_revision();
        !has_files
    }

    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.inputs.iter().chain(&self.filenames)
    }

    /// Reads everything that was named, folders in the order of their files' names, each file once.
    ///
    /// # Errors
    /// Everything that cannot be read, at once; or two revisions, of which this command takes one.
    pub(super) fn read(&self) -> Result<Inputs, Failure> {
        let Sides { before, after } = self.sides(&[])?;
        match before {
            None => Ok(after),
            Some(before) => {
                Err(Failure::error("two revisions were named, and only one can be looked at here")
                    .hint(format!("name one of them: `--git {}` or `--git {}`", before.name, after.name)))
            }
        }
    }

    /// Reads everything that was named, and what it is compared to: the first of two revisions, or these paths.
    ///
    /// # Errors
    /// Everything that cannot be read, at once.
    pub(super) fn sides(&self, before: &[PathBuf]) -> Result<Sides, Failure> {
        let is_input = |path: &&PathBuf| path.as_os_str() == "-";
        if before.iter().any(|path| is_input(&path)) && self.paths().any(|path| is_input(&path)) {
            return Err(Failure::error("standard input cannot be both sides of a comparison")
                .hint("save one side to a file and name it"));
        }
        let paths: Vec<&PathBuf> = self.paths().collect();
        #[cfg(feature = "git")]
        if self.git.names_revision() {
            let beside = if paths.is_empty() { Inputs::default() } else { self.read_paths(&paths)? };
            return revision::sides(self, before, &beside);
        }
        let after = self.read_paths(&paths)?;
        let before: Vec<&PathBuf> = before.iter().collect();
        let before = if before.is_empty() { None } else { Some(self.read_paths(&before)?) };
        Ok(Sides { before, after })
    }

    /// Renders what has to be rendered, each folder by itself; goes on past what cannot be.
    fn rendered(&self, inputs: &mut Inputs, checkout: Option<&Checkout>) {
        let roots: BTreeSet<ToRender> = std::mem::take(&mut inputs.unrendered).into_iter().collect();
        for ToRender { place, folder: root } in roots {
            let Unrendered { folder, tool, .. } = &root;
            let name = checkout.map_or_else(|| folder.clone(), |checkout| checkout.called(folder));
            let there = checkout.map(|checkout| checkout.path(folder));
            let root = Unrendered { folder: there.unwrap_or_else(|| folder.clone()), ..root.clone() };
            let hidden = checkout.map(Checkout::hidden);
            let rendering = Rendering { root: &root, name: &name, values: &self.helm_values, hidden };
            match rendering.run() {
                Ok(Rendered { source, command }) => {
                    inputs.rendered.insert(source.name.clone(), command);
                    let place = format!("{place} ({})", tool.as_str()).trim_start().to_owned();
                    inputs.files.push(InputFile { place, source });
                }
                Err(unrenderable) => inputs.unrenderable.push(unrenderable),
            }
        }
    }

    /// Reads what was named to be rewritten: the files as they lie, whatever is made of them.
    ///
    /// # Errors
    /// Everything that cannot be read, at once; or what is named is no file of this machine.
    pub(super) fn read_to_rewrite(&self) -> Result<Inputs, Failure> {
        #[cfg(feature = "git")]
        if self.git.names_revision() {
            return Err(Failure::error("a revision of Git cannot be rewritten")
                .hint("check it out, and name its files: `nodeform validate --fix FILES`"));
        }
        if self.render {
            return Err(
                Failure::error("`--fix` rewrites files, not rendered output").hint("leave out `--render`")
            );
        }
        let paths: Vec<&PathBuf> = self.paths().collect();
        found(self.walked(&paths, Purpose::Rewriting)?)
    }

    fn walked(&self, paths: &[&PathBuf], purpose: Purpose) -> Result<Inputs, Failure> {
        let origins: Vec<Origin> = paths.iter().map(|path| Origin::of(path)).collect();
        let ignored = Ignored::new(&self.exclude)?;
        let mut inputs = files::read(&origins, Walking { is_recursive: self.recursive, ignored, purpose })?;
        inputs.name = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        Ok(inputs)
    }

    /// Reads files and folders.
    fn read_paths(&self, paths: &[&PathBuf]) -> Result<Inputs, Failure> {
        let mut inputs = self.walked(paths, Purpose::Planning)?;
        if self.render {
            self.rendered(&mut inputs, None);
        } else if !inputs.unrendered.is_empty() {
            return Err(inputs.refused());
        }
        found(inputs)
    }
}

/// Refuses an input of folders without any file to read, and a pipe that brought nothing: a plan of the other
/// files alone would be one without the nodes that exist.
fn found(inputs: Inputs) -> Result<Inputs, Failure> {
    if inputs.is_standard_input_blank {
        return Err(Failure::error("the input is empty: nothing came from standard input")
            .hint("check whether the command before the pipe failed; without `-` nothing is read from it"));
    }
    if !inputs.files.is_empty() {
        return Ok(inputs);
    }
    if !inputs.unrenderable.is_empty() {
        return Err(unrendered::unrenderable(&inputs.unrenderable));
    }
    Err(inputs.passed_by.nothing_found(&BTreeSet::new()))
}
