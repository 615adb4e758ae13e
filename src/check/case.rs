//! The checker's input, prepared for the rules: existing pods and nodes, new nodes, and the final placement.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::attached::Attachable;
use super::crowd::Crowd;
use super::daemons;
use super::evictions::{self, Spare};
use super::labels::Labels;
use super::made::{Made, made_nodes};
use super::overlays;
use super::shown;
use super::substitutes::Substitutes;
use super::taints::of_a_cordoned_node;
use super::tied::Ties;
use crate::catalog::Offered;
use crate::model::{
    ClassName, DisruptionReason, InstanceType, NetworkSetup, Node, NodeName, NodeStage, Offering, Pod,
    PodKey, PodPlace, Pool, PoolName, Resources, Taint,
};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::snapshot::{Daemon, Snapshot};

/// A plan with everything that it is checked against.
pub(super) struct Case<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) plan: &'a Plan,
    /// All pods of the snapshot.
    pub(super) pods: BTreeMap<&'a PodKey, &'a Pod>,
    /// All nodes of the snapshot.
    pub(super) nodes: BTreeMap<&'a NodeName, &'a Node>,
    /// Running pods by node.
    pub(super) running: BTreeMap<&'a NodeName, Vec<&'a Pod>>,
    /// Instance types that the catalogue offers to each class.
    pub(super) offered: BTreeMap<&'a ClassName, Arc<Offered>>,
    /// Instance types of pools that NodeOverlays affect.
    pub(super) overlaid: BTreeMap<&'a PoolName, Offered>,
    /// The nodes that the plan removes, with the reason.
    pub(super) removed: BTreeMap<&'a NodeName, DisruptionReason>,
    /// Existing nodes that have not come up yet, by the pods that the plan places there.
    pub(super) coming_up: BTreeMap<&'a PodKey, &'a NodeName>,
    /// The nodes that the plan creates.
    pub(super) made: Vec<Made<'a>>,
    /// The nodes that pods are placed on, if node and pods are known.
    pub(super) sites: Vec<Site<'a>>,
    /// The final placement.
    pub(super) crowd: Crowd<'a>,
    /// The labels that tie placed pods to their domains.
    pub(super) ties: Ties<'a>,
    /// Volume limits by node size.
    pub(super) attachable: Attachable,
    /// Allowed disruptions of the PodDisruptionBudgets.
    pub(super) spares: Vec<Spare<'a>>,
}

/// A node that pods are placed on.
pub(super) struct Site<'a> {
    /// Name of the node in findings.
    pub(super) title: String,
    /// The node, if it exists.
    pub(super) node: Option<&'a NodeName>,
    /// Labels of the substitutes that may be launched instead of a new node.
    pub(super) others: Rc<[Labels]>,
    pub(super) labels: Labels,
    pub(super) taints: Vec<Taint>,
    /// Resources that pods and daemonsets may use.
    pub(super) allocatable: Resources,
    /// Pods running there, including daemonsets.
    pub(super) running: Vec<&'a Pod>,
    /// Daemonsets whose pods are still to come.
    pub(super) daemons: Vec<&'a Daemon>,
    /// Pods that the plan places there.
    pub(super) pods: Vec<&'a Pod>,
}

impl<'a> Case<'a> {
    /// Prepares a plan for the rules.
    pub(super) fn of(snapshot: &'a Snapshot, policy: &'a Policy, plan: &'a Plan) -> Self {
        let network = policy.fleet.network.unwrap_or(NetworkSetup::AzureOverlay { is_cilium: false });
        let of_class =
            |name, class| shown::with_disks(name, snapshot.catalog.offered(class, network), snapshot);
        let offered: BTreeMap<&ClassName, Arc<Offered>> =
            policy.classes.iter().map(|(name, class)| (name, of_class(name, class))).collect();
        let mut running: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
        for pod in &snapshot.pods {
            if let PodPlace::Bound(node) = &pod.place {
                running.entry(node).or_default().push(pod);
            }
        }
        let mut case = Self {
            snapshot,
            policy,
            plan,
            pods: snapshot.pods.iter().map(|pod| (&pod.key, pod)).collect(),
            nodes: snapshot.nodes.iter().map(|node| (&node.name, node)).collect(),
            running,
            overlaid: overlays::of_pools(policy, &offered),
            offered,
            removed: plan.spec.deletes().map(|(_, delete)| (&delete.target.node, delete.reason)).collect(),
            coming_up: BTreeMap::new(),
            made: made_nodes(plan),
            sites: Vec::new(),
            crowd: Crowd::default(),
            ties: Ties::default(),
            attachable: Attachable::of(snapshot),
            spares: evictions::spares(snapshot),
        };
        let mut substitutes = Substitutes::default();
        let new_site = |made| {
            let mut site = case.new_site(made)?;
            site.others = substitutes.of(&case, made);
            Some(site)
        };
        let mut sites: Vec<Site<'a>> = case.made.iter().filter_map(new_site).collect();
        sites.extend(plan.evidence.kept.iter().filter_map(|(node, pods)| case.existing_site(node, pods)));
        case.sites = sites;
        case.coming_up = case.coming_up();
        case.crowd = Crowd::of(&case);
        case.ties = Ties::of_all(&case);
        case
    }

