//! Load of nodes before and after a plan, and the free capacity: counted from requests of CPU and memory alone.
//!
//! Must never say where a pod could be scheduled: affinity, taints, volumes and other resources are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::NO_ZONE;
use crate::model::{Node, NodeName, PodKey, PodPlace, PoolName, ResourceName, Resources, label};
use crate::render::view::PlanView;

/// CPU in millicores and memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) cpu: i64,
    pub(super) memory: i64,
}

impl Amounts {
    fn of(resources: &Resources) -> Self {
        Self { cpu: resources.get(&ResourceName::Cpu), memory: resources.get(&ResourceName::Memory) }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { cpu: self.cpu.saturating_add(other.cpu), memory: self.memory.saturating_add(other.memory) }
    }

    const fn minus(self, other: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(other.cpu), memory: self.memory.saturating_sub(other.memory) }
    }

    /// Returns the missing amounts, 0 for those that suffice.
    fn or_nothing(self) -> Self {
        Self { cpu: self.cpu.max(0), memory: self.memory.max(0) }
    }
}

/// A node with its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded<'a> {
    pub(super) name: &'a str,
    pub(super) pool: Option<&'a PoolName>,
    pub(super) size: &'a str,
    pub(super) zone: &'a str,
    pub(super) allocatable: Amounts,
    /// Requests of all its pods.
    pub(super) used: Amounts,
    /// Requests of the pods that must move if the node fails: without DaemonSets.
    pub(super) movable: Amounts,
    /// Whether it accepts pods: it is Ready, not cordoned and not being deleted.
    takes_pods: bool,
}

impl<'a> Loaded<'a> {
    fn of(node: &'a Node) -> Self {
        let value = |key: &str| node.labels.get(key).map_or("", |value| &**value);
        Self {
            name: node.name.as_str(),
            pool: node.pool.as_ref(),
            size: value(label::INSTANCE_TYPE),
            zone: value(label::ZONE),
            allocatable: Amounts::of(&node.allocatable),
            used: Amounts::default(),
            movable: Amounts::default(),
            takes_pods: !node.is_deleting && !node.is_unschedulable && node.is_ready(),
        }
    }

    fn take(&mut self, requests: Amounts, is_movable: bool) {
        self.used = self.used.plus(requests);
        if is_movable {
            self.movable = self.movable.plus(requests);
        }
    }

    fn free(&self) -> Amounts {
        match self.takes_pods {
            true => self.allocatable.minus(self.used).or_nothing(),
            false => Amounts::default(),
        }
    }
}

/// Returns the existing nodes by name, with their current requests. Pods being deleted do not count.
pub(super) fn before<'a>(view: &PlanView<'a>) -> Vec<Loaded<'a>> {
    let world = &view.plan.evidence.world;
    let mut nodes: BTreeMap<&str, Loaded<'a>> =
        world.nodes.iter().map(|node| (node.name.as_str(), Loaded::of(node))).collect();
    for group in world.pods.iter().filter(|group| !group.is_terminating) {
        let PodPlace::Bound(node) = &group.place else { continue };
        let Some(node) = nodes.get_mut(node.as_str()) else { continue };
        let requests = world.pod_specs.get(group.spec).map(|spec| Amounts::of(&spec.requests));
        for _ in &group.names {
            node.take(requests.unwrap_or_default(), !group.is_daemon);
        }
    }
    nodes.into_values().collect()
}

/// Returns the nodes after the plan, with their requests.
pub(super) fn after<'a>(view: &PlanView<'a>) -> Vec<Loaded<'a>> {
    let evidence = &view.plan.evidence;
    let gone: BTreeSet<&str> =
        view.plan.spec.deletes().map(|(_, delete)| delete.target.node.as_str()).collect();
    let going = evidence.world.nodes.iter().filter(|node| node.is_deleting);
    let gone: BTreeSet<&str> = gone.into_iter().chain(going.map(|node| node.name.as_str())).collect();
    let requests = |pod: &PodKey| {
        let spec = view.group(pod).and_then(|group| evidence.world.pod_specs.get(group.spec));
        spec.map(|spec| Amounts::of(&spec.requests)).unwrap_or_default()
    };
    let mut nodes = before(view);
    nodes.retain(|node| !gone.contains(node.name));
    for node in &mut nodes {
        let pods = evidence.kept.get(&NodeName::new(node.name)).into_iter().flatten();
        for pod in pods.filter(|pod| !pod.is_placeholder()) {
            node.take(requests(pod), true);
        }
    }
    nodes.extend(view.new_nodes().map(|new| {
        let mut node = Loaded {
            name: &new.create.vm,
            pool: Some(&new.claim.pool),
            size: new.claim.primary.size.as_str(),
            zone: new.claim.primary.zone.as_str(),
            allocatable: Amounts::of(&new.shape.allocatable),
            used: Amounts::of(&new.shape.daemon_requests),
            movable: Amounts::default(),
            takes_pods: true,
        };
        for pod in new.placement.pods.iter().filter(|pod| !pod.is_placeholder()) {
            node.take(requests(pod), true);
        }
        node
    }));
    nodes
}

