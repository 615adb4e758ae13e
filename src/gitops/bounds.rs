//! Limits for reading and reporting a branch in one run: anyone who may merge can fill it with folders.

use super::fault::GitOpsFault;
use super::place::Place;
use crate::git::remote::PlanFile;
use crate::review::proposal::Content;

/// Maximum number of plans that are not applied and listed individually.
pub const TOLD_MAX: usize = 20;

/// Maximum number of unfinished folders that are read, and bytes of their files: dozens of the largest plans.
const FOLDERS_MAX: usize = 1_000;
const BYTES_MAX: usize = 128 << 20;

/// Amount read so far.
#[derive(Debug, Default)]
pub(super) struct Read {
    folders: usize,
    bytes: usize,
}

impl Read {
    /// Adds the files of one more folder.
    ///
    /// # Errors
    /// A limit is exceeded.
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
