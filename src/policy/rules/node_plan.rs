//! Rules for the NodePlan, its chunks and its approvals. Must never check its status, which records progress.

use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Returns the faults of a change to a NodePlan or a chunk of its text.
pub(super) fn faults_of_change(old: &Place<'_>, new: &Place<'_>) -> Vec<Fault> {
    if old.value.get("spec") == new.value.get("spec") {
        return Vec::new();
    }
    vec![new.fault_at("spec", "a plan cannot be changed").hint("plan again: `nodeform plan --live`")]
}

/// Returns the faults of a change to an approval decision.
pub(super) fn faults_of_decision(old: &Place<'_>, new: &Place<'_>) -> Vec<Fault> {
    if old.value.get("spec") == new.value.get("spec") {
        return Vec::new();
    }
    let fault = new.fault_at("spec", "a decision about a plan cannot be changed");
    vec![fault.hint("delete it: `kubectl delete nodeplanapproval NAME`; then decide again")]
}
