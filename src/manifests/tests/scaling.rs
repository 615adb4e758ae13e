//! Autoscalers, `--hpa` and `--scale`: how many pods there are, and which are deleted.

use super::{deployment, file, places, pod};
use crate::manifests::{Hpa, Objects, ReadOptions, Scale, Source, read_all};

fn options(hpa: Hpa, scale: &[&str]) -> ReadOptions {
    let scale = scale.iter().map(|text| text.parse::<Scale>().expect("is right")).collect();
    ReadOptions { hpa, scale, ..ReadOptions::default() }
}

fn read(documents: &[String], options: &ReadOptions) -> Objects {
    let (objects, faults) = read_all(vec![Source::new("a.yaml", file(documents))], options);
    assert!(faults.is_empty(), "{faults:?}");
    objects
}

fn pods(documents: &[String], hpa: Hpa) -> usize {
    read(documents, &options(hpa, &[])).pods.len()
}

fn faults(documents: &[String], scale: &[&str]) -> Vec<String> {
    let (_, faults) = read_all(vec![Source::new("a.yaml", file(documents))], &options(Hpa::Current, scale));
    faults.iter().map(ToString::to_string).collect()
}

fn hpa(name: &str, bounds: &str, status: &str) -> String {
    format!(
        "{{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {{name: {name}}}, spec: {{{bounds}, \
         scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}}}, status: {{{status}}}}}\n"
    )
}

fn scaled_object(spec: &str, metadata: &str) -> String {
    format!(
        "{{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {{name: web{metadata}}}, spec: {{{spec} \
         scaleTargetRef: {{name: web}}}}}}\n"
    )
}

fn without_replicas() -> String {
    deployment("web", 1).replace("  replicas: 1\n", "")
}

fn assumed(objects: &Objects) -> Vec<&str> {
    objects.said.assumed.iter().map(|note| &*note.what).collect()
}

#[test]
fn an_autoscaler_sets_the_replicas_of_its_target() {
    let bounds = "minReplicas: 3, maxReplicas: 7";
    let table = [
        // The workload, the autoscaler's bounds and status; pods at the minimum, now, and at the maximum.
        (without_replicas(), bounds, "", (3, 3, 7)),
        (without_replicas(), "maxReplicas: 7", "", (1, 1, 7)),
        (without_replicas(), bounds, "currentReplicas: 4, desiredReplicas: 5", (3, 5, 7)),
        (without_replicas(), bounds, "currentReplicas: 4, desiredReplicas: 0", (3, 4, 7)),
        (deployment("web", 5), bounds, "", (3, 5, 7)),
        (deployment("web", 1), bounds, "", (3, 3, 7)),
        (deployment("web", 9), bounds, "", (3, 7, 7)),
        (deployment("web", 0), bounds, "", (0, 0, 0)),
    ];
    for (workload, bounds, status, expected) in table {
        let documents = [workload, hpa("web", bounds, status)];
        let found = (pods(&documents, Hpa::Min), pods(&documents, Hpa::Current), pods(&documents, Hpa::Max));
        assert_eq!(found, expected, "{bounds} {status}");
    }
}

#[test]
fn what_an_autoscaler_was_taken_to_do_is_said() {
    let unknown = read(
        &[without_replicas(), hpa("web", "minReplicas: 3, maxReplicas: 7", "")],
        &ReadOptions::default(),
    );
    assert_eq!(
        assumed(&unknown),
        ["the replicas of autoscaled workloads: `Deployment/default/web` 3 of 3 to 7"]
    );
    let known = [without_replicas(), hpa("web", "maxReplicas: 7", "desiredReplicas: 2")];
    assert!(assumed(&read(&known, &ReadOptions::default())).is_empty());
    assert_eq!(
        assumed(&read(&known, &options(Hpa::Max, &[]))),
        ["the largest number of replicas of autoscaled workloads: `Deployment/default/web` 7 of 1 to 7"]
    );
    let elsewhere = read(&[hpa("web", "maxReplicas: 7", "")], &ReadOptions::default());
    assert_eq!(
        elsewhere.said.unresolved[0].what,
        "`Deployment/default/web`, which `HorizontalPodAutoscaler/default/web` scales, is not in the input"
    );
}

