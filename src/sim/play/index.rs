//! Index of pods and nodes for the controllers, updated incrementally.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::pod::{self, Amounts};
use super::quantity::milli;
use super::topology::Apart;
use crate::sim::cluster::{
    BUDGETS, DAEMON_SETS, DEPLOYMENTS, JOBS, KindId, NODES, Name, PODS, REPLICA_SETS, STATEFUL_SETS, Store,
};
use crate::sim::json::{is_true, list, members, number, text, text_or_empty};

/// Summary of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodView {
    pub(crate) uid: String,
    pub(crate) node: Option<String>,
    /// The node nominated for it (`status.nominatedNodeName`).
    nominated: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) requests: Amounts,
    /// Its scheduling priority: higher is scheduled first.
    pub(crate) priority: i64,
    /// Whether this world's scheduler is responsible for it.
    pub(crate) is_ours: bool,
    pub(crate) has_ended: bool,
    pub(crate) is_terminating: bool,
    pub(crate) is_ready: bool,
    pub(crate) labels: BTreeMap<String, String>,
    /// Its required pod anti-affinity.
    pub(crate) apart: Vec<Apart>,
    /// Hash of the scheduling inputs: pods of one shape fit the same nodes.
    pub(crate) shape: u64,
}

impl PodView {
    fn of(pod: &Value) -> Self {
        Self {
            uid: text_or_empty(pod, "/metadata/uid").to_owned(),
            node: pod::node(pod).map(str::to_owned),
            nominated: text(pod, "/status/nominatedNodeName").map(str::to_owned),
            owner: pod::controller(pod).map(str::to_owned),
            requests: pod::requests(pod),
            priority: number(pod, "/spec/priority").unwrap_or(0),
            is_ours: super::scheduler::is_ours(pod),
            has_ended: pod::has_ended(pod),
            is_terminating: pod::is_terminating(pod),
            is_ready: pod::is_ready(pod),
            labels: labels(pod),
            apart: Apart::of(pod),
            shape: super::scheduler::shape(pod),
        }
    }

    /// Returns whether its controller counts it as a replica.
    pub(crate) const fn is_active(&self) -> bool {
        !self.has_ended && !self.is_terminating
    }

    /// Returns whether it uses capacity on its node.
    const fn takes_room(&self) -> bool {
        !self.has_ended
    }
}

/// Summary of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NodeView {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) taints: Vec<Value>,
    /// The taints with effect `NoExecute`.
    pub(crate) ending_taints: Vec<Value>,
    pub(crate) is_unschedulable: bool,
    pub(crate) is_ready: bool,
    pub(crate) allocatable: Amounts,
}

impl NodeView {
    fn of(node: &Value) -> Self {
        let allocatable =
            if node.pointer("/status/allocatable").is_some() { "allocatable" } else { "capacity" };
        Self {
            labels: labels(node),
            taints: list(node, "/spec/taints").to_vec(),
            ending_taints: list(node, "/spec/taints")
                .iter()
                .filter(|taint| text_or_empty(taint, "/effect") == "NoExecute")
                .cloned()
                .collect(),
            is_unschedulable: is_true(node, "/spec/unschedulable"),
            is_ready: pod::condition(node, "Ready") == Some("True"),
            allocatable: members(node, &format!("/status/{allocatable}"))
                .map(|(name, amount)| (name.clone(), milli(amount)))
                .collect(),
        }
    }
}

/// The kinds of objects that have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    pub(crate) pods: bool,
    pub(crate) nodes: bool,
    pub(crate) workloads: bool,
}

/// Summaries of pods and nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) pods: BTreeMap<Name, PodView>,
    pub(crate) nodes: BTreeMap<String, NodeView>,
    /// Pending pods for this world's scheduler, by shape; within a shape, higher priority comes first.
    pub(crate) waiting: BTreeMap<u64, BTreeSet<(i64, Name)>>,
    /// Shapes that fit no node except possibly the nodes touched since.
    pub(crate) parked: BTreeSet<u64>,
    /// Pending pods whose condition already says why they are unschedulable.
    pub(crate) told: BTreeSet<Name>,
    /// Nodes that changed or gained free capacity since the last scheduling run.
    pub(crate) touched: BTreeSet<String>,
    /// Used resources of each node.
    pub(crate) used: BTreeMap<String, Amounts>,
    /// Resources of new bindings that the index has not processed yet.
    pub(crate) provisional: Vec<(String, Amounts)>,
    /// Newly bound pods that the index has not processed yet, with their nodes.
    pub(crate) bound: BTreeMap<Name, String>,
    /// Pods with required anti-affinity.
    pub(crate) apart: BTreeSet<Name>,
    /// UIDs of controllers that changed or whose pods changed.
    pub(crate) changed_owners: BTreeSet<String>,
    by_node: BTreeMap<String, BTreeSet<Name>>,
    /// Pending pods by their nominated node.
    promised: BTreeMap<String, BTreeSet<Name>>,
    by_owner: BTreeMap<String, BTreeSet<Name>>,
    by_uid: BTreeMap<String, Name>,
}

