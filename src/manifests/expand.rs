//! Expands workloads and live pods to all current and expected pods, each counted once.
//!
//! A workload's live pods come first; missing ones up to its replicas are generated. Only owner references decide which
//! workload a pod belongs to, because labels may match by accident.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{Namespace, Pod, PodKey, PodPlace, PodSpec, PodState, SchedulingRule, Workload};

use super::fault::Fault;
use super::found::Place;
use super::kind::WorkloadKind;
use super::live::LivePod;
use super::objects::DaemonSet;
use super::pod::PodBody;
use super::priority::Priorities;
use super::source::PODS_MAX;
use super::workload::WorkloadObject;

/// The pods and daemonsets of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// Pods, sorted.
    pub pods: Vec<Pod>,
    /// Creation times of existing pods without a node.
    pub waiting_since: BTreeMap<PodKey, Timestamp>,
    /// DaemonSets, sorted.
    pub daemons: Vec<DaemonSet>,
    /// Pod spec and desired number of pods of each workload.
    pub templates: BTreeMap<Workload, (Arc<PodSpec>, u32)>,
    /// PriorityClasses that pods reference but the input lacks.
    pub unknown_priority_classes: BTreeSet<Arc<str>>,
}

/// Creates pods: resolves priorities, and shares equal specs.
struct Maker<'a> {
    priorities: &'a Priorities,
    unknown: BTreeSet<Arc<str>>,
    specs: BTreeSet<Arc<PodSpec>>,
}

impl Maker<'_> {
    fn spec(&mut self, body: &PodBody) -> Arc<PodSpec> {
        let priority = self.priorities.of(body, &mut self.unknown);
        let never_preempts = self.priorities.never_preempts(body);
        self.shared(PodSpec { priority, never_preempts, ..body.spec.clone() })
    }

    fn shared(&mut self, spec: PodSpec) -> Arc<PodSpec> {
        if let Some(present) = self.specs.get(&spec) {
            return Arc::clone(present);
        }
        let spec = Arc::new(spec);
        self.specs.insert(Arc::clone(&spec));
        spec
    }
}

/// Returns the pods and DaemonSets of workloads and live pods.
///
/// # Errors
/// When the workloads want more pods than are supported.
pub fn expand(
    mut workloads: Vec<(WorkloadObject, Place)>,
    live: Vec<(LivePod, Arc<PodBody>)>,
    priorities: &Priorities,
) -> Result<Expanded, Box<Fault>> {
    // StatefulSets first: the names of their pods are fixed, and names of other pods are generated around them.
    let rank = |workload: &WorkloadObject| {
        let Workload { kind, namespace, name } = workload.id.clone();
        (workload.kind != WorkloadKind::StatefulSet, workload.kind, namespace, name, kind)
    };
    workloads.sort_by_key(|(workload, _)| rank(workload));
    let mut taken: BTreeSet<PodKey> = live.iter().map(|(pod, _)| pod.key.clone()).collect();
    let mut running: BTreeMap<Workload, i64> = BTreeMap::new();
    for (pod, _) in &live {
        if let (Some(workload), false) = (&pod.workload, pod.is_terminating) {
            *running.entry(workload.clone()).or_default() += 1;
        }
    }
    let mut maker = Maker { priorities, unknown: BTreeSet::new(), specs: BTreeSet::new() };
    let mut expanded = Expanded::default();
    within_limit(&workloads, &running)?;
    for (workload, _) in &workloads {
        let spec = maker.spec(&workload.body);
        for ordinal in missing(workload, &running, &taken) {
            let key = key_of(workload, ordinal);
            taken.insert(key.clone());
            expanded.pods.push(made_up(workload, key, &spec));
        }
        let count = u32::try_from(workload.count.replicas).unwrap_or(0);
        expanded.templates.insert(workload.id.clone(), (Arc::clone(&spec), count));
        if workload.kind == WorkloadKind::DaemonSet {
            let Workload { kind: _, namespace, name } = workload.id.clone();
            expanded.daemons.push(DaemonSet { namespace, name, spec });
        }
    }
    derive_daemons(&live, &mut maker, &mut expanded.daemons);
    for (pod, body) in live {
        let spec = maker.spec(&body);
        if let Some(created) = pod.created.filter(|_| pod.node.is_none()) {
            expanded.waiting_since.insert(pod.key.clone(), created);
        }
        expanded.pods.push(pod.into_pod(spec));
    }
    expanded.pods.sort();
    expanded.daemons.sort();
    expanded.unknown_priority_classes = maker.unknown;
    Ok(expanded)
}

fn key_of(workload: &WorkloadObject, ordinal: i64) -> PodKey {
    let Workload { kind: _, namespace, name } = &workload.id;
    PodKey { namespace: namespace.clone(), name: Arc::from(format!("{name}-{ordinal}")) }
}

