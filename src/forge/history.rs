//! Head of a pull request at a time, for forges that report when someone approved, but not which commit.
//!
//! This does not show what a reviewer saw on a page that was opened before the last push: only a branch rule that
//! resets approvals on a push makes such an approval safe.

use jiff::Timestamp;

use super::pull_request::CommitId;

/// A commit that became the head at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pushed {
    pub(super) at: Timestamp,
    pub(super) commit: CommitId,
}

/// Returns the head at a time; `None` before the first push, or if it is ambiguous because of two simultaneous pushes.
pub(super) fn head_at(history: &[Pushed], at: Timestamp) -> Option<&CommitId> {
    let newest = history.iter().filter(|pushed| pushed.at <= at).max_by_key(|pushed| pushed.at)?;
    let is_clear = history.iter().all(|pushed| pushed.at != newest.at || pushed.commit == newest.commit);
    is_clear.then_some(&newest.commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(pushes: &[(i64, &str)]) -> Vec<Pushed> {
        let pushed = |(second, digit): &(i64, &str)| Pushed {
            at: Timestamp::from_second(*second).unwrap(),
            commit: CommitId::parse(&digit.repeat(40)).unwrap(),
        };
        pushes.iter().map(pushed).collect()
    }

    fn digit(history: &[Pushed], second: i64) -> Option<&str> {
        head_at(history, Timestamp::from_second(second).unwrap()).map(|commit| &commit.as_str()[..1])
    }

    #[test]
    fn the_head_is_that_of_the_last_push_before_in_whatever_order_they_are_listed() {
        let history = history(&[(20, "b"), (10, "a"), (30, "c")]);
        let heads = [9, 10, 19, 20, 99].map(|second| digit(&history, second));
        assert_eq!(heads, [None, Some("a"), Some("a"), Some("b"), Some("c")]);
    }

    #[test]
    fn two_pushes_at_the_same_time_leave_the_head_unknown() {
        assert_eq!(digit(&history(&[(10, "a"), (10, "b")]), 10), None);
        assert_eq!(digit(&history(&[(10, "a"), (10, "a")]), 10), Some("a"));
        assert_eq!(digit(&[], 10), None);
    }
}