#[test]
fn two_autoscalers_of_one_workload_are_named() {
    let two = [
        without_replicas(),
        hpa("a", "minReplicas: 2, maxReplicas: 7", ""),
        hpa("b", "minReplicas: 4, maxReplicas: 5", ""),
    ];
    let read = read(&two, &ReadOptions::default());
    assert_eq!(read.pods.len(), 4);
    let said = &read.said.remarks[0].what;
    assert!(
        said.starts_with("`HorizontalPodAutoscaler/default/a` and `HorizontalPodAutoscaler/default/b` both"),
        "{said}"
    );
}

#[test]
fn a_scaled_object_has_kedas_bounds_and_pauses() {
    let table = [
        ("", "", (0, 0, 100)),
        ("minReplicaCount: 2, maxReplicaCount: 6,", "", (2, 2, 6)),
        ("minReplicaCount: 2, idleReplicaCount: 0, maxReplicaCount: 6,", "", (0, 2, 6)),
        ("maxReplicaCount: 6,", ", annotations: {autoscaling.keda.sh/paused-replicas: '4'}", (4, 4, 4)),
        ("maxReplicaCount: 6,", ", annotations: {autoscaling.keda.sh/paused: 'true'}", (1, 1, 1)),
    ];
    for (spec, metadata, expected) in table {
        let documents = [without_replicas(), scaled_object(spec, metadata)];
        let found = (pods(&documents, Hpa::Min), pods(&documents, Hpa::Current), pods(&documents, Hpa::Max));
        assert_eq!(found, expected, "{spec} {metadata}");
    }
    // An autoscaler created by KEDA is not a second one: it provides the current number.
    let made = [
        without_replicas(),
        scaled_object("", ""),
        hpa("keda-hpa-web", "maxReplicas: 100", "desiredReplicas: 5"),
    ];
    let read = read(&made, &ReadOptions::default());
    assert_eq!((read.pods.len(), read.said.remarks.len()), (5, 0));
}

#[test]
fn a_scaled_job_counts_jobs() {
    let job = "{apiVersion: keda.sh/v1alpha1, kind: ScaledJob, metadata: {name: q}, spec: {minReplicaCount: 1, maxReplicaCount: 4, \
               jobTargetRef: {parallelism: 2, template: {spec: {containers: [{name: c}]}}}}}\n";
    let documents = [job.to_owned()];
    assert_eq!((pods(&documents, Hpa::Current), pods(&documents, Hpa::Max)), (2, 8));
    let running: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|name| pod(name, "Job/q-x7f", "").replace("pod-template-hash: abc", "scaledjob.keda.sh/name: q"))
        .chain([job.to_owned()])
        .collect();
    assert_eq!((pods(&running, Hpa::Min), pods(&running, Hpa::Max)), (3, 8));
}

#[test]
fn the_user_scales_what_is_named_and_beats_autoscalers() {
    let documents = [
        deployment("web", 2),
        hpa("web", "minReplicas: 3, maxReplicas: 7", ""),
        deployment("db", 3).replace("Deployment", "StatefulSet"),
        deployment("web", 4).replace("metadata: {name: web}", "metadata: {name: web, namespace: shop}"),
        pod("api-abc-x", "ReplicaSet/api-abc", ""),
    ];
    let count = |scale: &[&str]| read(&documents, &options(Hpa::Max, scale)).pods.len();
    assert_eq!(count(&[]), 7 + 3 + 4 + 1);
    assert_eq!(count(&["deploy/default/web=1", "shop/web=0", "statefulsets/db=5"]), 1 + 5 + 1);
    // A workload that is only known from its pods.
    assert_eq!(count(&["api=3"]), 7 + 3 + 4 + 3);
    let read = read(&documents, &options(Hpa::Current, &["db=5"]));
    assert!(assumed(&read).contains(&"other numbers of pods: `StatefulSet/default/db` 5 instead of 3"));
    assert!(places(&read).contains(&"db-4 waits".to_owned()));
}

