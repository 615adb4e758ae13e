//! Pods of a plan with their nodes before and after it.
//!
//! Read from the plan alone. Must never decide where a pod is placed: a place that the plan does not state is none.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, PodKey, PodPlace, ResourceName, Resources};
use crate::plan::PodGroup;
use crate::render::view::PlanView;

/// CPU in millicores and memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) cpu: i64,
    pub(super) memory: i64,
}

impl Amounts {
    pub(super) fn of(resources: &Resources) -> Self {
        Self { cpu: resources.get(&ResourceName::Cpu), memory: resources.get(&ResourceName::Memory) }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { cpu: self.cpu.saturating_add(other.cpu), memory: self.memory.saturating_add(other.memory) }
    }
}

/// Place of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// On the node with this index.
    Node(usize),
    /// On no node: it is Pending.
    Pending,
    /// It does not exist, or the plan does not say where it is.
    None,
}

impl Place {
    /// Returns the place after renumbering the nodes.
    pub(super) fn renumbered(self, numbers: &BTreeMap<usize, usize>) -> Self {
        match self {
            Self::Node(node) => numbers.get(&node).map_or(Self::None, |node| Self::Node(*node)),
            Self::Pending | Self::None => self,
        }
    }
}

/// A pod with its places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pod<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) requests: Amounts,
    /// Whether it belongs to a DaemonSet or is a static pod.
    pub(super) is_daemon: bool,
    /// Whether it is a placeholder of a CapacityBuffer and not a pod.
    pub(super) is_headroom: bool,
    pub(super) before: Place,
    pub(super) after: Place,
}

impl Pod<'_> {
    /// Returns whether its place changes.
    pub(super) fn moves(&self) -> bool {
        !self.is_daemon && !self.is_headroom && self.before != self.after
    }
}

/// Data about the places of pods.
struct Places<'a, 'n> {
    nodes: &'n BTreeMap<&'a str, usize>,
    /// Nodes that do not exist afterwards.
    gone: &'n BTreeSet<usize>,
    /// Nodes on which the plan places pods.
    sent: BTreeMap<(&'a str, &'a str), usize>,
    /// Preempted pods, with the node that they run on.
    victims: BTreeMap<(&'a str, &'a str), &'a NodeName>,
    /// Pods that are on a node in the plan's world but do not run there yet.
    coming: BTreeSet<(&'a str, &'a str)>,
    /// Pods that stay Pending according to the plan.
    pending: BTreeSet<(&'a str, &'a str)>,
}

/// Returns all pods by namespace and name; `nodes` are indices by name, for new nodes that of their VM.
pub(super) fn pods<'a>(
    view: &PlanView<'a>,
    nodes: &BTreeMap<&'a str, usize>,
    gone: &BTreeSet<usize>,
) -> Vec<Pod<'a>> {
    let places = Places::of(view, nodes, gone);
    let world = &view.plan.evidence.world;
    let mut pods = Vec::with_capacity(world.pod_count());
    for group in &world.pods {
        let requests = world.pod_specs.get(group.spec).map(|spec| Amounts::of(&spec.requests));
        for name in &group.names {
            let key = (group.namespace.as_str(), &**name);
            let is_headroom =
                PodKey { namespace: group.namespace.clone(), name: name.clone() }.is_placeholder();
            pods.push(Pod {
                namespace: key.0,
                name: key.1,
                requests: requests.unwrap_or_default(),
                is_daemon: group.is_daemon,
                is_headroom,
                before: if is_headroom { Place::None } else { places.before(group, key) },
                after: places.after(group, key),
            });
        }
    }
    pods.sort_by_key(|pod| (pod.namespace, pod.name));
    pods
}

fn key(pod: &PodKey) -> (&str, &str) {
    (pod.namespace.as_str(), &pod.name)
}

impl<'a, 'n> Places<'a, 'n> {
    fn of(view: &PlanView<'a>, nodes: &'n BTreeMap<&'a str, usize>, gone: &'n BTreeSet<usize>) -> Self {
        let evidence = &view.plan.evidence;
        let mut sent = BTreeMap::new();
        let kept = evidence.kept.iter().map(|(node, pods)| (node.as_str(), pods));
        let new = view.new_nodes().map(|new| (&*new.create.vm, &new.placement.pods));
        for (node, pods) in kept.chain(new) {
            if let Some(node) = nodes.get(node) {
                sent.extend(pods.iter().map(|pod| (key(pod), *node)));
            }
        }
        let preemptions = &evidence.world.preemptions;
        let victims = preemptions.iter().flat_map(|one| one.victims.iter().map(|pod| (key(pod), &one.node)));
        let nominated = |group: &&PodGroup| {
            let nominated = group.state.nominated.as_ref();
            nominated.is_some_and(|node| group.place == PodPlace::Bound(node.clone()))
        };
        let promised = evidence.world.pods.iter().filter(nominated);
        let promised =
            promised.flat_map(|group| group.names.iter().map(|name| (group.namespace.as_str(), &**name)));
        Self {
            nodes,
            gone,
            sent,
            victims: victims.collect(),
            coming: preemptions.iter().map(|one| key(&one.pod)).chain(promised).collect(),
            pending: crate::plan::summary::pending(view.plan).into_iter().map(key).collect(),
        }
    }

    fn on(&self, node: &NodeName) -> Place {
        self.nodes.get(node.as_str()).map_or(Place::None, |node| Place::Node(*node))
    }

    fn before(&self, group: &PodGroup, key: (&str, &str)) -> Place {
        match (self.victims.get(&key), &group.place) {
            (Some(node), _) => self.on(node),
            (None, PodPlace::Bound(_)) if self.coming.contains(&key) => Place::Pending,
            (None, PodPlace::Bound(node)) => self.on(node),
            // Pods of DaemonSets are created with their nodes.
            (None, PodPlace::Waiting) if group.is_daemon => Place::None,
            (None, PodPlace::Waiting) => Place::Pending,
        }
    }

    fn after(&self, group: &PodGroup, key: (&str, &str)) -> Place {
        if let Some(node) = self.sent.get(&key) {
            return Place::Node(*node);
        }
        if self.pending.contains(&key) {
            return Place::Pending;
        }
        match &group.place {
            PodPlace::Bound(node) => match self.on(node) {
                Place::Node(node) if !self.gone.contains(&node) && !group.is_terminating => Place::Node(node),
                Place::Node(_) | Place::Pending | Place::None => Place::None,
            },
            PodPlace::Waiting => Place::None,
        }
    }
}
