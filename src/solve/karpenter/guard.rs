//! Protection of pods from eviction: PodDisruptionBudgets, and pods that ask not to be disrupted.
//!
//! A pod with several budgets cannot be evicted at all, as in the eviction API. Never looks at nodes.

use crate::model::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use crate::model::eviction::Evictions;
use crate::model::{Effect, Pod, Taint, label};
use crate::snapshot::Snapshot;

/// The budgets, and the number of evictions that each allows now.
pub(super) struct Guards<'a> {
    snapshot: &'a Snapshot,
    allowed: Vec<u32>,
}

impl<'a> Guards<'a> {
    /// Reads the budgets.
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let evictions = Evictions::of(&snapshot.budgets, &snapshot.pods);
        Self { snapshot, allowed: evictions.guards().iter().map(|guard| guard.allowed).collect() }
    }

    /// Returns whether a budget blocks the eviction of a pod now.
    pub(super) fn blocks(&self, pod: &Pod) -> bool {
        if !is_evictable(pod, self.snapshot) {
            return false;
        }
        let budgets = self.snapshot.budgets.iter().zip(&self.allowed);
        let own: Vec<_> = budgets.filter(|(budget, _)| is_of(pod, budget)).collect();
        own.len() > 1 || own.iter().any(|(budget, allowed)| **allowed == 0 && !lets_go(budget, pod))
    }
}

/// Returns whether budgets keep a pod on its node until they are changed, however few other pods are unavailable. No
/// node is created for such a pod.
pub(super) fn is_stuck(pod: &Pod, snapshot: &Snapshot) -> bool {
    if !is_evictable(pod, snapshot) {
        return false;
    }
    let own: Vec<_> = snapshot.budgets.iter().filter(|budget| is_of(pod, budget)).collect();
    own.len() > 1 || own.iter().any(|budget| is_shut(budget) && !lets_go(budget, pod))
}

/// Returns whether a pod would be evicted at all. Terminating pods, pods that tolerate Karpenter's disruption taint,
/// static pods and pods that ask not to be disrupted are not.
fn is_evictable(pod: &Pod, snapshot: &Snapshot) -> bool {
    let taint = Taint { key: label::DISRUPTED.into(), value: "".into(), effect: Effect::NoSchedule };
    let is_own = pod.is_daemon && pod.workload.as_ref().is_none_or(|owner| &*owner.kind != "DaemonSet");
    let stands = pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&taint));
    !pod.is_terminating && !stands && !is_own && !pod.is_protected(snapshot.at)
}

fn is_of(pod: &Pod, budget: &DisruptionBudget) -> bool {
    budget.namespace == pod.key.namespace
        && budget.selector.as_ref().is_some_and(|selector| selector.selects(&pod.spec.labels))
}

/// Returns whether a budget allows the eviction of a pod because it is not ready.
fn lets_go(budget: &DisruptionBudget, pod: &Pod) -> bool {
    budget.unhealthy == UnhealthyPods::AlwaysAllow && pod.state.is_unready
}

/// Returns whether a budget never allows an eviction.
fn is_shut(budget: &DisruptionBudget) -> bool {
    match budget.bound {
        Some(PodBound::MaxUnavailable(PodShare::Count(most) | PodShare::Percent(most))) => most == 0,
        Some(PodBound::MinAvailable(PodShare::Percent(least))) => least == 100,
        Some(PodBound::MinAvailable(PodShare::Count(_))) | None => false,
    }
}