/// Returns the ordinals of the missing pods. A terminating pod of a StatefulSet counts as present: its replacement is
/// only created after it is gone.
fn missing(
    workload: &WorkloadObject,
    running: &BTreeMap<Workload, i64>,
    taken: &BTreeSet<PodKey>,
) -> Vec<i64> {
    let is_free = |ordinal: &i64| !taken.contains(&key_of(workload, *ordinal));
    match workload.kind {
        _ if workload.is_as_it_runs => Vec::new(),
        WorkloadKind::DaemonSet | WorkloadKind::Template => Vec::new(),
        WorkloadKind::StatefulSet => {
            let first = workload.first_ordinal;
            (first..first.saturating_add(workload.count.replicas)).filter(is_free).collect()
        }
        WorkloadKind::Deployment
        | WorkloadKind::ReplicaSet
        | WorkloadKind::ReplicationController
        | WorkloadKind::Job
        | WorkloadKind::CronJob
        | WorkloadKind::Rollout
        | WorkloadKind::ScaledJob
        | WorkloadKind::Other => {
            let there = running.get(&workload.id).copied().unwrap_or(0);
            let missing = usize::try_from(workload.count.replicas.saturating_sub(there)).unwrap_or(0);
            (0..).filter(is_free).take(missing).collect()
        }
    }
}

fn made_up(workload: &WorkloadObject, key: PodKey, spec: &Arc<PodSpec>) -> Pod {
    Pod {
        key,
        workload: Some(workload.id.clone()),
        spec: Arc::clone(spec),
        place: workload.node.clone().map_or(PodPlace::Waiting, PodPlace::Bound),
        is_daemon: false,
        is_do_not_disrupt: workload.is_do_not_disrupt,
        is_terminating: false,
        state: PodState::default(),
    }
}

/// Checks the number of pods before any is created.
fn within_limit(
    workloads: &[(WorkloadObject, Place)],
    running: &BTreeMap<Workload, i64>,
) -> Result<(), Box<Fault>> {
    let mut made: i64 = 0;
    for (workload, place) in workloads.iter().filter(|(workload, _)| !workload.is_as_it_runs) {
        let there = running.get(&workload.id).copied().unwrap_or(0);
        made = made.saturating_add(workload.count.replicas.saturating_sub(there).max(0));
        if made > PODS_MAX {
            let message = format!("with this workload the input asks for more than {PODS_MAX} pods");
            let mut fault = Fault::at(&place.file, place.line, message);
            fault.object = Some(format!("{}/{}", workload.id.kind, workload.id.name));
            let hint = "Kubernetes itself supports 150000 pods in a cluster: check the replicas";
            return Err(Box::new(fault.with_hint(hint)));
        }
    }
    Ok(())
}

/// Derives DaemonSets that the input lacks from their pods, using the pod with the smallest name.
fn derive_daemons(live: &[(LivePod, Arc<PodBody>)], maker: &mut Maker<'_>, daemons: &mut Vec<DaemonSet>) {
    let known: BTreeSet<(Namespace, Arc<str>)> =
        daemons.iter().map(|daemon| (daemon.namespace.clone(), Arc::clone(&daemon.name))).collect();
    let mut derived: BTreeMap<_, (&PodKey, &Arc<PodBody>)> = BTreeMap::new();
    for (pod, body) in live {
        let Some(workload) = pod.workload.as_ref().filter(|workload| &*workload.kind == "DaemonSet") else {
            continue;
        };
        let key = (workload.namespace.clone(), Arc::clone(&workload.name));
        if !known.contains(&key) {
            let smallest = derived.entry(key).or_insert((&pod.key, body));
            if pod.key < *smallest.0 {
                *smallest = (&pod.key, body);
            }
        }
    }
    for ((namespace, name), (_, body)) in derived {
        let mut spec = body.spec.clone();
        spec.priority = maker.priorities.of(body, &mut maker.unknown);
        spec.never_preempts = maker.priorities.never_preempts(body);
        unpin(&mut spec);
        daemons.push(DaemonSet { namespace, name, spec: maker.shared(spec) });
    }
}

/// Removes the match field that the DaemonSet controller adds to tie each pod to its node.
fn unpin(spec: &mut PodSpec) {
    if spec.other_rules.remove(&SchedulingRule::MatchFields).is_none() {
        return;
    }
    let terms = spec.node_affinity.required.as_ref();
    // A term without other requirements matches every node, so the whole affinity does.
    if terms.is_some_and(|terms| terms.iter().any(crate::model::Requirements::is_empty)) {
        spec.node_affinity.required = None;
    }
}
