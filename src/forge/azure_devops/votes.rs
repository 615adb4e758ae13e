//! Votes of reviewers, with their times and commits.

use jiff::Timestamp;
use serde::Deserialize;

use super::wire::{Identity, Thread};
use crate::forge::history::{Pushed, head_at};
use crate::forge::review::{Review, Standing, Verdict};

/// Value without a vote. Approved, with or without suggestions, is positive; waiting for the author, and rejected,
/// negative.
const NO_VOTE: i64 = 0;

/// A reviewer with their vote.
#[derive(Debug, Deserialize)]
pub(super) struct Reviewer {
    #[serde(flatten)]
    identity: Identity,
    vote: Option<i64>,
    #[serde(rename = "isContainer")]
    is_container: Option<bool>,
}

/// A vote that a thread reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cast {
    /// The id of the person.
    by: String,
    vote: i64,
    at: Timestamp,
}

impl Cast {
    /// Returns the vote that a thread reports. Anyone can write a thread with such properties, but not as the system in
    /// the name of the voter.
    pub(super) fn of(thread: &Thread) -> Option<Self> {
        let is_vote = thread.property("CodeReviewThreadType") == Some("VoteUpdate");
        let vote = thread.property("CodeReviewVoteResult").filter(|_| is_vote)?.parse().ok()?;
        let by = thread.identity(thread.property("CodeReviewVotedByIdentity")?)?.to_owned();
        let is_theirs = thread.is_of_the_system_for(&by);
        is_theirs.then_some(Self { by, vote, at: thread.published_at()? })
    }
}

impl Reviewer {
    pub(super) fn has_voted(&self) -> bool {
        self.vote.is_some_and(|vote| vote != NO_VOTE)
    }

    /// Returns the decision; `None` without a vote, and for a group, whose members are listed themselves.
    pub(super) fn read(self, cast: &[Cast], history: &[Pushed]) -> Option<Review> {
        let vote = self.vote.filter(|vote| *vote != NO_VOTE && self.is_container != Some(true))?;
        let by = self.identity.user()?;
        let verdict = if vote > NO_VOTE { Verdict::Approved } else { Verdict::ChangesRequested };
        // The person's latest vote, unless it differs from the current one.
        let latest = cast.iter().filter(|cast| cast.by == by.id).max_by_key(|cast| cast.at);
        let at = latest.filter(|latest| latest.vote == vote).map(|latest| latest.at);
        let commit = at.and_then(|at| head_at(history, at)).cloned();
        Some(Review { by, verdict, commit, at, standing: Standing::Current })
    }
}
