//! Fleet before and after a plan: every node once, with its pods on both sides.
//!
//! Must never invent a node or a pod: data that a plan does not contain is [`Side::Unknown`], and the page says so.

use std::collections::{BTreeMap, BTreeSet};

use super::pods::{Amounts, Place, Pod, pods};
use crate::catalog::size_name::SizeName;
use crate::model::{NodeName, Price, ResourceName, Resources, SkuName, label};
use crate::plan::{Change, of_nodes_today};
use crate::render::explain::plan as explain;
use crate::render::line::{Line, Style};
use crate::render::page::whole;
use crate::render::view::{NewNodeView, PlanView};

/// Fate of a node, in the order of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// The plan deletes it, or only the first of two fleets has it.
    Deleted,
    /// It is already being deleted, regardless of the plan.
    Leaving,
    /// The plan assumes that it does not exist.
    Ignored,
    /// The plan creates it, or only the second of two fleets has it.
    Created,
    /// It is kept and updated, or differs in the second of two fleets.
    Updated,
    /// It gets a NodeClaim.
    Adopted,
    /// It is no longer managed and keeps running.
    Forgotten,
    /// It is unchanged.
    Kept,
}

/// Content of a node before or after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The node does not exist.
    Absent,
    /// The plan does not say which pods are on it.
    Unknown,
    /// These pods, as indices in the list of pods, and all other requests on it.
    Holds(Vec<usize>, Amounts),
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) name: &'a str,
    pub(super) fate: Fate,
    pub(super) pool: Option<&'a str>,
    /// Empty if unknown, like the next two.
    pub(super) size: &'a str,
    pub(super) zone: &'a str,
    pub(super) capacity_type: &'a str,
    /// At least 1; `None` if neither the node nor its size says it.
    pub(super) vcpus: Option<u32>,
    pub(super) allocatable: Amounts,
    pub(super) price: Price,
    pub(super) before: Side,
    pub(super) after: Side,
    /// The explanation that `explain` gives, and other statements of the plan about this node alone.
    pub(super) said: Vec<Line>,
    /// Why it is deleted, created, updated or kept, if the plan says so.
    pub(super) because: Option<String>,
}

/// The fleet before and after.
#[derive(Clone, Debug, Default)]
pub(super) struct Fleet<'a> {
    /// Sorted by fate, then by name.
    pub(super) nodes: Vec<Node<'a>>,
    /// Sorted by namespace and name.
    pub(super) pods: Vec<Pod<'a>>,
    /// Whether the sides are the fleets of two inputs.
    pub(super) is_compared: bool,
}

impl Node<'_> {
    /// Returns whether pods move to it or leave it.
    pub(super) fn is_busy(&self, pods: &[Pod<'_>]) -> bool {
        let of = |side: &Side| match side {
            Side::Holds(held, _) => held.iter().any(|pod| pods[*pod].moves()),
            Side::Absent | Side::Unknown => false,
        };
        of(&self.before) || of(&self.after)
    }
}

impl<'a> Fleet<'a> {
    /// Reads the fleet of a plan.
    pub(super) fn of(view: &PlanView<'a>) -> Self {
        let mut nodes = nodes(view);
        nodes.sort_by_key(|node| (node.fate, node.name));
        let places: BTreeMap<&str, usize> =
            nodes.iter().enumerate().map(|(place, node)| (node.name, place)).collect();
        let is_gone = |node: &Node<'_>| node.after == Side::Absent;
        let gone: BTreeSet<usize> =
            nodes.iter().enumerate().filter(|(_, node)| is_gone(node)).map(|(place, _)| place).collect();
        let pods = pods(view, &places, &gone);
        for (place, pod) in pods.iter().enumerate() {
            let of = |side: &mut Side| {
                if let Side::Holds(held, _) = side {
                    held.push(place);
                }
            };
            if let Place::Node(node) = pod.before {
                of(&mut nodes[node].before);
            }
            if let Place::Node(node) = pod.after {
                of(&mut nodes[node].after);
            }
        }
        Self { nodes, pods, is_compared: false }
    }

    /// Returns the largest number of vCPUs of a node.
    pub(super) fn vcpus_max(&self) -> u32 {
        self.nodes.iter().filter_map(|node| node.vcpus).max().unwrap_or(1)
    }
}

