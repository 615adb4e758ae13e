//! Revisions of Git as an input.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use super::super::exit::Failure;
use super::{InputFile, Inputs, Sides, found, unrendered};
use crate::git::{Ask, Asked, Found, FoundFile, GitFault, Repository, Revision, Unread};
use crate::manifests::Source;
use crate::snapshot::{Gap, GapKind};

/// Which revision is read, and what of it.
#[derive(Args, Clone, Debug, Default)]
pub(in crate::cli) struct GitArguments {
    /// Read this revision of the Git repository around the current folder, such as HEAD~2 or origin/main; nothing
    /// is checked out. INPUTs are read beside it, such as a dump of the nodes
    #[arg(long, value_name = "REV")]
    git: Option<String>,
    /// The folder or file of the revision, from the top of the repository; else the current folder's place in it;
    /// may be repeated
    #[arg(long, value_name = "DIR", requires = "git")]
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
    arguments: &GitArguments,
    is_recursive: bool,
    before: &[PathBuf],
    beside: &Inputs,
) -> Result<Sides, Failure> {
    let GitArguments { git, path } = arguments;
    let spec = git.as_deref().unwrap_or("HEAD");
    if !before.is_empty() {
        return Err(Failure::error("`--before` and `--git` cannot be used together")
            .hint(format!("compare two revisions with `--git BASE..{spec}`")));
    }
    let repository = Repository::around(Path::new(".")).map_err(|fault| failure(&[fault]))?;
    let paths = if path.is_empty() { vec![repository.place()] } else { path.clone() };
    let ask = Ask { paths, is_recursive };
    match repository.asked(spec).map_err(|fault| failure(&[fault]))? {
        Asked::One(revision) => {
            let read = repository.read(&revision, &ask).map_err(|faults| failure(&faults))?;
            rendered_or_refused(&[&read], &revision)?;
            Ok(Sides { before: None, after: found(inputs(&revision, read, beside))? })
        }
        Asked::Two { before, after } => {
            let (old, new) = both(&repository, &ask, (&before, &after))?;
            rendered_or_refused(&[&new, &old], &after)?;
            let old = inputs(&before, old, beside);
            let new = inputs(&after, new, beside);
            if old.files.is_empty() && new.files.is_empty() {
                return found(new).map(|after| Sides { before: None, after });
            }
            Ok(Sides { before: Some(old), after: new })
        }
    }
}

/// Reads two revisions. A path that only one of them has is new or gone, and no fault.
fn both(
    repository: &Repository,
    ask: &Ask,
    (before, after): (&Revision, &Revision),
) -> Result<(Found, Found), Failure> {
    let mut asks = [Ask { paths: Vec::new(), ..ask.clone() }, Ask { paths: Vec::new(), ..ask.clone() }];
    let mut faults = Vec::new();
    for path in &ask.paths {
        let mut is_somewhere = false;
        for (revision, ask) in [before, after].into_iter().zip(&mut asks) {
            match repository.has(revision, path) {
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
    let read = |revision, ask| repository.read(revision, &ask);
    match (faults.is_empty(), read(before, old), read(after, new)) {
        (true, Ok(old), Ok(new)) => Ok((old, new)),
        (_, old, new) => {
            faults.extend([old.err(), new.err()].into_iter().flatten().flatten());
            Err(failure(&faults))
        }
    }
}

/// Refuses what kustomize or helm has to render: they read a work tree and no revision.
fn rendered_or_refused(sides: &[&Found], revision: &Revision) -> Result<(), Failure> {
    match sides.iter().find(|found| !found.unrendered.is_empty()) {
        None => Ok(()),
        Some(found) => Err(unrendered::refused(&found.unrendered, &BTreeSet::new()).hint(format!(
            "that renders the work tree, from the top of the repository; `git worktree add FOLDER {}` checks the revision out beside it",
            revision.name
        ))),
    }
}

fn inputs(revision: &Revision, read: Found, beside: &Inputs) -> Inputs {
    let Found { files, unread, unrendered: _, foreign } = read;
    let mut inputs = Inputs {
        name: revision.name.clone(),
        commit: Some(revision.commit.clone()),
        files: Vec::new(),
        foreign,
        ..beside.clone()
    };
    let file = |FoundFile { path, bytes }| InputFile {
        source: Source::new(format!("{}:{path}", revision.name), bytes),
        place: path,
    };
    inputs.files = files.into_iter().map(file).chain(beside.files.iter().cloned()).collect();
    for unread in unread {
        match unread {
            Unread::Folder(place) => inputs.unread_folders.push(place),
            Unread::Submodule(place, commit) => inputs.gaps.push(Gap {
                kind: GapKind::Unread,
                what: format!("submodule `{place}` at {commit}"),
                consequence: "the manifests in it are in another repository and not in this plan".to_owned(),
            }),
            Unread::Link(place) => inputs.gaps.push(Gap {
                kind: GapKind::Unread,
                what: format!("link `{place}`"),
                consequence: "it leads out of the repository: what is there is not in this plan".to_owned(),
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
