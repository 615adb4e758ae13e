//! Change classes that require review, in all pools or in single ones.

use std::collections::{BTreeMap, BTreeSet};

use super::{ChangeClass, PoolName};

/// Which classes of change people review before they happen.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reviewed {
    /// Those that are reviewed where a pool says nothing else.
    pub classes: BTreeSet<ChangeClass>,
    /// Those that are reviewed in single pools beside.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<PoolName, BTreeSet<ChangeClass>>,
    /// Those of the former that are not reviewed in single pools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_in: BTreeMap<PoolName, BTreeSet<ChangeClass>>,
}

impl Reviewed {
    /// Returns whether nothing is reviewed.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.classes.is_empty() && self.pools.values().all(BTreeSet::is_empty)
    }

    /// Returns whether a class is reviewed in a pool.
    #[must_use]
    pub fn has(&self, class: ChangeClass, pool: &PoolName) -> bool {
        let says = |pools: &BTreeMap<PoolName, BTreeSet<ChangeClass>>| {
            pools.get(pool).is_some_and(|classes| classes.contains(&class))
        };
        says(&self.pools) || self.classes.contains(&class) && !says(&self.not_in)
    }

    /// Returns whether a class is reviewed in any pool.
    #[must_use]
    pub fn has_any(&self, class: ChangeClass) -> bool {
        self.classes.contains(&class) || self.pools.values().any(|classes| classes.contains(&class))
    }

    /// Returns what is reviewed of one class alone.
    #[must_use]
    pub fn of(&self, class: ChangeClass) -> Self {
        let only = |pools: &BTreeMap<PoolName, BTreeSet<ChangeClass>>| -> BTreeMap<_, _> {
            let pools = pools.iter().filter(|(_, classes)| classes.contains(&class));
            pools.map(|(pool, _)| (pool.clone(), BTreeSet::from([class]))).collect()
        };
        Self {
            classes: self.classes.iter().copied().filter(|own| *own == class).collect(),
            pools: only(&self.pools),
            not_in: only(&self.not_in),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pools_own_word_counts_before_that_for_all_pools() {
        let pool = PoolName::new;
        let reviewed = Reviewed {
            classes: [ChangeClass::MovePods, ChangeClass::Replace].into(),
            pools: [(pool("gpu"), [ChangeClass::Create].into())].into(),
            not_in: [(pool("batch"), [ChangeClass::MovePods].into())].into(),
        };
        let of = |class, name| reviewed.has(class, &pool(name));
        assert!(of(ChangeClass::MovePods, "web") && !of(ChangeClass::MovePods, "batch"));
        assert!(of(ChangeClass::Replace, "batch") && !of(ChangeClass::Create, "web"));
        assert!(of(ChangeClass::Create, "gpu") && reviewed.has_any(ChangeClass::Create));
        let moves = reviewed.of(ChangeClass::MovePods);
        assert!(!moves.has_any(ChangeClass::Create) && !moves.has(ChangeClass::MovePods, &pool("batch")));
        assert!(Reviewed::default().is_nothing() && !reviewed.is_nothing());
    }
}
