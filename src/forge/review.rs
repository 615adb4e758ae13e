//! Reviews of a pull request: people's decisions on commits, and whether they still count.

use jiff::Timestamp;

use super::pull_request::CommitId;
use super::user::User;

/// The latest decision of one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The reviewer.
    pub by: User,
    /// The decision.
    pub verdict: Verdict,
    /// The head commit at the time of the decision; `None` if the forge does not report it: it is then unknown what was
    /// reviewed.
    pub commit: Option<CommitId>,
    /// The time; `None` if the forge does not report it.
    pub at: Option<Timestamp>,
    /// Whether it still counts.
    pub standing: Standing,
}

/// A person's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The change may be merged.
    Approved,
    /// The change must not be merged as it is.
    ChangesRequested,
}

/// Whether a decision still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It counts: an approval applies to the head of the pull request.
    Current,
    /// It applies to an earlier commit, or to one that the forge does not report.
    Stale,
    /// It was withdrawn or dismissed.
    Dismissed,
    /// The forge does not count it, for example because its author has no write permission. Only Gitea reports this.
    Unofficial,
}

impl Review {
    /// Returns whether this approves the head of the pull request.
    #[must_use]
    pub fn approves_head(&self) -> bool {
        self.verdict == Verdict::Approved && self.standing == Standing::Current
    }
}

/// Returns the latest decision of each person from a chronological list, and marks approvals of commits other than the
/// head as stale. A request for changes remains until its author withdraws it, whatever is pushed.
pub(super) fn latest(reviews: Vec<Review>, head: &CommitId) -> Vec<Review> {
    let mut latest: Vec<Review> = Vec::new();
    for mut review in reviews {
        let is_of_another = review.commit.as_ref() != Some(head);
        if review.standing == Standing::Current && review.verdict == Verdict::Approved && is_of_another {
            review.standing = Standing::Stale;
        }
        let earlier = latest.iter().position(|kept| kept.by.id == review.by.id);
        match earlier {
            // Without both times, only the order of the list is known.
            Some(place) if latest[place].at > review.at && review.at.is_some() => {}
            Some(place) => latest[place] = review,
            None => latest.push(review),
        }
    }
    latest.sort_by(|one, other| one.by.cmp(&other.by));
    latest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(digit: &str) -> CommitId {
        CommitId::parse(&digit.repeat(40)).unwrap()
    }

    fn review(who: &str, verdict: Verdict, digit: &str, second: i64) -> Review {
        Review {
            by: User::new(who, who),
            verdict,
            commit: Some(commit(digit)),
            at: Some(Timestamp::from_second(second).unwrap()),
            standing: Standing::Current,
        }
    }

    fn shown(reviews: Vec<Review>) -> Vec<String> {
        let line =
            |review: &Review| format!("{} {:?} {:?}", review.by.login, review.verdict, review.standing);
        latest(reviews, &commit("a")).iter().map(line).collect()
    }

    #[test]
    fn the_latest_decision_of_each_person_counts_in_whatever_order_they_are_listed() {
        use Verdict::{Approved, ChangesRequested};
        let reviews = vec![
            review("zoe", ChangesRequested, "a", 9),
            review("amy", Approved, "a", 1),
            review("zoe", Approved, "a", 3),
            review("amy", ChangesRequested, "a", 2),
        ];
        assert_eq!(shown(reviews), ["amy ChangesRequested Current", "zoe ChangesRequested Current"]);
    }

    #[test]
    fn an_approval_of_another_commit_or_of_an_unknown_one_is_stale() {
        let unknown = Review { commit: None, ..review("amy", Verdict::Approved, "a", 1) };
        let reviews = vec![unknown, review("bob", Verdict::Approved, "b", 1)];
        assert_eq!(shown(reviews), ["amy Approved Stale", "bob Approved Stale"]);
    }

    #[test]
    fn a_request_for_changes_stands_though_commits_follow() {
        let reviews = vec![review("amy", Verdict::ChangesRequested, "b", 1)];
        assert_eq!(shown(reviews), ["amy ChangesRequested Current"]);
    }

    #[test]
    fn a_dismissed_approval_stays_dismissed_though_it_is_about_the_head() {
        let dismissed = Review { standing: Standing::Dismissed, ..review("amy", Verdict::Approved, "a", 1) };
        assert!(!dismissed.approves_head());
        assert_eq!(shown(vec![dismissed]), ["amy Approved Dismissed"]);
    }

    #[test]
    fn a_person_is_told_by_id_since_names_change() {
        let mut renamed = review("1", Verdict::ChangesRequested, "a", 2);
        renamed.by.login = "new".to_owned();
        assert_eq!(
            shown(vec![review("1", Verdict::Approved, "a", 1), renamed]),
            ["new ChangesRequested Current"]
        );
    }
}
