//! Since when something has been as it is, by what is said of it: a wait is worth a line once it has lasted, and its line
//! says since when.
//!
//! Must never be asked about what was not noted at the last look: that is over.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// What is said of each thing, and since when it is the same.
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
    /// Notes all that is said now; what is not said any more is forgotten.
    pub fn note(&mut self, said: impl IntoIterator<Item = (K, String)>, at: Timestamp) {
        let before = std::mem::take(&mut self.known);
        for (key, what) in said {
            let since = before.get(&key).filter(|(known, _)| *known == what).map_or(at, |(_, since)| *since);
            self.known.insert(key, (what, since));
        }
    }

    /// Returns since when that which is said of it is the same.
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
