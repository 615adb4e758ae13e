//! Dumps: if an input holds nodes and the pods on them, only existing pods count.
//!
//! Pods of a CronJob's peak, or missing replicas of a Deployment, are not pending in the scheduler now. They only count
//! if requested: by the user, or by a manifest beside the dump. Never scales anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::found::{Found, Place};
use super::kind::WorkloadKind;
use super::listed::NEEDED_KINDS;
use super::live::LivePod;
use super::pod::PodBody;
use super::said::{Note, Said, listed};
use super::workload::{WorkloadObject, path};
use crate::model::Workload;

/// Which pods of CronJobs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cron {
    /// Existing ones.
    Running,
    /// The maximum that may run concurrently.
    Peak,
}

/// Returns whether an input is a dump: nodes and pods of a cluster were listed, or it holds a node with a pod created
/// by a cluster. A listing is known to be complete: if it has no running pods, a Deployment that was just scaled has
/// none either, and the names of its future pods are unknown.
#[must_use]
pub fn is_dump(found: &Found) -> bool {
    if NEEDED_KINDS.iter().all(|kind| found.listed.contains(*kind)) {
        return true;
    }
    let nodes: BTreeSet<&str> = found.nodes.iter().map(|node| &**node.name()).collect();
    let is_there = |pod: &LivePod| pod.node.as_ref().is_some_and(|node| nodes.contains(node.as_str()));
    found.pods.iter().any(|(pod, _)| pod.is_made && is_there(pod))
}

/// Objects of an input that were created by a cluster.
#[derive(Debug, Default)]
pub struct Made {
    /// Files with nodes, or with objects that have a UID.
    pub files: BTreeSet<Arc<str>>,
    /// Whether pods or workloads have UIDs; some dumps have them removed.
    pub has_uids: bool,
}

/// Returns the workloads from manifests beside a cluster's objects: they have no UID while others do, or are in other
/// files.
pub(super) fn beside(workloads: &[(WorkloadObject, Place)], made: &Made) -> BTreeSet<Workload> {
    let is_beside = |(workload, place): &&(WorkloadObject, Place)| {
        let is_elsewhere = made.has_uids || !made.files.contains(&place.file);
        !workload.is_made && !made.files.is_empty() && is_elsewhere
    };
    workloads.iter().filter(is_beside).map(|(workload, _)| workload.id.clone()).collect()
}

/// Marks the workloads of which only existing pods count: those that no manifest is laid over.
pub(super) fn mark(
    workloads: &mut [(WorkloadObject, Place)],
    (is_dump, laid): (bool, &BTreeSet<Workload>),
    cron: Option<Cron>,
) {
    for (workload, _) in workloads {
        let is_seen = is_dump && !laid.contains(&workload.id);
        workload.is_as_it_runs = match cron.filter(|_| workload.kind == WorkloadKind::CronJob) {
            Some(Cron::Running) => true,
            Some(Cron::Peak) => false,
            None => is_seen,
        };
    }
}

/// Reports workloads with fewer pods than they may have.
pub(super) fn say(workloads: &[(WorkloadObject, Place)], pods: &[(LivePod, Arc<PodBody>)], said: &mut Said) {
    let mut running: BTreeMap<&Workload, i64> = BTreeMap::new();
    for (pod, _) in pods.iter().filter(|(pod, _)| !pod.is_terminating) {
        if let Some(workload) = &pod.workload {
            *running.entry(workload).or_default() += 1;
        }
    }
    let short = |(workload, _): &(WorkloadObject, Place)| {
        let (there, all) = (running.get(&workload.id).copied().unwrap_or(0), workload.count.replicas);
        let is_short = workload.is_as_it_runs && there < all;
        is_short.then(|| (workload.kind, format!("`{}` {there} of {all}", path(&workload.id))))
    };
    let mut short: Vec<(WorkloadKind, String)> = workloads.iter().filter_map(short).collect();
    short.sort_by(|(_, one), (_, other)| one.cmp(other));
    if short.is_empty() {
        return;
    }
    let has_others = short.iter().any(|(kind, _)| *kind != WorkloadKind::CronJob);
    let has_cron = short.iter().any(|(kind, _)| *kind == WorkloadKind::CronJob);
    let asks = match (has_others, has_cron) {
        (true, true) => "`--scale`, `--hpa` and `--cron peak` ask",
        (true, false) => "`--scale` and `--hpa` ask",
        (false, _) => "`--cron peak` asks",
    };
    let names: Vec<String> = short.into_iter().map(|(_, text)| text).collect();
    said.assumed.push(Note::new(
        format!("no pods but those that exist: {}", listed(&names)),
        format!("the input holds what runs: {asks} for more"),
    ));
}
