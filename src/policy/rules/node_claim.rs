//! Rules of the NodeClaim.
//! Must never judge its status: that is what was seen.

use super::requirements::{self, PoolKey};
use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// What is wrong with a claim.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else {
        return Vec::new();
    };
    let mut faults = requirements::faults(&spec, PoolKey::Allowed);
    faults.extend(requirements::class_faults(&spec));
    faults
}

/// What is wrong with a change of a claim.
pub(super) fn faults_of_change(old: &Place<'_>, new: &Place<'_>) -> Vec<Fault> {
    if old.value.get("spec") == new.value.get("spec") {
        return Vec::new();
    }
    vec![new.fault_at("spec", "a claim cannot be changed").hint("delete the claim and make a new one")]
}
