//! Decides which pods still run after workloads were applied or removed: pods of an old template and surplus pods are
//! removed.
//!
//! Their replacements are not created here: they are the pods missing up to the replicas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::found::{Found, Place};
use super::kind::WorkloadKind;
use super::live::LivePod;
use super::pod::PodBody;
use super::said::Said;
use super::scaling::leaving;
use super::workload::WorkloadObject;
use crate::model::storage::PodVolume;
use crate::model::{PodKey, PodSpec, Requirements, SchedulingRule, Workload};

/// Applied and removed workloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Applied {
    /// Applied.
    pub(super) workloads: BTreeSet<Workload>,
    /// Applied workloads whose manifest does not set the number of pods.
    pub(super) unscaled: BTreeSet<Workload>,
    /// Removed.
    pub(super) removed: BTreeSet<Workload>,
}

/// A pod of the input with its body.
type Live = (LivePod, Arc<PodBody>);

/// Workloads and pods after admission, each pod assigned to its top-level workload.
#[derive(Debug)]
pub(super) struct Settled {
    workloads: Vec<(WorkloadObject, Place)>,
    pods: Vec<Live>,
}

impl Settled {
    /// Resolves the owners of pods, without changing the input.
    pub(super) fn of(found: &Found) -> Self {
        let (mut workloads, mut pods) = (found.workloads.clone(), found.pods.clone());
        // Notes are reported when the merged input is read.
        let mut said = Said::default();
        super::rollout::resolve(found.rollouts.clone(), &mut workloads, &mut said);
        found.owners.settle(&mut workloads, &mut pods);
        found.admission.admit(&mut workloads, &mut pods, &mut said);
        Self { workloads, pods }
    }

    /// Returns the number of running pods of each workload.
    pub(super) fn running(&self) -> BTreeMap<Workload, i64> {
        let mut running = BTreeMap::new();
        for (pod, _) in self.pods.iter().filter(|(pod, _)| !pod.is_terminating) {
            if let Some(workload) = &pod.workload {
                *running.entry(workload.clone()).or_default() += 1;
            }
        }
        running
    }

    fn by_id(&self) -> BTreeMap<&Workload, &WorkloadObject> {
        self.workloads.iter().map(|(workload, _)| (&workload.id, workload)).collect()
    }
}

/// Removes the pods that a rollout ends. `before` is the previous state, `found` the state with applied objects.
pub(super) fn settle(before: &Settled, found: &mut Found, applied: &Applied) {
    keep_unchanged(before, found);
    let after = Settled::of(found);
    let (old, new) = (before.by_id(), after.by_id());
    let mut gone: BTreeSet<PodKey> = BTreeSet::new();
    for (pod, body) in &after.pods {
        let Some(workload) = &pod.workload else { continue };
        if applied.removed.contains(workload) && !applied.workloads.contains(workload) {
            gone.insert(pod.key.clone());
            continue;
        }
        let Some(wanted) = new.get(workload).filter(|_| applied.workloads.contains(workload)) else {
            continue;
        };
        let runs = match old.get(workload) {
            Some(old) => is_same_template(old, wanted),
            None => runs_as(wanted, body),
        };
        if !runs {
            gone.insert(pod.key.clone());
        }
    }
    let mut left: Vec<Live> =
        after.pods.iter().filter(|(pod, _)| !gone.contains(&pod.key)).cloned().collect();
    let is_counted = |workload: &&&WorkloadObject| {
        workload.count.is_written
            && workload.kind != WorkloadKind::DaemonSet
            && applied.workloads.contains(&workload.id)
            && !applied.unscaled.contains(&workload.id)
    };
    for workload in new.values().filter(is_counted) {
        gone.extend(leaving::leave(workload, &mut left));
    }
    found.pods.retain(|(pod, _)| !gone.contains(&pod.key));
}

/// Keeps a running pod if the applied pod is the same.
fn keep_unchanged(before: &Settled, after: &mut Found) {
    let running: BTreeMap<&PodKey, &Live> = before.pods.iter().map(|live| (&live.0.key, live)).collect();
    let admitted = Settled::of(after).pods;
    for (live, (_, body)) in after.pods.iter_mut().zip(&admitted) {
        let Some(present) = running.get(&live.0.key) else { continue };
        let is_unplaced = live.0.node.is_none() && present.0.node.is_some();
        if is_unplaced && is_template_of(body, &present.1, false) {
            *live = (*present).clone();
        }
    }
}

fn is_same_template(one: &WorkloadObject, other: &WorkloadObject) -> bool {
    (&one.body, &one.node, one.is_do_not_disrupt) == (&other.body, &other.node, other.is_do_not_disrupt)
}

fn runs_as(workload: &WorkloadObject, pod: &PodBody) -> bool {
    is_template_of(&workload.body, pod, workload.kind == WorkloadKind::DaemonSet)
}

/// Returns whether a running pod matches its template. Admission adds labels, tolerations, node selectors and a
/// priority; the DaemonSet controller ties each pod to its node.
fn is_template_of(template: &PodBody, pod: &PodBody, is_daemon: bool) -> bool {
    let (wanted, found): (&PodSpec, &PodSpec) = (&template.spec, &pod.spec);
    let claims = |spec: &PodSpec| spec.other_rules.get(&SchedulingRule::ResourceClaims).copied();
    // Each pod has its own name for a claim from the template.
    let mut volumes = wanted.volumes.iter().filter(|volume| !matches!(volume, PodVolume::Template(_)));
    wanted.requests == found.requests
        && wanted.labels.iter().all(|(key, value)| found.labels.get(key) == Some(value))
        && holds(&found.node_selector, &wanted.node_selector)
        && (is_daemon || wanted.node_affinity == found.node_affinity)
        && wanted.tolerations.iter().all(|toleration| found.tolerations.contains(toleration))
        && wanted.host_ports == found.host_ports
        && wanted.spread == found.spread
        && (&wanted.affinity, &wanted.anti_affinity) == (&found.affinity, &found.anti_affinity)
        && wanted.preferred_affinity == found.preferred_affinity
        && wanted.preferred_anti_affinity == found.preferred_anti_affinity
        && claims(wanted) == claims(found)
        && volumes.all(|volume| found.volumes.contains(volume))
        && wanted.scheduler == found.scheduler
        && (template.priority_class.is_none() || template.priority_class == pod.priority_class)
}

/// Returns whether requirements contain all of the others unchanged.
fn holds(these: &Requirements, others: &Requirements) -> bool {
    others.iter().all(|(key, wanted)| these.get(key.as_str()) == Some(wanted))
}
