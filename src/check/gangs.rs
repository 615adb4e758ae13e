//! Gangs: the required minimum of a gang's pods has a place in the end, or none gets one, and no plan evicts so many
//! that fewer run.
//!
//! A pod whose group is not declared gets no place. Pods on a failing node, or on one that a user deletes, are lost
//! with any plan: they may move and count for no gang.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{DisruptionReason, GroupRef, Namespace, NodeName, Pod, PodKey, PodPlace};

/// Returns the pods that are placed without enough others of their gang, and removed nodes that run too many of a gang.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let placed = placed(case);
    let found = |gang: Members<'_, '_>| match gang.least {
        None => gang.given("is placed, and nothing declares its group"),
        Some(least) => gang.placed_in_part(least).into_iter().chain(gang.torn(least)).collect(),
    };
    gangs(case, &placed).into_iter().flat_map(found).collect()
}

/// Returns the pods that may stay unplaced despite free capacity, because too few pods of their gang have a place.
pub(super) fn excused<'a>(case: &Case<'a>) -> BTreeSet<&'a PodKey> {
    let placed = placed(case);
    let mut gangs = gangs(case, &placed);
    gangs.retain(|gang| gang.least.is_none_or(|least| gang.standing() < least));
    gangs.into_iter().flat_map(|gang| gang.pods).map(|pod| &pod.key).collect()
}

fn placed<'a>(case: &Case<'a>) -> BTreeSet<&'a PodKey> {
    match case.snapshot.pods.iter().any(|pod| pod.spec.group.is_some()) {
        true => case.placed_pods().map(|pod| &pod.key).collect(),
        false => BTreeSet::new(),
    }
}

/// Returns every gang, and every group that is not declared.
fn gangs<'m, 'a>(case: &'m Case<'a>, placed: &'m BTreeSet<&'a PodKey>) -> Vec<Members<'m, 'a>> {
    let mut members: BTreeMap<(&Namespace, &GroupRef), Vec<&Pod>> = BTreeMap::new();
    for pod in case.snapshot.pods.iter().filter(|pod| !pod.is_daemon && !pod.is_terminating) {
        if let Some(group) = &pod.spec.group {
            members.entry((&pod.key.namespace, group)).or_default().push(pod);
        }
    }
    let gang = |((namespace, group), pods): ((&Namespace, &GroupRef), Vec<&'a Pod>)| {
        let name = group.declared();
        let mut groups = case.snapshot.groups.iter();
        let declared = groups.find(|known| known.namespace == *namespace && known.name == name);
        let least = match declared {
            None => None,
            // Pods of policy `basic` are bound individually.
            Some(declared) => Some(usize::try_from(declared.least?).unwrap_or(usize::MAX)),
        };
        Some(Members { case, least, pods, placed })
    };
    members.into_iter().filter_map(gang).collect()
}

/// Pods of one gang.
struct Members<'m, 'a> {
    case: &'m Case<'a>,
    /// Required number of pods with a place; `None` if the group is not declared.
    least: Option<usize>,
    pods: Vec<&'a Pod>,
    placed: &'m BTreeSet<&'a PodKey>,
}

impl Members<'_, '_> {
    /// Reports each pod that gets a place which it does not have today.
    fn given(&self, why: &str) -> Vec<Finding> {
        let needs_one = |pod: &Pod| match &pod.place {
            PodPlace::Waiting => true,
            PodPlace::Bound(node) => self.case.nodes.get(node).is_some_and(|node| node.is_deleting),
        };
        let given = self.pods.iter().filter(|pod| needs_one(pod) && self.placed.contains(&pod.key));
        given.map(|pod| Finding::new(Rule::Gangs, format!("pod `{}`", pod.key), why)).collect()
    }

    /// Returns how many pods have a place in the end.
    fn standing(&self) -> usize {
        let stays = |pod: &Pod| match &pod.place {
            // Pods on a node that was not read stay there.
            PodPlace::Bound(node) => self.case.nodes.get(node).is_none_or(|node| self.case.stays(node)),
            PodPlace::Waiting => false,
        };
        let has_place = |pod: &&&Pod| stays(pod) || self.placed.contains(&pod.key);
        self.pods.iter().filter(has_place).count()
    }

    fn placed_in_part(&self, least: usize) -> Vec<Finding> {
        let standing = self.standing();
        if standing >= least {
            return Vec::new();
        }
        self.given(&format!("is placed, and of its gang {standing} have a place where {least} must"))
    }

    /// Returns the removed nodes whose pods must keep running.
    fn torn(&self, least: usize) -> Vec<Finding> {
        let is_lost = |node: &NodeName| {
            let known = self.case.nodes.get(node);
            let reason = self.case.removed.get(node);
            known.is_some_and(|node| node.is_deleting || !node.is_ready())
                || matches!(reason, Some(DisruptionReason::Unhealthy | DisruptionReason::Deleted))
        };
        let home = |pod: &&Pod| match &pod.place {
            PodPlace::Bound(node) if !is_lost(node) => Some(node.clone()),
            PodPlace::Bound(_) | PodPlace::Waiting => None,
        };
        let homes: Vec<NodeName> = self.pods.iter().filter_map(home).collect();
        let (gone, left): (Vec<&NodeName>, Vec<&NodeName>) =
            homes.iter().partition(|node| self.case.removed.contains_key(node));
        if left.len() >= least {
            return Vec::new();
        }
        let why = format!(
            "is removed, and leaves {} of a gang running where {least} must, of {}",
            left.len(),
            homes.len()
        );
        let gone: BTreeSet<&NodeName> = gone.into_iter().collect();
        gone.into_iter().map(|node| Finding::new(Rule::Gangs, format!("node `{node}`"), &*why)).collect()
    }
}
