//! A temporary folder with the files of a revision, for `--git` with `--render`; gone when it is no longer used.

use std::fs;
#[cfg(feature = "git")]
use std::path::Path;
use std::path::PathBuf;
#[cfg(feature = "git")]
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder of files of a revision.
#[derive(Debug)]
pub(super) struct Checkout {
    folder: PathBuf,
    /// The folder with a slash at its end, as tools write it.
    text: String,
    /// What stands for it in messages: `REV:`.
    stands: String,
}

impl Checkout {
    /// Makes an empty folder that nobody else can read, for files of a revision.
    ///
    /// # Errors
    /// It cannot be made.
    #[cfg(feature = "git")]
    pub(super) fn empty(revision: &str) -> std::io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        /// How often a name may be taken already.
        const TRIES_MAX: usize = 100;
        // Tools name a folder by its path without links.
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

    /// Returns where a path of the revision lies.
    pub(super) fn path(&self, path: &str) -> String {
        self.folder.join(if path == "." { "" } else { path }).display().to_string()
    }

    /// Returns what people call a path of the revision.
    pub(super) fn called(&self, path: &str) -> String {
        format!("{}{path}", self.stands)
    }

    /// Returns how the folder begins paths in what tools say, and what stands for that in messages.
    pub(super) fn hidden(&self) -> (&str, &str) {
        (&self.text, &self.stands)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans the folder of temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Makes a folder for the user alone.
#[cfg(feature = "git")]
fn private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
