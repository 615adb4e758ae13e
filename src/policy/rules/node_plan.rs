//! Rules of the NodePlan and its chunks.
//! Must never judge its status: that is what has become of it.

use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// What is wrong with a change of a plan's entry, or of a chunk of its text.
pub(super) fn faults_of_change(old: &Place<'_>, new: &Place<'_>) -> Vec<Fault> {
    if old.value.get("spec") == new.value.get("spec") {
        return Vec::new();
    }
    vec![new.fault_at("spec", "a plan cannot be changed").hint("plan again: `nodeform plan --live`")]
}
