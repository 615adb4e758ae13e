//! Rules for the NodeClaim. Must never check its status, which is observed.

use super::requirements::{self, PoolKey};
use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Returns the faults of a claim.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else {
        return Vec::new();
    };
    let mut faults = requirements::faults(&spec, PoolKey::Allowed);
    faults.extend(requirements::class_faults(&spec));
    faults
}

/// Returns the faults of a change to a claim.
pub(super) fn faults_of_change(old: &Place<'_>, new: &Place<'_>) -> Vec<Fault> {
    if old.value.get("spec") == new.value.get("spec") {
        return Vec::new();
    }
    vec![new.fault_at("spec", "a claim cannot be changed").hint("delete the claim and make a new one")]
}
