//! Checks whether a branch descends from a commit: its history is fetched step by step until the commit is found.

use std::collections::{BTreeSet, VecDeque};

use gix::ObjectId;

use super::address::Branch;
use super::clone::{Clone, Tip};
use super::fault::RemoteFault;
use crate::review::history::Ancestry;

/// Depths in commits that are fetched, one after the other.
const DEPTHS: [usize; 3] = [100, 1_000, COMMITS_MAX];

/// Maximum number of commits that are searched.
const COMMITS_MAX: usize = 10_000;

impl Clone {
    /// Returns whether the last commit of a branch is a commit or descends from it. `is_late` ends the search.
    ///
    /// # Errors
    /// The server refuses or does not answer.
    pub fn ancestry(
        &self,
        (branch, tip): (&Branch, &Tip),
        commit: &str,
        is_late: impl Fn() -> bool,
    ) -> Result<Ancestry, RemoteFault> {
        let Ok(wanted) = ObjectId::from_hex(commit.as_bytes()) else { return Ok(Ancestry::Another) };
        let mut found = self.walked(tip.id, wanted);
        for depth in DEPTHS {
            if found != Ancestry::TooFar || is_late() {
                break;
            }
            self.fetch_tips(std::slice::from_ref(branch), depth)?;
            found = self.walked(tip.id, wanted);
        }
        Ok(found)
    }

    /// Searches the commits in the clone; the result is `TooFar` if one is missing.
    fn walked(&self, tip: ObjectId, wanted: ObjectId) -> Ancestry {
        let mut ahead = VecDeque::from([tip]);
        let mut seen = BTreeSet::from([tip]);
        let mut end = Ancestry::Another;
        while let Some(id) = ahead.pop_front() {
            if id == wanted {
                return Ancestry::Follows;
            }
            let Ok(commit) = self.repository.inner.find_commit(id) else {
                end = Ancestry::TooFar;
                continue;
            };
            let parents = commit.parent_ids().map(gix::Id::detach);
            ahead.extend(parents.filter(|parent| seen.insert(*parent)));
            if seen.len() > COMMITS_MAX {
                return Ancestry::TooFar;
            }
        }
        end
    }
}
