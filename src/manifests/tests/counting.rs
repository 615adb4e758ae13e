//! Counting pods, none twice.

use super::{deployment, file, objects, places, pod};

#[test]
fn a_workload_without_live_pods_makes_up_all_of_them() {
    assert_eq!(places(&objects(&deployment("web", 3))), ["web-0 waits", "web-1 waits", "web-2 waits"]);
    let without_replicas = deployment("web", 3).replace("  replicas: 3\n", "");
    assert_eq!(places(&objects(&without_replicas)), ["web-0 waits"]);
    assert!(objects(&deployment("web", 0)).pods.is_empty());
}

#[test]
fn live_pods_of_a_deployment_count_toward_its_replicas() {
    let live = [
        deployment("web", 3),
        pod("web-abc-x", "ReplicaSet/web-abc", ""),
        pod("web-abc-y", "ReplicaSet/web-abc", ""),
    ];
    let read = objects(&file(&live));
    assert_eq!(places(&read), ["web-0 waits", "web-abc-x on n1", "web-abc-y on n1"]);
    let workloads: Vec<String> =
        read.pods.iter().flat_map(|pod| &pod.workload).map(ToString::to_string).collect();
    assert_eq!(workloads, ["Deployment/web in default"; 3]);
}

#[test]
fn more_live_pods_than_replicas_stay_as_they_are() {
    let live = [
        deployment("web", 1),
        pod("web-abc-x", "ReplicaSet/web-abc", ""),
        pod("web-abc-y", "ReplicaSet/web-abc", ""),
    ];
    assert_eq!(places(&objects(&file(&live))), ["web-abc-x on n1", "web-abc-y on n1"]);
}

#[test]
fn a_pod_that_is_going_is_replaced_unless_its_name_is_taken_till_then() {
    let going = "  deletionTimestamp: '2026-11-21T09:00:00Z'";
    let live = [deployment("web", 1), pod("web-abc-x", "ReplicaSet/web-abc", going)];
    let read = objects(&file(&live));
    assert_eq!(places(&read), ["web-0 waits", "web-abc-x on n1"]);
    assert!(read.pods[1].is_terminating && !read.pods[0].is_terminating);

    let set = deployment("db", 2).replace("Deployment", "StatefulSet");
    let live = [set, pod("db-0", "StatefulSet/db", going)];
    assert_eq!(places(&objects(&file(&live))), ["db-0 on n1", "db-1 waits"]);
}

#[test]
fn ownership_decides_and_not_labels_or_names() {
    let stranger = "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, labels: {app: web}}\nspec: {containers: [{name: c}]}\n";
    let read = objects(&file(&[deployment("web", 1), stranger.to_owned()]));
    assert_eq!(places(&read), ["web-0 waits", "web-1 waits"]);
    let elsewhere = pod("web-abc-x", "ReplicaSet/web-abc", "  namespace: other");
    assert_eq!(
        places(&objects(&file(&[deployment("web", 1), elsewhere]))),
        ["web-0 waits", "web-abc-x on n1"]
    );
}

#[test]
fn a_stateful_set_has_its_true_names() {
    let set = deployment("db", 3).replace("Deployment", "StatefulSet");
    let set = set.replace("  replicas: 3\n", "  replicas: 3\n  ordinals: {start: 5}\n");
    let read = objects(&file(&[set, pod("db-6", "StatefulSet/db", "")]));
    assert_eq!(places(&read), ["db-5 waits", "db-6 on n1", "db-7 waits"]);
}

#[test]
fn made_up_names_never_meet() {
    let set = deployment("a", 2).replace("Deployment", "StatefulSet");
    assert_eq!(
        places(&objects(&file(&[deployment("a", 2), set]))),
        ["a-0 waits", "a-1 waits", "a-2 waits", "a-3 waits"]
    );
}

#[test]
fn a_job_runs_what_is_left_to_run() {
    let job = |spec: &str, status: &str| {
        let text = format!(
            "{{apiVersion: batch/v1, kind: Job, metadata: {{name: j}}, status: {{{status}}}, \
             spec: {{{spec} template: {{spec: {{containers: [{{name: c}}]}}}}}}}}"
        );
        objects(&text).pods.len()
    };
    let table = [
        ("", "", 1),
        ("parallelism: 3,", "", 3),
        ("parallelism: 3, completions: 2,", "", 2),
        ("parallelism: 3, completions: 5,", "succeeded: 3", 2),
        ("parallelism: 3,", "succeeded: 1", 0),
        ("parallelism: 3, suspend: true,", "", 0),
        ("parallelism: 3, completions: 9,", "conditions: [{type: Complete, status: 'True'}]", 0),
        ("parallelism: 3, completions: 9,", "conditions: [{type: Failed, status: 'False'}]", 3),
    ];
    for (spec, status, expected) in table {
        assert_eq!(job(spec, status), expected, "{spec} {status}");
    }
}

