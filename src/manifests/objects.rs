//! What an input holds, in the model's words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::disruption_budget::DisruptionBudget;
use crate::model::storage::Storage;
use crate::model::{Group, Namespace, NamespaceLabels, Node, Pod, PodKey, PodSpec, Refusal, Workload};

use super::fault::Segment;
use super::kind::NotUnderstood;
use super::listed::Everywhere;
use super::operated::Operated;
use super::renders::Renders;
use super::said::Said;
use super::tree::Tree;

/// A DaemonSet of the input, or one that its pods prove.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DaemonSet {
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
    /// What the scheduler reads of its pods.
    pub spec: Arc<PodSpec>,
}

/// A NodePool, an AKSNodeClass, a NodeFleet, a NodeOverlay or a CapacityBuffer, for `policy` to judge. Two are equal
/// when they say the same, wherever they stand.
#[derive(Clone, Debug)]
pub struct OurObject {
    /// The kind.
    pub kind: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The source's name.
    pub file: Arc<str>,
    /// The object.
    pub value: serde_json::Value,
    /// The object with its lines.
    pub tree: Tree,
}

impl OurObject {
    /// Returns the line of the field at this path, or of the nearest place above it that exists.
    #[must_use]
    pub fn line(&self, path: &[Segment]) -> usize {
        self.tree.line_of(path)
    }

    /// Returns kind, namespace (empty where the object says none) and name.
    #[must_use]
    pub fn identity(&self) -> (&str, &str, &str) {
        let namespace = self.tree.at(&["metadata", "namespace"]).and_then(Tree::as_text);
        (&self.kind, namespace.map_or("", |namespace| namespace), &self.name)
    }

    /// Returns the name as `namespace/name`, or alone where the object says no namespace.
    #[must_use]
    pub fn full_name(&self) -> String {
        match self.identity() {
            (_, "", name) => name.to_owned(),
            (_, namespace, name) => format!("{namespace}/{name}"),
        }
    }
}

impl PartialEq for OurObject {
    fn eq(&self, other: &Self) -> bool {
        (&self.kind, &self.name, &self.value) == (&other.kind, &other.name, &other.value)
    }
}

impl Eq for OurObject {}

/// Everything that was read. Equal inputs give equal objects, whatever the order of files and documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// Pods that run or should run, sorted; finished ones are left out.
    pub pods: Vec<Pod>,
    /// When pods were made that exist and have no node.
    pub waiting_since: BTreeMap<PodKey, Timestamp>,
    /// DaemonSets, sorted.
    pub daemons: Vec<DaemonSet>,
    /// What the pods of each workload and PodTemplate are, and how many pods it wants; nothing where no
    /// CapacityBuffer asks.
    pub templates: BTreeMap<Workload, (Arc<PodSpec>, u32)>,
    /// Nodes and NodeClaims on their way, sorted by name.
    pub nodes: Vec<Node>,
    /// What Azure refused, sorted; each once.
    pub refusals: Vec<Refusal>,
    /// Claims, volumes and what else storage is made of.
    pub storage: Storage,
    /// PodDisruptionBudgets, sorted by namespace and name.
    pub budgets: Vec<DisruptionBudget>,
    /// Groups of pods that are bound together, sorted.
    pub groups: Vec<Group>,
    /// The objects that `policy` judges, sorted by kind, namespace and name.
    pub ours: Vec<OurObject>,
    /// Namespaces with their labels.
    pub namespaces: NamespaceLabels,
    /// The cluster's identity: the UID of its namespace `kube-system`.
    pub cluster: Option<Arc<str>>,
    /// Kinds that matter to a plan and are not understood.
    pub not_understood: BTreeMap<String, NotUnderstood>,
    /// Objects that stand for others, which a controller renders in the cluster.
    pub renders: BTreeSet<Renders>,
    /// Kinds that every cluster has objects of and a dump has none of.
    pub missing: BTreeSet<Everywhere>,
    /// Objects that an operator makes pods of.
    pub operated: BTreeSet<Operated>,
    /// Kinds that do not matter to a plan, with how many objects there were of each.
    pub passed_over: BTreeMap<String, usize>,
    /// The sources of documents that are no objects of Kubernetes and were passed over.
    pub strays: BTreeSet<Arc<str>>,
    /// PriorityClasses that pods name and the input does not hold; their pods have priority 0.
    pub unknown_priority_classes: BTreeSet<Arc<str>>,
    /// What was assumed, what could not be resolved, what looks wrong.
    pub said: Said,
    /// How many sources were read.
    pub sources: usize,
    /// How many objects they held, items of Lists each counted.
    pub documents: usize,
    /// How many pods had finished.
    pub finished_pods: usize,
    /// How many pods, those of daemonsets aside, do not say what they need.
    pub pods_without_requests: usize,
}
