//! Statically provisioned volumes and the claims that may bind to them.
//!
//! The rule is Kubernetes' (`FindMatchingVolume`): the volume has the claim's class and volume mode, at least its size,
//! all its access modes, and the labels that it selects. Never decides which of several matching volumes is bound.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::storage::{AskedClass, Storage, Volume, VolumeClaim};
use super::{LabelKey, LabelSelector};

/// What an available volume offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeOffer {
    /// Its size in bytes.
    pub bytes: i64,
    /// Its access modes, such as `ReadWriteOnce`.
    pub modes: BTreeSet<Arc<str>>,
    /// Whether it is a device (`volumeMode: Block`) and no file system.
    pub is_block: bool,
    /// Its labels.
    pub labels: BTreeMap<LabelKey, Arc<str>>,
}

/// What a claim without a volume asks of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeWish {
    /// The least size in bytes.
    pub bytes: i64,
    /// The access modes that it must have.
    pub modes: BTreeSet<Arc<str>>,
    /// Whether it must be a device.
    pub is_block: bool,
    /// The labels that it must have.
    pub selector: LabelSelector,
}

impl VolumeOffer {
    /// Returns whether a claim that asks for this may take the volume.
    #[must_use]
    pub fn meets(&self, wish: &VolumeWish) -> bool {
        self.bytes >= wish.bytes
            && self.is_block == wish.is_block
            && self.modes.is_superset(&wish.modes)
            && wish.selector.selects(&self.labels)
    }
}

impl Storage {
    /// Returns the available volumes that a claim may take, the smallest first, as Kubernetes tries them. A claim that is
    /// made with its pod does not say here how large it is (`None`).
    #[must_use]
    pub fn available_for(&self, asked: &AskedClass, wish: Option<&VolumeWish>) -> Vec<&Volume> {
        let class = match asked {
            AskedClass::Named(name) => Some(name),
            AskedClass::Default => self.class(asked).map(|class| &class.name),
            AskedClass::None => None,
        };
        let offer = |volume: &'_ Volume| volume.offer.as_ref().map(|offer| offer.bytes);
        let mut found: Vec<&Volume> = self
            .volumes
            .iter()
            .filter(|volume| {
                let offer = volume.offer.as_ref();
                volume.class.as_ref() == class
                    && volume.claim.is_none()
                    && offer.is_some_and(|offer| wish.is_none_or(|wish| offer.meets(wish)))
            })
            .collect();
        found.sort_by_key(|volume| (offer(volume), &volume.name));
        found
    }

    /// Returns the available volumes that this claim may take, the smallest first.
    #[must_use]
    pub fn available_for_claim(&self, claim: &VolumeClaim) -> Vec<&Volume> {
        self.available_for(&claim.class, claim.wish.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::{VolumeOffer, VolumeWish};
    use crate::model::{LabelSelector, Requirement, Requirements};

    #[test]
    fn a_volume_serves_claims_that_ask_for_no_more_than_it_has() {
        let offer = VolumeOffer {
            bytes: 10,
            modes: ["ReadWriteOnce".into(), "ReadOnlyMany".into()].into(),
            is_block: false,
            labels: [("tier".into(), "fast".into())].into(),
        };
        let wish = |bytes, mode: &str, is_block, tier: &str| VolumeWish {
            bytes,
            modes: [mode.into()].into(),
            is_block,
            selector: LabelSelector(Requirements::none().with("tier", Requirement::one(tier))),
        };
        assert!(offer.meets(&VolumeWish::default()));
        assert!(offer.meets(&wish(10, "ReadWriteOnce", false, "fast")));
        for other in [
            wish(11, "ReadWriteOnce", false, "fast"),
            wish(10, "ReadWriteMany", false, "fast"),
            wish(10, "ReadWriteOnce", true, "fast"),
            wish(10, "ReadWriteOnce", false, "slow"),
        ] {
            assert!(!offer.meets(&other), "{other:?}");
        }
    }
}
