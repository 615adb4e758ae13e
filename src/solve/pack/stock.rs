//! What packing may buy: the columns, and which of them pods of equal node terms may stand on.
//!
//! Follows from what can be bought and what pods ask of their nodes' labels and taints; how many pods there are, and
//! how large, does not matter here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{LabelKey, Requirements, Stance};
use crate::solve::fit::limits::Ledger;
use crate::solve::fit::taints;
use crate::solve::intern::Bits;
use crate::solve::price::PriceBook;
use crate::solve::supply::reach::Reach;
use crate::solve::supply::{PoolSupply, Supply};

use super::dimension::Dimension;
use super::problem::Column;
use super::{columns, variety};

/// Node terms, and the stance to taints.
pub(super) type Terms<'a> = (&'a Vec<Requirements>, &'a Stance);

/// What columns are made from: node terms and stances, in their order, what is counted of a node, and what is left
/// of limits.
pub(in crate::solve) type Made = (Vec<(Vec<Requirements>, Stance)>, Vec<Dimension>, Ledger);

/// What may be bought.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Stock {
    /// The columns.
    pub(super) columns: Vec<Column>,
    /// Where pods may stand, by the number of their node terms.
    pub(super) accesses: Arc<Vec<Access>>,
    /// What node terms reach, by pool.
    pub(super) reaches: Arc<Vec<PoolReaches>>,
}

impl Stock {
    /// Makes the columns for so many sets of node terms.
    pub(super) fn of(
        reaches: Vec<PoolReaches>,
        terms: usize,
        (supply, dimensions, ways): (&Supply<'_>, &[Dimension], &[Option<variety::Ways<'_>>]),
        (ledger, book): (&Ledger, &PriceBook<'_>),
    ) -> Self {
        let raw = columns::all(supply, &reaches, dimensions, (ledger, book), ways);
        let columns = columns::undominated(raw, &reaches, supply, terms);
        let accesses = (0..terms).map(|number| access(number, &columns, &reaches, supply)).collect();
        Self { columns, accesses: Arc::new(accesses), reaches: Arc::new(reaches) }
    }
}

/// Where pods of equal node terms and tolerations may stand.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Access {
    /// The columns.
    pub(in crate::solve) columns: Bits,
    /// For pools where the pods ask for labels that are still open: each alternative's columns and what it
    /// asks of those labels.
    pub(in crate::solve) open: BTreeMap<usize, Vec<(Bits, Requirements)>>,
}

/// What each set of node terms reaches in one pool: one entry an alternative, with the open part.
#[derive(Clone, Debug)]
pub(in crate::solve) struct PoolReaches {
    pub(in crate::solve) by_terms: Vec<Vec<(Reach, Requirements)>>,
    /// The labels that are open in this pool and that somebody asks about.
    pub(in crate::solve) open_keys: BTreeSet<LabelKey>,
    /// For each set of terms how much of a choice its nodes must be; empty where that is the same for all.
    pub(in crate::solve) least: Vec<Vec<u32>>,
}

impl PoolReaches {
    /// Looks at every pool.
    pub(super) fn all(supply: &Supply<'_>, terms: &[Terms<'_>]) -> Vec<Self> {
        supply.pools.iter().map(|pool| Self::of(pool, terms)).collect()
    }

    fn of(pool: &PoolSupply<'_>, terms: &[Terms<'_>]) -> Self {
        let mut open_keys = BTreeSet::new();
        let mut by_alternative: BTreeMap<&Requirements, Option<_>> = BTreeMap::new();
        let mut by_terms = Vec::new();
        for (alternatives, stance) in terms {
            let mut reached = Vec::new();
            if taints::why(&pool.pool.taints, stance).is_ok() {
                for alternative in *alternatives {
                    let entry = by_alternative.entry(alternative).or_insert_with(|| {
                        let mut reach = pool.reach(alternative)?;
                        for place in pool.unnamed(alternative).iter() {
                            reach.kinds.remove(place);
                        }
                        Some((reach, pool.open_part(alternative)))
                    });
                    if let Some((reach, part)) = entry {
                        open_keys.extend(part.iter().map(|(key, _)| key.clone()));
                        reached.push((reach.clone(), part.clone()));
                    }
                }
            }
            by_terms.push(reached);
        }
        Self { by_terms, open_keys, least: Vec::new() }
    }

    /// Returns how much of a choice a node must be for these terms.
    pub(super) fn least(&self, number: usize) -> &[u32] {
        self.least.get(number).map_or(&[], Vec::as_slice)
    }
}

fn access(number: usize, columns: &[Column], pools: &[PoolReaches], supply: &Supply<'_>) -> Access {
    let mut all = Bits::none(columns.len());
    let mut open: BTreeMap<usize, Vec<(Bits, Requirements)>> = BTreeMap::new();
    for (pool, reaches) in pools.iter().enumerate() {
        let reached = &reaches.by_terms[number];
        for (reach, part) in reached {
            let mut bits = Bits::none(columns.len());
            for (place, column) in columns.iter().enumerate().filter(|(_, column)| column.pool == pool) {
                if columns::serves(column, reach, supply) && variety::suffices(column, reaches.least(number))
                {
                    bits.insert(place);
                }
            }
            all.add(&bits);
            open.entry(pool).or_default().push((bits, part.clone()));
        }
        if reached.iter().all(|(_, part)| part.is_empty()) {
            open.remove(&pool);
        }
    }
    Access { columns: all, open }
}
