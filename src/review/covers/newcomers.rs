//! Pods that came to a node after its removal was reviewed: an approval covers only the owners that its page lists.
//!
//! A pod is unharmed if another replica is Ready elsewhere, no PodDisruptionBudget is at its limit, it does not have
//! `karpenter.sh/do-not-disrupt`, and its priority is no higher than that of every listed pod. For any other pod the
//! removal waits. Must never rely on the approved plan's world: only the owners that it lists count.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::model::eviction::Evictions;
use crate::model::{NodeName, Pod, PodPlace};
use crate::plan::Plan;
use crate::plan::owner::{PodOwner, evicted};
use crate::snapshot::Snapshot;

/// The fresh plan's snapshot, rebuilt when first needed.
#[derive(Debug)]
pub(super) struct Newcomers<'a> {
    fresh: &'a Plan,
    seen: OnceCell<Snapshot>,
}

impl<'a> Newcomers<'a> {
    pub(super) const fn of(fresh: &'a Plan) -> Self {
        Self { fresh, seen: OnceCell::new() }
    }

    /// Returns the first pod that came to a node and would be harmed, if any.
    pub(super) fn harmed(&self, approved: &[PodOwner], node: &NodeName) -> Option<String> {
        // Shortcut: most nodes have only listed pods, and the snapshot is large.
        if self.fresh.evidence.world.evicted_owners(node).all(|owner| approved.contains(&owner)) {
            return None;
        }
        let seen = self.seen.get_or_init(|| self.fresh.snapshot());
        let evictions = Evictions::of(&seen.budgets, &seen.pods);
        let named = seen.pods.iter().filter(|pod| approved.contains(&PodOwner::of(pod)));
        let highest = named.map(|pod| pod.spec.priority).max();
        let strange = evicted(&seen.pods, node).filter(|pod| !approved.contains(&PodOwner::of(pod)));
        let mut harmed = strange.filter(|pod| {
            let is_safe = self.is_ready_elsewhere(pod, node)
                && evictions.may_leave(pod)
                && !pod.is_protected(seen.at)
                && highest.is_some_and(|highest| pod.spec.priority <= highest);
            !is_safe
        });
        harmed.next().map(|pod| self.told(pod))
    }

    /// Returns the first pod on a node.
    pub(super) fn any(&self, node: &NodeName) -> Option<String> {
        let seen = self.seen.get_or_init(|| self.fresh.snapshot());
        evicted(&seen.pods, node).next().map(|pod| pod.key.to_string())
    }

    /// Returns whether another pod of the same owner is Ready on a node that stays.
    fn is_ready_elsewhere(&self, pod: &Pod, node: &NodeName) -> bool {
        let Some(workload) = &pod.workload else { return false };
        let goes: BTreeSet<&NodeName> =
            self.fresh.spec.deletes().map(|(_, delete)| &delete.target.node).chain([node]).collect();
        let seen = self.seen.get_or_init(|| self.fresh.snapshot());
        seen.pods.iter().any(|other| {
            let stays = matches!(&other.place, PodPlace::Bound(place) if !goes.contains(place));
            let is_up = !other.state.is_unready && !other.is_terminating && other.promised().is_none();
            stays && is_up && other.workload.as_ref() == Some(workload)
        })
    }

    fn told(&self, pod: &Pod) -> String {
        let seen = self.seen.get_or_init(|| self.fresh.snapshot());
        let is_replica = |other: &&Pod| other.workload.is_some() && other.workload == pod.workload;
        let replicas = seen.pods.iter().filter(is_replica).count().max(1);
        let replicas = if replicas == 1 { "1 replica".to_owned() } else { format!("{replicas} replicas") };
        format!("pod `{}` ({replicas}) came after the review", pod.key)
    }
}