    /// Returns the pool, instance type and offering that a new node names, if all exist.
    pub(super) fn bought(&self, made: &Made<'_>) -> Option<(&'a Pool, &InstanceType, &Offering)> {
        let pool = self.pool(made.pool)?;
        let size = self.offered_to(pool)?.types.iter().find(|size| size.name == *made.size)?;
        let offering = size
            .offerings
            .iter()
            .find(|offering| offering.zone == *made.zone && offering.capacity_type == made.capacity_type)?;
        Some((pool, size, offering))
    }

    /// Returns the instance types that a pool's nodes may use.
    pub(super) fn offered_to(&self, pool: &Pool) -> Option<&Offered> {
        self.overlaid.get(&pool.name).or_else(|| self.offered.get(&pool.class).map(Arc::as_ref))
    }

    /// Returns the instance types of a node's own class, with the overlays of its pool.
    pub(super) fn offered_to_node(&self, node: &Node) -> Option<&Offered> {
        let class = node.class.as_ref()?;
        let pool = node.pool.as_ref().and_then(|name| self.pool(name)).filter(|pool| pool.class == *class);
        pool.and_then(|pool| self.overlaid.get(&pool.name))
            .or_else(|| self.offered.get(class).map(Arc::as_ref))
    }

    /// Returns a pool of the policy.
    pub(super) fn pool(&self, name: &PoolName) -> Option<&'a Pool> {
        self.policy.pools.get(name)
    }

    /// Returns the pods that run on a node.
    pub(super) fn running_on(&self, node: &NodeName) -> &[&'a Pod] {
        self.running.get(node).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a node is part of the final fleet.
    pub(super) fn stays(&self, node: &Node) -> bool {
        !node.is_deleting && !self.removed.contains_key(&node.name)
    }

    /// Returns the labels that a new node will have.
    pub(super) fn labels_of(&self, made: &Made<'_>, bought: (&Pool, &InstanceType, &Offering)) -> Labels {
        let (pool, size, offering) = bought;
        let mut labels = Labels::of_offering(pool, size, offering);
        for (key, value) in &made.choices() {
            // An invalid choice is a finding of the rule about offerings.
            let _ = labels.choose(key, value, self.snapshot.catalog.is_well_known(key));
        }
        labels
    }

    fn coming_up(&self) -> BTreeMap<&'a PodKey, &'a NodeName> {
        let is_coming_up =
            |name| self.nodes.get(name).is_some_and(|node| node.stage != NodeStage::Initialized);
        let placed = self.plan.evidence.kept.iter().filter(|(name, _)| is_coming_up(*name));
        placed.flat_map(|(name, pods)| pods.iter().map(move |pod| (pod, name))).collect()
    }

    /// Returns every pod of the snapshot that the plan places, once per placement.
    pub(super) fn placed_pods(&self) -> impl Iterator<Item = &'a Pod> {
        let new = self.plan.evidence.placements.values().flat_map(|placement| &placement.pods);
        let kept = self.plan.evidence.kept.values().flatten();
        new.chain(kept).filter_map(|key| self.pods.get(key).copied())
    }

    fn known_pods(&self, keys: &[PodKey]) -> Vec<&'a Pod> {
        keys.iter().filter_map(|key| self.pods.get(key).copied()).collect()
    }

    /// Returns a new node, described by the catalogue's data of its size and not by the plan's.
    pub(super) fn new_site(&self, made: &Made<'a>) -> Option<Site<'a>> {
        let bought @ (pool, size, _) = self.bought(made)?;
        let labels = self.labels_of(made, bought);
        let daemons = daemons::on_new(self.snapshot, pool, &labels);
        Some(Site {
            title: made.title(),
            node: None,
            others: Rc::from([]),
            labels,
            taints: pool.taints.clone(),
            allocatable: size.allocatable.clone(),
            running: Vec::new(),
            daemons,
            pods: self.known_pods(made.pods),
        })
    }

    /// Returns an existing node with the pods that the plan places there.
    pub(super) fn existing_site(&self, name: &NodeName, pods: &[PodKey]) -> Option<Site<'a>> {
        let node = *self.nodes.get(name)?;
        let labels = Labels::of_node(node);
        let running = self.running_on(name).to_vec();
        let daemons = daemons::to_come(self.snapshot, node, &labels, &running);
        Some(Site {
            title: format!("node `{name}`"),
            node: Some(&node.name),
            others: Rc::from([]),
            labels,
            taints: taints_of(node),
            allocatable: node.allocatable.clone(),
            running,
            daemons,
            pods: self.known_pods(pods),
        })
    }
}

/// Returns the taints of an existing node, including that of a cordoned node.
pub(super) fn taints_of(node: &Node) -> Vec<Taint> {
    let cordoned = node.is_unschedulable.then(of_a_cordoned_node);
    node.taints.iter().cloned().chain(cordoned).collect()
}
