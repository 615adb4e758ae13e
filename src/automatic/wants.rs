//! Voluntary removals planned by the last rounds, and since when: a removal planned by two rounds that are far enough
//! apart is confirmed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

/// Minimum time between two rounds that confirm a removal, in the cloud's clock (Karpenter validates after the same
/// time).
const APART: SignedDuration = SignedDuration::from_secs(15);

/// Nodes that rounds plan to remove voluntarily, by UID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wants {
    since: BTreeMap<Arc<str>, Timestamp>,
    apart: SignedDuration,
}

impl Wants {
    /// Creates an empty record.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        let speed = i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX);
        Self { since: BTreeMap::new(), apart: APART / speed }
    }

    /// Records a round's planned removals; forgets those no longer planned.
    pub fn note(&mut self, wanted: BTreeSet<Arc<str>>, at: Timestamp) {
        self.since.retain(|uid, _| wanted.contains(uid));
        for uid in wanted {
            self.since.entry(uid).or_insert(at);
        }
    }

    /// Returns when a removal that is still planned may start; `None` if it may start now.
    #[must_use]
    pub fn waits_until(&self, uid: Option<&str>, at: Timestamp) -> Option<Timestamp> {
        let since = uid.and_then(|uid| self.since.get(uid)).copied().unwrap_or(at);
        let until = since.saturating_add(self.apart).unwrap_or(Timestamp::MAX);
        (until > at).then_some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn nodes(uids: &[&str]) -> BTreeSet<Arc<str>> {
        uids.iter().map(|uid| Arc::from(*uid)).collect()
    }

    #[test]
    fn a_removal_waits_until_two_rounds_fifteen_seconds_apart_want_it() {
        let mut wants = Wants::new(1);
        wants.note(nodes(&["a"]), at(0));
        assert_eq!(wants.waits_until(Some("a"), at(0)), Some(at(15)));
        wants.note(nodes(&["a", "b"]), at(15));
        assert_eq!(
            (wants.waits_until(Some("a"), at(15)), wants.waits_until(Some("b"), at(15))),
            (None, Some(at(30)))
        );
    }

    #[test]
    fn a_round_that_does_not_want_it_begins_the_wait_anew_and_an_unknown_node_never_goes() {
        let mut wants = Wants::new(1);
        wants.note(nodes(&["a"]), at(0));
        wants.note(nodes(&[]), at(10));
        wants.note(nodes(&["a"]), at(20));
        assert_eq!(wants.waits_until(Some("a"), at(20)), Some(at(35)));
        assert_eq!(wants.waits_until(None, at(20)), Some(at(35)));
    }
}
