//! Finds the sizes and placements of a pool that satisfy a pod's node terms, by set operations over one table per
//! label, so the cost grows with the number of distinct values, not of sizes.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{LabelKey, Requirement, Requirements};

use super::Kind;
use crate::solve::intern::Bits;

/// The sizes and placements of a pool that satisfy something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::solve) struct Reach {
    /// Sizes, by index in the pool.
    pub(in crate::solve) kinds: Bits,
    /// Label sets of offerings, by number.
    pub(in crate::solve) placements: Bits,
}

/// For each label that is mentioned anywhere, the sizes and placements with each value.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    kinds: Table,
    placements: Table,
}

#[derive(Clone, Debug)]
struct Table {
    length: usize,
    by_key: BTreeMap<LabelKey, Column>,
}

/// The rows with each value of one label, and the rows without it.
#[derive(Clone, Debug)]
struct Column {
    values: Vec<(Requirement, Bits)>,
    silent: Bits,
}

impl Tables {
    pub(super) fn of(kinds: &[Kind<'_>], placements: &[Requirements], keys: &BTreeSet<LabelKey>) -> Self {
        let of_kinds: Vec<&Requirements> = kinds.iter().map(|kind| &kind.kind.requirements).collect();
        let of_placements: Vec<&Requirements> = placements.iter().collect();
        Self { kinds: Table::of(&of_kinds, keys), placements: Table::of(&of_placements, keys) }
    }

    /// Returns the sizes and placements that meet `wanted` and the pool's requirements together.
    pub(super) fn reach(&self, wanted: &Requirements, base: &Requirements) -> Reach {
        let mut reach = Reach { kinds: self.kinds.everyone(), placements: self.placements.everyone() };
        for (key, requirement) in wanted.iter() {
            let both = match base.get(key.as_str()) {
                Some(there) => there.intersection(requirement),
                None => requirement.clone(),
            };
            self.kinds.narrow(&mut reach.kinds, key, &both);
            self.placements.narrow(&mut reach.placements, key, &both);
        }
        reach
    }

    /// Returns whether all sizes, or all placements, have exactly one value of this label, or none.
    pub(super) fn is_settled(&self, key: &LabelKey) -> bool {
        self.kinds.is_settled(key) || self.placements.is_settled(key)
    }

    /// Returns whether some size or placement defines this label.
    pub(super) fn names(&self, key: &LabelKey) -> bool {
        self.kinds.by_key.contains_key(key) || self.placements.by_key.contains_key(key)
    }
}

impl Table {
    fn of(rows: &[&Requirements], spoken_of: &BTreeSet<LabelKey>) -> Self {
        let is_there = |key: &&LabelKey| rows.iter().any(|row| row.get(key.as_str()).is_some());
        let keys = spoken_of.iter().filter(is_there);
        let column = |key: &LabelKey| {
            let mut values: BTreeMap<&Requirement, Bits> = BTreeMap::new();
            let mut silent = Bits::none(rows.len());
            for (place, row) in rows.iter().enumerate() {
                match row.get(key.as_str()) {
                    Some(value) => {
                        values.entry(value).or_insert_with(|| Bits::none(rows.len())).insert(place);
                    }
                    None => silent.insert(place),
                }
            }
            let values = values.into_iter().map(|(value, bits)| (value.clone(), bits)).collect();
            Column { values, silent }
        };
        let by_key = keys.map(|key| (key.clone(), column(key))).collect();
        Self { length: rows.len(), by_key }
    }

    fn everyone(&self) -> Bits {
        Bits::all(self.length)
    }

    /// Keeps the rows whose value agrees; rows without the label agree, as in Karpenter.
    fn narrow(&self, kept: &mut Bits, key: &LabelKey, wanted: &Requirement) {
        let Some(column) = self.by_key.get(key) else { return };
        let mut agreeing = column.silent.clone();
        for (value, bits) in &column.values {
            let absent = wanted.accepts_absence() && value.accepts_absence();
            if absent || wanted.intersects(value) {
                agreeing.add(bits);
            }
        }
        kept.keep(&agreeing);
    }

    fn is_settled(&self, key: &LabelKey) -> bool {
        self.by_key.get(key).is_some_and(|column| {
            column.silent.is_empty()
                && column.values.iter().all(|(value, _)| value.single().is_some() || value.is_none())
        })
    }
}
