//! Finds the right API version of a known kind that was written in the wrong group.
//!
//! Must never claim a kind of a third-party group: names repeat, and an operator may have its own `Deployment`.

use super::kind::{CORE_KINDS, READ_KINDS, Treatment, group_and_version, treatment};

/// A kind with its served API version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The kind, in its exact spelling.
    pub kind: &'static str,
    /// Its API version.
    pub api_version: &'static str,
}

/// Groups whose kinds are all known here, or share no name with another group.
const CLOSED: [&str; 17] = [
    "",
    "apps",
    "argoproj.io",
    "autoscaling",
    "autoscaling.x-k8s.io",
    "batch",
    "events.k8s.io",
    "extensions",
    "karpenter.azure.com",
    "karpenter.sh",
    "keda.sh",
    "networking.k8s.io",
    "node.k8s.io",
    "nodeform.dev",
    "policy",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// Returns the right API version of a kind that its group does not have; `None` if the group has, or may have, the
/// kind.
#[must_use]
pub fn of(api_version: &str, kind: &str) -> Option<Home> {
    let (group, _) = group_and_version(api_version);
    let is_here = |(of, read): &(&str, &str)| *of == group && read.eq_ignore_ascii_case(kind);
    let is_core = group.is_empty() && CORE_KINDS.contains(&kind);
    if is_core || READ_KINDS.iter().any(is_here) || treatment(api_version, kind) != Treatment::Other {
        return None;
    }
    let home = homes().find(|(_, home)| home.kind.eq_ignore_ascii_case(kind))?;
    is_wrong(group, home).then_some(home.1)
}

/// Returns the known kinds, each with its group.
fn homes() -> impl Iterator<Item = (&'static str, Home)> {
    let read = READ_KINDS.iter().filter_map(|(group, kind)| {
        // No kind has a version with this name, so the result is the version to write instead.
        let Treatment::OtherVersion(api_version) = treatment(&format!("{group}/none"), kind) else {
            return None;
        };
        Some((*group, Home { kind, api_version }))
    });
    read.chain(CORE_KINDS.iter().map(|kind| ("", Home { kind, api_version: "v1" })))
}

/// Returns whether a group cannot have a kind with that name: all of its kinds are known, or its name resembles the
/// right group.
fn is_wrong(group: &str, (own, home): (&str, Home)) -> bool {
    const KARPENTER: &str = "karpenter";
    let lower = group.to_ascii_lowercase();
    let is_slip = !own.is_empty() && strsim::damerau_levenshtein(&lower, own) <= 1;
    let is_karpenters = lower.contains(KARPENTER) && own.contains(KARPENTER);
    CLOSED.contains(&group) || is_slip || is_karpenters || home.kind == "AKSNodeClass"
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_known_kind_in_a_group_that_has_none_is_told_where_it_is() {
        let table = [
            ("karpenter.sh/v1beta1", "AKSNodeClass", Some("karpenter.azure.com/v1beta1")),
            ("example.com/v1", "AKSNodeClass", Some("karpenter.azure.com/v1beta1")),
            ("karpenter.azure.com/v1beta1", "NodePool", Some("karpenter.sh/v1")),
            ("karpenter.k8s.aws/v1", "NodePool", Some("karpenter.sh/v1")),
            ("karpenter.sh/v1", "NodeFleet", Some("nodeform.dev/v1alpha1")),
            ("karpenter.azure.com/v1", "nodeoverlay", Some("karpenter.sh/v1alpha1")),
            ("v1", "Deployment", Some("apps/v1")),
            ("apps", "Deployment", Some("apps/v1")),
            ("app/v1", "Deployment", Some("apps/v1")),
            ("apps/v1", "CronJob", Some("batch/v1")),
            ("apps/v1", "Pod", Some("v1")),
            ("apps/v1", "Service", Some("v1")),
            ("batch/v1", "PodDisruptionBudget", Some("policy/v1")),
            ("v1", "StorageClass", Some("storage.k8s.io/v1")),
            // In its own group, with any version.
            ("apps/v1beta2", "StatefulSet", None),
            ("extensions/v1beta1", "Deployment", None),
            ("karpenter.azure.com/v1", "AKSNodeClass", None),
            ("v1", "Event", None),
            ("v1", "pod", None),
            // A third-party kind with the same name, or an unknown kind.
            ("serving.knative.dev/v1", "Service", None),
            ("example.com/v1", "Deployment", None),
            ("hypershift.openshift.io/v1", "NodePool", None),
            ("metrics.k8s.io/v1beta1", "Node", None),
            ("apps/v1", "Whatever", None),
        ];
        for (version, kind, expected) in table {
            assert_eq!(of(version, kind).map(|home| home.api_version), expected, "{version} {kind}");
        }
    }
}
