//! Fields of a pod's `spec` that are misspelt: the API server refuses them, and a plan that passes them over is wrong.
//!
//! Only names that are nearly those of fields which planning reads are told. What looks like none of them may be a field of
//! a Kubernetes to come.

/// The fields that decide where a pod may be.
const READ: [&str; 14] = [
    "affinity",
    "containers",
    "hostNetwork",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "overhead",
    "priorityClassName",
    "resourceClaims",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
];

/// The other fields of Kubernetes 1.35.
const OTHERS: [&str; 27] = [
    "activeDeadlineSeconds",
    "automountServiceAccountToken",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "ephemeralContainers",
    "hostAliases",
    "hostIPC",
    "hostPID",
    "hostUsers",
    "hostname",
    "hostnameOverride",
    "imagePullSecrets",
    "os",
    "preemptionPolicy",
    "priority",
    "readinessGates",
    "resources",
    "restartPolicy",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "volumes",
];

/// How many letters may be wrong, missing, too many or in each other's place.
const WRONG_MAX: usize = 2;

/// Returns the field that a name is likely meant to be, where it is the name of none.
#[must_use]
pub fn meant(name: &str) -> Option<&'static str> {
    if READ.contains(&name) || OTHERS.contains(&name) || name.len() > 40 {
        return None;
    }
    let lower = name.to_lowercase();
    let distance = |field: &&str| strsim::damerau_levenshtein(&field.to_lowercase(), &lower);
    READ.into_iter().min_by_key(distance).filter(|field| distance(field) <= WRONG_MAX)
}
