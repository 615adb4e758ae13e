//! Rules between pods: spread, affinity and anti-affinity, as groups with the pods that each constrains and counts.
//!
//! Domains other than nodes are decided first ([`assign`]): every pod gets its zone, and other required domains, before
//! nodes are filled. Rules on one node belong to [`super::fit`]. Never opens nodes.

pub mod assign;
pub mod bundle;
pub mod census;
pub mod domains;
pub mod eligible;
mod following;
mod gathered;
pub mod group;
pub mod hosts;
mod leading;
pub mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{LabelKey, Namespace, NodeName, Pod, PodSpec};
use crate::snapshot::Snapshot;

use super::demand;
use super::fit::company::HostRole;
use group::{Group, GroupKind, Namespaces};

/// The role of a pod in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    /// The group, as an index into [`Topology::groups`].
    pub group: usize,
    /// Whether the group constrains the pod.
    pub is_bound: bool,
    /// Number of counted pods: zero or one, more for a bundle.
    pub counted: usize,
}

/// Every group that constrains or counts a pending pod, with the role of each pod.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// The groups, sorted.
    pub groups: Vec<Group>,
    /// The roles of each content.
    roles: Vec<Vec<Role>>,
    /// The index of a content, by the address of the pod spec and by namespace.
    contents: BTreeMap<usize, BTreeMap<Namespace, usize>>,
}

impl Topology {
    /// Finds the groups of a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let shared = group::shared_claims(snapshot.pods.iter(), &snapshot.storage);
        let own = |Content { spec, namespace, waits }: &Content<'_>, namespaces: &Namespaces<'_>| {
            let mut own = group::groups_of(spec, namespace, namespaces, !waits);
            own.extend(group::of_claims(spec, namespace, &shared));
            own
        };
        // A group that neither constrains nor counts a pending pod decides nothing.
        Self::grouped(snapshot, own, |content| content.waits)
    }

    /// Finds the affinity groups over domains larger than a node, of pending and running pods.
    #[must_use]
    pub fn of_needs(snapshot: &Snapshot) -> Self {
        if snapshot.nodes.is_empty() || snapshot.pods.iter().all(|pod| pod.spec.affinity.is_empty()) {
            return Self::default();
        }
        let own = |content: &Content<'_>, namespaces: &Namespaces<'_>| {
            let mut own = group::groups_of(content.spec, content.namespace, namespaces, false);
            own.retain(|group| matches!(group.kind, GroupKind::Affinity) && !group.is_of_hosts());
            own
        };
        Self::grouped(snapshot, own, |_| true)
    }

    /// Finds the groups that constrain these contents, with all matching pods, and keeps the groups with a member that
    /// matters.
    fn grouped(
        snapshot: &Snapshot,
        own: impl Fn(&Content<'_>, &Namespaces<'_>) -> Vec<Group>,
        matters: impl Fn(&Content<'_>) -> bool,
    ) -> Self {
        let Contents { list, addresses } = Contents::of(snapshot);
        let names = list.iter().map(|content| content.namespace).chain(snapshot.namespaces.keys());
        let namespaces = Namespaces { names: names.collect(), labels: &snapshot.namespaces };
        let mut owners: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
        for (number, content) in list.iter().enumerate() {
            for group in own(content, &namespaces) {
                owners.entry(group).or_default().push(number);
            }
        }
        let (groups, owners): (Vec<Group>, Vec<Vec<usize>>) = owners.into_iter().unzip();
        let mut members: Vec<BTreeMap<usize, Role>> = vec![BTreeMap::new(); groups.len()];
        for (group, owners) in owners.iter().enumerate() {
            let bound = Role { group, is_bound: true, counted: 0 };
            members[group].extend(owners.iter().map(|content| (*content, bound)));
        }
        let index = Index::of(&groups);
        for (number, content) in list.iter().enumerate() {
            for group in index.candidates(content.spec) {
                if groups[group].means(content.spec, content.namespace) {
                    let role = Role { group, is_bound: false, counted: 0 };
                    members[group].entry(number).or_insert(role).counted = 1;
                }
            }
        }
        let mut topology =
            Self { groups: Vec::new(), roles: vec![Vec::new(); list.len()], contents: addresses };
        for (group, members) in groups.into_iter().zip(members) {
            if members.keys().any(|content| matters(&list[*content])) {
                for (content, role) in members {
                    topology.roles[content].push(Role { group: topology.groups.len(), ..role });
                }
                topology.groups.push(group);
            }
        }
        topology
    }

    /// Returns the role of a pod in each group.
    #[must_use]
    pub fn roles(&self, pod: &Pod) -> &[Role] {
        self.roles_of(&pod.spec, &pod.key.namespace)
    }

    /// Returns the role of pods with this spec in each group.
    #[must_use]
    pub fn roles_of(&self, spec: &PodSpec, namespace: &Namespace) -> &[Role] {
        let by_namespace = self.contents.get(&address(spec));
        let content = by_namespace.and_then(|contents| contents.get(namespace));
        content.map_or(&[], |content| &self.roles[*content])
    }

    /// Returns the roles that are decided on one node.
    #[must_use]
    pub fn on_hosts(&self, roles: &[Role]) -> Vec<HostRole> {
        roles.iter().filter_map(|role| HostRole::of(&self.groups[role.group], *role)).collect()
    }

    /// Like `on_hosts`, for pods that wait for their first node or do not.
    #[must_use]
    pub fn on_hosts_of(&self, roles: &[Role], waits: bool) -> Vec<HostRole> {
        let mut company = self.on_hosts(roles);
        if waits {
            company.iter_mut().for_each(|role| *role = role.waiting());
        }
        company
    }

    /// Returns the roles that are decided by labels other than the hostname.
    #[must_use]
    pub fn in_domains(&self, roles: &[Role]) -> Vec<Role> {
        roles.iter().filter(|role| !self.groups[role.group].is_of_hosts()).copied().collect()
    }

    /// Returns whether any pods are spread over nodes.
    #[must_use]
    pub fn spreads_over_hosts(&self) -> bool {
        self.groups.iter().any(|group| group.is_of_hosts() && matches!(group.kind, GroupKind::Spread(_)))
    }

    /// Returns whether there is nothing to decide before nodes are filled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

/// The spec of pods in one namespace.
struct Content<'a> {
    spec: &'a PodSpec,
    namespace: &'a Namespace,
    /// Whether such a pod needs a node.
    waits: bool,
}

