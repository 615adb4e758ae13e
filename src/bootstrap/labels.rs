//! The labels that a kubelet sets on its node.
//!
//! Sources: Karpenter's Azure provider for names and values; Kubernetes' NodeRestriction for the labels that a kubelet
//! may set. Must never set a Kubernetes label that the API server would refuse: the node would not join.

use std::collections::BTreeMap;

use super::cluster::{Cluster, NetworkPlugin};
use super::node::{Arch, Node};
use super::refusal::Refusal;
use crate::api::aks_node_class::{AksNodeClassSpec, ImageFamily};

/// Labels in Kubernetes' own domains that a kubelet may set.
const OWN: &[&str] = &[
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Maximum length of a label's name or value.
const WORD_MAX: usize = 63;
/// Maximum length of a label's domain.
const DOMAIN_MAX: usize = 253;

/// Returns the labels: AKS's own, overridden by the node's.
pub(super) fn of(cluster: &Cluster, node: &Node, class: &AksNodeClassSpec) -> BTreeMap<String, String> {
    let mut labels = own(cluster, node, class);
    let settable = node.labels.iter().filter(|(key, _)| may_be_set(key));
    labels.extend(settable.map(|(key, value)| (key.clone(), value.clone())));
    labels
}

fn own(cluster: &Cluster, node: &Node, class: &AksNodeClassSpec) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    let mut set = |name: &str, value: &str| {
        labels.insert(format!("kubernetes.azure.com/{name}"), value.to_owned());
    };
    set("cluster", &cluster_label(&cluster.node_resource_group));
    set("role", "agent");
    set("kubelet-identity-client-id", &cluster.kubelet_identity);
    set("os-sku-requested", family(class.image_family.unwrap_or(ImageFamily::Ubuntu)));
    set("os-sku-effective", &node.image_family);
    set("localdns-state", if node.has_local_dns { "enabled" } else { "disabled" });
    if streams_artifacts(node, class) {
        set("artifactstreaming-enabled", "true");
    }
    if cluster.network.plugin == NetworkPlugin::AzureOverlay {
        set("azure-cni-overlay", "true");
        set("network-subnet", &cluster.network.subnet.name);
        set("nodenetwork-vnetguid", cluster.network.vnet_guid.as_deref().unwrap_or_default());
        set("podnetwork-type", "overlay");
        set(
            "network-stateless-cni",
            if cluster.kubernetes_version.is_at_least(34) { "true" } else { "false" },
        );
    }
    if cluster.network.is_cilium {
        set("ebpf-dataplane", "cilium");
    }
    labels.insert("karpenter.sh/do-not-sync-taints".to_owned(), "true".to_owned());
    labels
}

/// Returns whether container images are streamed on demand; never on ARM.
pub(super) fn streams_artifacts(node: &Node, class: &AksNodeClassSpec) -> bool {
    let is_asked = class.artifact_streaming.as_ref().is_some_and(|streaming| streaming.enabled == Some(true));
    is_asked && node.arch == Arch::Amd64
}

/// Converts a resource group to a label value: replaces brackets by dashes, truncates it, and replaces trailing
/// punctuation.
fn cluster_label(resource_group: &str) -> String {
    let mut label: String = resource_group.replace(['(', ')'], "-").chars().take(WORD_MAX).collect();
    if label.ends_with(['-', '_', '.']) {
        label.pop();
        label.push('z');
    }
    label
}

const fn family(family: ImageFamily) -> &'static str {
    match family {
        ImageFamily::Ubuntu => "Ubuntu",
        ImageFamily::Ubuntu2204 => "Ubuntu2204",
        ImageFamily::Ubuntu2404 => "Ubuntu2404",
        ImageFamily::AzureLinux => "AzureLinux",
    }
}

fn may_be_set(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_in =
        |root: &str| domain == root || domain.strip_suffix(root).is_some_and(|before| before.ends_with('.'));
    let is_kubernetes = is_in("kubernetes.io") || is_in("k8s.io");
    !is_kubernetes || is_in("kubelet.kubernetes.io") || is_in("node.kubernetes.io") || OWN.contains(&key)
}

/// Returns refusals for invalid labels, including those that would break the kubelet's command line.
pub(super) fn faults(labels: &BTreeMap<String, String>) -> Vec<Refusal> {
    let bad = labels.iter().filter(|(key, value)| !is_key(key) || !(value.is_empty() || is_word(value)));
    bad.map(|(key, _)| Refusal::new(format!("labels[{}]", key.escape_default()), "is no label of Kubernetes"))
        .collect()
}

/// Returns whether a string is a valid key of a label or taint: a name with an optional domain.
pub(super) fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((domain, name)) => is_domain(domain) && is_word(name),
        None => is_word(key),
    }
}

fn is_domain(domain: &str) -> bool {
    let is_part = |part: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !part.is_empty() && part.chars().all(inner) && !part.starts_with('-') && !part.ends_with('-')
    };
    domain.len() <= DOMAIN_MAX && domain.split('.').all(is_part)
}

/// Returns whether a string is a valid name or value of a label.
pub(super) fn is_word(word: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    word.len() <= WORD_MAX
        && word.starts_with(edge)
        && word.ends_with(edge)
        && word.chars().all(|c| edge(c) || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_kubernetes_are_set_only_where_a_kubelet_may() {
        for key in [
            "team",
            "example.com/a",
            "kubernetes.azure.com/mode",
            "node.kubernetes.io/x",
            "a.kubelet.kubernetes.io/x",
            "topology.kubernetes.io/zone",
            "notkubernetes.io/x",
        ] {
            assert!(may_be_set(key), "{key}");
        }
        for key in ["kubernetes.io/mine", "node-role.kubernetes.io/agent", "topology.k8s.io/x", "k8s.io/x"] {
            assert!(!may_be_set(key), "{key}");
        }
    }

    #[test]
    fn a_resource_group_becomes_the_value_of_a_label() {
        assert_eq!(cluster_label("MC_a(b)_c"), "MC_a-b-_c");
        let long = format!("{}.", "x".repeat(62));
        assert_eq!(cluster_label(&format!("{long}yyy")), format!("{}z", "x".repeat(62)));
    }
}
