//! The inputs for building machines, looked up once per class.

use std::collections::BTreeMap;

use super::cluster::refusal;
use crate::bootstrap::Refusal;
use crate::catalog::size::Size;
use crate::model::{ClassName, InstanceType, NodeClass, SkuName, label};
use crate::plan::ClaimSpec;
use crate::plan::propose::network;
use crate::policy::{Policy, WholeClass};
use crate::snapshot::{AzureFacts, Snapshot};

/// A live cluster and its policy.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) facts: &'a AzureFacts,
    offered: BTreeMap<ClassName, BTreeMap<SkuName, InstanceType>>,
}

/// The inputs for a VM of a size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'a> {
    pub(super) size: &'a Size,
    pub(super) kind: &'a InstanceType,
    pub(super) class: &'a NodeClass,
    pub(super) whole: &'a WholeClass,
    pub(super) claim: &'a ClaimSpec,
    pub(super) facts: &'a AzureFacts,
}

impl Made<'_> {
    /// Returns whether UltraSSD disks may be attached; only set if the claim accepts no other value.
    pub(super) fn ultra_ssd(&self) -> Option<bool> {
        let asked = self.claim.requirements.get(label::ULTRA_SSD)?;
        (asked.accepts("true") && !asked.accepts("false")).then_some(true)
    }
}

impl<'a> Ground<'a> {
    /// Looks up the sizes offered to the classes of these claims.
    pub(super) fn of<'c>(
        (snapshot, policy): (&'a Snapshot, &'a Policy),
        facts: &'a AzureFacts,
        claims: impl IntoIterator<Item = &'c ClaimSpec>,
    ) -> Self {
        let mut offered = BTreeMap::new();
        for claim in claims {
            let Some(class) = policy.classes.get(&claim.class) else { continue };
            offered.entry(claim.class.clone()).or_insert_with(|| {
                let offered = snapshot.catalog.offered(class, network(policy));
                offered.types.iter().map(|kind| (kind.name.clone(), kind.clone())).collect()
            });
        }
        Self { snapshot, policy, facts, offered }
    }

    /// Returns the inputs for a VM of this size.
    ///
    /// # Errors
    /// The class is not in the cluster, or the size's capabilities are unknown.
    pub(super) fn made<'s>(&'s self, claim: &'s ClaimSpec, size: &SkuName) -> Result<Made<'s>, Vec<Refusal>> {
        let class = self.policy.classes.get(&claim.class);
        let whole = self.policy.whole_classes.get(&claim.class);
        let (Some(class), Some(whole)) = (class, whole) else {
            return Err(vec![refusal("AKSNodeClass", format!("`{}` is not in the cluster", claim.class))]);
        };
        let kind = self.offered.get(&claim.class).and_then(|offered| offered.get(size));
        let sold = self.snapshot.catalog.size(size);
        let (Some(kind), Some(sold)) = (kind, sold) else {
            let why = format!(
                "the catalogue does not say what `{size}` can do: give Azure's list of sizes (`--catalog`)"
            );
            return Err(vec![refusal("VM size", why)]);
        };
        Ok(Made { size: &sold.size, kind, class, whole, claim, facts: self.facts })
    }
}
