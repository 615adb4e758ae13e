//! View of a plan for display: counted, grouped and sorted, derived from the plan alone.
//!
//! Groups exist only for display: in the plan one create is one node.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::wrap::COLUMNS_MAX;
use crate::model::{
    CapacityType, MicroUsdPerHour, Node, NodeName, PodKey, PodPlace, PoolName, Price, Resources, SkuName,
    Workload, Zone,
};
use crate::plan::{ChangeId, ClaimSpec, Counts, Create, NodeShape, Placement, Plan, PodGroup, of_nodes};

/// A plan with the data needed to show it.
#[derive(Clone, Debug)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The file it was read from or written to, for the hints.
    pub file: Option<&'a str>,
    /// Maximum line width in columns.
    pub columns: usize,
    nodes: BTreeMap<&'a NodeName, &'a Node>,
    /// The group of each observed pod, by namespace and name.
    pods: BTreeMap<(&'a str, &'a str), &'a PodGroup>,
    /// The pods on each node, without those of DaemonSets.
    running: BTreeMap<&'a NodeName, Vec<PodKey>>,
    gone: BTreeSet<&'a NodeName>,
    /// Prices of nodes, calculated when first needed.
    prices: OnceCell<BTreeMap<NodeName, Price>>,
}

/// Common properties of a group of nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey<'a> {
    /// The pool.
    pub pool: &'a PoolName,
    /// The size.
    pub size: &'a SkuName,
    /// The zone.
    pub zone: &'a Zone,
    /// Their capacity type.
    pub capacity_type: CapacityType,
}

/// A new node with all that the plan says about it.
#[derive(Clone, Copy, Debug)]
pub struct NewNodeView<'a> {
    /// Its change.
    pub id: &'a ChangeId,
    /// The create.
    pub create: &'a Create,
    /// Its NodeClaim spec.
    pub claim: &'a ClaimSpec,
    /// Its price and pods.
    pub placement: &'a Placement,
    /// Its expected shape.
    pub shape: &'a NodeShape,
}

/// New nodes that look alike.
#[derive(Clone, Debug, Default)]
pub struct Group<'a> {
    /// The nodes, by id.
    pub nodes: Vec<NewNodeView<'a>>,
    /// Their total capacity.
    pub capacity: Resources,
    /// Number of pods placed there.
    pub pods: usize,
    /// Number of placeholder pods of CapacityBuffers there.
    pub headroom: usize,
    /// Total effective price of the nodes with a known price.
    pub price: MicroUsdPerHour,
    /// Number of nodes without a known price.
    pub unpriced: usize,
    /// Whether a price, a shape or a zone is an estimate.
    pub is_estimate: bool,
}

impl<'a> PlanView<'a> {
    /// Creates the view of a plan.
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
            // Pods being deleted leave regardless of the plan.
            if !group.is_daemon && !group.is_terminating {
                let key = |name: &Arc<str>| PodKey { namespace: group.namespace.clone(), name: name.clone() };
                running.entry(node).or_default().extend(group.names.iter().map(key));
            }
        }
        let prices = OnceCell::new();
        Self { plan, file, columns: COLUMNS_MAX, nodes, pods, running, gone, prices }
    }

    /// Returns the view for lines of this many columns.
    #[must_use]
    pub fn of_columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// Returns the workload that created a pod, if any.
    #[must_use]
    pub fn workload(&self, pod: &PodKey) -> Option<&'a Workload> {
        self.group(pod)?.workload.as_ref()
    }

    /// Returns the group of identical pods that a pod belongs to, with their place.
    #[must_use]
    pub fn group(&self, pod: &PodKey) -> Option<&'a PodGroup> {
        self.pods.get(&(pod.namespace.as_str(), &*pod.name)).copied()
    }

    /// Returns the pods that run on a node, without those of DaemonSets and those being deleted.
    pub fn running_on(&self, node: &NodeName) -> impl Iterator<Item = &PodKey> {
        self.running.get(node).into_iter().flatten()
    }

    /// Returns whether a pod runs on a node that the plan removes.
    #[must_use]
    pub fn is_moving(&self, pod: &PodKey) -> bool {
        let place = self.group(pod).map(|group| &group.place);
        matches!(place, Some(PodPlace::Bound(node)) if self.gone.contains(node))
    }

    /// Returns the hourly effective price of a node.
    #[must_use]
    pub fn price(&self, node: &NodeName) -> Price {
        let prices = self.prices.get_or_init(|| of_nodes(self.plan));
        prices.get(node).copied().unwrap_or(Price::Unknown)
    }

    /// Returns an existing node as observed.
    #[must_use]
    pub fn node(&self, name: &NodeName) -> Option<&'a Node> {
        self.nodes.get(name).copied()
    }

    /// Returns the numbers of created, changed and deleted nodes.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(self.plan)
    }

    /// Returns the new nodes, by id.
    pub fn new_nodes(&self) -> impl Iterator<Item = NewNodeView<'a>> {
        let evidence = &self.plan.evidence;
        self.plan.spec.creates().filter_map(|(id, create, claim)| {
            let placement = evidence.placements.get(id)?;
            let shape = evidence.shapes.get(placement.shape)?;
            Some(NewNodeView { id, create, claim, placement, shape })
        })
    }

    /// Returns the new nodes, grouped by what they look like.
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