/// Returns all nodes without their pods.
fn nodes<'a>(view: &PlanView<'a>) -> Vec<Node<'a>> {
    let world = &view.plan.evidence.world;
    let prices = of_nodes_today(view.plan);
    let price = |name: &NodeName| prices.get(name).copied().unwrap_or(Price::Unknown);
    let mut changes: BTreeMap<&NodeName, Vec<Line>> = BTreeMap::new();
    let mut fates: BTreeMap<&'a NodeName, (Fate, Option<String>)> = BTreeMap::new();
    for (id, planned) in &view.plan.spec.changes {
        let fate = match &planned.change {
            Change::Delete(_) => Fate::Deleted,
            Change::Update(update) => {
                changes.insert(&update.target.node, whole::fields(update));
                Fate::Updated
            }
            Change::Adopt(_) => Fate::Adopted,
            Change::Forget(_) => Fate::Forgotten,
            Change::Create(_) | Change::NoOp(_) => continue,
        };
        let because = view.plan.evidence.reasons.get(id).map(ToString::to_string);
        fates.extend(planned.change.target().map(|target| (&target.node, (fate, because))));
    }
    let mut nodes = Vec::new();
    for node in &world.nodes {
        let (fate, because) = match fates.remove(&node.name) {
            Some(fate) => fate,
            None if node.is_deleting => (Fate::Leaving, None),
            None => (Fate::Kept, explain::stays(view, &node.name)),
        };
        let mut said = explain::exists(view, &node.name);
        said.extend(changes.remove(&node.name).into_iter().flatten());
        let own = Node { fate, said, because, price: price(&node.name), ..existing(node) };
        nodes.push(own);
    }
    for absent in &world.absent {
        let (before, after) = (Side::Holds(Vec::new(), Amounts::of(&absent.requested)), Side::Absent);
        let price = price(&absent.node.name);
        let said = vec![Line::new(Style::Plain, format!("node `{}` is ignored", absent.node.name))];
        nodes.push(Node { fate: Fate::Ignored, price, said, before, after, ..existing(&absent.node) });
    }
    // Nodes that the plan changes and its world does not contain: nothing else is known of them.
    nodes.extend(fates.into_iter().map(|(name, (fate, because))| unseen(name, fate, because)));
    nodes.extend(view.new_nodes().map(|new| created(view, &new)));
    nodes.iter_mut().filter(|node| matches!(node.fate, Fate::Deleted | Fate::Leaving)).for_each(|node| {
        node.after = Side::Absent;
    });
    nodes
}

fn existing(node: &crate::model::Node) -> Node<'_> {
    let value = |key: &str| node.labels.get(key).map_or("", |value| &**value);
    let size = value(label::INSTANCE_TYPE);
    Node {
        name: node.name.as_str(),
        fate: Fate::Kept,
        pool: node.pool.as_ref().map(crate::model::PoolName::as_str),
        size,
        zone: value(label::ZONE),
        capacity_type: value(label::CAPACITY_TYPE),
        vcpus: vcpus(&node.capacity, size),
        allocatable: Amounts::of(&node.allocatable),
        price: Price::Unknown,
        before: Side::Holds(Vec::new(), Amounts::default()),
        after: Side::Holds(Vec::new(), Amounts::default()),
        said: Vec::new(),
        because: None,
    }
}

fn unseen(name: &NodeName, fate: Fate, because: Option<String>) -> Node<'_> {
    Node {
        name: name.as_str(),
        fate,
        pool: None,
        size: "",
        zone: "",
        capacity_type: "",
        vcpus: None,
        allocatable: Amounts::default(),
        price: Price::Unknown,
        before: Side::Unknown,
        after: Side::Unknown,
        said: Vec::new(),
        because,
    }
}

fn created<'a>(view: &PlanView<'a>, new: &NewNodeView<'a>) -> Node<'a> {
    let primary = &new.claim.primary;
    let mut said = explain::created(view, new, &new.create.vm);
    said.extend(whole::substitutes(new));
    Node {
        name: &new.create.vm,
        fate: Fate::Created,
        pool: Some(new.claim.pool.as_str()),
        size: primary.size.as_str(),
        zone: primary.zone.as_str(),
        capacity_type: primary.capacity_type.as_str(),
        vcpus: vcpus(&new.shape.capacity, primary.size.as_str()),
        allocatable: Amounts::of(&new.shape.allocatable),
        price: new.placement.effective_price,
        before: Side::Absent,
        after: Side::Holds(Vec::new(), Amounts::of(&new.shape.daemon_requests)),
        said,
        because: view.plan.evidence.reasons.get(new.id).map(ToString::to_string),
    }
}

/// Returns the vCPUs of a node, or else those in the name of its size.
pub(super) fn vcpus(capacity: &Resources, size: &str) -> Option<u32> {
    let own = u32::try_from((capacity.get(&ResourceName::Cpu) + 999) / 1000).unwrap_or(0);
    match own {
        0 => SizeName::parse(&SkuName::new(size)).map(|name| name.constrained_cpus.unwrap_or(name.cpus)),
        own => Some(own),
    }
}
