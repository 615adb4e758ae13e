//! The values of one label in a requirement: a sorted set, shared by its copies.
//!
//! Nearly all sets have one value, and every size of a region has some thirty sets: a tree for each would dominate
//! planning time. Never interprets the values.

use std::ops::Deref;
use std::sync::Arc;

/// Distinct values, sorted; `None` if there are none. Dereferences to a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Values(Option<Arc<[Arc<str>]>>);

impl Values {
    /// The empty set.
    pub(super) const NONE: Self = Self(None);

    /// Returns whether the set contains a value.
    #[must_use]
    pub fn contains(&self, value: &str) -> bool {
        self.binary_search_by(|one| (**one).cmp(value)).is_ok()
    }

    /// Returns the union of both sets.
    pub(super) fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).cloned().collect()
    }

    /// Returns the values that satisfy a predicate.
    pub(super) fn keep(&self, holds: impl Fn(&str) -> bool) -> Self {
        if self.iter().all(|value| holds(value)) {
            return self.clone();
        }
        Self::sorted(self.iter().filter(|value| holds(value)).cloned().collect())
    }

    fn sorted(values: Vec<Arc<str>>) -> Self {
        Self(if values.is_empty() { None } else { Some(values.into()) })
    }
}

impl Deref for Values {
    type Target = [Arc<str>];

    fn deref(&self) -> &[Arc<str>] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl FromIterator<Arc<str>> for Values {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(values: I) -> Self {
        let mut values: Vec<Arc<str>> = values.into_iter().collect();
        values.sort();
        values.dedup();
        Self::sorted(values)
    }
}

impl<'a> IntoIterator for &'a Values {
    type Item = &'a Arc<str>;
    type IntoIter = std::slice::Iter<'a, Arc<str>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(listed: &[&str]) -> Values {
        listed.iter().map(|value| Arc::from(*value)).collect()
    }

    #[test]
    fn values_are_a_sorted_set_and_nothing_is_none_of_them() {
        let some = values(&["b", "a", "b"]);
        assert_eq!(some, values(&["a", "b"]));
        assert!(some.contains("b") && !some.contains("c") && !Values::NONE.contains(""));
        assert_eq!(some.union(&values(&["c", "a"])), values(&["a", "b", "c"]));
        assert_eq!((some.keep(|value| value > "a"), some.keep(|_| false)), (values(&["b"]), Values::NONE));
        assert!(Values::NONE < some && some < values(&["a", "c"]), "the order is that of sets");
    }
}
