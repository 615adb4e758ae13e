//! Rules between pods: spread, affinity and anti-affinity, as groups with the pods that each binds and counts.
//!
//! Domains other than nodes are decided first ([`assign`]): every pod gets its zone, and what else is asked, before
//! nodes are filled. What holds on one node is a rule of [`super::fit`]. Nothing here opens nodes.

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

/// What a pod is to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    /// The group, by its place in [`Topology::groups`].
    pub group: usize,
    /// Whether the pod is bound by it.
    pub is_bound: bool,
    /// How many pods are counted: one or none, and more of a bundle.
    pub counted: usize,
}

/// Every group that binds or counts a pod that waits, with the part that each pod plays.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// The groups, sorted.
    pub groups: Vec<Group>,
    /// The parts of each content.
    roles: Vec<Vec<Role>>,
    /// The content, by the address of what the scheduler reads of a pod, and by namespace.
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
        // What neither binds nor counts anything that waits decides nothing.
        Self::grouped(snapshot, own, |content| content.waits)
    }

    /// Finds the groups of those that have to stand beside others in a larger domain than a node, whether they wait or run.
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

    /// Finds the groups that these contents are bound by, and all who are meant; of those groups the ones with a member for
    /// which they matter.
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

    /// Returns the part that a pod plays in each group.
    #[must_use]
    pub fn roles(&self, pod: &Pod) -> &[Role] {
        self.roles_of(&pod.spec, &pod.key.namespace)
    }

    /// Returns the part that pods of this content play in each group.
    #[must_use]
    pub fn roles_of(&self, spec: &PodSpec, namespace: &Namespace) -> &[Role] {
        let by_namespace = self.contents.get(&address(spec));
        let content = by_namespace.and_then(|contents| contents.get(namespace));
        content.map_or(&[], |content| &self.roles[*content])
    }

    /// Returns what of these parts is decided on one node.
    #[must_use]
    pub fn on_hosts(&self, roles: &[Role]) -> Vec<HostRole> {
        roles.iter().filter_map(|role| HostRole::of(&self.groups[role.group], *role)).collect()
    }

    /// Returns the same of pods that wait for their first node, or that do not.
    #[must_use]
    pub fn on_hosts_of(&self, roles: &[Role], waits: bool) -> Vec<HostRole> {
        let mut company = self.on_hosts(roles);
        if waits {
            company.iter_mut().for_each(|role| *role = role.waiting());
        }
        company
    }

    /// Returns the parts that are decided by other labels than the host's.
    #[must_use]
    pub fn in_domains(&self, roles: &[Role]) -> Vec<Role> {
        roles.iter().filter(|role| !self.groups[role.group].is_of_hosts()).copied().collect()
    }

    /// Returns whether some pods are to be spread over nodes.
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

/// What the scheduler reads of pods in one namespace.
struct Content<'a> {
    spec: &'a PodSpec,
    namespace: &'a Namespace,
    /// Whether such a pod waits for a node.
    waits: bool,
}

/// Every content once, sorted, and where the content of an address stands.
struct Contents<'a> {
    list: Vec<Content<'a>>,
    addresses: BTreeMap<usize, BTreeMap<Namespace, usize>>,
}

impl<'a> Contents<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let leaving: BTreeSet<&NodeName> =
            snapshot.nodes.iter().filter(|node| node.is_deleting).map(|node| &node.name).collect();
        // Pods of a workload share one value, so that few contents are compared in full.
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

/// Finds the groups that may count a pod: most selectors ask for one value of a label.
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
