//! Fields of a pod's `spec` that are misspelt: the API server refuses them, and a plan that passes them over is wrong.
//!
//! Only names that are nearly those of fields which planning reads are told. What looks like none of them may be a field of
//! a Kubernetes to come.

use crate::manifests::fields::{POD_SPEC, type_of};

/// The fields that decide where a pod may be.
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

/// How many letters may be wrong, missing, too many or in each other's place.
const WRONG_MAX: usize = 2;

/// Returns the field that a name is likely meant to be, where it is the name of none.
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
