//! Nodes that others need: pods that stay have to stand beside pods that would leave their zone, or another such domain.
//!
//! Kubernetes asks whom a pod stands beside when it is bound, and never again. One that is left behind runs on, but once
//! it starts again it may have no place: to save money that is not done. What is due goes all the same. Pods of one node
//! leave it together, so that domains that are nodes need no look. Nothing is chosen here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{LabelKey, Namespace, Node, NodeName, Pod, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::came_off;
use crate::solve::existing::Standing;
use crate::solve::solution::{NewNode, Target};
use crate::solve::supply::Supply;
use crate::solve::topology::Index;
use crate::solve::topology::group::{self, Group, GroupKind, Namespaces};

use super::trial::by_name;

/// Who has to stand beside whom in a larger domain than a node.
#[derive(Default)]
pub(in crate::solve) struct Needs {
    /// What domains are of each group.
    keys: Vec<LabelKey>,
    /// The parts of each content, by the address of what the scheduler reads of a pod, and by namespace; of those that have
    /// any.
    contents: BTreeMap<usize, BTreeMap<Namespace, Vec<Part>>>,
}

/// The part of a pod in a group.
struct Part {
    group: usize,
    /// Whether it has to stand beside those that are meant.
    needs: bool,
    /// Whether it is meant.
    is_meant: bool,
}

/// A group and one of its domains.
type Domain<'d> = (usize, &'d str);

impl Needs {
    /// Reads what pods ask for.
    pub(in crate::solve) fn of(snapshot: &Snapshot) -> Self {
        if snapshot.nodes.is_empty() || snapshot.pods.iter().all(|pod| pod.spec.affinity.is_empty()) {
            return Self::default();
        }
        let names = snapshot.pods.iter().map(|pod| &pod.key.namespace).chain(snapshot.namespaces.keys());
        let namespaces = Namespaces { names: names.collect(), labels: &snapshot.namespaces };
        // Pods of a workload share one value.
        let mut contents: BTreeMap<(usize, &Namespace), (&Pod, Vec<Group>)> = BTreeMap::new();
        for pod in &snapshot.pods {
            contents
                .entry((address(pod), &pod.key.namespace))
                .or_insert_with(|| (pod, groups_of(pod, &namespaces)));
        }
        let groups: BTreeSet<Group> =
            contents.values().flat_map(|(_, groups)| groups.iter().cloned()).collect();
        let groups: Vec<Group> = groups.into_iter().collect();
        let index = Index::of(&groups);
        let parts = |pod: &Pod, own: &[Group]| -> Vec<Part> {
            let own: BTreeSet<usize> =
                own.iter().filter_map(|group| groups.binary_search(group).ok()).collect();
            let part = |group: usize| Part {
                group,
                needs: own.contains(&group),
                is_meant: groups[group].means(&pod.spec, &pod.key.namespace),
            };
            let asked = index.candidates(&pod.spec);
            asked.union(&own).copied().map(part).filter(|part| part.needs || part.is_meant).collect()
        };
        let mut needs = Self::default();
        for ((address, namespace), (pod, own)) in &contents {
            let parts = parts(pod, own);
            if !parts.is_empty() {
                needs.contents.entry(*address).or_default().insert((*namespace).clone(), parts);
            }
        }
        needs.keys = groups.into_iter().map(|group| group.key).collect();
        needs
    }

