//! Exclusive access of `git` to a clone, which several runs on one machine share.
//!
//! It is an operating system lock on an open file, which the program inherits: it lasts until both have ended, in
//! whatever way. Must never outlive them, so that no user has to remove a file by hand.
#![expect(clippy::disallowed_methods, reason = "the clone is a folder of this module's own")]

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use super::fault::RemoteFault;

/// Name of the lock file. Git ignores it.
const NAME: &str = "nodeform-held";

/// Interval and number of attempts: longer in total than one command of the program may take.
const EVERY: Duration = Duration::from_millis(50);
const TRIES: u32 = 3_600;

/// Exclusive access to a clone.
#[derive(Debug)]
pub(super) struct Held {
    file: File,
}

impl Held {
    /// Waits for exclusive access to a clone, and removes the leftovers of a killed `git`.
    ///
    /// # Errors
    /// Another run has worked in it for minutes, or the folder cannot be written.
    pub(super) fn take(folder: &Path) -> Result<Self, RemoteFault> {
        let unusable = |because: &str| RemoteFault::Cache {
            folder: folder.display().to_string(),
            because: because.into(),
        };
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join(NAME));
        let file = opened.map_err(|error| unusable(&error.to_string()))?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => {
                    clean(folder).map_err(|error| unusable(&error.to_string()))?;
                    return Ok(Self { file });
                }
                Err(TryLockError::WouldBlock) => sleep(EVERY),
                Err(TryLockError::Error(error)) => return Err(unusable(&error.to_string())),
            }
        }
        Err(unusable("another run of nodeform has worked in it for 3 minutes"))
    }

    /// Returns an empty standard input for a program, which thereby holds the lock too, until it ends.
    pub(super) fn input(&self) -> std::io::Result<Stdio> {
        self.file.try_clone().map(Stdio::from)
    }
}

/// Removes the locks of a `git` that is gone: no other one runs here now.
fn clean(folder: &Path) -> std::io::Result<()> {
    for place in [folder.to_owned(), folder.join("refs/nodeform")] {
        let Ok(entries) = std::fs::read_dir(&place) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "lock") {
                std::fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Held;

    #[test]
    fn what_a_killed_git_left_is_taken_away_and_the_hold_ends_with_whoever_has_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join("shallow.lock");
        std::fs::write(&left, "").expect("it is written");
        std::fs::write(folder.path().join("config"), "").expect("it is written");
        let held = Held::take(folder.path()).expect("it is free");
        assert!(!left.exists() && folder.path().join("config").exists());
        let file = std::fs::File::open(folder.path().join(super::NAME)).expect("it is there");
        assert!(file.try_lock().is_err());
        // A program that was started with the lock keeps holding it.
        let input = held.input().expect("it can be passed on");
        drop(held);
        assert!(file.try_lock().is_err());
        drop(input);
        assert!(file.try_lock().is_ok());
    }
}
