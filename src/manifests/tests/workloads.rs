//! Workloads beyond Deployments: the number of pods of each kind, and the owners of running pods.

use super::{deployment, faults, file, objects, places, pod};
use crate::manifests::Objects;

fn as_kind(text: &str, version: &str, kind: &str) -> String {
    text.replace("apps/v1", version).replace("Deployment", kind)
}

fn replica_set(name: &str, replicas: usize, owner: &str) -> String {
    let owned = owner.split_once('/').map_or(String::new(), |(kind, owner)| {
        format!(", ownerReferences: [{{kind: {kind}, name: {owner}, controller: true}}]")
    });
    as_kind(&deployment(name, replicas), "apps/v1", "ReplicaSet")
        .replace(&format!("metadata: {{name: {name}}}"), &format!("metadata: {{name: {name}{owned}}}"))
}

fn cron_job(spec: &str, job: &str) -> String {
    format!(
        "{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: nightly}}, spec: {{schedule: '*/10 * * * *', {spec} \
         jobTemplate: {{spec: {{{job} template: {{spec: {{containers: [{{name: c}}]}}}}}}}}}}}}\n"
    )
}

fn owners(objects: &Objects) -> Vec<String> {
    objects.pods.iter().flat_map(|pod| &pod.workload).map(ToString::to_string).collect()
}

fn assumed(objects: &Objects) -> Vec<String> {
    objects.said.assumed.iter().map(|note| note.what.clone()).collect()
}

#[test]
fn a_replica_set_counts_unless_another_workload_made_it() {
    assert_eq!(places(&objects(&replica_set("web-abc", 2, ""))), ["web-abc-0 waits", "web-abc-1 waits"]);
    let past = objects(&replica_set("web-abc", 2, "Deployment/web"));
    assert_eq!((past.pods.len(), past.passed_over.get("ReplicaSet")), (0, Some(&1)));
    let of_a_custom_kind = objects(&replica_set("web-abc", 1, "Fancy/web"));
    assert_eq!(owners(&of_a_custom_kind), ["ReplicaSet/web-abc in default"]);
    // Its own label does not create a Deployment that does not exist.
    let live = [replica_set("web-abc", 2, ""), pod("web-abc-x", "ReplicaSet/web-abc", "")];
    assert_eq!(owners(&objects(&file(&live))), ["ReplicaSet/web-abc in default"; 2]);
}

#[test]
fn a_replication_controller_counts_and_its_selector_is_judged() {
    let text = as_kind(&deployment("old", 2), "v1", "ReplicationController")
        .replace("selector: {matchLabels: {app: old}}", "selector: {app: old}");
    assert_eq!(places(&objects(&text)), ["old-0 waits", "old-1 waits"]);
    let wrong = text.replace("selector: {app: old}", "selector: {app: new}");
    assert!(faults(&wrong)[0].contains("does not select the labels"), "{:?}", faults(&wrong));
}

#[test]
fn a_cron_job_is_counted_at_its_peak() {
    let table = [
        ("", "", 1, " in 1 job (unbounded)"),
        ("concurrencyPolicy: Forbid,", "parallelism: 3,", 3, ""),
        ("concurrencyPolicy: Replace,", "parallelism: 3, completions: 2,", 2, ""),
        ("concurrencyPolicy: Allow,", "activeDeadlineSeconds: 600,", 1, ""),
        ("", "activeDeadlineSeconds: 1500, parallelism: 2,", 6, " in 3 jobs"),
        ("concurrencyPolicy: Forbid,", "activeDeadlineSeconds: 1500,", 1, ""),
        ("suspend: true,", "", 0, " while suspended"),
    ];
    for (spec, job, pods, how) in table {
        let read = objects(&cron_job(spec, job));
        let counted = if pods == 1 { "pod" } else { "pods" };
        let said = format!("1 CronJob at its peak: `CronJob/default/nightly` {pods} {counted}{how}");
        assert_eq!((read.pods.len(), assumed(&read)), (pods, vec![said]), "{spec} {job}");
    }
    let wrong = faults(&cron_job("", "").replace("*/10 * * * *", "*/10 * * *"));
    assert!(
        wrong[0].contains("spec.schedule: is not a cron schedule: it needs five fields, not 4"),
        "{wrong:?}"
    );
}

