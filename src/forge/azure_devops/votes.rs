//! Votes of reviewers, each with its time and its commit.

use jiff::Timestamp;
use serde::Deserialize;

use super::wire::{Identity, Thread};
use crate::forge::history::{Pushed, head_at};
use crate::forge::review::{Review, Standing, Verdict};

/// Approved, and approved with suggestions, are above zero; waiting for the author, and rejected, below; zero is no vote.
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

/// A vote as a thread tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cast {
    /// The id of the person.
    by: String,
    vote: i64,
    at: Timestamp,
}

impl Cast {
    /// The vote that a thread tells of. Anybody can write a thread with such properties, but not one that is of the system and in
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

    /// The decision; none without a vote, and of a group, whose members are listed themselves.
    pub(super) fn read(self, cast: &[Cast], history: &[Pushed]) -> Option<Review> {
        let vote = self.vote.filter(|vote| *vote != NO_VOTE && self.is_container != Some(true))?;
        let by = self.identity.user()?;
        let verdict = if vote > NO_VOTE { Verdict::Approved } else { Verdict::ChangesRequested };
        // The latest of this person; another vote than the one that stands tells of something else.
        let latest = cast.iter().filter(|cast| cast.by == by.id).max_by_key(|cast| cast.at);
        let at = latest.filter(|latest| latest.vote == vote).map(|latest| latest.at);
        let commit = at.and_then(|at| head_at(history, at)).cloned();
        Some(Review { by, verdict, commit, at, standing: Standing::Current })
    }
}
