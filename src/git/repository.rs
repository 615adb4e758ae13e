//! A local repository, found as Git finds it.

use std::path::Path;

use super::fault::{Extent, GitFault};

/// A local repository; only its objects and references are read.
pub struct Repository {
    pub(super) inner: gix::Repository,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Repository").field(&self.inner.git_dir()).finish()
    }
}

impl Repository {
    /// Finds the repository of a folder as Git does: `GIT_DIR`, else the folder and its parents; also bare ones and
    /// worktrees.
    ///
    /// # Errors
    /// None is found, or it cannot be opened.
    pub fn around(folder: &Path) -> Result<Self, GitFault> {
        let inner =
            gix::ThreadSafeRepository::discover_with_environment_overrides(folder).map_err(|error| {
                GitFault::NoRepository { folder: folder.display().to_string(), because: said(&error) }
            })?;
        let mut inner = inner.to_thread_local();
        // Folders are read several times if links lead to them.
        inner.object_cache_size_if_unset(4 << 20);
        Ok(Self { inner })
    }

    /// Returns the current folder's path in the repository, with `/`; empty at the top, outside of the work tree and
    /// without one.
    #[must_use]
    pub fn place(&self) -> String {
        let prefix = self.inner.prefix().ok().flatten();
        prefix.map_or_else(String::new, |path| path.to_string_lossy().replace('\\', "/"))
    }

    /// Returns how much of the history the repository holds.
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

/// Returns an error with its causes, in one line.
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