/// The distinct contents, sorted, and the index of the content at each address.
struct Contents<'a> {
    list: Vec<Content<'a>>,
    addresses: BTreeMap<usize, BTreeMap<Namespace, usize>>,
}

impl<'a> Contents<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let leaving: BTreeSet<&NodeName> =
            snapshot.nodes.iter().filter(|node| node.is_deleting).map(|node| &node.name).collect();
        // Pods of a workload share one allocation, so few specs are compared in full.
        let mut by_address: BTreeMap<(usize, &Namespace), (&PodSpec, bool)> = BTreeMap::new();
        for pod in &snapshot.pods {
            let there = by_address.entry((address(&pod.spec), &pod.key.namespace));
            there.or_insert((&pod.spec, false)).1 |= demand::needs_place(pod, &leaving);
        }
        for daemon in &snapshot.daemons {
            let there = by_address.entry((address(&daemon.spec), &daemon.namespace));
            there.or_insert((&daemon.spec, false));
        }
        let mut sorted: BTreeMap<(&Namespace, &PodSpec), (bool, Vec<usize>)> = BTreeMap::new();
        for ((address, namespace), (spec, waits)) in by_address {
            let there = sorted.entry((namespace, spec)).or_default();
            there.0 |= waits;
            there.1.push(address);
        }
        let mut contents = Self { list: Vec::new(), addresses: BTreeMap::new() };
        for ((namespace, spec), (waits, addresses)) in sorted {
            for address in addresses {
                let there = contents.addresses.entry(address).or_default();
                there.insert(namespace.clone(), contents.list.len());
            }
            contents.list.push(Content { spec, namespace, waits });
        }
        contents
    }
}

fn address(spec: &PodSpec) -> usize {
    (&raw const *spec).addr()
}

/// Index of the groups that may count a pod: most selectors require one value of a label.
pub(in crate::solve) struct Index {
    by_label: BTreeMap<(LabelKey, Arc<str>), Vec<usize>>,
    others: Vec<usize>,
}

impl Index {
    pub(in crate::solve) fn of(groups: &[Group]) -> Self {
        let mut index = Self { by_label: BTreeMap::new(), others: Vec::new() };
        for (place, group) in groups.iter().enumerate() {
            let selector = group.meant.first().and_then(|meant| meant.selector.as_ref());
            let single = selector.and_then(|selector| {
                selector.0.iter().find_map(|(key, wanted)| Some((key.clone(), wanted.single()?.clone())))
            });
            match single {
                Some(label) => index.by_label.entry(label).or_default().push(place),
                None => index.others.push(place),
            }
        }
        index
    }

    pub(in crate::solve) fn candidates(&self, spec: &PodSpec) -> BTreeSet<usize> {
        let by_label =
            spec.labels.iter().filter_map(|(key, value)| self.by_label.get(&(key.clone(), value.clone())));
        by_label.flatten().chain(&self.others).copied().collect()
    }
}
