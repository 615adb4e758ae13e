//! Tracks how long each message has been unchanged: a wait is only reported once it has lasted, with its start time.
//!
//! Never ask about a key that was not recorded last: it is over.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// The message of each key, with the time of its last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since<K> {
    known: BTreeMap<K, (String, Timestamp)>,
}

impl<K> Default for Since<K> {
    fn default() -> Self {
        Self { known: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Since<K> {
    /// Records all current messages; forgets all others.
    pub fn note(&mut self, said: impl IntoIterator<Item = (K, String)>, at: Timestamp) {
        let before = std::mem::take(&mut self.known);
        for (key, what) in said {
            let since = before.get(&key).filter(|(known, _)| *known == what).map_or(at, |(_, since)| *since);
            self.known.insert(key, (what, since));
        }
    }

    /// Returns when the message of a key last changed.
    #[must_use]
    pub fn of(&self, key: &K) -> Option<Timestamp> {
        self.known.get(key).map(|(_, since)| *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_keeps_its_time_until_it_is_another_or_over() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut since = Since::default();
        let said = |what: &str| [("n1", what.to_owned())];
        since.note(said("a budget"), at(10));
        since.note(said("a budget"), at(20));
        assert_eq!(since.of(&"n1"), Some(at(10)));
        since.note(said("a volume"), at(30));
        assert_eq!(since.of(&"n1"), Some(at(30)));
        since.note([], at(40));
        assert_eq!(since.of(&"n1"), None);
        since.note(said("a volume"), at(50));
        assert_eq!(since.of(&"n1"), Some(at(50)));
    }
}
