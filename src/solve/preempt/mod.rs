//! Preemption: which pending pods evict pods of a lower priority, before anything is planned.
//!
//! kube-scheduler evicts victims immediately, long before a new node is up. So plans start from the world after that:
//! the preemptor is bound and its victims are Pending. Pods preempt in order of priority, on one node each, and only if
//! they fit no node without preemption. Nodes without victims under a PodDisruptionBudget come first, then those with
//! the fewest victims, then those with victims of the lowest priorities, then the first by name; Kubernetes' own
//! tie-breaks are not copied. A pod with `status.nominatedNodeName` is bound to that node if it fits there now.
//!
//! DaemonSet pods neither preempt nor are victims, and pods that are being deleted never become victims. Victims never
//! preempt. The preemptor must also satisfy its volumes and required rules between pods. It gets a new node instead if
//! they depend on something unsettled: a claim that takes an available volume, a shared claim without a volume, or
//! pending pods that fit without preemption, because their nodes are unknown.

mod disks;
mod promised;
mod rules;
mod victims;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::model::eviction::Evictions;
use crate::model::{Namespace, Node, NodeName, NodeStage, Pod, PodKey, PodPlace, Preemption};
use crate::snapshot::Snapshot;

use super::daemons::Daemons;
use super::demand::Ask;
use super::existing;
use super::fit::{Site, gates, not_yet};
use super::topology::group::GroupKind;
use super::topology::{Role, Topology};
use disks::Disks;
use rules::{Crowd, View};
use victims::{Victims, Wanted, victims};

/// Returns the world after preemption: preemptors are bound to the nodes that kube-scheduler nominates, and their
/// victims are Pending.
#[must_use]
pub fn preempted(mut snapshot: Snapshot) -> Snapshot {
    // Without nodes, or if all of them are destroyed, there are no victims.
    if snapshot.nodes.is_empty() || snapshot.supposed.wishes.destroy {
        return snapshot;
    }
    promised::seat(&mut snapshot);
    let preemptions = preemptions(&snapshot);
    let mut places: BTreeMap<&PodKey, PodPlace> = BTreeMap::new();
    for Preemption { pod, node, victims } in &preemptions {
        places.insert(pod, PodPlace::Bound(node.clone()));
        places.extend(victims.iter().map(|victim| (victim, PodPlace::Waiting)));
    }
    for pod in &mut snapshot.pods {
        let Some(place) = places.remove(&pod.key) else { continue };
        if let PodPlace::Bound(node) = &place {
            pod.state.nominated = Some(node.clone());
        }
        pod.place = place;
    }
    snapshot.preemptions = preemptions;
    snapshot
}

/// Returns the preemptions in the order in which they happen.
fn preemptions(snapshot: &Snapshot) -> Vec<Preemption> {
    let Some(lowest) = snapshot.pods.iter().filter(|pod| gives_way(pod)).map(|pod| pod.spec.priority).min()
    else {
        return Vec::new();
    };
    // Pods of lower priority take nothing from these.
    let mut waiting: Vec<&Pod> =
        snapshot.pods.iter().filter(|pod| pod.spec.priority > lowest && is_asking(pod)).collect();
    if !waiting.iter().any(|pod| !pod.spec.never_preempts) {
        return Vec::new();
    }
    waiting.sort_by_key(|pod| (Reverse(pod.spec.priority), &pod.key));
    let topology = &Topology::of(snapshot);
    let daemons = &Daemons::of(snapshot, topology);
    let evictions = &Evictions::of(&snapshot.budgets, &snapshot.pods);
    let (crowd, disks) = (Crowd::of(snapshot, topology), Disks::of(snapshot));
    let (nodes, seated, memory) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    let mut field = Field { topology, daemons, evictions, crowd, disks, nodes, seated, memory };
    field.nodes = field.read(snapshot);
    waiting.into_iter().filter_map(|pod| field.seat(pod)).collect()
}

/// Returns whether a pod could be evicted by one of a higher priority.
fn gives_way(pod: &Pod) -> bool {
    matches!(pod.place, PodPlace::Bound(_)) && !pod.is_daemon && !pod.is_terminating
}

/// Returns whether kube-scheduler is looking for a node for a pod now.
fn is_asking(pod: &Pod) -> bool {
    pod.place == PodPlace::Waiting
        && !pod.is_daemon
        && !pod.is_terminating
        && !pod.key.is_placeholder()
        && gates::why(&pod.spec).is_none()
        && not_yet::why(&pod.spec).is_none()
}

