//! Misspelt fields of a pod's `spec`: the API server rejects them, and a plan that ignores them is wrong.
//!
//! Only reports names that are close to a field that planning reads. All others may be fields of a future Kubernetes
//! version.

use crate::manifests::fields::{POD_SPEC, type_of};

/// Fields that decide where a pod may run.
const READ: [&str; 17] = [
    "affinity",
    "containers",
    "hostNetwork",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "overhead",
    "preemptionPolicy",
    "priorityClassName",
    "resourceClaims",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "schedulingGroup",
    "tolerations",
    "topologySpreadConstraints",
    "workloadRef",
];

/// Maximum number of wrong, missing, extra or swapped letters.
const WRONG_MAX: usize = 2;

/// Returns the field that an unknown name probably means.
#[must_use]
pub fn meant(name: &str) -> Option<&'static str> {
    let is_known = || type_of(POD_SPEC).is_some_and(|fields| fields.contains_key(name));
    if READ.contains(&name) || name.len() > 40 || is_known() {
        return None;
    }
    let lower = name.to_lowercase();
    let distance = |field: &&str| strsim::damerau_levenshtein(&field.to_lowercase(), &lower);
    READ.into_iter().min_by_key(distance).filter(|field| distance(field) <= WRONG_MAX)
}
