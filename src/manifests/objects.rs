//! Contents of an input, as values of the model.

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

/// A DaemonSet of the input, or one derived from its pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DaemonSet {
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
    /// The scheduling-relevant spec of its pods.
    pub spec: Arc<PodSpec>,
}

/// A NodePool, AKSNodeClass, NodeFleet, NodeOverlay or CapacityBuffer, to be checked by `policy`. Two are equal if
/// their content is, whatever their place.
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
    /// Returns the line of the field at this path, or of the nearest existing parent.
    #[must_use]
    pub fn line(&self, path: &[Segment]) -> usize {
        self.tree.line_of(path)
    }

    /// Returns kind, namespace (empty if the object has none) and name.
    #[must_use]
    pub fn identity(&self) -> (&str, &str, &str) {
        let namespace = self.tree.at(&["metadata", "namespace"]).and_then(Tree::as_text);
        (&self.kind, namespace.map_or("", |namespace| namespace), &self.name)
    }

    /// Returns `namespace/name`, or only the name if the object has no namespace.
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
    /// Pods that run or should run, sorted, without finished ones.
    pub pods: Vec<Pod>,
    /// Creation times of existing pods without a node.
    pub waiting_since: BTreeMap<PodKey, Timestamp>,
    /// DaemonSets, sorted.
    pub daemons: Vec<DaemonSet>,
    /// Pod spec and desired number of pods of each workload and PodTemplate; empty without CapacityBuffers.
    pub templates: BTreeMap<Workload, (Arc<PodSpec>, u32)>,
    /// Nodes and launching NodeClaims, sorted by name.
    pub nodes: Vec<Node>,
    /// Azure's refusals, sorted and deduplicated.
    pub refusals: Vec<Refusal>,
    /// Claims, volumes and other storage objects.
    pub storage: Storage,
    /// PodDisruptionBudgets, sorted by namespace and name.
    pub budgets: Vec<DisruptionBudget>,
    /// Groups of pods that are bound together (gangs), sorted.
    pub groups: Vec<Group>,
    /// The objects for `policy`, sorted by kind, namespace and name.
    pub ours: Vec<OurObject>,
    /// Namespaces with their labels.
    pub namespaces: NamespaceLabels,
    /// The cluster's identity: the UID of its namespace `kube-system`.
    pub cluster: Option<Arc<str>>,
    /// Relevant kinds that are not understood.
    pub not_understood: BTreeMap<String, NotUnderstood>,
    /// Objects from which a controller renders others in the cluster.
    pub renders: BTreeSet<Renders>,
    /// Kinds of which every cluster has objects but this dump has none.
    pub missing: BTreeSet<Everywhere>,
    /// Objects from which an operator creates pods.
    pub operated: BTreeSet<Operated>,
    /// Ignored kinds, with the number of objects of each.
    pub passed_over: BTreeMap<String, usize>,
    /// Sources of documents that were skipped because they are not Kubernetes objects.
    pub strays: BTreeSet<Arc<str>>,
    /// PriorityClasses that pods reference but the input lacks; their pods have priority 0.
    pub unknown_priority_classes: BTreeSet<Arc<str>>,
    /// Assumptions, unresolved references and suspicious findings.
    pub said: Said,
    /// Number of sources.
    pub sources: usize,
    /// Number of objects in them, counting each item of a List.
    pub documents: usize,
    /// Number of finished pods.
    pub finished_pods: usize,
    /// Number of pods without requests, excluding those of DaemonSets.
    pub pods_without_requests: usize,
}
