//! The bootstrap tokens of a rollout: when a new one is due, and which are no longer needed.
//!
//! VMs get the newest token, as long as it outlives the time that a VM may take to join. Tokens that an earlier process
//! gave to VMs are not tracked: the API server deletes them on expiry. Never holds a token itself, only its number.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::plan::ChangeId;

/// How long a token is given to VMs, in the API server's clock: it is then valid for at least another hour.
pub const TOKEN_USE: SignedDuration = SignedDuration::from_hours(1);

/// The tokens of this process, by number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens(BTreeMap<u32, Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    made: Timestamp,
    /// The creates whose VMs received it.
    given: BTreeSet<ChangeId>,
}

impl Tokens {
    /// Returns the number of the next token.
    fn next(&self) -> u32 {
        self.0.last_key_value().map_or(1, |(number, _)| number + 1)
    }

    /// Records a new token.
    pub(super) fn made(&mut self, made: Timestamp) {
        self.0.insert(self.next(), Token { made, given: BTreeSet::new() });
    }

    /// Records that the VM of a create gets the newest token.
    pub(super) fn give(&mut self, create: &ChangeId) {
        if let Some(mut newest) = self.0.last_entry() {
            newest.get_mut().given.insert(create.clone());
        }
    }

    /// Records the deletion of a token.
    pub(super) fn gone(&mut self, number: u32) {
        self.0.remove(&number);
    }

    /// Returns whether VMs may still get the newest token.
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        self.0.last_key_value().is_some_and(|(_, newest)| now.duration_since(newest.made) < TOKEN_USE)
    }

    /// Returns the tokens before the newest that no starting VM needs, each with a create that received it.
    pub(super) fn spent(&self, is_starting: impl Fn(&ChangeId) -> bool) -> Vec<(u32, ChangeId)> {
        let mut others =
            self.0.iter().rev().skip(1).map(|(number, token)| (*number, token)).collect::<Vec<_>>();
        others.retain(|(_, token)| !token.given.iter().any(&is_starting));
        let had = |token: &Token| token.given.first().cloned();
        others.into_iter().filter_map(|(number, token)| Some((number, had(token)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(minutes * 60).unwrap()
    }

    fn create(name: &str) -> ChangeId {
        ChangeId(name.into())
    }

    #[test]
    fn a_token_is_given_for_an_hour_and_the_one_before_goes_once_none_of_its_vms_is_starting() {
        let mut tokens = Tokens::default();
        assert!(!tokens.is_fresh(at(0)), "there is none");
        tokens.made(at(0));
        tokens.give(&create("a"));
        tokens.give(&create("b"));
        assert!(tokens.is_fresh(at(59)));
        assert!(!tokens.is_fresh(at(60)), "less than an hour is left of it");
        assert_eq!(tokens.spent(|_| false), [], "the newest one stays");
        tokens.made(at(61));
        tokens.give(&create("c"));
        assert!(tokens.is_fresh(at(61)));
        assert_eq!(tokens.spent(|change| *change == create("b")), [], "one of its VMs is starting");
        assert_eq!(tokens.spent(|change| *change == create("c")), [(1, create("a"))]);
        tokens.gone(1);
        assert_eq!(tokens.spent(|_| false), []);
        tokens.made(at(200));
        assert_eq!(tokens.spent(|_| false), [(2, create("c"))], "numbers are never used twice");
    }
}
