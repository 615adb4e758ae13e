//! Manifests laid over the objects of a cluster.

use std::fmt::Write as _;

use crate::manifests::{Objects, Overlay, ReadOptions, Source, keep, overlay, read_laid};
use crate::model::{Pod, PodPlace};

/// Two nodes; `web` runs three pods on them, `db` two, `agent` is a DaemonSet, `bare` has no owner.
fn cluster() -> String {
    let mut text = String::from(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, uid: cluster-uid}\n---\n",
    );
    for node in ["n1", "n2"] {
        write!(text, "apiVersion: v1\nkind: Node\nmetadata: {{name: {node}}}\nstatus: {{allocatable: {{cpu: 8, memory: 32Gi, pods: 110}}}}\n---\n")
            .expect("text takes text");
    }
    text += &workload("Deployment", "web", "replicas: 3", "500m");
    text += &workload("StatefulSet", "db", "replicas: 2", "500m");
    text += &workload("DaemonSet", "agent", "", "100m");
    for (name, owner, hash, node) in [
        ("web-abc-1", "ReplicaSet/web-abc", "abc", "n1"),
        ("web-abc-2", "ReplicaSet/web-abc", "abc", "n1"),
        ("web-abc-3", "ReplicaSet/web-abc", "abc", "n2"),
        ("db-0", "StatefulSet/db", "", "n1"),
        ("db-1", "StatefulSet/db", "", "n2"),
        ("agent-1", "DaemonSet/agent", "", "n1"),
        ("agent-2", "DaemonSet/agent", "", "n2"),
    ] {
        let (kind, of) = owner.split_once('/').expect("kind and name");
        let app = name.split('-').next().expect("a name");
        let cpu = if app == "agent" { "100m" } else { "500m" };
        let hash = if hash.is_empty() { String::new() } else { format!(", pod-template-hash: {hash}") };
        write!(
            text,
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, uid: u-{name}, labels: {{app: {app}{hash}}}, ownerReferences: \
             [{{apiVersion: apps/v1, kind: {kind}, name: {of}, controller: true}}]}}\nspec:\n  nodeName: {node}\n  \
             tolerations: [{{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}}]\n  containers: [{{name: a, image: x, imagePullPolicy: Always, \
             resources: {{requests: {{cpu: {cpu}}}}}}}]\n---\n"
        )
        .expect("text takes text");
    }
    text + "apiVersion: v1\nkind: Pod\nmetadata: {name: bare, uid: u}\nspec: {nodeName: n2, containers: [{name: a, resources: {requests: {cpu: 1}}}]}\n---\n"
}

fn workload(kind: &str, name: &str, spec: &str, cpu: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  {spec}\n  selector: {{matchLabels: {{app: {name}}}}}\n  \
         template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec: {{containers: [{{name: a, image: y, resources: {{requests: {{cpu: {cpu}}}}}}}]}}\n---\n"
    )
}

fn sources(name: &str, text: &str) -> Vec<Source> {
    if text.is_empty() { Vec::new() } else { vec![Source::new(name, text)] }
}

fn laid_over(base: &str, with: &str, prune: &str) -> Objects {
    let (base, faults) = keep(sources("base", base));
    assert!(faults.is_empty(), "{faults:#?}");
    let (with, faults) = keep(sources("with", with));
    assert!(faults.is_empty(), "{faults:#?}");
    let (prune, faults) = overlay::identities(sources("prune", prune));
    assert!(faults.is_empty(), "{faults:#?}");
    let (objects, faults) = read_laid(base, Overlay { with, prune, note: None }, &ReadOptions::default());
    assert!(faults.is_empty(), "{faults:#?}");
    objects
}

fn laid(with: &str, prune: &str) -> Objects {
    laid_over(&cluster(), with, prune)
}

/// Formats pods as `name@node`, or only the name of a pending one.
fn pods(objects: &Objects) -> String {
    let shown = |pod: &Pod| match &pod.place {
        PodPlace::Waiting => pod.key.name.to_string(),
        PodPlace::Bound(node) => format!("{}@{node}", pod.key.name),
    };
    objects.pods.iter().map(shown).collect::<Vec<_>>().join(" ")
}

const ALL: &str = "agent-1@n1 agent-2@n2 bare@n2 db-0@n1 db-1@n2 web-abc-1@n1 web-abc-2@n1 web-abc-3@n2";

#[test]
fn what_is_applied_as_it_runs_changes_nothing() {
    assert_eq!(pods(&laid("", "")), ALL);
    let same = workload("Deployment", "web", "replicas: 3", "500m")
        + &workload("StatefulSet", "db", "replicas: 2", "500m")
        + &workload("DaemonSet", "agent", "", "100m")
        + "apiVersion: v1\nkind: Pod\nmetadata: {name: bare}\nspec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}\n";
    let objects = laid(&same, "");
    assert_eq!(pods(&objects), ALL);
    // The cluster also stays the same if a manifest for `kube-system` lacks the UID that identifies it.
    let objects = laid("apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n", "");
    assert_eq!(objects.cluster.as_deref(), Some("cluster-uid"));
}

