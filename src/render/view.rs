//! A plan as it is shown: counted, grouped and sorted, made of the plan alone.
//!
//! Grouping is for the eye only: in the plan one create is one node.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::wrap::COLUMNS_MAX;
use crate::model::{
    CapacityType, MicroUsdPerHour, Node, NodeName, PodKey, PodPlace, PoolName, Price, Resources, SkuName,
    Workload, Zone,
};
use crate::plan::{ChangeId, ClaimSpec, Counts, Create, NodeShape, Placement, Plan, PodGroup, of_nodes};

/// A plan with what showing it needs.
#[derive(Clone, Debug)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The file it was read from or written to, for the hints.
    pub file: Option<&'a str>,
    /// How wide lines may be.
    pub columns: usize,
    nodes: BTreeMap<&'a NodeName, &'a Node>,
    /// The group of each pod that was seen, by namespace and name.
    pods: BTreeMap<(&'a str, &'a str), &'a PodGroup>,
    /// The pods on each node, those of DaemonSets aside.
    running: BTreeMap<&'a NodeName, Vec<PodKey>>,
    gone: BTreeSet<&'a NodeName>,
    /// What nodes cost: worked out when somebody asks.
    prices: OnceCell<BTreeMap<NodeName, Price>>,
}

/// What nodes of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey<'a> {
    /// The pool.
    pub pool: &'a PoolName,
    /// The size.
    pub size: &'a SkuName,
    /// The zone.
    pub zone: &'a Zone,
    /// How they are bought.
    pub capacity_type: CapacityType,
}

/// A node to make with all that the plan says of it.
#[derive(Clone, Copy, Debug)]
pub struct NewNodeView<'a> {
    /// Its change.
    pub id: &'a ChangeId,
    /// The create.
    pub create: &'a Create,
    /// What its NodeClaim asks for.
    pub claim: &'a ClaimSpec,
    /// Its price and pods.
    pub placement: &'a Placement,
    /// What it will have.
    pub shape: &'a NodeShape,
}

/// Nodes to make that look alike.
#[derive(Clone, Debug, Default)]
pub struct Group<'a> {
    /// The nodes, by id.
    pub nodes: Vec<NewNodeView<'a>>,
    /// What they have together.
    pub capacity: Resources,
    /// How many pods are placed there.
    pub pods: usize,
    /// For how many more CapacityBuffers keep room there.
    pub headroom: usize,
    /// What those of a known price cost the user together.
    pub price: MicroUsdPerHour,
    /// How many have no known price.
    pub unpriced: usize,
    /// Whether a price, a shape or a zone is an estimate.
    pub is_estimate: bool,
}

impl<'a> PlanView<'a> {
    /// Makes the view of a plan.
    #[must_use]
    pub fn new(plan: &'a Plan, file: Option<&'a str>) -> Self {
        let world = &plan.evidence.world;
        let nodes = world.nodes.iter().map(|node| (&node.name, node)).collect();
        let gone: BTreeSet<&NodeName> = plan.spec.deletes().map(|(_, delete)| &delete.target.node).collect();
        let mut pods = BTreeMap::new();
        let mut running: BTreeMap<&NodeName, Vec<PodKey>> = BTreeMap::new();
        for group in &world.pods {
            pods.extend(group.names.iter().map(|name| ((group.namespace.as_str(), &**name), group)));
            let PodPlace::Bound(node) = &group.place else { continue };
            // Who is being deleted goes whatever the plan does.
            if !group.is_daemon && !group.is_terminating {
                let key = |name: &Arc<str>| PodKey { namespace: group.namespace.clone(), name: name.clone() };
                running.entry(node).or_default().extend(group.names.iter().map(key));
            }
        }
        let prices = OnceCell::new();
        Self { plan, file, columns: COLUMNS_MAX, nodes, pods, running, gone, prices }
    }

    /// Returns the view for lines of so many columns.
    #[must_use]
    pub fn of_columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// Returns the workload that made a pod, if one did.
    #[must_use]
    pub fn workload(&self, pod: &PodKey) -> Option<&'a Workload> {
        self.group(pod)?.workload.as_ref()
    }

    /// Returns the pods that are like this one, with where they are.
    #[must_use]
    pub fn group(&self, pod: &PodKey) -> Option<&'a PodGroup> {
        self.pods.get(&(pod.namespace.as_str(), &*pod.name)).copied()
    }

    /// Returns the pods that run on a node, those of DaemonSets and those that are being deleted aside.
    pub fn running_on(&self, node: &NodeName) -> impl Iterator<Item = &PodKey> {
        self.running.get(node).into_iter().flatten()
    }

    /// Returns whether a pod runs on a node that the plan removes.
    #[must_use]
    pub fn is_moving(&self, pod: &PodKey) -> bool {
        let place = self.group(pod).map(|group| &group.place);
        matches!(place, Some(PodPlace::Bound(node)) if self.gone.contains(node))
    }

    /// Returns what a node costs the user by the hour.
    #[must_use]
    pub fn price(&self, node: &NodeName) -> Price {
        let prices = self.prices.get_or_init(|| of_nodes(self.plan));
        prices.get(node).copied().unwrap_or(Price::Unknown)
    }

    /// Returns a node that exists, as it was seen.
    #[must_use]
    pub fn node(&self, name: &NodeName) -> Option<&'a Node> {
        self.nodes.get(name).copied()
    }

    /// Returns how many nodes come, change, go.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(self.plan)
    }

    /// Returns the nodes to make, by id.
    pub fn new_nodes(&self) -> impl Iterator<Item = NewNodeView<'a>> {
        let evidence = &self.plan.evidence;
        self.plan.spec.creates().filter_map(|(id, create, claim)| {
            let placement = evidence.placements.get(id)?;
            let shape = evidence.shapes.get(placement.shape)?;
            Some(NewNodeView { id, create, claim, placement, shape })
        })
    }

    /// Returns the nodes to make, those that look alike together.
    #[must_use]
    pub fn groups(&self) -> BTreeMap<GroupKey<'a>, Group<'a>> {
        let mut groups: BTreeMap<GroupKey<'a>, Group<'a>> = BTreeMap::new();
        for node in self.new_nodes() {
            let ClaimSpec { pool, primary, .. } = node.claim;
            let key = GroupKey {
                pool,
                size: &primary.size,
                zone: &primary.zone,
                capacity_type: primary.capacity_type,
            };
            groups.entry(key).or_default().add(node);
        }
        groups
    }
}

impl<'a> Group<'a> {
    /// Adds a node.
    pub(super) fn add(&mut self, node: NewNodeView<'a>) {
        let price = node.placement.effective_price;
        self.capacity.add(&node.shape.capacity);
        let headroom = node.placement.pods.iter().filter(|pod| pod.is_placeholder()).count();
        self.headroom += headroom;
        self.pods += node.placement.pods.len() - headroom;
        self.price += price.known().unwrap_or_default();
        self.unpriced += usize::from(price.known().is_none());
        self.is_estimate |= price.is_estimate();
        self.nodes.push(node);
    }
}
