//! Objects as they are kept: cut to what planning needs, to be read again as often as it takes.
//!
//! What is kept of an object is decided in [`super::allow`], never here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::allow::{self, Scope};
use super::document::Taker as _;
use super::found::Found;
use super::kind::{self, NotUnderstood};
use super::operated::Operated;
use super::renders::Renders;
use super::tree::{Entry, Tree, Value};
use crate::model::Workload;

/// An object, cut to what planning needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptObject {
    /// The source's name.
    pub file: Arc<str>,
    /// What is kept, each value with its line.
    pub tree: Tree,
}

/// What makes an object the same as another: group, kind, namespace (empty for what belongs to the cluster)
/// and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
    /// The namespace; `default` where the object says none.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl KeptObject {
    /// Returns what the object is known by; `None` where it has no kind or name.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        Identity::of(&self.tree)
    }
}

impl Identity {
    /// Returns what an object is known by; `None` where it has no kind or name.
    #[must_use]
    pub fn of(tree: &Tree) -> Option<Self> {
        let (group, _) = kind::group_and_version(tree.text("apiVersion")?);
        let (kind, metadata) = (tree.text("kind")?, tree.get("metadata")?);
        let namespace = match allow::scope_of(group, kind) {
            Scope::Namespaced => {
                metadata.text("namespace").filter(|text| !text.is_empty()).unwrap_or("default")
            }
            Scope::Cluster => "",
        };
        Some(Self {
            group: Arc::from(group),
            kind: Arc::from(kind),
            namespace: Arc::from(namespace),
            name: Arc::from(metadata.text("name")?),
        })
    }
}

/// Everything of an input that is planned with, and what was passed by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The objects, in the order found.
    pub objects: Vec<KeptObject>,
    /// The workloads that are manifests beside what a cluster made.
    pub laid: BTreeSet<Workload>,
    /// Kinds that matter to a plan and are not understood.
    pub not_understood: BTreeMap<String, NotUnderstood>,
    /// Objects that stand for others, which a controller renders in the cluster.
    pub renders: BTreeSet<Renders>,
    /// Objects that an operator makes pods of.
    pub operated: BTreeSet<Operated>,
    /// Kinds that do not matter to a plan, with how many objects there were of each.
    pub passed_over: BTreeMap<String, usize>,
    /// The sources of documents that are no objects of Kubernetes; a snapshot's file does not keep them.
    pub strays: BTreeSet<Arc<str>>,
    /// What `kubectl get` was asked for, by its words, where that is known: kinds without an object have none.
    pub listed: BTreeSet<String>,
    /// How many sources were read.
    pub sources: usize,
    /// How many objects they held, items of Lists each counted.
    pub documents: usize,
    /// How many pods had finished.
    pub finished_pods: usize,
}

impl Kept {
    /// Reads the objects; returns what was found, and how many sources it came from.
    pub(super) fn found(self) -> (Found, usize) {
        let objects = self.objects;
        let mut found = Found::default();
        (found.not_understood, found.passed_over) = (self.not_understood, self.passed_over);
        (found.renders, found.operated) = (self.renders, self.operated);
        (found.strays, found.listed) = (self.strays, self.listed);
        (found.finished_pods, found.laid) = (self.finished_pods, self.laid);
        for KeptObject { file, tree } in objects {
            found.object(&file, tree);
        }
        found.objects = self.documents;
        (found, self.sources)
    }
}

/// Returns what the name of an object begins with that leaves the rest of it to the cluster.
pub(super) fn generated_prefix(object: &Tree) -> Option<Arc<str>> {
    let metadata = object.get("metadata")?;
    if metadata.get("name").is_some_and(|name| name.value != Value::Null) {
        return None;
    }
    metadata.get("generateName")?.as_text().cloned()
}

/// Gives an object with metadata this name.
pub(super) fn set_name(object: &mut Tree, name: Arc<str>) {
    let Some(metadata) = object.get_mut("metadata") else { return };
    let line = metadata.line;
    metadata.set("name", Tree { line, value: Value::Text(name) });
}

impl Tree {
    /// Returns the value of a key, to be changed.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Map(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|entry| &*entry.key == key).map(|entry| &mut entry.value)
    }

    /// Gives a key of a map this value; of anything else nothing changes.
    pub(super) fn set(&mut self, key: &str, value: Self) {
        let Value::Map(entries) = &mut self.value else { return };
        match entries.iter_mut().find(|entry| &*entry.key == key) {
            Some(entry) => entry.value = value,
            None => entries.push(Entry { key: Arc::from(key), line: value.line, value }),
        }
    }
}
