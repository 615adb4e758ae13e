//! A temporary folder with the files of a revision, for `--git` with `--render`; deleted when dropped.

use std::fs;
#[cfg(feature = "git")]
use std::path::Path;
use std::path::PathBuf;
#[cfg(feature = "git")]
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder with files of a revision.
#[derive(Debug)]
pub(super) struct Checkout {
    folder: PathBuf,
    /// The folder with a trailing slash, as tools print it.
    text: String,
    /// Its replacement in messages: `REV:`.
    stands: String,
}

impl Checkout {
    /// Creates an empty private folder for files of a revision.
    ///
    /// # Errors
    /// It cannot be created.
    #[cfg(feature = "git")]
    pub(super) fn empty(revision: &str) -> std::io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        /// Maximum number of names tried.
        const TRIES_MAX: usize = 100;
        // Tools print the canonical path of a folder.
        let above = fs::canonicalize(std::env::temp_dir())?;
        let mut folder = above.clone();
        let mut made = Ok(());
        for _ in 0..TRIES_MAX {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            folder = above.join(format!("nodeform-{}-{number}", std::process::id()));
            made = private(&folder);
            if !matches!(&made, Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists) {
                break;
            }
        }
        made?;
        let text = format!("{}/", folder.display());
        Ok(Self { folder, text, stands: format!("{revision}:") })
    }

    /// Returns the folder.
    #[cfg(feature = "git")]
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the location of a path of the revision.
    pub(super) fn path(&self, path: &str) -> String {
        self.folder.join(if path == "." { "" } else { path }).display().to_string()
    }

    /// Returns the display name of a path of the revision.
    pub(super) fn called(&self, path: &str) -> String {
        format!("{}{path}", self.stands)
    }

    /// Returns the prefix of the folder's paths in tool output, and its replacement in messages.
    pub(super) fn hidden(&self) -> (&str, &str) {
        (&self.text, &self.stands)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // Leftovers are cleaned up with the temporary folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Creates a folder that only the user can access.
#[cfg(feature = "git")]
fn private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
