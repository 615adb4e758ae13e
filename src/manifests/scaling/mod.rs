//! Counts the pods of workloads that are scaled by something other than their manifest: an autoscaler, or the user
//! asking what-if.
//!
//! Never measures anything: the load is unknown.

pub mod autoscaler;
pub mod count;
pub mod leaving;
pub mod option;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{PodKey, Workload};

use super::ReadOptions;
use super::fault::Faults;
use super::found::Place;
use super::kind::WorkloadKind;
use super::live::LivePod;
use super::pod::PodBody;
use super::said::{Note, Remark, Said, counted, listed};
use super::workload::{Count, WorkloadObject, path};
use autoscaler::Autoscaler;
use count::Decision;
use option::Scale;

/// Replica count for autoscaled workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hpa {
    /// The minimum of their autoscaler.
    Min,
    /// The maximum.
    Max,
    /// The current number.
    #[default]
    Current,
}

/// A workload with its place, and a pod with its body.
type Placed = (WorkloadObject, Place);
type Live = (LivePod, Arc<PodBody>);

/// Inputs for scaling.
#[derive(Debug)]
pub struct Scaling<'a> {
    /// The autoscalers of the input.
    pub autoscalers: Vec<Autoscaler>,
    /// Replica counts set by the user.
    pub options: &'a ReadOptions,
    /// Whether the input is a dump.
    pub is_dump: bool,
}

impl Scaling<'_> {
    /// Sets the replicas of workloads, and removes running pods that the user does not want. Scaled workloads that are
    /// only known from their running pods are added.
    pub fn apply(
        self,
        workloads: &mut Vec<Placed>,
        pods: &mut Vec<Live>,
        (said, faults): (&mut Said, &mut Faults),
    ) {
        let Self { autoscalers, options, is_dump } = self;
        let hpa = options.hpa;
        let mut by_target: BTreeMap<Workload, Vec<Autoscaler>> = BTreeMap::new();
        for autoscaler in autoscaler::without_made(autoscalers) {
            by_target.entry(autoscaler.target.clone()).or_default().push(autoscaler);
        }
        let candidates = candidates(workloads, pods);
        if options.may_miss_scaled {
            said.unscaled = option::missing(&options.scale, &candidates);
        }
        let there = options.scale.iter().enumerate().filter(|(place, _)| !said.unscaled.contains(place));
        let there: Vec<&Scale> = there.map(|(_, scale)| scale).collect();
        let scaled = option::resolve(&there, &candidates, faults);
        let asked = by_target.keys().chain(scaled.keys());
        derive((asked.collect(), is_dump), workloads, pods);
        let mut decided: Vec<(Workload, Decision)> = Vec::new();
        for (target, autoscalers) in &by_target {
            let found = workloads.iter().find(|(workload, _)| workload.id == *target);
            match found {
                _ if scaled.contains_key(target) => {}
                Some((workload, _)) => {
                    decided.push((target.clone(), count::decide(workload, autoscalers, hpa)));
                }
                None => said.unresolved.extend(autoscalers.iter().map(without_target)),
            }
            if autoscalers.len() > 1 {
                said.remarks.push(several(target, autoscalers));
            }
        }
        decided.extend(scaled.into_iter().map(|(target, pods)| (target, Decision::option(pods))));
        for (target, Decision { because, .. }) in &decided {
            // Bounds or numbers requested by the user apply whatever runs.
            let is_asked = because.takes_pods() || hpa != Hpa::Current;
            let named = workloads.iter_mut().find(|(workload, _)| workload.id == *target && is_asked);
            named.into_iter().for_each(|(workload, _)| workload.is_as_it_runs = false);
        }
        count::say(&decided, workloads, hpa, said);
        let mut gone: Vec<PodKey> = Vec::new();
        for (target, Decision { pods: wanted, because, .. }) in decided {
            let Some((workload, _)) = workloads.iter_mut().find(|(workload, _)| workload.id == target) else {
                continue;
            };
            workload.count = Count { pods_of_one: workload.count.pods_of_one, ..Count::written(wanted) };
            if because.takes_pods() {
                gone.extend(leaving::leave(workload, pods));
            }
        }
        say_gone(gone, said);
    }
}

/// Returns the workloads that can be scaled by name, and whether each is a DaemonSet.
fn candidates(workloads: &[Placed], pods: &[Live]) -> BTreeMap<Workload, bool> {
    let of_pods = pods.iter().filter_map(|(pod, _)| Some((pod.workload.clone()?, pod.is_daemon)));
    let objects =
        workloads.iter().map(|(workload, _)| (workload.id.clone(), workload.kind == WorkloadKind::DaemonSet));
    of_pods.chain(objects).collect()
}

/// Derives missing workloads from their running pods, using the pod with the smallest name.
fn derive((asked, is_dump): (BTreeSet<&Workload>, bool), workloads: &mut Vec<Placed>, pods: &[Live]) {
    let known: BTreeSet<Workload> = workloads.iter().map(|(workload, _)| workload.id.clone()).collect();
    for id in asked.into_iter().filter(|id| !known.contains(id)) {
        let own = || pods.iter().filter(|(pod, _)| pod.workload.as_ref() == Some(id) && !pod.is_daemon);
        let Some((first, body)) = own().min_by(|(one, _), (other, _)| one.key.cmp(&other.key)) else {
            continue;
        };
        let running = own().filter(|(pod, _)| !pod.is_terminating).count();
        let is_stateful = &*id.kind == "StatefulSet";
        let workload = WorkloadObject {
            id: id.clone(),
            kind: if is_stateful { WorkloadKind::StatefulSet } else { WorkloadKind::Deployment },
            owner: None,
            body: PodBody::clone(body),
            node: None,
            is_do_not_disrupt: first.is_do_not_disrupt,
            count: Count::written(i64::try_from(running).unwrap_or(i64::MAX)),
            is_made: true,
            is_as_it_runs: is_dump,
            first_ordinal: 0,
        };
        workloads.push((workload, Place { file: Arc::from(""), line: 0 }));
    }
}

fn without_target(autoscaler: &Autoscaler) -> Note {
    Note::new(
        format!(
            "`{}`, which `{}` scales, is not in the input",
            path(&autoscaler.target),
            path(&autoscaler.id)
        ),
        "its pods are not in this plan, beyond those that run already",
    )
}

fn several(target: &Workload, autoscalers: &[Autoscaler]) -> Remark {
    let names: Vec<String> = autoscalers.iter().map(|one| format!("`{}`", path(&one.id))).collect();
    Remark {
        object: format!("`{}`", path(target)),
        what: format!(
            "{} both scale it: they undo each other's work, and the larger number counts here",
            names.join(" and ")
        ),
        hint: Some("keep one of them".to_owned()),
    }
}

fn say_gone(mut gone: Vec<PodKey>, said: &mut Said) {
    if gone.is_empty() {
        return;
    }
    gone.sort();
    let names: Vec<String> = gone.iter().map(|key| format!("`{key}`")).collect();
    let count = i64::try_from(gone.len()).unwrap_or(i64::MAX);
    said.assumed.push(Note::new(
        format!("{} gone: {}", counted(count, "running pod"), listed(&names)),
        "scaled down as Kubernetes does it: those that wait or are not ready first",
    ));
}
