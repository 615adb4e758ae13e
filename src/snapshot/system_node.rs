//! The system node of an AKS cluster, assumed if the input holds no Node at all.
//!
//! It only counts in topology spread over hosts and takes no pods. It is never planned with, priced or shown as a node.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifests::Objects;
use crate::model::{
    Claimed, Effect, LabelKey, Node, NodeName, NodeStage, Pod, Requirement, Requirements, Resources,
    SpreadConstraint, Strength, Taint, label,
};

use super::Assumption;

/// Its display name.
pub const NAME: &str = "the assumed system node";

/// The taint that AKS recommends for system agent pools. <https://learn.microsoft.com/azure/aks/use-system-pools>
const TAINT: &str = "CriticalAddonsOnly";

/// A zone that no pod names, because its zone is unknown.
const SOME_ZONE: &str = "unknown";

/// Returns whether the node is assumed for this input: the input holds no Node, and some pods have spread constraints
/// over hosts that count tainted nodes.
#[must_use]
pub(super) fn is_assumed(objects: &Objects) -> bool {
    objects.nodes.is_empty() && objects.pods.iter().any(|pod| counting(pod).next().is_some())
}

/// Returns the assumption to report if it affects the number of nodes.
#[must_use]
pub(super) fn assumption(objects: &Objects) -> Option<Assumption> {
    let is_required = |constraint: &SpreadConstraint| constraint.strength == Strength::Required;
    let there = node()
        .labels
        .into_iter()
        .fold(Requirements::none(), |all, (key, value)| all.with(key.as_str(), Requirement::one(&value)));
    let decides = |pod: &Pod| {
        let is_counted = |constraint: &SpreadConstraint| {
            is_required(constraint) && (!constraint.honors_node_affinity || admits(pod, &there))
        };
        has_keys(pod, &there) && counting(pod).any(is_counted)
    };
    (objects.nodes.is_empty() && objects.pods.iter().any(decides)).then(|| Assumption {
        what: "1 tainted system node, which counts for spread over hosts with 0 pods".to_owned(),
        why: "the input holds no Node: add the output of `kubectl get nodes -o yaml`".to_owned(),
    })
}

/// Returns whether a pod's node selector and node affinity match these labels.
fn admits(pod: &Pod, there: &Requirements) -> bool {
    let is_met = |wanted: &Requirements| wanted.satisfied_by(there, |_| false).is_ok();
    let terms = &pod.spec.node_affinity.required;
    is_met(&pod.spec.node_selector) && terms.as_ref().is_none_or(|terms| terms.iter().any(is_met))
}

/// Returns whether these labels have all topology keys of a pod's required spread constraints: kube-scheduler counts no
/// other nodes.
fn has_keys(pod: &Pod, there: &Requirements) -> bool {
    let required = pod.spec.spread.iter().filter(|spread| spread.strength == Strength::Required);
    required.into_iter().all(|spread| there.get(spread.topology_key.as_str()).is_some())
}

/// Returns the spread constraints of a pod over hosts that count nodes whose taints it does not tolerate.
fn counting(pod: &Pod) -> impl Iterator<Item = &SpreadConstraint> {
    let over_hosts = |constraint: &&SpreadConstraint| {
        constraint.topology_key.as_str() == label::HOSTNAME && !constraint.honors_node_taints
    };
    pod.spec.spread.iter().filter(over_hosts)
}

/// Returns the node as Kubernetes would see it.
#[must_use]
pub fn node() -> Node {
    let labels = [
        (label::OS, "linux"),
        (label::ARCH, "amd64"),
        (label::AKS_MODE, "system"),
        (label::ZONE, SOME_ZONE),
        (label::HOSTNAME, NAME),
    ];
    let labels: BTreeMap<LabelKey, Arc<str>> =
        labels.into_iter().map(|(key, value)| (LabelKey::new(key), Arc::from(value))).collect();
    Node {
        name: NodeName::new(NAME),
        claim: None,
        pool: None,
        class: None,
        provider_id: None,
        uid: None,
        claim_uid: None,
        stage: NodeStage::Initialized,
        labels,
        taints: vec![Taint::new(TAINT, "true", Effect::NoSchedule)],
        capacity: Resources::none(),
        allocatable: Resources::none(),
        is_unschedulable: false,
        is_do_not_disrupt: false,
        kept_because: None,
        is_deleting: false,
        created: None,
        quiet_since: None,
        is_consolidatable: false,
        claimed: Claimed::default(),
        troubles: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::assumption;
    use crate::manifests::{Source, read};

    /// Returns whether the assumption is reported for pods with this spec.
    fn is_announced(spec: &str) -> bool {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a, labels: {{app: web}}}}\nspec:\n  containers: [{{name: c, image: x}}]\n{spec}"
        );
        assumption(&read(vec![Source::new("a.yaml", text)]).expect("it is valid")).is_some()
    }

    #[test]
    fn the_system_node_is_announced_only_where_a_spread_counts_it() {
        let over = |key: &str, more: &str| {
            format!(
                "  - {{maxSkew: 1, topologyKey: {key}, whenUnsatisfiable: DoNotSchedule{more}, labelSelector: {{matchLabels: {{app: web}}}}}}\n"
            )
        };
        let hosts = format!("  topologySpreadConstraints:\n{}", over("kubernetes.io/hostname", ""));
        let team = "  nodeSelector: {team: a}\n";
        assert!(is_announced(&hosts));
        assert!(!is_announced(&format!("{team}{hosts}")), "its labels keep it out");
        let ignored = over("kubernetes.io/hostname", ", nodeAffinityPolicy: Ignore");
        assert!(is_announced(&format!("{team}  topologySpreadConstraints:\n{ignored}")));
        assert!(!is_announced(&format!("{hosts}{}", over("team", ""))), "it has no such key");
        let not_system = "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
                          [{matchExpressions: [{key: kubernetes.azure.com/mode, operator: NotIn, values: [system]}]}]}}}\n";
        assert!(!is_announced(&format!("{not_system}{hosts}")));
    }
}