    /// Returns the nodes of a set that others need, where they go and pods come to these other nodes.
    pub(super) fn nodes(
        &self,
        (snapshot, set): (&Snapshot, &BTreeSet<NodeName>),
        supply: &Supply<'_>,
        (placed, new): (&[(&Node, &[PodKey])], &[NewNode]),
    ) -> BTreeSet<NodeName> {
        if self.contents.is_empty() || set.is_empty() {
            return BTreeSet::new();
        }
        let Change { mut left, leaving } = self.change(snapshot, set);
        if left.is_empty() {
            return BTreeSet::new();
        }
        let parts: BTreeMap<&PodKey, &[Part]> =
            snapshot.pods.iter().map(|pod| (&pod.key, self.parts(pod))).collect();
        let mut met: BTreeMap<usize, BTreeSet<Arc<str>>> = BTreeMap::new();
        let mut meet = |pods: &[PodKey], labels: &BTreeMap<LabelKey, Arc<str>>| {
            let parts = pods.iter().filter_map(|pod| parts.get(pod)).copied().flatten();
            for part in parts.filter(|part| part.is_meant) {
                met.entry(part.group).or_default().extend(labels.get(&self.keys[part.group]).cloned());
            }
        };
        placed.iter().for_each(|(node, pods)| meet(pods, &node.labels));
        new.iter().for_each(|node| meet(&node.pods, &came_off::labels_of(supply, node)));
        left.retain(|(group, domain)| !met.get(group).is_some_and(|met| met.contains(*domain)));
        let is_needed = |(domain, _): &&(Domain<'_>, &NodeName)| left.contains(domain);
        leaving.iter().filter(is_needed).map(|(_, node)| (*node).clone()).collect()
    }

    /// Returns the same of a target.
    pub(in crate::solve) fn nodes_in(
        &self,
        (snapshot, set): (&Snapshot, &BTreeSet<NodeName>),
        supply: &Supply<'_>,
        target: &Target,
    ) -> BTreeSet<NodeName> {
        if self.contents.is_empty() {
            return BTreeSet::new();
        }
        let nodes = by_name(snapshot);
        let kept = target.kept.iter().filter_map(|kept| Some((*nodes.get(&kept.node)?, &kept.pods[..])));
        self.nodes((snapshot, set), supply, (&kept.collect::<Vec<_>>(), &target.new))
    }

    fn parts(&self, pod: &Pod) -> &[Part] {
        let by_namespace = self.contents.get(&address(pod));
        by_namespace.and_then(|contents| contents.get(&pod.key.namespace)).map_or(&[], Vec::as_slice)
    }

    /// Returns what would be amiss if nobody came anywhere.
    fn change<'s>(&self, snapshot: &'s Snapshot, set: &BTreeSet<NodeName>) -> Change<'s> {
        let nodes = by_name(snapshot);
        let (mut left, mut met, mut leaving) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for pod in snapshot.pods.iter().filter(|pod| !pod.is_terminating) {
            let (parts, PodPlace::Bound(on)) = (self.parts(pod), &pod.place) else { continue };
            if parts.is_empty() {
                continue;
            }
            let Some(node) = nodes.get(on) else { continue };
            for part in parts {
                let Some(domain) = node.labels.get(&self.keys[part.group]) else { continue };
                let domain = (part.group, &**domain);
                if set.contains(on) {
                    leaving.extend(part.is_meant.then_some((domain, on)));
                } else if !node.is_deleting {
                    left.extend(part.needs.then_some(domain));
                    met.extend(part.is_meant.then_some(domain));
                }
            }
        }
        let is_lost =
            |domain: &Domain<'_>| !met.contains(domain) && leaving.iter().any(|(other, _)| other == domain);
        left.retain(is_lost);
        Change { left, leaving }
    }
}

/// What becomes of domains when a set of nodes leaves.
struct Change<'s> {
    /// Where pods stay of which all leave that they have to stand beside.
    left: BTreeSet<Domain<'s>>,
    /// Where pods leave that others have to stand beside, and from which nodes.
    leaving: BTreeSet<(Domain<'s>, &'s NodeName)>,
}

fn address(pod: &Pod) -> usize {
    (&raw const *pod.spec).addr()
}

/// Returns what nodes pods are placed on.
pub(super) fn placed<'n>(nodes: &'n [Standing<'_>]) -> Vec<(&'n Node, &'n [PodKey])> {
    nodes.iter().map(|standing| (standing.node, &standing.placed[..])).collect()
}

/// Returns whom a pod has to stand beside in a larger domain than a node.
fn groups_of(pod: &Pod, namespaces: &Namespaces<'_>) -> Vec<Group> {
    if pod.spec.affinity.is_empty() {
        return Vec::new();
    }
    let mut groups = group::groups_of(&pod.spec, &pod.key.namespace, namespaces, false);
    groups.retain(|group| matches!(group.kind, GroupKind::Affinity) && !group.is_of_hosts());
    groups
}
