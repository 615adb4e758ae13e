//! Who acts on a forge, and what they may do in a repository.

use super::limits::NAME_LETTERS_MAX;
use crate::model::shown::plain;

/// A person or a program with an account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct User {
    /// The forge's own key. It stays when the name changes.
    pub id: String,
    /// The name of the account, fit to be shown. Azure DevOps has the sign-in address here.
    pub login: String,
}

impl User {
    /// Makes a user of what a forge says: letters that are better not shown are replaced.
    pub(super) fn new(id: &str, login: &str) -> Self {
        Self { id: name(id), login: name(login) }
    }
}

/// A name as it may be shown and kept.
pub(super) fn name(text: &str) -> String {
    plain(text).chars().take(NAME_LETTERS_MAX).collect()
}

/// What a user may do in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Not even read, or there is no such user; on Gitea, whatever is less than to write.
    None,
    /// Read and comment, and not change a branch.
    Read,
    /// Write to branches, or more.
    Write,
    /// The forge does not say. It counts as no permission. Azure DevOps never says; there branch policies decide whose votes count.
    Unknown,
}

impl Permission {
    /// Returns whether the user may write to the repository, as far as the forge says so.
    #[must_use]
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Write)
    }
}