/// Loss of a node or a zone, compared with the free capacity of the other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// The node or the zone.
    pub(super) what: Arc<str>,
    /// Requests of its pods.
    pub(super) needs: Amounts,
    /// Free capacity of the others.
    pub(super) free: Amounts,
    /// Whether there are no others.
    pub(super) is_all: bool,
}

impl Loss {
    /// Returns the missing capacity, if any.
    pub(super) fn short(&self) -> Option<Amounts> {
        let short = self.needs.minus(self.free).or_nothing();
        (short != Amounts::default()).then_some(short)
    }

    /// Returns the share of the free capacity that it needs, by the scarcer resource: the largest is the hardest to
    /// bear.
    fn weight(&self) -> i128 {
        let share = |need: i64, free: i64| i128::from(need) * 1_000_000 / i128::from(free.max(0) + 1);
        share(self.needs.cpu, self.free.cpu).max(share(self.needs.memory, self.free.memory))
    }
}

/// Free capacity of some nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) free: Amounts,
    /// The node whose loss is the hardest to bear; `None` without nodes.
    pub(super) node: Option<Loss>,
    /// The zone whose loss is the hardest to bear; `None` if no node is in a zone.
    pub(super) zone: Option<Loss>,
}

impl Room {
    /// Counts the free capacity of these nodes.
    pub(super) fn of(nodes: &[Loaded<'_>]) -> Self {
        let free =
            |nodes: &[&Loaded<'_>]| nodes.iter().fold(Amounts::default(), |sum, node| sum.plus(node.free()));
        let all: Vec<&Loaded<'_>> = nodes.iter().collect();
        let total = free(&all);
        let loss = |what: &str, lost: &[&Loaded<'_>]| Loss {
            what: Arc::from(what),
            needs: lost.iter().fold(Amounts::default(), |sum, node| sum.plus(node.movable)),
            free: total.minus(free(lost)),
            is_all: lost.len() == nodes.len(),
        };
        let hardest = |losses: Vec<Loss>| {
            let mut losses = losses.into_iter();
            let first = losses.next()?;
            Some(losses.fold(first, |worst, loss| if loss.weight() > worst.weight() { loss } else { worst }))
        };
        let mut zones: BTreeMap<&str, Vec<&Loaded<'_>>> = BTreeMap::new();
        for node in nodes.iter().filter(|node| !node.zone.is_empty() && node.zone != NO_ZONE) {
            zones.entry(node.zone).or_default().push(node);
        }
        Self {
            free: total,
            node: hardest(nodes.iter().map(|node| loss(node.name, &[node])).collect()),
            zone: hardest(zones.iter().map(|(zone, lost)| loss(zone, lost)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Amounts, Loaded, Room, after, before};
    use crate::plan::tests::world::example_plan;
    use crate::render::PlanView;

    const GIB: i64 = 1 << 30;

    fn node(name: &'static str, zone: &'static str, movable: i64) -> Loaded<'static> {
        let amounts = |cpu: i64| Amounts { cpu, memory: GIB };
        Loaded {
            name,
            pool: None,
            size: "s",
            zone,
            allocatable: Amounts { cpu: 4000, memory: 8 * GIB },
            used: amounts(movable + 100),
            movable: amounts(movable),
            takes_pods: true,
        }
    }

    #[test]
    fn room_is_what_the_other_nodes_have_free_and_the_hardest_loss_is_named() {
        let nodes = [node("a", "z-1", 3000), node("b", "z-1", 1000), node("c", "z-2", 500)];
        let room = Room::of(&nodes);
        assert_eq!(room.free.cpu, 900 + 2900 + 3400);
        let lost = room.node.expect("there are nodes");
        assert_eq!((&*lost.what, lost.needs.cpu, lost.free.cpu, lost.short()), ("a", 3000, 6300, None));
        let zone = room.zone.expect("there are zones");
        assert_eq!((&*zone.what, zone.needs.cpu, zone.free.cpu), ("z-1", 4000, 3400));
        assert_eq!(zone.short(), Some(Amounts { cpu: 600, memory: 0 }));
        let cordoned = Loaded { takes_pods: false, ..nodes[2] };
        assert_eq!(Room::of(&[nodes[0], cordoned]).node.map(|lost| lost.free.cpu), Some(0));
        assert_eq!(Room::of(&[]), Room::default());
    }

    #[test]
    fn nodes_hold_their_pods_before_and_what_the_plan_places_after() {
        let plan = example_plan();
        let view = PlanView::new(&plan, None);
        let names = |nodes: &[Loaded<'_>]| nodes.iter().map(|node| node.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&before(&view)), ["aks-general-zzz", "empty-1", "kept-1"]);
        let after = after(&view);
        assert_eq!(names(&after)[..2], ["aks-general-zzz", "kept-1"]);
        // Two pods of a core each, and a DaemonSet.
        assert_eq!(after[2..].iter().map(|node| node.used.cpu).collect::<Vec<_>>(), [2100, 2100]);
        assert_eq!(after[2..].iter().map(|node| node.movable.cpu).collect::<Vec<_>>(), [2000, 2000]);
    }
}
