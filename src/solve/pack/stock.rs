//! The columns that packing may buy, and which of them pods with equal node terms may use.
//!
//! It depends on the supply and on the node terms and tolerations of pods only, not on the number or the size of the
//! pods.

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

/// Node terms and tolerations.
pub(super) type Terms<'a> = (&'a Vec<Requirements>, &'a Stance);

/// Cache key of columns: node terms and tolerations, sorted, the dimensions, and the remaining limits.
pub(in crate::solve) type Made = (Vec<(Vec<Requirements>, Stance)>, Vec<Dimension>, Ledger);

/// The columns that may be bought.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Stock {
    /// The columns.
    pub(super) columns: Vec<Column>,
    /// Columns that pods may use, by the index of their node terms.
    pub(super) accesses: Arc<Vec<Access>>,
    /// Reach of the node terms, by pool.
    pub(super) reaches: Arc<Vec<PoolReaches>>,
}

impl Stock {
    /// Builds the columns for this many sets of node terms.
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

/// Columns that pods with equal node terms and tolerations may use.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Access {
    /// The columns.
    pub(in crate::solve) columns: Bits,
    /// For pools in which the pods ask for labels that are still open: the columns of each alternative, and its terms
    /// for those labels.
    pub(in crate::solve) open: BTreeMap<usize, Vec<(Bits, Requirements)>>,
}

/// Reach of each set of node terms in one pool: one entry per alternative, with its open part.
#[derive(Clone, Debug)]
pub(in crate::solve) struct PoolReaches {
    pub(in crate::solve) by_terms: Vec<Vec<(Reach, Requirements)>>,
    /// Labels that are open in this pool and that some pod asks for.
    pub(in crate::solve) open_keys: BTreeSet<LabelKey>,
    /// Number of distinct values required for each set of terms; empty if it is the same for all.
    pub(in crate::solve) least: Vec<Vec<u32>>,
}

impl PoolReaches {
    /// Computes the reach in every pool.
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

    /// Returns the number of distinct values that a node needs for these terms.
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
