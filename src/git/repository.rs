//! A repository on the disk, found as Git finds it.

use std::path::Path;

use super::fault::{Extent, GitFault};

/// A repository on the disk; only its objects and references are read.
pub struct Repository {
    pub(super) inner: gix::Repository,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Repository").field(&self.inner.git_dir()).finish()
    }
}

impl Repository {
    /// Finds the repository around a folder as Git does: `GIT_DIR`, else the folder and those above it; bare ones
    /// and worktrees too.
    ///
    /// # Errors
    /// There is none, or it cannot be opened.
    pub fn around(folder: &Path) -> Result<Self, GitFault> {
        let inner =
            gix::ThreadSafeRepository::discover_with_environment_overrides(folder).map_err(|error| {
                GitFault::NoRepository { folder: folder.display().to_string(), because: said(&error) }
            })?;
        let mut inner = inner.to_thread_local();
        // Folders are read more than once where links lead to them.
        inner.object_cache_size_if_unset(4 << 20);
        Ok(Self { inner })
    }

    /// Returns the current folder's place in the repository, with `/`; empty at the top, outside of the work tree
    /// and where there is none.
    #[must_use]
    pub fn place(&self) -> String {
        let prefix = self.inner.prefix().ok().flatten();
        prefix.map_or_else(String::new, |path| path.to_string_lossy().replace('\\', "/"))
    }

    /// Returns how much of the history is here.
    pub(super) fn extent(&self) -> Extent {
        let config = self.inner.config_snapshot();
        if self.inner.is_shallow().unwrap_or(false) {
            Extent::Shallow
        } else if config.string("extensions.partialClone").is_some() {
            Extent::Partial
        } else {
            Extent::Full
        }
    }
}

/// Returns what an error and its causes say, in one line.
pub(super) fn said(error: &dyn std::error::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        let text = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = cause.source();
    }
    parts.join(": ")
}
