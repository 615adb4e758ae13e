//! Interning: dense numbers for repeated values, and bit sets of such numbers.
//!
//! Names are restored only in the report. Never interprets the values.

use std::collections::BTreeMap;

/// Numbering of distinct values, in order of first appearance.
#[derive(Clone, Debug)]
pub(super) struct Interner<T> {
    numbers: BTreeMap<T, usize>,
    values: Vec<T>,
}

impl<T: Ord + Clone> Interner<T> {
    pub(super) const fn new() -> Self {
        Self { numbers: BTreeMap::new(), values: Vec::new() }
    }

    /// Returns the number of this value, assigning a new one if it has none yet.
    pub(super) fn number(&mut self, value: &T) -> usize {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let number = self.values.len();
        self.numbers.insert(value.clone(), number);
        self.values.push(value.clone());
        number
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }
}

/// A set of dense numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Returns the empty set with capacity for the numbers below `length`.
    pub(super) fn none(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(64)] }
    }

    /// Returns the set of all numbers below `length`.
    pub(super) fn all(length: usize) -> Self {
        let mut bits = Self::none(length);
        for number in 0..length {
            bits.insert(number);
        }
        bits
    }

    pub(super) fn insert(&mut self, number: usize) {
        self.words[number / 64] |= 1 << (number % 64);
    }

    pub(super) fn remove(&mut self, number: usize) {
        self.words[number / 64] &= !(1 << (number % 64));
    }

    pub(super) fn has(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Intersects this set with `other`.
    pub(super) fn keep(&mut self, other: &Self) {
        for (word, there) in self.words.iter_mut().zip(&other.words) {
            *word &= there;
        }
    }

    /// Adds all of `other`.
    pub(super) fn add(&mut self, other: &Self) {
        for (word, there) in self.words.iter_mut().zip(&other.words) {
            *word |= there;
        }
    }

    /// Returns whether all of `other` is in this set.
    pub(super) fn holds(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(word, there)| there & !word == 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the numbers in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.words.iter().enumerate().flat_map(|(place, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(place * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bits, Interner};

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        let mut bits = Bits::none(130);
        for number in [0, 64, 129] {
            bits.insert(number);
        }
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 64, 129]);
        assert!(bits.has(64) && !bits.has(63) && !bits.has(1000));
        assert!(Bits::all(130).holds(&bits) && !bits.holds(&Bits::all(130)));
        bits.remove(64);
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 129]);
    }

    #[test]
    fn equal_values_have_one_number() {
        let mut interner = Interner::new();
        assert_eq!([interner.number(&"b"), interner.number(&"a"), interner.number(&"b")], [0, 1, 0]);
        assert_eq!(interner.values(), ["b", "a"]);
    }
}
