//! Stored objects, cut to the parts that planning needs, to be read again any number of times.
//!
//! [`super::allow`] decides which parts are kept, never this module.

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

/// An object, cut to the parts that planning needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptObject {
    /// The source's name.
    pub file: Arc<str>,
    /// The kept parts, each value with its line.
    pub tree: Tree,
}

/// Identity of an object: group, kind, namespace (empty for cluster-scoped kinds) and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
    /// The namespace; `default` if the object has none.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl KeptObject {
    /// Returns the object's identity; `None` if it has no kind or name.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        Identity::of(&self.tree)
    }
}

impl Identity {
    /// Returns the identity of an object; `None` if it has no kind or name.
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

/// Everything in an input that planning uses, and what was ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The objects, in the order read.
    pub objects: Vec<KeptObject>,
    /// Workloads from manifests beside a cluster's objects.
    pub laid: BTreeSet<Workload>,
    /// Relevant kinds that are not understood.
    pub not_understood: BTreeMap<String, NotUnderstood>,
    /// Objects from which a controller renders others in the cluster.
    pub renders: BTreeSet<Renders>,
    /// Objects from which an operator creates pods.
    pub operated: BTreeSet<Operated>,
    /// Ignored kinds, with the number of objects of each.
    pub passed_over: BTreeMap<String, usize>,
    /// Sources of documents that are not Kubernetes objects; a snapshot file does not keep them.
    pub strays: BTreeSet<Arc<str>>,
    /// Kinds that `kubectl get` listed, in its words, if known: a listed kind without objects has none in the cluster.
    pub listed: BTreeSet<String>,
    /// Number of sources.
    pub sources: usize,
    /// Number of objects in them, counting each item of a List.
    pub documents: usize,
    /// Number of finished pods.
    pub finished_pods: usize,
}

impl Kept {
    /// Reads the objects; returns the result and the number of sources.
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

/// Returns the `generateName` of an object without a name.
pub(super) fn generated_prefix(object: &Tree) -> Option<Arc<str>> {
    let metadata = object.get("metadata")?;
    if metadata.get("name").is_some_and(|name| name.value != Value::Null) {
        return None;
    }
    metadata.get("generateName")?.as_text().cloned()
}

/// Sets the name of an object with metadata.
pub(super) fn set_name(object: &mut Tree, name: Arc<str>) {
    let Some(metadata) = object.get_mut("metadata") else { return };
    let line = metadata.line;
    metadata.set("name", Tree { line, value: Value::Text(name) });
}

impl Tree {
    /// Returns the value of a key for modification.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Map(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|entry| &*entry.key == key).map(|entry| &mut entry.value)
    }

    /// Sets a key of a map; does nothing for other values.
    pub(super) fn set(&mut self, key: &str, value: Self) {
        let Value::Map(entries) = &mut self.value else { return };
        match entries.iter_mut().find(|entry| &*entry.key == key) {
            Some(entry) => entry.value = value,
            None => entries.push(Entry { key: Arc::from(key), line: value.line, value }),
        }
    }
}