#[test]
fn running_jobs_are_part_of_their_cron_job() {
    let cron = cron_job("concurrencyPolicy: Forbid,", "parallelism: 3,");
    // The Job is not in the input: its name ends in the minute of its run.
    let by_name =
        file(&[cron.clone(), pod("a", "Job/nightly-29384610", ""), pod("b", "Job/nightly-29384610", "")]);
    let read = objects(&by_name);
    assert_eq!(owners(&read), ["CronJob/nightly in default"; 3]);
    // Created by hand, beyond the peak: the Job itself names its owner and its number of pods.
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: by-hand, ownerReferences: [{kind: CronJob, name: nightly}]}, \
               spec: {parallelism: 5, template: {spec: {containers: [{name: c}]}}}}\n";
    let read = objects(&file(&[cron, job.to_owned(), pod("a", "Job/by-hand", "")]));
    assert_eq!(owners(&read), ["CronJob/nightly in default"; 5]);
    // Without the CronJob, the Job counts on its own, and a name proves nothing.
    assert_eq!(owners(&objects(job)), ["Job/by-hand in default"; 5]);
    let alone = objects(&pod("a", "Job/nightly-29384610", ""));
    assert_eq!(owners(&alone), ["Job/nightly-29384610 in default"]);
}

#[test]
fn a_rollout_counts_with_the_pods_of_its_replica_sets() {
    let rollout = as_kind(&deployment("web", 3), "argoproj.io/v1alpha1", "Rollout");
    let live =
        pod("web-abc-x", "ReplicaSet/web-abc", "").replace("pod-template-hash", "rollouts-pod-template-hash");
    let read = objects(&file(&[rollout, live.clone(), replica_set("web-abc", 3, "Rollout/web")]));
    assert_eq!(owners(&read), ["Rollout/web in default"; 3]);
    assert_eq!(owners(&objects(&live)), ["Rollout/web in default"]);
}

#[test]
fn a_rollout_may_take_its_template_from_a_deployment() {
    let rollout = |more: &str| {
        format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {{name: web}}, spec: {{replicas: 2, \
             workloadRef: {{apiVersion: apps/v1, kind: Deployment, name: web{more}}}}}}}\n"
        )
    };
    let taken_over = objects(&file(&[rollout(", scaleDown: progressively"), deployment("web", 3)]));
    assert_eq!(owners(&taken_over), ["Rollout/web in default"; 2]);
    assert_eq!(taken_over.pods[0].spec.requests.get(&crate::model::ResourceName::Cpu), 1000);
    assert!(taken_over.said.remarks.is_empty());

    let both = objects(&file(&[rollout(""), deployment("web", 3)]));
    assert_eq!(both.pods.len(), 5);
    assert_eq!(both.said.remarks[0].what, "its pods and those of `Deployment/default/web` are both counted");
    let off = objects(&file(&[rollout(""), deployment("web", 0)]));
    assert_eq!((off.pods.len(), off.said.remarks.len()), (2, 0));

    let alone = objects(&rollout(""));
    assert_eq!(
        alone.said.unresolved[0].what,
        "`Deployment/default/web`, the template of `Rollout/default/web`, is not in the input"
    );
}

#[test]
fn any_kind_with_replicas_and_a_pod_template_is_a_workload() {
    let clones = as_kind(&deployment("game", 2), "apps.kruise.io/v1alpha1", "CloneSet");
    let read = objects(&file(&[clones.clone(), pod("game-x", "CloneSet/game", "")]));
    assert_eq!(owners(&read), ["CloneSet/game in default"; 2]);
    assert_eq!(assumed(&read), ["a workload of a kind that is not known: `CloneSet/default/game` 2 pods"]);
    assert!(read.not_understood.is_empty());
    // The workload that it created is understood better than the object itself.
    let made = replica_set("game-abc", 3, "CloneSet/game");
    let read = objects(&file(&[clones.clone(), made]));
    assert_eq!(owners(&read), ["ReplicaSet/game-abc in default"; 3]);
    assert!(assumed(&read).is_empty());
    // Without replicas, or with something else by that name, it is not understood.
    for other in
        [clones.replace("replicas: 2", "size: 2"), clones.replace("replicas: 2", "replicas: {min: 1}")]
    {
        let read = objects(&other);
        assert_eq!((read.pods.len(), read.not_understood.contains_key("CloneSet")), (0, true), "{other}");
    }
}
