//! Nodes that pods elsewhere need: removing them would separate kept pods from pods that they require in their zone or
//! another such domain.
//!
//! Kubernetes checks affinity only when a pod is bound. A pod that is left behind keeps running, but may be
//! unschedulable after a restart: that is not risked to save cost. Due nodes are removed anyway. Pods of one node leave
//! it together, so domains that are nodes are not checked. Never chooses nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{LabelKey, Node, NodeName, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::came_off;
use crate::solve::existing::Standing;
use crate::solve::solution::{NewNode, Target};
use crate::solve::supply::Supply;
use crate::solve::topology::{Role, Topology};

use super::trial::by_name;

/// Required affinity between pods in domains larger than a node.
#[derive(Default)]
pub(in crate::solve) struct Needs(Topology);

/// A group and one of its domains.
type Domain<'d> = (usize, &'d str);

impl Needs {
    /// Reads the pods' affinity.
    pub(in crate::solve) fn of(snapshot: &Snapshot) -> Self {
        Self(Topology::of_needs(snapshot))
    }

    /// Returns the nodes of a set that others need if the set is removed and pods are placed as given.
    pub(super) fn nodes(
        &self,
        (snapshot, set): (&Snapshot, &BTreeSet<NodeName>),
        supply: &Supply<'_>,
        (placed, new): (&[(&Node, &[PodKey])], &[NewNode]),
    ) -> BTreeSet<NodeName> {
        if self.0.is_empty() || set.is_empty() {
            return BTreeSet::new();
        }
        let Change { mut left, leaving } = self.change(snapshot, set);
        if left.is_empty() {
            return BTreeSet::new();
        }
        let roles: BTreeMap<&PodKey, &[Role]> =
            snapshot.pods.iter().map(|pod| (&pod.key, self.0.roles(pod))).collect();
        let mut met: BTreeMap<usize, BTreeSet<Arc<str>>> = BTreeMap::new();
        let mut meet = |pods: &[PodKey], labels: &BTreeMap<LabelKey, Arc<str>>| {
            let roles = pods.iter().filter_map(|pod| roles.get(pod)).copied().flatten();
            for role in roles.filter(|role| role.counted > 0) {
                met.entry(role.group).or_default().extend(labels.get(self.key(role)).cloned());
            }
        };
        placed.iter().for_each(|(node, pods)| meet(pods, &node.labels));
        new.iter().for_each(|node| meet(&node.pods, &came_off::labels_of(supply, node)));
        left.retain(|(group, domain)| !met.get(group).is_some_and(|met| met.contains(*domain)));
        let is_needed = |(domain, _): &&(Domain<'_>, &NodeName)| left.contains(domain);
        leaving.iter().filter(is_needed).map(|(_, node)| (*node).clone()).collect()
    }

    /// Like `nodes`, for the placements of a target.
    pub(in crate::solve) fn nodes_in(
        &self,
        (snapshot, set): (&Snapshot, &BTreeSet<NodeName>),
        supply: &Supply<'_>,
        target: &Target,
    ) -> BTreeSet<NodeName> {
        if self.0.is_empty() {
            return BTreeSet::new();
        }
        let nodes = by_name(snapshot);
        let kept = target.kept.iter().filter_map(|kept| Some((*nodes.get(&kept.node)?, &kept.pods[..])));
        self.nodes((snapshot, set), supply, (&kept.collect::<Vec<_>>(), &target.new))
    }

    /// Returns the topology key of a role's group.
    fn key(&self, role: &Role) -> &LabelKey {
        &self.0.groups[role.group].key
    }

    /// Returns the affected domains as if no pod were placed anywhere.
    fn change<'s>(&self, snapshot: &'s Snapshot, set: &BTreeSet<NodeName>) -> Change<'s> {
        let nodes = by_name(snapshot);
        let (mut left, mut met, mut leaving) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for pod in snapshot.pods.iter().filter(|pod| !pod.is_terminating) {
            let (roles, PodPlace::Bound(on)) = (self.0.roles(pod), &pod.place) else { continue };
            if roles.is_empty() {
                continue;
            }
            let Some(node) = nodes.get(on) else { continue };
            for role in roles {
                let Some(domain) = node.labels.get(self.key(role)) else { continue };
                let (domain, is_meant) = ((role.group, &**domain), role.counted > 0);
                if set.contains(on) {
                    leaving.extend(is_meant.then_some((domain, on)));
                } else if !node.is_deleting {
                    left.extend(role.is_bound.then_some(domain));
                    met.extend(is_meant.then_some(domain));
                }
            }
        }
        let is_lost =
            |domain: &Domain<'_>| !met.contains(domain) && leaving.iter().any(|(other, _)| other == domain);
        left.retain(is_lost);
        Change { left, leaving }
    }
}

/// The domains that are affected when a set of nodes is removed.
struct Change<'s> {
    /// Domains with kept pods whose required pods all leave.
    left: BTreeSet<Domain<'s>>,
    /// Domains that pods leave which others may require, with the nodes that they leave.
    leaving: BTreeSet<(Domain<'s>, &'s NodeName)>,
}

/// Returns the pods that are placed on each node.
pub(super) fn placed<'n>(nodes: &'n [Standing<'_>]) -> Vec<(&'n Node, &'n [PodKey])> {
    nodes.iter().map(|standing| (standing.node, &standing.placed[..])).collect()
}
