//! The argument of `--git`: one revision, or two separated by dots.

use gix::ObjectId;
use gix::revision::plumbing::Spec;

use super::fault::GitFault;
use super::repository::{Repository, said};

/// A commit, with the name that the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The name as the user wrote it; used to show files, as in `REV:path`.
    pub name: String,
    /// The commit's full id.
    pub commit: String,
    /// The commit's tree.
    pub(super) tree: ObjectId,
}

/// The requested revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// One revision.
    One(Revision),
    /// Two revisions: the change from the first to the second.
    Two {
        /// The start of the change.
        before: Revision,
        /// The end of the change.
        after: Revision,
    },
}

impl Repository {
    /// Resolves a revision in Git's syntax: one revision, `A..B` for both, or `A...B` for `B` and the common ancestor
    /// of both.
    ///
    /// # Errors
    /// It does not exist, or is not a revision.
    pub fn asked(&self, spec: &str) -> Result<Asked, GitFault> {
        let no_revision =
            |because| GitFault::NoRevision { spec: spec.to_owned(), because, extent: self.extent() };
        let other =
            |because: &str| GitFault::OtherSpec { spec: spec.to_owned(), because: because.to_owned() };
        let parsed = self.inner.rev_parse(spec).map_err(|error| no_revision(said(&error)))?;
        if parsed.path_and_mode().is_some() {
            return Err(other("it names a path; say that with `--path`"));
        }
        let name = |part: &str| if part.is_empty() { "HEAD".to_owned() } else { part.to_owned() };
        let sides = |dots: &str| match spec.split_once(dots) {
            Some((one, other)) => (name(one), name(other)),
            None => (spec.to_owned(), spec.to_owned()),
        };
        match parsed.detach() {
            Spec::Include(id) => Ok(Asked::One(self.revision(spec.to_owned(), id)?)),
            Spec::Range { from, to } => {
                let (before, after) = sides("..");
                Ok(Asked::Two { before: self.revision(before, from)?, after: self.revision(after, to)? })
            }
            Spec::Merge { theirs, ours } => {
                let (one, after) = sides("...");
                let (theirs, ours) = (self.revision(one, theirs)?, self.revision(after, ours)?);
                let before = self.merge_base(spec, &theirs, &ours)?;
                Ok(Asked::Two { before, after: ours })
            }
            Spec::Exclude(_) => Err(other("it leaves a revision out and names none")),
            Spec::IncludeOnlyParents(_) | Spec::ExcludeParents(_) => {
                Err(other("it names the parents of a commit, of which there may be several"))
            }
        }
    }

    /// Returns the common ancestor, named by its short id.
    fn merge_base(&self, spec: &str, one: &Revision, other: &Revision) -> Result<Revision, GitFault> {
        let none = || GitFault::NoMergeBase { spec: spec.to_owned(), extent: self.extent() };
        let ids = (ObjectId::from_hex(one.commit.as_bytes()), ObjectId::from_hex(other.commit.as_bytes()));
        let (Ok(one), Ok(other)) = ids else { return Err(none()) };
        // An error means missing history: no common ancestor is known.
        let base = self.inner.merge_base(one, other).ok().flatten().ok_or_else(none)?;
        self.revision(base.shorten_or_id().to_string(), base.detach())
    }

    fn revision(&self, name: String, id: ObjectId) -> Result<Revision, GitFault> {
        let missing = |id: ObjectId| GitFault::Missing {
            id: id.to_string(),
            place: name.clone(),
            extent: self.extent(),
        };
        let unreadable = |error: &dyn std::error::Error| GitFault::Unreadable {
            place: name.clone(),
            because: said(error),
        };
        let object = self.inner.try_find_object(id).map_err(|error| unreadable(&error))?;
        let object = object.ok_or_else(|| missing(id))?;
        let commit = object.peel_tags_to_end().map_err(|error| unreadable(&error))?;
        let Ok(commit) = commit.try_into_commit() else {
            let because = "it is no commit and no tag of one".to_owned();
            return Err(GitFault::OtherSpec { spec: name.clone(), because });
        };
        let tree = commit.tree_id().map_err(|error| unreadable(&error))?.detach();
        Ok(Revision { name: name.clone(), commit: commit.id.to_string(), tree })
    }
}
