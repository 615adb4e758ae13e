//! Git revisions as input.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use super::super::exit::Failure;
use super::super::headings;
use super::checkout::Checkout;
use super::ignored::Ignored;
use super::{InputArguments, InputFile, Inputs, PassedBy, Sides, ToRender, found};
use crate::git::{Ask, Asked, Found, FoundFile, GitFault, Repository, Revision, Unread};
use crate::manifests::Source;
use crate::snapshot::{Gap, GapKind};

/// Which revision is read, and what of it.
#[derive(Args, Clone, Debug, Default)]
pub(in crate::cli) struct GitArguments {
    /// Read this revision of the current repository; `A..B` compares two
    ///
    /// REV is a revision of the Git repository around the current folder, such as HEAD~2 or origin/main; nothing is
    /// checked out. INPUTs are read beside it, such as a dump of the nodes
    #[arg(long, value_name = "REV", help_heading = headings::INPUT)]
    git: Option<String>,
    /// Read this folder or file of the revision, from the top of the repository [default: the current folder]; repeatable
    #[arg(long, value_name = "DIR", requires = "git", help_heading = headings::INPUT)]
    path: Vec<String>,
}

impl GitArguments {
    /// Returns whether a revision was named.
    #[must_use]
    pub(super) const fn names_revision(&self) -> bool {
        self.git.is_some()
    }
}

/// Reads the revisions, each with the files beside it.
///
/// # Errors
/// Everything that cannot be read, at once.
pub(super) fn sides(
    arguments: &InputArguments,
    before: &[PathBuf],
    beside: &Inputs,
) -> Result<Sides, Failure> {
    let GitArguments { git, path } = &arguments.git;
    let spec = git.as_deref().unwrap_or("HEAD");
    if !before.is_empty() {
        return Err(Failure::error("`--before` and `--git` cannot be used together")
            .hint(format!("compare two revisions with `--git BASE..{spec}`")));
    }
    let repository = Repository::around(Path::new(".")).map_err(|fault| failure(&[fault]))?;
    let paths = if path.is_empty() { vec![repository.place()] } else { path.clone() };
    let ask = Ask { paths, is_recursive: arguments.recursive };
    let reader = Reader { repository: &repository, arguments };
    match repository.asked(spec).map_err(|fault| failure(&[fault]))? {
        Asked::One(revision) => {
            let after = reader.whole(&revision, reader.read(&revision, &ask)?, beside)?;
            Ok(Sides { before: None, after: found(after)? })
        }
        Asked::Two { before, after } => {
            let (old, new) = reader.both(&ask, (&before, &after))?;
            let new = reader.whole(&after, new, beside)?;
            let old = reader.whole(&before, old, beside)?;
            if old.files.is_empty() && new.files.is_empty() {
                return found(new).map(|after| Sides { before: None, after });
            }
            Ok(Sides { before: Some(old), after: new })
        }
    }
}

/// What was read of a revision.
struct Read {
    found: Found,
    /// What `--exclude` and `.nodeformignore` left out.
    left_out: Vec<String>,
}

/// Reads revisions of one repository by the same arguments.
struct Reader<'a> {
    repository: &'a Repository,
    arguments: &'a InputArguments,
}

