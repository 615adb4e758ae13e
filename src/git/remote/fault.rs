//! What stands in the way of a repository on a server, with the way out.

use super::super::fault::GitFault;

/// Why a repository on a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteFault {
    /// The address is none that is used.
    #[error("`{address}` cannot be used as the repository: {because}")]
    Address {
        /// What was said, without what could be a password.
        address: String,
        /// Why not.
        because: &'static str,
    },
    /// A name of a branch or a folder that Git does not take.
    #[error("`{name}` cannot be used as {what}: {because}")]
    Name {
        /// What was said.
        name: String,
        /// What it is to be.
        what: &'static str,
        /// Why not.
        because: &'static str,
    },
    /// The program is missing.
    #[error("the program `git` cannot be started: {because}")]
    NoProgram {
        /// What the system says.
        because: String,
    },
    /// The cache folder cannot be used.
    #[error("the clone in `{folder}` cannot be used: {because}")]
    Cache {
        /// The folder.
        folder: String,
        /// Why not.
        because: String,
    },
    /// The server wants credentials, or other ones.
    #[error("{address} refuses to {what}: {because}")]
    Denied {
        /// The repository.
        address: String,
        /// What was asked.
        what: &'static str,
        /// What the server says.
        because: String,
    },
    /// There is no such repository, or it is hidden.
    #[error("{address} is not there, or not for these credentials: {because}")]
    NotThere {
        /// The repository.
        address: String,
        /// What the server says.
        because: String,
    },
    /// The server leads elsewhere.
    #[error(
        "{address} leads to another address, which is not followed, so that credentials stay with the server they are for"
    )]
    Redirects {
        /// The repository.
        address: String,
    },
    /// There is no such branch.
    #[error("{address} has no branch `{branch}`")]
    NoBranch {
        /// The repository.
        address: String,
        /// The branch.
        branch: String,
    },
    /// There are more proposals than are looked at.
    #[error("{address} has more than {most} branches below `{below}`")]
    TooMany {
        /// The repository.
        address: String,
        /// How their names begin.
        below: String,
        /// How many are looked at.
        most: usize,
    },
    /// Somebody else wrote to the branch at the same time.
    #[error("branch `{branch}` of {address} moved while the plan was proposed: nothing was written")]
    Moved {
        /// The repository.
        address: String,
        /// The branch.
        branch: String,
    },
    /// The server does not take the branch, by a rule of its own.
    #[error("{address} does not take branch `{branch}`: {because}")]
    Declined {
        /// The repository.
        address: String,
        /// The branch.
        branch: String,
        /// What the server says.
        because: String,
    },
    /// Anything else that the program says.
    #[error("`git {what}` with {address} failed: {because}")]
    Failed {
        /// The repository.
        address: String,
        /// What was asked.
        what: &'static str,
        /// What it says.
        because: String,
    },
    /// An object cannot be read or written.
    #[error("{0}")]
    Object(#[from] GitFault),
}

impl RemoteFault {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Address { .. } => Some(
                "name it as `https://HOST/PATH`; credentials come from NODEFORM_GIT_TOKEN or NODEFORM_GIT_TOKEN_FILE",
            ),
            Self::Name { .. } => {
                Some("name it as Git shows it, as in `--git-branch main --git-path nodeform/plans`")
            }
            Self::NoProgram { .. } => Some("install Git, 2.31 or later, and have it in PATH"),
            Self::Cache { .. } => {
                Some("remove the folder: it is only a cache; XDG_CACHE_HOME says where it lies")
            }
            Self::Denied { .. } => Some(
                "set NODEFORM_GIT_TOKEN, or NODEFORM_GIT_TOKEN_FILE, to a token that may read the repository, and for `propose` write to its branches; NODEFORM_GIT_USER where the server asks for a user",
            ),
            Self::NotThere { .. } => Some(
                "look at the address, and whether the token of NODEFORM_GIT_TOKEN may read the repository",
            ),
            Self::Redirects { .. } => Some("name the address that it leads to"),
            Self::NoBranch { .. } => Some(
                "name a branch that is there by `--git-branch`, or push a first commit to it; an address that shows a sign-in page has no branch either: then look whether a Git server answers there",
            ),
            Self::TooMany { .. } => Some("delete those that are merged or closed"),
            Self::Moved { .. } => Some("run the same command again"),
            Self::Declined { .. } => {
                Some("let the token's user write to branches below `nodeform/`: nothing else is written")
            }
            Self::Failed { .. } => {
                Some("run the same command again; if it stays so, look whether a Git server answers there")
            }
            Self::Object(fault) => fault.hint(),
        }
    }
}
