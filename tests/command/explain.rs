//! `nodeform explain` of what has no pod of its own in the input.

use crate::shell::{aside, empty_folder, out, start};

const INPUT: &str = "\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: ops}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 100m, memory: 64Mi}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: frontend}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}
";

#[test]
fn a_daemonset_is_explained_and_the_nearest_name_is_of_the_same_kind() {
    let folder = empty_folder("explain-daemonset");
    let ask = |target: &str, more: &[&str]| {
        start(&[&["explain", target, "-", "--location", "eastus"], more].concat(), &folder, INPUT)
    };
    for target in ["daemonset/agent", "ds/agent", "daemonsets.apps/ops/agent"] {
        let said = out(&ask(target, &[]));
        assert!(said.starts_with("daemonset `ops/agent`: a pod on every node"), "{target}: {said}");
        assert!(said.contains("takes cpu 100m, memory 64Mi of each such node"), "{target}: {said}");
    }
    let table = [
        ("daemonset/agnt", "the nearest DaemonSet is `agent`, in namespace `ops`"),
        ("deployment/agent", "the nearest Deployment is `frontend`, in namespace `default`"),
        ("statefulset/agent", "the nearest pod is `frontend-"),
    ];
    for (target, hint) in table {
        let said = aside(&ask(target, &[]));
        assert!(said.contains(hint), "{target}: {said}");
    }
    let elsewhere = aside(&ask("daemonset/agent", &["-n", "default"]));
    assert!(elsewhere.contains("it is in namespace `ops`: add `-n ops`"), "{elsewhere}");
}