#[test]
fn a_number_that_the_user_says_and_that_is_there_already_is_no_news() {
    let documents = [deployment("web", 3), deployment("db", 3)];
    let read = read(&documents, &options(Hpa::Current, &["web=3", "db=4"]));
    assert!(assumed(&read).contains(&"other numbers of pods: `Deployment/default/db` 4 instead of 3"));
}

#[test]
fn a_scaled_name_that_is_not_clear_is_a_fault() {
    let documents = [
        deployment("web", 2),
        deployment("web", 2).replace("Deployment", "StatefulSet"),
        deployment("agent", 2).replace("Deployment", "DaemonSet"),
    ];
    let table = [
        (
            "wep=1",
            "`--scale wep=1`: names no workload of the input\nhint: the nearest is `--scale Deployment/default/web=1`",
        ),
        (
            "web=1",
            "`--scale web=1`: may mean `Deployment/default/web` or `StatefulSet/default/web`\n\
             hint: write one of them: `--scale Deployment/default/web=1`",
        ),
        (
            "agent=1",
            "`--scale agent=1`: `DaemonSet/default/agent` has a pod on every node that fits it\n\
             hint: a DaemonSet grows and shrinks with the nodes",
        ),
    ];
    for (scale, expected) in table {
        assert_eq!(faults(&documents, &[scale]), [expected]);
    }
    let twice = faults(&documents, &["deploy/web=1", "default/web=2", "Deployment/web=3"]);
    assert!(twice.iter().any(|fault| fault.contains("scaled twice")), "{twice:?}");
    for wrong in ["web", "web=", "web=-1", "=3", "a/b/c/d=1", "web=1000000"] {
        assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
    }
}

#[test]
fn scaled_down_pods_go_in_the_order_of_kubernetes() {
    let status = |ready: &str, since: &str| {
        format!(
            "status: {{phase: Running, conditions: [{{type: Ready, status: '{ready}', lastTransitionTime: '{since}'}}]}}\n"
        )
    };
    let named = |name: &str, more: &str| pod(&format!("web-abc-{name}"), "ReplicaSet/web-abc", more);
    let old = status("True", "2026-01-01T00:00:00Z");
    let documents = [
        named("a", &old),
        named("b", &status("True", "2026-11-01T00:00:00Z")),
        named("c", &status("False", "2026-01-01T00:00:00Z")),
        named("d", &old).replace(", nodeName: n1", ""),
        named("e", &format!("  annotations: {{controller.kubernetes.io/pod-deletion-cost: '-5'}}\n{old}")),
        named("f", "status: {phase: Pending}"),
    ];
    let order = ["d", "f", "c", "e", "b", "a"];
    for wanted in 0..6 {
        let read = read(&documents, &options(Hpa::Current, &[&format!("web={wanted}")]));
        let mut left: Vec<String> =
            order[6 - wanted..].iter().map(|name| format!("web-abc-{name}")).collect();
        left.sort();
        assert_eq!(read.pods.iter().map(|pod| pod.key.name.to_string()).collect::<Vec<_>>(), left);
    }
    let set: Vec<String> = [0, 1, 10].iter().map(|n| pod(&format!("db-{n}"), "StatefulSet/db", "")).collect();
    assert_eq!(places(&read(&set, &options(Hpa::Current, &["db=1"]))), ["db-0 on n1"]);
    // Bounds requested by the user also delete pods; the current number deletes none.
    let scaled =
        [documents.to_vec(), vec![deployment("web", 6), hpa("web", "minReplicas: 2, maxReplicas: 9", "")]]
            .concat();
    assert_eq!((pods(&scaled, Hpa::Min), pods(&scaled, Hpa::Current)), (2, 6));
}
