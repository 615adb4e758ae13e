//! Users of a forge, and their permissions in a repository.

use super::limits::NAME_LETTERS_MAX;
use crate::model::shown::plain;

/// An account of a person or a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct User {
    /// The forge's id, which stays when the name changes.
    pub id: String,
    /// The name of the account, safe to display. For Azure DevOps, the sign-in address.
    pub login: String,
}

impl User {
    /// Converts a forge's user: characters that are unsafe to display are replaced.
    pub(super) fn new(id: &str, login: &str) -> Self {
        Self { id: name(id), login: name(login) }
    }
}

/// Returns a name that is safe to display and keep.
pub(super) fn name(text: &str) -> String {
    plain(text).chars().take(NAME_LETTERS_MAX).collect()
}

/// A user's permission in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// No read permission, or no such user; on Gitea, anything below write.
    None,
    /// Read and comment, but not change a branch.
    Read,
    /// Write to branches, or more.
    Write,
    /// Not reported by the forge; counts as no permission. Azure DevOps never reports it; there, branch policies decide
    /// whose votes count.
    Unknown,
}

impl Permission {
    /// Returns whether the forge reports that the user may write to the repository.
    #[must_use]
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Write)
    }
}