#[test]
fn finished_pods_need_no_node() {
    let done = pod("j-x", "Job/j", "status: {phase: Succeeded}");
    let failed = pod("j-y", "Job/j", "status: {phase: Failed}");
    let read = objects(&file(&[done, failed, pod("j-z", "Job/j", "status: {phase: Running}")]));
    assert_eq!((places(&read), read.finished_pods), (vec!["j-z on n1".to_owned()], 2));
}

#[test]
fn daemonsets_are_known_by_themselves_or_by_their_pods() {
    let set = deployment("agent", 1).replace("Deployment", "DaemonSet");
    let read = objects(&file(&[set, pod("agent-x", "DaemonSet/agent", "")]));
    assert_eq!((read.daemons.len(), places(&read)), (1, vec!["agent-x on n1".to_owned()]));
    assert!(read.pods[0].is_daemon && read.daemons[0].spec != read.pods[0].spec);

    let pinned = "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
                  {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}, containers";
    let alone = pod("agent-x", "DaemonSet/agent", "").replace("spec: {containers", pinned);
    let read = objects(&alone);
    assert_eq!(read.daemons[0].name, "agent".into());
    assert_eq!(read.daemons[0].spec.node_affinity.required, None);
    assert!(read.daemons[0].spec.rules().is_empty() && !read.pods[0].spec.rules().is_empty());
}

#[test]
fn static_pods_leave_with_their_node() {
    let read = objects(&pod("kube-proxy-n1", "Node/n1", ""));
    assert!(read.pods[0].is_daemon && read.pods[0].workload.is_none() && read.daemons.is_empty());
}

#[test]
fn a_node_name_in_a_template_binds_its_pods() {
    let bound = deployment("web", 1).replace("spec: {containers", "spec: {nodeName: n7, containers");
    assert_eq!(places(&objects(&bound)), ["web-0 on n7"]);
}

/// A cluster of one node with one pod of `web`.
fn cluster(more: &[String]) -> Vec<String> {
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n".to_owned();
    let mut all = vec![node, pod("web-abc-x", "ReplicaSet/web-abc", "")];
    all.extend(more.iter().cloned());
    all
}

/// Adds the UID that an object has in a cluster.
fn made(text: &str) -> String {
    text.replacen("metadata: {name: ", "metadata: {uid: u, name: ", 1)
}

fn cron_job(name: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: {name}}}\nspec:\n  schedule: '0 3 * * *'\n  \
         jobTemplate: {{spec: {{parallelism: 2, template: {{spec: {{containers: [{{name: c, image: x}}]}}}}}}}}\n"
    )
}

fn assumed(objects: &crate::manifests::Objects) -> Vec<String> {
    objects.said.assumed.iter().map(|note| format!("{}: {}", note.what, note.why)).collect()
}

