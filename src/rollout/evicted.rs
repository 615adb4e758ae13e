//! Spot VMs that Azure evicted, detected from NodeClaims whose VM is gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::journal::REMOVAL;
use super::memory::Memory;
use super::own::absent::{Absent, confirmed};
use crate::model::{CapacityType, SkuName, Zone, label};
use crate::world::seen::{Seen, SeenClaim};

/// A spot VM that Azure evicted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Evicted {
    /// The UID of its NodeClaim.
    pub claim: Arc<str>,
    /// Its size.
    pub size: SkuName,
    /// Its zone.
    pub zone: Zone,
}

/// Returns the spot VMs that are gone without being removed, each confirmed by a request for that VM.
#[must_use]
pub fn evicted(seen: &Seen, memory: &Memory) -> BTreeSet<Evicted> {
    let is_gone = |claim: &SeenClaim| {
        let id = claim.provider_id.as_deref().and_then(|id| id.strip_prefix("azure://"));
        id.map(Absent::vm).is_some_and(|vm| !vm.is_seen(seen) && confirmed(memory, &vm, seen.at))
    };
    let stays = |claim: &&SeenClaim| {
        claim.deleting_since.is_none() && !claim.annotations.contains_key(REMOVAL) && is_gone(claim)
    };
    let claims = seen.claims.iter().flat_map(|claims| claims.values());
    claims.filter(stays).filter_map(of).collect()
}

fn of(claim: &SeenClaim) -> Option<Evicted> {
    let said = |key: &str| claim.labels.get(key).map(|value| &**value);
    let is_spot = said(label::CAPACITY_TYPE) == Some(CapacityType::Spot.as_str());
    is_spot.then_some(())?;
    Some(Evicted {
        claim: Arc::clone(&claim.uid),
        size: SkuName::new(said(label::INSTANCE_TYPE)?),
        zone: Zone::new(said(label::ZONE)?),
    })
}
