//! Snapshots assembled from inputs.

mod volumes;

use super::{AssembleOptions, assemble};
use crate::catalog::Catalog;
use crate::manifests::{Source, read};
use crate::model::{NetworkSetup, Region};
use crate::snapshot::Snapshot;

pub(super) fn snapshot(text: &str, assumes_system_daemons: bool) -> Snapshot {
    let objects = read(vec![Source::new("a.yaml", text)]).expect("is right");
    let catalog = Catalog::of_types(Region::new("westeurope"), Vec::new(), []);
    let network = NetworkSetup::AzureOverlay { is_cilium: false };
    assemble(&objects, catalog, AssembleOptions { at: None, network, assumes_system_daemons })
}

const DAEMONSET: &str = "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec: {template: {spec: {containers: [{name: c}]}}}
";

#[test]
fn each_daemonset_of_aks_is_assumed_where_none_of_its_name_is_there() {
    let bare = snapshot("", true);
    assert_eq!((bare.daemons.len(), bare.assumptions.len(), bare.gaps.len()), (6, 1, 0));
    assert!(bare.daemons.iter().all(|daemon| daemon.is_assumed));
    let without = snapshot("", false);
    assert_eq!((without.daemons.len(), without.assumptions.len()), (0, 0));
    let own = snapshot(DAEMONSET, true);
    assert_eq!((own.daemons.len(), own.daemons[0].is_assumed, own.assumptions.len()), (7, false, 1));
    let known = snapshot(&DAEMONSET.replace("agent", "kube-proxy"), true);
    assert_eq!((known.daemons.len(), known.assumptions.len()), (6, 1));
    assert!(
        known.assumptions[0].what.starts_with("AKS' 5 system DaemonSets"),
        "{}",
        known.assumptions[0].what
    );
    let elsewhere = snapshot(&DAEMONSET.replace("kube-system", "monitoring"), true);
    assert_eq!((elsewhere.daemons.len(), elsewhere.assumptions.len()), (7, 1));
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: kube-system, ownerReferences: \
               [{kind: DaemonSet, name: kube-proxy, controller: true}]}, spec: {containers: [{name: c}]}}";
    let by_pod = snapshot(pod, true);
    let read: Vec<&str> =
        by_pod.daemons.iter().filter(|daemon| !daemon.is_assumed).map(|daemon| &*daemon.name).collect();
    assert_eq!((by_pod.daemons.len(), read), (6, vec!["kube-proxy"]));
    let node = "{apiVersion: v1, kind: Node, metadata: {name: n1}}";
    let dump = snapshot(&format!("{node}\n---\n{pod}"), true);
    assert_eq!((dump.daemons.len(), &*dump.daemons[0].name), (1, "kube-proxy"));
    let without_aks = snapshot(&format!("{node}\n---\n{DAEMONSET}"), true);
    assert_eq!(without_aks.daemons.len(), 7);
}

#[test]
fn what_is_not_known_is_a_gap_or_an_assumption() {
    let text = "
{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}, spec: {containers: [{image: x}]}}
---
{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: api}, spec: {containers: [{image: x}]}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: web}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: gone, priorityClassName: high, containers: [{name: c}]}}
---
{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1}, spec: {requirements: []}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: kube-system, uid: u-1}}
";
    let read = snapshot(text, false);
    let gaps: Vec<String> =
        read.gaps.iter().map(|gap| format!("{}: {}", gap.what, gap.consequence)).collect();
    assert_eq!(
        gaps,
        [
            "1 NodeClaim that does not say what it has: `c1`: no pod is planned onto it: the input needs its `status`",
            "1 pod runs on 1 node that is not in the input: `gone`: they stay where they are, and their nodes are not \
             planned with: add the output of `kubectl get nodes,nodeclaims -o yaml`",
            "2 objects of kind Service (serving.knative.dev) that are not understood: `api`, `web`: the pods that it makes are not in this \
             plan, beyond those that run already",
            "`Deployment/default/web`, which `HorizontalPodAutoscaler/default/web` scales, is not in the input: its pods \
             are not in this plan, beyond those that run already",
        ]
    );
    assert_eq!(read.assumptions[0].what, "priority 0 for pods of 1 PriorityClass: `high`");
    assert_eq!(read.cluster.as_deref(), Some("u-1"));
}

#[test]
fn what_controllers_render_is_not_in_this_plan() {
    let release = |name: &str| {
        format!(
            "---\n{{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {{name: {name}, \
             namespace: monitoring}}, spec: {{chart: {{spec: {{chart: {name}-stack, version: 58.x}}}}}}}}\n"
        )
    };
    let gaps = |text: &str| snapshot(text, false).gaps.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        gaps(&release("prometheus")),
        [
            "Not in this plan: HelmRelease `monitoring/prometheus` (chart prometheus-stack 58.x): render it, and plan the \
          result"
        ]
    );
    let many: String = ["a", "b", "c", "d", "e", "f", "g"].map(release).concat();
    let [said] = &*gaps(&many) else { panic!("one line for a kind") };
    assert!(said.contains("7 HelmReleases: `monitoring/a` (chart a-stack 58.x), "), "{said}");
    assert!(said.ends_with(", 2 more: render them, and plan the result"), "{said}");
}