impl Reader<'_> {
    fn read(&self, revision: &Revision, ask: &Ask) -> Result<Read, Failure> {
        let mut ignored = Ignored::new(&self.arguments.exclude)?;
        let found = self.repository.read(revision, ask, &mut ignored).map_err(|faults| failure(&faults))?;
        let (left_out, wrong) = ignored.end();
        let left_out = left_out.into_iter().map(|path| format!("{}:{path}", revision.name)).collect();
        if wrong.is_empty() { Ok(Read { found, left_out }) } else { Err(Failure::errors(wrong)) }
    }

    /// Returns what was read with the files beside it; folders to render are rendered from a temporary checkout.
    fn whole(&self, revision: &Revision, mut read: Read, beside: &Inputs) -> Result<Inputs, Failure> {
        let unrendered = std::mem::take(&mut read.found.unrendered);
        let mut inputs = inputs(revision, read, beside);
        inputs.unrendered =
            unrendered.into_iter().map(|folder| ToRender { place: folder.folder.clone(), folder }).collect();
        if inputs.unrendered.is_empty() {
            return Ok(inputs);
        }
        if !self.arguments.render {
            return Err(inputs.refused());
        }
        let checkout = Checkout::empty(&revision.name).map_err(|error| {
            Failure::error(format!("no temporary folder for `{}` can be made: {error}", revision.name))
        })?;
        self.repository.export(revision, checkout.folder()).map_err(|fault| failure(&[fault]))?;
        self.arguments.rendered(&mut inputs, Some(&checkout));
        Ok(inputs)
    }

    /// Reads two revisions. A path that only one of them has is new or gone, and no fault.
    fn both(&self, ask: &Ask, (before, after): (&Revision, &Revision)) -> Result<(Read, Read), Failure> {
        let mut asks = [Ask { paths: Vec::new(), ..ask.clone() }, Ask { paths: Vec::new(), ..ask.clone() }];
        let mut faults = Vec::new();
        for path in &ask.paths {
            let mut is_somewhere = false;
            for (revision, ask) in [before, after].into_iter().zip(&mut asks) {
                match self.repository.has(revision, path) {
                    Ok(is_there) => {
                        is_somewhere |= is_there;
                        ask.paths.extend(is_there.then(|| path.clone()));
                    }
                    Err(fault) => faults.push(fault),
                }
            }
            if !is_somewhere && faults.is_empty() {
                faults.push(GitFault::NoPath { place: format!("{}:{path}", after.name) });
            }
        }
        let [old, new] = asks;
        match (faults.is_empty(), self.read(before, &old), self.read(after, &new)) {
            (true, Ok(old), Ok(new)) => Ok((old, new)),
            (_, old, new) => {
                let mut all = failure(&faults);
                for other in [old.err(), new.err()].into_iter().flatten() {
                    all.faults.extend(other.faults);
                    all.hints.extend(other.hints);
                }
                all.hints.dedup();
                Err(all)
            }
        }
    }
}

fn inputs(revision: &Revision, read: Read, beside: &Inputs) -> Inputs {
    let Read { found, left_out } = read;
    let Found { files, unread, foreign, plans, folders, vendored, unrendered: _ } = found;
    let mut inputs = Inputs {
        name: revision.name.clone(),
        commit: Some(revision.commit.clone()),
        files: Vec::new(),
        ..beside.clone()
    };

    let file = |FoundFile { path, bytes, is_walked }| InputFile {
        source: Source { is_walked, ..Source::new(format!("{}:{path}", revision.name), bytes) },
        place: path,
    };
    inputs.files = files.into_iter().map(file).chain(beside.files.iter().cloned()).collect();
    inputs.passed_by.read = inputs.files.iter().map(|file| file.source.name.clone()).collect();
    inputs.passed_by.append(PassedBy { left_out, folders, vendored, foreign, plans, ..PassedBy::default() });
    for unread in unread {
        match unread {
            Unread::Folder(place) => inputs.passed_by.unread_folders.push(place),
            Unread::Submodule(place, commit) => inputs.gaps.push(Gap {
                kind: GapKind::Unread,
                what: format!("submodule `{place}` at {commit}"),
                consequence: "the manifests in it are in another repository and not in this plan".to_owned(),
            }),
            Unread::Link(place) => inputs.gaps.push(Gap {
                kind: GapKind::Unread,
                what: format!("link `{place}`"),
                consequence: "it points outside the repository: its target is not in this plan".to_owned(),
            }),
        }
    }
    inputs
}

fn failure(faults: &[GitFault]) -> Failure {
    let mut failure = Failure::errors(faults.iter().map(ToString::to_string).collect());
    let hints: BTreeSet<&str> = faults.iter().filter_map(GitFault::hint).collect();
    failure.hints.extend(hints.into_iter().map(str::to_owned));
    failure
}
