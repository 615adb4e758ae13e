//! Faults of reading a revision, with the next step.

/// Reason why a revision, or a part of it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitFault {
    /// No repository was found.
    #[error("`{folder}` is in no Git repository: {because}")]
    NoRepository {
        /// The folder where the search started.
        folder: String,
        /// Message of the Git library.
        because: String,
    },
    /// The revision names nothing in the repository.
    #[error("revision `{spec}` is not in the repository: {because}")]
    NoRevision {
        /// The requested revision.
        spec: String,
        /// Message of the Git library.
        because: String,
        /// How much of the history the repository holds.
        extent: Extent,
    },
    /// The revision is neither a commit, a tag of one, nor a range of two.
    #[error("`{spec}` names no revision with manifests: {because}")]
    OtherSpec {
        /// The requested revision.
        spec: String,
        /// What it is.
        because: String,
    },
    /// Two revisions have no common ancestor in the history that the repository holds.
    #[error("the two sides of `{spec}` have no common ancestor in the repository")]
    NoMergeBase {
        /// The requested revisions.
        spec: String,
        /// How much of the history the repository holds.
        extent: Extent,
    },
    /// An object is missing.
    #[error("object {id} of `{place}` is not in the repository")]
    Missing {
        /// The object.
        id: String,
        /// What it is, as `REV:path`.
        place: String,
        /// How much of the history the repository holds.
        extent: Extent,
    },
    /// An object exists and cannot be read.
    #[error("`{place}` cannot be read: {because}")]
    Unreadable {
        /// What it is, as `REV:path`.
        place: String,
        /// Message of the Git library.
        because: String,
    },
    /// The revision has no such path.
    #[error("`{place}` is not there: the revision has no such file or folder")]
    NoPath {
        /// The requested path, as `REV:path`.
        place: String,
    },
    /// A path or a link leads out of the revision's tree.
    #[error("`{place}` leads out of the repository, where nothing is read")]
    LeadsOut {
        /// The path or the link, as `REV:path`.
        place: String,
    },
    /// Links form a cycle.
    #[error("`{place}` is behind too many links")]
    LinkLoop {
        /// The path, as `REV:path`.
        place: String,
    },
    /// A submodule: another repository, whose objects are not in this one.
    #[error("`{place}` is a submodule: its files are in another repository")]
    Submodule {
        /// The submodule, as `REV:path`.
        place: String,
    },
    /// The content is stored elsewhere by Git LFS.
    #[error("`{place}` is a pointer of Git LFS: its content is not in the repository")]
    LfsPointer {
        /// The file, as `REV:path`.
        place: String,
    },
    /// A limit is exceeded.
    #[error("`{place}` {what}; {most} is the most")]
    TooMuch {
        /// Where, as `REV:path`.
        place: String,
        /// The exceeded quantity.
        what: String,
        /// The limit.
        most: u64,
    },
}

/// How much of the history a repository holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The complete history.
    Full,
    /// Only the latest commits.
    Shallow,
    /// Files and folders are fetched on demand.
    Partial,
}

impl Extent {
    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Shallow => Some(
                "the clone is shallow: `git fetch --unshallow` gets the rest (`fetch-depth: 0` of actions/checkout, `fetchDepth: 0` of Azure Pipelines, `GIT_DEPTH: 0` of GitLab CI)",
            ),
            Self::Partial => Some(
                "the clone is partial and nothing is fetched here: `git fetch --refetch --no-filter` gets the rest",
            ),
        }
    }
}

impl GitFault {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoRepository { .. } => {
                Some("run it inside a clone, or without `--git` to read the files themselves")
            }
            Self::NoRevision { extent, .. } => Some(extent.hint().unwrap_or(
                "`git branch -a` and `git tag` list the names; `git fetch origin NAME` gets one that is missing",
            )),
            Self::OtherSpec { .. } => {
                Some("name a commit as in `HEAD~2` or `origin/main`, or two as in `origin/main...HEAD`")
            }
            Self::NoMergeBase { extent, .. } => {
                Some(extent.hint().unwrap_or("compare them directly, with two dots: `A..B`"))
            }
            Self::Missing { extent, .. } => {
                Some(extent.hint().unwrap_or("`git fsck` says what else is missing"))
            }
            Self::Unreadable { .. } => Some("`git fsck` says whether the repository is damaged"),
            Self::NoPath { .. } => Some(
                "`--path` names a file or a folder from the top of the repository; `git ls-tree -r --name-only REV` lists all",
            ),
            Self::LeadsOut { .. } | Self::LinkLoop { .. } => {
                Some("plan the files of a work tree instead: name the folder without `--git`")
            }
            Self::Submodule { .. } => Some("plan the submodule's own repository, or the files of a work tree"),
            Self::LfsPointer { .. } => {
                Some("get it with `git lfs pull`, and plan the files of the work tree: name the folder without `--git`")
            }
            Self::TooMuch { .. } => Some("name less of the repository with `--path`"),
        }
    }
}
