//! Running pods that a plan evicts, each with its workload and destination.
//!
//! Excludes pods of DaemonSets, which are deleted with their node, and pods already being deleted. Must never say
//! whether a pod may be evicted.

use std::collections::BTreeMap;

use super::preemptions;
use super::removals::removed;
use crate::model::{NodeName, PodKey, Workload};
use crate::plan::PodGroup;
use crate::render::view::PlanView;

/// Destination of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum To<'a> {
    /// An existing node that stays.
    Existing(&'a NodeName),
    /// A new node, by the name of its VM.
    New(&'a str),
}

/// A running pod that is evicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved<'a> {
    pub(crate) pod: &'a str,
    /// The group of pods like it.
    pub(crate) group: &'a PodGroup,
    /// The node that it leaves.
    pub(crate) node: &'a NodeName,
    /// Its destination; `None` if it becomes Pending.
    pub(crate) to: Option<To<'a>>,
    /// Number of pods of its workload, without those being deleted; 1 without a workload.
    pub(crate) replicas: usize,
}

impl<'a> Moved<'a> {
    /// Returns whether its workload has no other pod. False for a pod without a controller, which is reported
    /// separately.
    pub(crate) const fn is_single(&self) -> bool {
        self.replicas == 1 && self.group.workload.is_some()
    }

    /// Returns whether nothing recreates it after its eviction.
    pub(crate) const fn is_lost(&self) -> bool {
        self.group.workload.is_none()
    }

    /// Returns its workload.
    pub(crate) const fn workload(&self) -> Option<&'a Workload> {
        self.group.workload.as_ref()
    }

    /// Returns the name of its workload, or its own without one: ``Deployment `shop/web` ``.
    pub(crate) fn owner(&self) -> String {
        match self.workload() {
            Some(Workload { kind, namespace, name }) => format!("{kind} `{namespace}/{name}`"),
            None => format!("Pod `{}/{}`", self.group.namespace, self.pod),
        }
    }
}

/// Returns the pods that are evicted, by the node that they leave.
pub(crate) fn moved<'a>(view: &PlanView<'a>) -> Vec<Moved<'a>> {
    let (to, replicas) = (destinations(view), replicas(view));
    let gone: BTreeMap<&NodeName, &'a NodeName> =
        removed(view).into_iter().map(|gone| (gone.node, gone.node)).collect();
    let mut moved: Vec<Moved<'a>> = Vec::new();
    for group in &view.plan.evidence.world.pods {
        let crate::model::PodPlace::Bound(node) = &group.place else { continue };
        let Some(node) = gone.get(node).filter(|_| !group.is_daemon && !group.is_terminating) else {
            continue;
        };
        for name in &group.names {
            let key = PodKey { namespace: group.namespace.clone(), name: name.clone() };
            // A pod nominated to the node does not run yet.
            if preemptions::comes_to(view, &key).is_some() {
                continue;
            }
            let replicas = group.workload.as_ref().and_then(|workload| replicas.get(workload));
            let (to, replicas) = (to.get(&key).copied(), replicas.copied().unwrap_or(1));
            moved.push(Moved { pod: name, group, node, to, replicas });
        }
    }
    moved.sort_by_key(|pod| (pod.node, pod.workload(), &pod.group.namespace, pod.pod));
    moved
}

fn destinations<'a>(view: &PlanView<'a>) -> BTreeMap<&'a PodKey, To<'a>> {
    let kept = view.plan.evidence.kept.iter();
    let kept = kept.flat_map(|(node, pods)| pods.iter().map(move |pod| (pod, To::Existing(node))));
    let new = view.new_nodes().flat_map(|new| {
        let to = To::New(&new.create.vm);
        new.placement.pods.iter().map(move |pod| (pod, to))
    });
    kept.chain(new).collect()
}

fn replicas<'a>(view: &PlanView<'a>) -> BTreeMap<&'a Workload, usize> {
    let mut replicas: BTreeMap<&Workload, usize> = BTreeMap::new();
    let groups = view.plan.evidence.world.pods.iter();
    for group in groups.filter(|group| !group.is_daemon && !group.is_terminating) {
        if let Some(workload) = &group.workload {
            *replicas.entry(workload).or_default() += group.names.len();
        }
    }
    replicas
}

/// Counts equal values, the most frequent first.
pub(crate) fn tally<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<(T, usize)> {
    let mut counted: BTreeMap<T, usize> = BTreeMap::new();
    for value in values {
        *counted.entry(value).or_default() += 1;
    }
    let mut counted: Vec<(T, usize)> = counted.into_iter().collect();
    counted.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    counted
}
