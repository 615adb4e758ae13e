//! Reads a plan from a commit.

use super::place::Place;
use crate::git::remote::{Clone, PlanEntry};
use crate::render::proposal::derived_by;
use crate::review::proposal::{self, Files, FolderName, Proposal};

/// Reads the plan of a folder from a commit, which is fetched if it is not in the clone; `None` if the folder does not
/// exist or is inconsistent. Waits for Git on this thread.
///
/// # Errors
/// The commit cannot be read, with the reason.
pub(super) fn proposal_at(
    (place, clone): (&Place, &Clone),
    commit: &str,
    is_meant: impl Fn(&PlanEntry) -> bool,
) -> Result<Option<Proposal>, String> {
    let read = || {
        let tip = clone.fetch_commit(commit)?;
        let entries = clone.plans(&tip, &place.path)?.entries;
        let entry = entries.into_iter().find(|entry| is_meant(entry));
        entry.map(|entry| Ok((clone.files(&tip, &entry)?, entry))).transpose()
    };
    let found = read().map_err(|fault: crate::git::remote::RemoteFault| fault.to_string())?;
    let proposal = found.map(|(files, entry)| {
        let name = FolderName::parse(&entry.month, &entry.name)?;
        Files::of(files).and_then(|files| proposal::read(Some(&name), files, derived_by))
    });
    Ok(proposal.and_then(Result::ok))
}