impl Index {
    /// Processes changed objects.
    pub(crate) fn update(&mut self, store: &Store, dirty: &BTreeSet<(KindId, Name)>) -> Seen {
        let mut seen = Seen::default();
        self.changed_owners.clear();
        self.bound.clear();
        for (node, amounts) in std::mem::take(&mut self.provisional) {
            self.take(&node, &amounts, -1);
        }
        for (kind, name) in dirty {
            if *kind == PODS {
                seen.pods = true;
                self.set_pod(name, store.get(PODS, name).map(|pod| PodView::of(pod)));
            } else if *kind == NODES {
                seen.nodes = true;
                self.set_node(&name.name, store.get(NODES, name).map(|node| NodeView::of(node)));
            } else if [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS, BUDGETS].contains(kind) {
                seen.workloads = true;
                let uid =
                    store.get(*kind, name).map(|object| text_or_empty(object, "/metadata/uid").to_owned());
                self.changed_owners.extend(uid);
            }
        }
        seen
    }

    fn set_node(&mut self, name: &str, new: Option<NodeView>) {
        if self.nodes.get(name) == new.as_ref() {
            return;
        }
        self.touched.insert(name.to_owned());
        match new {
            Some(new) => self.nodes.insert(name.to_owned(), new),
            None => self.nodes.remove(name),
        };
    }

    fn set_pod(&mut self, name: &Name, new: Option<PodView>) {
        if self.pods.get(name) == new.as_ref() {
            return;
        }
        if let Some(old) = self.pods.remove(name) {
            self.told.remove(name);
            self.apart.remove(name);
            self.break_promise(name, &old);
            if let Some(waiting) = self.waiting.get_mut(&old.shape) {
                waiting.remove(&(old.priority.saturating_neg(), name.clone()));
                if waiting.is_empty() {
                    self.waiting.remove(&old.shape);
                    self.parked.remove(&old.shape);
                }
            }
            self.by_uid.remove(&old.uid);
            if let Some(node) = &old.node {
                remove_from(&mut self.by_node, node, name);
                if old.takes_room() {
                    self.touched.insert(node.clone());
                    self.take(node, &old.requests, -1);
                }
            }
            if let Some(owner) = &old.owner {
                self.changed_owners.insert(owner.clone());
                remove_from(&mut self.by_owner, owner, name);
            }
        }
        let Some(new) = new else { return };
        self.by_uid.insert(new.uid.clone(), name.clone());
        if !new.apart.is_empty() {
            self.apart.insert(name.clone());
        }
        match &new.node {
            Some(node) => {
                self.by_node.entry(node.clone()).or_default().insert(name.clone());
                if new.takes_room() {
                    self.take(node, &new.requests, 1);
                }
            }
            None if new.is_active() && new.is_ours => {
                self.waiting
                    .entry(new.shape)
                    .or_default()
                    .insert((new.priority.saturating_neg(), name.clone()));
                if let Some(node) = &new.nominated {
                    self.promised.entry(node.clone()).or_default().insert(name.clone());
                }
            }
            None => {}
        }
        if let Some(owner) = &new.owner {
            self.changed_owners.insert(owner.clone());
            self.by_owner.entry(owner.clone()).or_default().insert(name.clone());
        }
        self.pods.insert(name.clone(), new);
    }

    fn take(&mut self, node: &str, amounts: &Amounts, sign: i128) {
        let used = self.used.entry(node.to_owned()).or_default();
        for (name, amount) in amounts {
            *used.entry(name.clone()).or_insert(0) += sign * amount;
        }
    }

    fn break_promise(&mut self, name: &Name, pod: &PodView) {
        if let Some(node) = pod.nominated.as_ref().filter(|_| pod.node.is_none()) {
            remove_from(&mut self.promised, node, name);
            self.touched.insert(node.clone());
        }
    }

    /// Removes the nomination of a pod that was bound.
    pub(crate) fn keep_promise(&mut self, name: &Name) {
        if let Some(node) = self.pods.get(name).and_then(|pod| pod.nominated.clone()) {
            remove_from(&mut self.promised, &node, name);
        }
    }

    /// Returns the pods nominated to a node that have at least this priority.
    pub(crate) fn promised_before(
        &self,
        node: &str,
        priority: i64,
    ) -> impl Iterator<Item = (&Name, &PodView)> {
        let names = self.promised.get(node).into_iter().flatten();
        let pods = names.filter_map(|name| self.pods.get_key_value(name));
        pods.filter(move |(_, pod)| pod.priority >= priority)
    }

    /// Returns the pods of a controller.
    pub(crate) fn owned_by(&self, uid: &str) -> impl Iterator<Item = (&Name, &PodView)> {
        self.by_owner.get(uid).into_iter().flatten().filter_map(|name| self.pods.get_key_value(name))
    }

    /// Returns the pods of a node.
    pub(crate) fn on_node(&self, node: &str) -> impl Iterator<Item = (&Name, &PodView)> {
        self.by_node.get(node).into_iter().flatten().filter_map(|name| self.pods.get_key_value(name))
    }

    /// Returns the nodes that pods are bound to, whether they exist or not.
    pub(crate) fn nodes_of_pods(&self) -> impl Iterator<Item = &String> {
        self.by_node.iter().filter(|(_, pods)| !pods.is_empty()).map(|(node, _)| node)
    }

    /// Returns the name of the pod with this UID.
    pub(crate) fn pod_by_uid(&self, uid: &str) -> Option<&Name> {
        self.by_uid.get(uid)
    }
}

/// Returns the labels of an object.
pub(crate) fn labels(object: &Value) -> BTreeMap<String, String> {
    let labels = members(object, "/metadata/labels");
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn remove_from(map: &mut BTreeMap<String, BTreeSet<Name>>, key: &str, name: &Name) {
    if let Some(names) = map.get_mut(key) {
        names.remove(name);
    }
}
