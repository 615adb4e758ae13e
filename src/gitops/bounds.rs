//! How much of a branch is read and told in one run: whoever may merge may fill it with folders.

use super::fault::GitOpsFault;
use super::place::Place;
use crate::git::remote::PlanFile;
use crate::review::proposal::Content;

/// How many plans are told one by one that are not applied.
pub const TOLD_MAX: usize = 20;

/// How many folders are read at most that have not ended, and how many bytes of their files: dozens of the largest plans.
const FOLDERS_MAX: usize = 1_000;
const BYTES_MAX: usize = 128 << 20;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    folders: usize,
    bytes: usize,
}

impl Read {
    /// Takes in the files of one more folder.
    ///
    /// # Errors
    /// It is more than is read.
    pub(super) fn take_in(&mut self, files: &[PlanFile], place: &Place) -> Result<(), GitOpsFault> {
        let length = |(_, content): &PlanFile| match content {
            Content::Bytes(bytes) => bytes.len(),
            Content::TooLarge | Content::NoFile => 0,
        };
        self.folders += 1;
        self.bytes += files.iter().map(length).sum::<usize>();
        if self.folders <= FOLDERS_MAX && self.bytes <= BYTES_MAX {
            return Ok(());
        }
        let (branch, path) = (place.branch.as_str(), &place.path);
        let what = format!(
            "branch `{branch}` has more plans in `{path}` that have not ended than are read: {FOLDERS_MAX} folders of {} MiB; nothing is applied",
            BYTES_MAX >> 20
        );
        Err(GitOpsFault::stale(what).hint("remove folders that are no longer needed from the branch"))
    }
}
