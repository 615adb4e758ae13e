//! Tests for detecting the dataplane.

use super::{Network, network};
use crate::manifests::{Objects, Source};
use crate::model::NetworkSetup;
use crate::offline::read;
use crate::policy::Policy;

const POOL: &str = "
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gp}
spec:
  template:
    metadata: {labels: {LABEL}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
---
";

fn told(label: &str, rest: &str) -> Network {
    let text = format!("{}{rest}", POOL.replace("LABEL", label));
    let (objects, policy): (Objects, Policy) = read(vec![Source::new("a.yaml", text)]).expect("is right");
    network(&policy, &objects.nodes)
}

fn fleet(cluster: &str) -> String {
    format!(
        "{{apiVersion: nodeform.dev/v1alpha1, kind: NodeFleet, metadata: {{name: f}}, spec: {{cluster: {{{cluster}}}}}}}"
    )
}

const LABEL: &str = "kubernetes.azure.com/ebpf-dataplane: cilium";
const NODE: &str = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.azure.com/ebpf-dataplane: cilium}}}";

fn lines(network: &Network) -> Vec<String> {
    let assumed = network.assumptions.iter().map(|assumed| format!("{} ({})", assumed.what, assumed.why));
    assumed
        .chain(network.remarks.iter().map(|remark| format!("{}: {}", remark.object, remark.what)))
        .collect()
}

const DEFAULT: &str =
    "Azure CNI overlay, at most 250 pods on a node (AKS' default: `spec.cluster` of a NodeFleet)";

#[test]
fn a_pool_that_labels_its_nodes_tells_the_dataplane_where_nobody_else_does() {
    assert_eq!(lines(&told("", "")), [DEFAULT]);
    let by_pool = told(LABEL, "");
    assert_eq!(by_pool.setup, NetworkSetup::AzureOverlay { is_cilium: true });
    let said = "Cilium (pool `gp` labels its nodes so: `spec.cluster.networkDataplane` of a NodeFleet)";
    assert_eq!(lines(&by_pool), [DEFAULT, said]);
    let with_plugin = told(LABEL, &fleet("networkPlugin: azure"));
    assert_eq!(with_plugin.setup, NetworkSetup::Azure { is_cilium: true });
    assert_eq!(lines(&with_plugin), [said]);
    assert_eq!(told(LABEL, &fleet("networkPlugin: none")).setup, NetworkSetup::None);
}

#[test]
fn nodes_tell_it_before_pools_and_nothing_is_assumed() {
    for label in ["", LABEL] {
        let by_node = told(label, NODE);
        assert_eq!(by_node.setup, NetworkSetup::AzureOverlay { is_cilium: true });
        assert_eq!(lines(&by_node), [DEFAULT]);
    }
}

#[test]
fn a_fleet_that_names_it_is_believed_and_a_pool_that_differs_is_told() {
    let same = told(LABEL, &fleet("networkDataplane: cilium"));
    assert!(same.setup.is_cilium() && lines(&same).is_empty());
    let other = told(LABEL, &fleet("networkDataplane: azure"));
    assert_eq!(other.setup, NetworkSetup::AzureOverlay { is_cilium: false });
    assert_eq!(
        lines(&other),
        ["pool `gp`: `kubernetes.azure.com/ebpf-dataplane: cilium` on its nodes, and NodeFleet `f` has \
             `networkDataplane: azure`: planned with `azure`"]
    );
}

#[test]
fn how_many_pods_a_node_takes_is_as_the_classes_of_pools_say() {
    let class = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: karpenter.azure.com/v1beta1, kind: AKSNodeClass, metadata: {{name: {name}}}, spec: {{{spec}}}}}\n---\n"
        )
    };
    let second = POOL.replace("LABEL", "").replace("name: gp", "name: second").replace("default", "other");
    let all = "Azure CNI overlay (AKS' default: `spec.cluster` of a NodeFleet; at most 30 pods on a node of \
               AKSNodeClass `default`)";
    assert_eq!(lines(&told("", &class("default", "maxPods: 30"))), [all]);
    assert_eq!(lines(&told("", &class("other", "maxPods: 30"))), [DEFAULT], "no pool uses the class");
    let both = format!("{}{}{second}", class("default", "maxPods: 30"), class("other", ""));
    let some = "Azure CNI overlay, at most 250 pods on a node (AKS' default: `spec.cluster` of a NodeFleet; at most 30 \
                pods on a node of AKSNodeClass `default`)";
    assert_eq!(lines(&told("", &both)), [some]);
}
