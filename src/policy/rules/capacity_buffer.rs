//! Rules for the CapacityBuffer. Must never look up the objects that a buffer references: only callers with all objects
//! can.

use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Returns the faults of a buffer.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else { return Vec::new() };
    let mut faults = Vec::new();
    if spec.has("podTemplateRef") && spec.has("scalableRef") {
        let fault = spec.fault_at("scalableRef", "cannot be combined with `podTemplateRef`");
        faults.push(fault.hint("a buffer is for one of the two: remove the other"));
    }
    if spec.has("podTemplateRef") && !spec.has("replicas") && !spec.has("limits") {
        let fault = spec.fault_at("replicas", "is missing: a buffer for a PodTemplate needs it, or `limits`");
        faults.push(fault.hint("set the number of pods to keep headroom for"));
    }
    faults
}
