//! Reports how workloads without an explicit pod count were counted.

use super::found::Place;
use super::kind::WorkloadKind;
use super::said::{Note, Said, counted, listed};
use super::workload::{WorkloadObject, path};

/// Reports how CronJobs and suspended Jobs were counted, and which objects were treated as workloads by their shape.
pub fn say(workloads: &[(WorkloadObject, Place)], said: &mut Said) {
    let mut of = |kind: WorkloadKind, note: fn(&[String]) -> Note| {
        let mut names: Vec<String> = workloads
            .iter()
            .filter(|(workload, _)| is_meant(workload, kind))
            .map(|(one, _)| described(one))
            .collect();
        names.sort();
        if !names.is_empty() {
            said.assumed.push(note(&names));
        }
    };
    of(WorkloadKind::CronJob, |names| {
        let what = if names.len() == 1 { "1 CronJob at its peak" } else { "CronJobs at their peak" };
        Note::new(
            format!("{what}: {}", listed(names)),
            "the pods of one job, times the jobs that `concurrencyPolicy`, the schedule and \
             `activeDeadlineSeconds` let overlap; one where nothing bounds them",
        )
    });
    of(WorkloadKind::Job, |names| {
        let what =
            if names.len() == 1 { "1 suspended Job without pods" } else { "suspended Jobs without pods" };
        Note::new(
            format!("{what}: {}", listed(names)),
            "something resumes it later, such as Kueue: `--scale Job/NAME=N` plans its pods",
        )
    });
    of(WorkloadKind::Other, |names| {
        let what = if names.len() == 1 {
            "a workload of a kind that is not known"
        } else {
            "workloads of kinds that are not known"
        };
        Note::new(
            format!("{what}: {}", listed(names)),
            "it has `spec.replicas` and a pod template: so many pods are counted",
        )
    });
}

fn described(workload: &WorkloadObject) -> String {
    let how = workload.count.how.as_deref().unwrap_or_default();
    format!("`{}` {}{how}", path(&workload.id), counted(workload.count.replicas, "pod"))
}

/// Returns whether a workload of this kind was counted by the rule of its kind, rather than by the user.
fn is_meant(workload: &WorkloadObject, kind: WorkloadKind) -> bool {
    let is_told = matches!(kind, WorkloadKind::CronJob | WorkloadKind::Job);
    workload.kind == kind && !workload.is_as_it_runs && (!is_told || workload.count.how.is_some())
}