/// A node with its pods.
struct There<'a> {
    node: &'a Node,
    /// The pods bound to it so far.
    bound: Vec<&'a Pod>,
    /// The requests of pending pods that fit here without preemption.
    taken: Vec<Ask>,
    /// Its free capacity.
    site: Site<'a>,
}

/// The nodes while pods are placed one after the other.
struct Field<'a> {
    topology: &'a Topology,
    daemons: &'a Daemons<'a>,
    evictions: &'a Evictions<'a>,
    crowd: Crowd<'a>,
    disks: Disks<'a>,
    nodes: Vec<There<'a>>,
    /// The groups of pending pods that fit without preemption.
    seated: BTreeSet<usize>,
    /// Cached results for pods with the same spec and namespace.
    memory: BTreeMap<(usize, &'a Namespace), Memory<'a>>,
}

/// Cached results for pods with the same spec and namespace.
#[derive(Default)]
struct Memory<'a> {
    /// Nodes before this index take none of them without preemption.
    full: usize,
    /// Known victims by node index; `None` if preemption does not help there.
    victims: BTreeMap<usize, Option<Victims<'a>>>,
    /// Whether preemption helps them on no node.
    is_hopeless: bool,
    /// Their rules' view of other pods.
    views: Option<Rc<[View<'a>]>>,
}

impl<'a> Field<'a> {
    fn read(&self, snapshot: &'a Snapshot) -> Vec<There<'a>> {
        let mut bound: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
        for pod in &snapshot.pods {
            if let PodPlace::Bound(node) = &pod.place {
                bound.entry(node).or_default().push(pod);
            }
        }
        let mut nodes: Vec<&Node> = snapshot.nodes.iter().filter(|node| !node.is_deleting).collect();
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        let there = |node: &'a Node| {
            let bound = bound.remove(&node.name).unwrap_or_default();
            let site = self.site(node, &bound, &[]);
            There { node, bound, taken: Vec::new(), site }
        };
        nodes.into_iter().map(there).collect()
    }

    /// Returns the free capacity of a node beside these pods.
    fn site(&self, node: &'a Node, bound: &[&Pod], taken: &[Ask]) -> Site<'a> {
        let mut site = existing::site(node, bound, (self.daemons, self.topology));
        site.volumes = self.disks.free(node, bound);
        for ask in taken {
            site.room = site.room.minus(&ask.requests);
            site.ports.extend(ask.host_ports.iter().cloned());
            site.volumes.put(&ask.volumes, 1);
        }
        site
    }

    /// Places a pod where it fits, else where it preempts; returns the preemption, if any.
    fn seat(&mut self, pod: &'a Pod) -> Option<Preemption> {
        let ask = self.disks.ask(pod)?;
        let topology: &'a Topology = self.topology;
        let roles = topology.roles(pod);
        let content = (Arc::as_ptr(&pod.spec).addr(), &pod.key.namespace);
        // Pods with the same spec may have volumes in different places.
        let is_known = pod.spec.volumes.is_empty();
        let known = is_known.then(|| self.memory.remove(&content)).flatten();
        let mut memory = known.unwrap_or_default();
        let views = Rc::clone(memory.views.get_or_insert_with(|| self.crowd.views(roles).into()));
        let fits = |There { node, site, .. }: &There<'_>| {
            site.why(&ask).is_ok() && self.crowd.lets(&views, &node.name, &[])
        };
        let first = (memory.full..self.nodes.len()).find(|place| fits(&self.nodes[*place]));
        memory.full = first.unwrap_or(self.nodes.len());
        let preempts = first.is_none() && !memory.is_hopeless && self.may_preempt(pod, roles);
        let best = preempts.then(|| self.best(pod, (&ask, &views), &mut memory)).flatten();
        memory.is_hopeless |= preempts && best.is_none();
        if is_known {
            self.memory.insert(content, memory);
        }
        if let Some(place) = first {
            self.put(place, ask, roles);
            return None;
        }
        best.map(|(place, victims)| self.preempt(pod, place, &victims))
    }