#[test]
fn beside_nodes_and_their_pods_no_pods_count_but_those_that_exist() {
    let hpa = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {minReplicas: 4, \
               maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n";
    let all = [made(&deployment("web", 3)), made(&cron_job("etl")), made(hpa)];
    let read = objects(&file(&cluster(&all)));
    assert_eq!(places(&read), ["web-abc-x on n1"]);
    assert_eq!(
        assumed(&read),
        [
            "no pods but those that exist: `CronJob/default/etl` 0 of 2, `Deployment/default/web` 1 of 4: the input holds \
          what runs: `--scale`, `--hpa` and `--cron peak` ask for more"
        ]
    );
    // Hand-written manifests state the desired pods.
    let by_hand =
        cluster(&[deployment("web", 3)]).into_iter().map(|text| text.replace("  uid: web-abc-x\n", ""));
    assert_eq!(objects(&file(&by_hand.collect::<Vec<_>>())).pods.len(), 3);
    let without_nodes = [pod("web-abc-x", "ReplicaSet/web-abc", ""), deployment("web", 3)];
    assert_eq!(objects(&file(&without_nodes)).pods.len(), 3);
}

#[test]
fn beside_what_runs_more_pods_count_where_they_are_asked_for() {
    use crate::manifests::{Cron, Hpa, ReadOptions, Source, read_all};
    let hpa = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {maxReplicas: 5, \
               scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n";
    let text = file(&cluster(&[made(&deployment("web", 3)), made(&cron_job("etl")), made(hpa)]));
    let pods = |options: ReadOptions| {
        let (objects, faults) = read_all(vec![Source::new("a.yaml", &*text)], &options);
        assert!(faults.is_empty(), "{faults:#?}");
        objects.pods.len()
    };
    let plain = ReadOptions::default;
    assert_eq!(pods(plain()), 1);
    assert_eq!(pods(ReadOptions { hpa: Hpa::Max, ..plain() }), 5);
    assert_eq!(pods(ReadOptions { cron: Some(Cron::Peak), ..plain() }), 3);
    assert_eq!(pods(ReadOptions { scale: vec!["web=4".parse().expect("is one")], ..plain() }), 4);
}

#[test]
fn a_manifest_beside_what_a_cluster_made_has_all_its_pods() {
    use crate::manifests::{ReadOptions, Source, keep, read_kept};
    let read = objects(&file(&cluster(&[made(&deployment("old", 2)), deployment("new", 2)])));
    assert_eq!(places(&read), ["new-0 waits", "new-1 waits", "web-abc-x on n1"]);
    // UIDs of pods suffice: a dump and a manifest joined in one stream.
    let read = objects(&file(&cluster(&[deployment("new", 2)])));
    assert_eq!(places(&read), ["new-0 waits", "new-1 waits", "web-abc-x on n1"]);
    // A manifest in its own file counts too, even once both are kept for later.
    let files =
        [("dump.yaml", file(&cluster(&[made(&deployment("old", 2))]))), ("web.yaml", deployment("web", 2))];
    let sources = || files.iter().map(|(name, text)| Source::new(*name, &**text)).collect();
    let (kept, _) = keep(sources());
    let (later, _) = read_kept(kept, &ReadOptions::default());
    let now = crate::manifests::read(sources()).expect("nothing is wrong");
    assert_eq!(places(&now), ["web-0 waits", "web-abc-x on n1"]);
    assert_eq!(places(&later), places(&now));
}

#[test]
fn where_nodes_and_pods_were_listed_a_deployment_whose_pods_are_yet_to_come_has_none() {
    use crate::manifests::{ReadOptions, Source, keep, read_kept};
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n".to_owned();
    let text = file(&[node, made(&deployment("web", 5))]);
    let pods = |listed: &[&str]| {
        let (mut kept, _) = keep(vec![Source::new("a.yaml", &*text)]);
        kept.listed.extend(listed.iter().map(|kind| (*kind).to_owned()));
        read_kept(kept, &ReadOptions::default()).0.pods.len()
    };
    assert_eq!([pods(&["nodes", "pods"]), pods(&["nodes"]), pods(&[])], [0, 5, 5]);
}

#[test]
fn cron_jobs_may_be_left_out_of_manifests() {
    use crate::manifests::{Cron, ReadOptions, Source, read_all};
    let options = ReadOptions { cron: Some(Cron::Running), ..ReadOptions::default() };
    let (objects, _) = read_all(vec![Source::new("a.yaml", cron_job("etl"))], &options);
    assert!(objects.pods.is_empty());
}

#[test]
fn hooks_of_helm_that_no_install_runs_need_no_node() {
    let pod = |hook: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: t, annotations: {{helm.sh/hook: {hook}}}{more}}}\n\
             spec: {{containers: [{{name: c}}]}}\n"
        )
    };
    let read = |hook: &str, more: &str| {
        let read = objects(&pod(hook, more));
        (read.pods.len(), assumed(&read))
    };
    for hook in ["test", "test-success", "'post-delete, pre-delete'"] {
        let (pods, said) = read(hook, "");
        assert_eq!(pods, 0, "{hook}");
        let expected = "`Pod/t` does not run: `helm.sh/hook: ";
        assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
    }
    for hook in ["pre-install", "'pre-install, test'"] {
        assert_eq!(read(hook, "").0, 1, "{hook}");
    }
    assert_eq!(read("test", ", uid: u").0, 1, "it runs");
}
