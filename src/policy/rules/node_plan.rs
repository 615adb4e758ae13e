//! Rules of the NodePlan.
//! Must never judge its status: that is what has become of it.

use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// What is wrong with a plan's entry.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else {
        return Vec::new();
    };
    if spec.has("chunks") != spec.has("chunk") {
        return Vec::new();
    }
    let fault = spec.fault_at("chunks", "either this, or `chunk`, which is one of them, is needed");
    vec![fault.hint("NodePlans are written by `nodeform apply`: leave them as they are")]
}

/// What is wrong with a change of a plan's entry.
pub(super) fn faults_of_change(old: &Place<'_>, new: &Place<'_>) -> Vec<Fault> {
    if old.value.get("spec") == new.value.get("spec") {
        return Vec::new();
    }
    vec![new.fault_at("spec", "a plan cannot be changed").hint("plan again: `nodeform plan --live`")]
}