    /// Returns whether a pod may preempt at all.
    fn may_preempt(&self, pod: &Pod, roles: &[Role]) -> bool {
        let is_open = |role: &Role| {
            let is_shared = matches!(self.topology.groups[role.group].kind, GroupKind::Volume(_));
            is_shared || self.seated.contains(&role.group)
        };
        !pod.spec.never_preempts
            && pod.spec.scheduler.is_none()
            // A gang is bound as a whole; part of one never preempts.
            && pod.spec.group.is_none()
            && !roles.iter().any(is_open)
            && !self.disks.takes_any(pod)
    }

    /// Returns the index of the node on which a pod preempts, and its victims.
    fn best(
        &self,
        pod: &'a Pod,
        wanted: (&Ask, &[View<'_>]),
        memory: &mut Memory<'a>,
    ) -> Option<(usize, Victims<'a>)> {
        for place in 0..self.nodes.len() {
            memory.victims.entry(place).or_insert_with(|| self.victims_at(place, pod, wanted));
        }
        let known = memory.victims.iter().filter_map(|(place, victims)| Some((*place, victims.as_ref()?)));
        let best = known.min_by_key(|(place, victims)| (victims.weight(), *place));
        best.map(|(place, victims)| (place, victims.clone()))
    }

    /// Returns the victims of a pod on a node; `None` if preemption does not help.
    fn victims_at(&self, place: usize, pod: &Pod, (ask, views): (&Ask, &[View<'_>])) -> Option<Victims<'a>> {
        let There { node, bound, taken, site: _ } = &self.nodes[place];
        // No pod is evicted from a node that is not initialized yet.
        if node.stage != NodeStage::Initialized || !existing::is_open(node, (&ask.alternatives, &ask.stance))
        {
            return None;
        }
        let (lower, staying): (Vec<&Pod>, Vec<&Pod>) =
            bound.iter().copied().partition(|other| gives_way_to(other, pod));
        if lower.is_empty() {
            return None;
        }
        let bare = &self.site(node, &staying, taken);
        let lets = |beside: &[&Pod]| {
            let there: Vec<&Pod> = staying.iter().chain(beside).copied().collect();
            let gone = lower.iter().copied().filter(|pod| !beside.iter().any(|there| there.key == pod.key));
            let takes = || self.site(node, &there, taken).volumes.why(&ask.volumes).is_ok();
            (ask.volumes.is_empty() || takes())
                && (views.is_empty() || self.crowd.lets(views, &node.name, &gone.collect::<Vec<_>>()))
        };
        bare.why(ask).ok()?;
        lets(&[]).then(|| victims(&Wanted { bare, ask, lets: &lets }, &lower, self.evictions))
    }

    /// Places a pod where it fits without preemption.
    fn put(&mut self, place: usize, ask: Ask, roles: &[Role]) {
        let there = &mut self.nodes[place];
        if there.site.put(&ask, 1).is_ok() {
            there.taken.push(ask);
        }
        self.seated.extend(roles.iter().map(|role| role.group));
        self.changed(place);
    }

    fn preempt(&mut self, pod: &'a Pod, place: usize, victims: &Victims<'a>) -> Preemption {
        let keys: BTreeSet<&PodKey> = victims.pods.iter().map(|victim| &victim.key).collect();
        let There { node, bound, taken, .. } = &self.nodes[place];
        let (node, taken) = (*node, taken.clone());
        let staying = bound.iter().copied().filter(|other| !keys.contains(&other.key));
        let bound: Vec<&Pod> = staying.chain([pod]).collect();
        let site = self.site(node, &bound, &taken);
        self.nodes[place] = There { node, bound, taken, site };
        self.changed(place);
        self.crowd.change(&node.name, &keys, pod);
        for memory in self.memory.values_mut() {
            // Evictions may have freed capacity for other pods.
            memory.full = memory.full.min(place);
            // Rules between pods concern all nodes.
            if memory.views.take().is_some_and(|views| !views.is_empty()) {
                (memory.full, memory.is_hopeless) = (0, false);
                memory.victims.clear();
            }
        }
        let victims = keys.into_iter().cloned().collect();
        Preemption { pod: pod.key.clone(), node: node.name.clone(), victims }
    }

    /// Invalidates the cached victims on a node.
    fn changed(&mut self, place: usize) {
        for memory in self.memory.values_mut() {
            memory.victims.remove(&place);
        }
    }
}

/// Returns whether a pod on a node may be a victim.
fn gives_way_to(other: &Pod, pod: &Pod) -> bool {
    !other.is_daemon && !other.is_terminating && other.spec.priority < pod.spec.priority
}
