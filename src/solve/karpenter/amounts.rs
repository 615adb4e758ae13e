//! Amounts of resources as rows of numbers, because they are compared millions of times.
//!
//! Only requested resources have a column. Never looks at what the amounts belong to.

use std::collections::BTreeSet;

use crate::model::{ResourceName, Resources};

/// Amounts, one per column.
pub(super) type Amounts = Vec<i64>;

/// The resource of each column.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Columns(Vec<ResourceName>);

impl Columns {
    /// Creates a column for every resource in these lists.
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

/// Returns whether all wanted amounts are free. If any amount is overdrawn, nothing fits, as in Karpenter.
pub(super) fn fits(wanted: &[i64], room: &[i64]) -> bool {
    wanted.iter().zip(room).all(|(wanted, room)| *room >= 0 && wanted <= room)
}

/// Returns the sum of two rows.
pub(super) fn plus(one: &[i64], other: &[i64]) -> Amounts {
    one.iter().zip(other).map(|(one, other)| one.saturating_add(*other)).collect()
}

/// Returns the difference of two rows.
pub(super) fn minus(one: &[i64], other: &[i64]) -> Amounts {
    one.iter().zip(other).map(|(one, other)| one.saturating_sub(*other)).collect()
}

/// Raises each amount to that of the other row if that is higher.
pub(super) fn raise(row: &mut [i64], other: &[i64]) {
    for (amount, other) in row.iter_mut().zip(other) {
        *amount = (*amount).max(*other);
    }
}