#[test]
fn a_changed_template_replaces_its_pods() {
    let objects = laid(&workload("Deployment", "web", "replicas: 3", "2"), "");
    assert_eq!(pods(&objects), "agent-1@n1 agent-2@n2 bare@n2 db-0@n1 db-1@n2 web-0 web-1 web-2");
    let objects = laid(&workload("StatefulSet", "db", "replicas: 2", "2"), "");
    assert_eq!(pods(&objects), ALL.replace("db-0@n1 db-1@n2", "db-0 db-1"));
    // New pods of a DaemonSet come with the nodes: they are overhead, not pods of the plan.
    let objects = laid(&workload("DaemonSet", "agent", "", "200m"), "");
    assert_eq!(pods(&objects), ALL.replace("agent-1@n1 agent-2@n2 ", ""));
    assert_eq!(objects.daemons.len(), 1);
}

#[test]
fn more_replicas_wait_and_fewer_go_from_the_fullest_node_first() {
    let objects = laid(&workload("Deployment", "web", "replicas: 4", "500m"), "");
    assert_eq!(pods(&objects), ALL.replace("web-abc-1", "web-0 web-abc-1"));
    let objects = laid(&workload("Deployment", "web", "replicas: 2", "500m"), "");
    assert_eq!(pods(&objects), ALL.replace(" web-abc-1@n1", ""));
    let objects = laid(&workload("StatefulSet", "db", "replicas: 1", "500m"), "");
    assert_eq!(pods(&objects), ALL.replace(" db-1@n2", ""));
    let objects = laid(&workload("Deployment", "web", "replicas: 0", "500m"), "");
    assert!(!pods(&objects).contains("web"), "{}", pods(&objects));
}

#[test]
fn without_replicas_the_live_count_stays() {
    assert_eq!(pods(&laid(&workload("Deployment", "web", "", "500m"), "")), ALL);
    let objects = laid(&workload("Deployment", "web", "", "2"), "");
    assert!(pods(&objects).ends_with("web-0 web-1 web-2"), "{}", pods(&objects));
}

#[test]
fn a_workload_that_the_snapshot_does_not_hold_is_known_by_its_pods() {
    let base = cluster().replace(&workload("Deployment", "web", "replicas: 3", "500m"), "");
    let laid = |with: &str| pods(&laid_over(&base, with, ""));
    assert_eq!(laid(&workload("Deployment", "web", "", "500m")), ALL);
    assert_eq!(laid(&workload("Deployment", "web", "replicas: 3", "500m")), ALL);
    assert!(laid(&workload("Deployment", "web", "", "2")).ends_with("web-0 web-1 web-2"));
}

#[test]
fn what_the_api_server_fills_in_is_no_change() {
    let range = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: r}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 500m}}]}\n---\n";
    let silent = |text: &str| text.replace("resources: {requests: {cpu: 500m}}", "resources: {}");
    let base = cluster().replace(&workload("Deployment", "web", "replicas: 3", "500m"), range);
    let with = silent(&workload("Deployment", "web", "replicas: 3", "500m"));
    assert_eq!(pods(&laid_over(&base, &with, "")), ALL);
}

#[test]
fn what_is_pruned_goes_with_its_pods() {
    let objects = laid("", &workload("Deployment", "web", "", "1"));
    assert_eq!(pods(&objects), "agent-1@n1 agent-2@n2 bare@n2 db-0@n1 db-1@n2");
    let objects = laid("", &workload("DaemonSet", "agent", "", "1"));
    assert_eq!((pods(&objects).contains("agent"), objects.daemons.len()), (false, 0));
    let objects = laid("", "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n");
    assert_eq!((pods(&objects).as_str(), objects.daemons.len(), objects.nodes.len()), ("", 0, 2));
    let elsewhere = workload("Deployment", "web", "", "1")
        .replace("name: web}\nspec", "name: web, namespace: other}\nspec");
    assert_eq!(pods(&laid("", &elsewhere)), ALL);
}

#[test]
fn a_new_workload_waits_and_a_new_daemonset_counts() {
    let objects = laid(&workload("Deployment", "api", "replicas: 1", "1"), "");
    assert_eq!(pods(&objects), ALL.replace("agent-2@n2", "agent-2@n2 api-0"));
    assert_eq!(laid(&workload("DaemonSet", "logs", "", "1"), "").daemons.len(), 2);
}

#[test]
fn faults_name_the_file_that_they_stand_in() {
    let (base, _) = keep(sources("base", &cluster()));
    let (with, _) = keep(sources("pr.yaml", &workload("Deployment", "web", "replicas: many", "1")));
    let (_, faults) = read_laid(base, Overlay { with, ..Overlay::default() }, &ReadOptions::default());
    let said: Vec<String> = faults.iter().map(|fault| format!("{}:{}", fault.file, fault.line)).collect();
    assert_eq!(said, ["pr.yaml:5"]);
}
