//! Amounts of resources as plain rows of numbers, since they are compared millions of times.
//!
//! Only resources that somebody asks for or limits have a column. Nothing here knows what is compared.

use std::collections::BTreeSet;

use crate::model::{ResourceName, Resources};

/// Amounts, one a column.
pub(super) type Amounts = Vec<i64>;

/// Which resource stands in which column.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Columns(Vec<ResourceName>);

impl Columns {
    /// Gives every resource that one of these names a column.
    pub(super) fn of<'r>(named: impl Iterator<Item = &'r Resources>) -> Self {
        let names: BTreeSet<&ResourceName> =
            named.flat_map(|resources| resources.iter().map(|(name, _)| name)).collect();
        Self(names.into_iter().cloned().collect())
    }

    /// Returns amounts as a row.
    pub(super) fn row(&self, resources: &Resources) -> Amounts {
        self.0.iter().map(|name| resources.get(name)).collect()
    }

    /// Returns a row as amounts, without those that are zero.
    pub(super) fn resources(&self, row: &[i64]) -> Resources {
        let amounts = self.0.iter().cloned().zip(row.iter().copied());
        amounts.filter(|(_, amount)| *amount != 0).collect()
    }
}

/// Returns whether all that is wanted is there. Where anything is overdrawn nothing fits, as in Karpenter.
pub(super) fn fits(wanted: &[i64], room: &[i64]) -> bool {
    wanted.iter().zip(room).all(|(wanted, room)| *room >= 0 && wanted <= room)
}

/// Returns the sum of two rows.
pub(super) fn plus(one: &[i64], other: &[i64]) -> Amounts {
    one.iter().zip(other).map(|(one, other)| one.saturating_add(*other)).collect()
}

/// Returns what is left of a row.
pub(super) fn minus(one: &[i64], other: &[i64]) -> Amounts {
    one.iter().zip(other).map(|(one, other)| one.saturating_sub(*other)).collect()
}

/// Raises each amount to that of the other row where that is more.
pub(super) fn raise(row: &mut [i64], other: &[i64]) {
    for (amount, other) in row.iter_mut().zip(other) {
        *amount = (*amount).max(*other);
    }
}
