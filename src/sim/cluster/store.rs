//! The objects, their resource versions, and the change history.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::kinds::{DEFINITIONS, KindId, Kinds, PODS};
use crate::sim::agenda::{later, second};
use crate::sim::draw::Draw;
use crate::sim::json::{list, number, object, set, text, text_or_empty};

/// Maximum number of changes kept for watches; older ones are answered with 410, as after etcd's compaction.
const CHANGES_MAX: usize = 20_000;

/// An object's name within its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// Empty for cluster-scoped kinds.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Name {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub(crate) fn of(object: &Value) -> Self {
        Self::new(text_or_empty(object, "/metadata/namespace"), text_or_empty(object, "/metadata/name"))
    }
}

/// A change of one object.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) kind: KindId,
    pub(crate) before: Option<Arc<Value>>,
    pub(crate) after: Option<Arc<Value>>,
}

/// Options of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Grace {
    /// Grace period in seconds; if not set, the object's own.
    pub(crate) seconds: Option<i64>,
}

/// Result of a deletion.
#[derive(Clone, Debug)]
pub(crate) enum Deleted {
    /// The object is gone.
    Gone,
    /// The object is removed once its finalizers or its containers have ended.
    Marked(Arc<Value>),
}

/// All objects of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) kinds: Kinds,
    objects: BTreeMap<KindId, BTreeMap<Name, Arc<Value>>>,
    revision: u64,
    changes: VecDeque<Change>,
    /// Objects that have changed since the controllers last reconciled.
    dirty: BTreeSet<(KindId, Name)>,
    /// UIDs of deleted owners.
    orphaned: BTreeSet<String>,
    draw: Draw,
}

impl Store {
    pub(crate) fn new(draw: Draw) -> Self {
        Self {
            kinds: Kinds::built_in(),
            objects: BTreeMap::new(),
            // etcd's first revision; requests use 0 with a special meaning.
            revision: 1,
            changes: VecDeque::new(),
            dirty: BTreeSet::new(),
            orphaned: BTreeSet::new(),
            draw,
        }
    }

    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) const fn draw(&self) -> Draw {
        self.draw
    }

    pub(crate) fn get(&self, kind: KindId, name: &Name) -> Option<&Arc<Value>> {
        self.objects.get(&kind)?.get(name)
    }

    /// Returns the objects of a kind, by namespace and name.
    pub(crate) fn list(&self, kind: KindId) -> impl Iterator<Item = (&Name, &Arc<Value>)> {
        self.objects.get(&kind).into_iter().flatten()
    }

    /// Returns the objects of every kind of this name.
    pub(crate) fn list_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = Arc<Value>> + 'a {
        let ids: Vec<KindId> =
            self.kinds.all().filter(|(_, known)| known.kind == kind).map(|(id, _)| id).collect();
        ids.into_iter().flat_map(|id| self.list(id).map(|(_, object)| Arc::clone(object)))
    }

    /// Adds an object under its name, with the fields that the API server fills in. A given UID is kept, because worlds
    /// are loaded from dumps.
    pub(crate) fn create(&mut self, kind: KindId, mut new: Value, now: Timestamp) -> Arc<Value> {
        super::prepare::without_empty(kind, &mut new);
        let name = Name::of(&new);
        let revision = self.next_revision();
        let uid = self.draw.guid(&format!("uid {revision} {} {}", name.namespace, name.name));
        let metadata = object(&mut new, "metadata");
        metadata.entry("uid").or_insert_with(|| json!(uid));
        metadata.entry("creationTimestamp").or_insert_with(|| json!(second(now)));
        metadata.insert("resourceVersion".to_owned(), json!(revision.to_string()));
        metadata.entry("generation").or_insert_with(|| json!(1));
        let new = Arc::new(new);
        if kind == DEFINITIONS {
            self.kinds.define(&new);
        }
        self.objects.entry(kind).or_default().insert(name.clone(), Arc::clone(&new));
        self.note(Change { revision, kind, before: None, after: Some(Arc::clone(&new)) }, name);
        new
    }

    /// Replaces an object with a newer version; does nothing if both are equal. A terminating object is removed with
    /// its last finalizer.
    pub(crate) fn update(&mut self, kind: KindId, mut new: Value) -> Option<Arc<Value>> {
        super::prepare::without_empty(kind, &mut new);
        let name = Name::of(&new);
        let before = Arc::clone(self.get(kind, &name)?);
        for field in ["uid", "creationTimestamp", "resourceVersion", "generation"] {
            if let Some(value) = before.pointer(&format!("/metadata/{field}")) {
                object(&mut new, "metadata").insert(field.to_owned(), value.clone());
            }
        }
        if *before == new {
            return Some(before);
        }
        let revision = self.next_revision();
        if before.get("spec") != new.get("spec") {
            let generation = number(&before, "/metadata/generation").unwrap_or(0) + 1;
            set(&mut new, &["metadata", "generation"], json!(generation));
        }
        set(&mut new, &["metadata", "resourceVersion"], json!(revision.to_string()));
        if is_finished(kind, &new) {
            return self.remove(kind, &name);
        }
        let new = Arc::new(new);
        if kind == DEFINITIONS {
            self.kinds.define(&new);
        }
        self.objects.entry(kind).or_default().insert(name.clone(), Arc::clone(&new));
        self.note(Change { revision, kind, before: Some(before), after: Some(Arc::clone(&new)) }, name);
        Some(new)
    }

    /// Changes an object in place.
    pub(crate) fn modify(&mut self, kind: KindId, name: &Name, change: impl FnOnce(&mut Value)) {
        if let Some(before) = self.get(kind, name) {
            let mut new = Value::clone(before);
            change(&mut new);
            self.update(kind, new);
        }
    }

    /// Deletes an object: immediately, or once its finalizers (or its containers) have ended.
    pub(crate) fn delete(
        &mut self,
        kind: KindId,
        name: &Name,
        grace: Grace,
        now: Timestamp,
    ) -> Option<Deleted> {
        let before = Arc::clone(self.get(kind, name)?);
        let seconds = grace_seconds(kind, &before, grace);
        if list(&before, "/metadata/finalizers").is_empty() && seconds == 0 {
            return self.remove(kind, name).map(|_| Deleted::Gone);
        }
        let deadline = later(now, SignedDuration::from_secs(seconds));
        let earlier = text(&before, "/metadata/deletionTimestamp")
            .and_then(|time| time.parse::<Timestamp>().ok())
            .is_some_and(|time| time <= deadline);
        if earlier {
            // The grace period of a running deletion can only be shortened.
            return Some(Deleted::Marked(before));
        }
        let mut new = Value::clone(&before);
        let metadata = object(&mut new, "metadata");
        metadata.insert("deletionTimestamp".to_owned(), json!(second(deadline)));
        metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(seconds));
        let after = self.update(kind, new)?;
        Some(Deleted::Marked(after))
    }

    /// Removes an object unconditionally.
    pub(crate) fn remove(&mut self, kind: KindId, name: &Name) -> Option<Arc<Value>> {
        let before = self.objects.get_mut(&kind)?.remove(name)?;
        let revision = self.next_revision();
        if kind != PODS
            && let Some(uid) = text(&before, "/metadata/uid")
        {
            self.orphaned.insert(uid.to_owned());
        }
        self.note(Change { revision, kind, before: Some(Arc::clone(&before)), after: None }, name.clone());
        Some(before)
    }

    /// Returns the changes after a revision; `None` if they are no longer stored.
    pub(crate) fn changes_since(&self, revision: u64) -> Option<impl Iterator<Item = &Change>> {
        let oldest = self.changes.front().map_or(self.revision, |change| change.revision.saturating_sub(1));
        let known = revision >= oldest || self.changes.len() < CHANGES_MAX;
        known.then(|| self.changes.iter().filter(move |change| change.revision > revision))
    }

    pub(crate) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty() || !self.orphaned.is_empty()
    }

    /// Takes the objects that have changed since the last call.
    pub(crate) fn take_dirty(&mut self) -> BTreeSet<(KindId, Name)> {
        std::mem::take(&mut self.dirty)
    }

    /// Takes the UIDs of deleted owners.
    pub(crate) fn take_orphaned(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.orphaned)
    }

    const fn next_revision(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    fn note(&mut self, change: Change, name: Name) {
        self.dirty.insert((change.kind, name));
        if self.changes.len() == CHANGES_MAX {
            self.changes.pop_front();
        }
        self.changes.push_back(change);
    }
}

/// Returns whether a terminating object can be removed.
fn is_finished(kind: KindId, object: &Value) -> bool {
    text(object, "/metadata/deletionTimestamp").is_some()
        && list(object, "/metadata/finalizers").is_empty()
        && (kind != PODS || number(object, "/metadata/deletionGracePeriodSeconds") == Some(0))
}

/// Returns the grace period. Only running pods on a node have one.
fn grace_seconds(kind: KindId, object: &Value, grace: Grace) -> i64 {
    let has_ended = matches!(text(object, "/status/phase"), Some("Succeeded" | "Failed"));
    if kind != PODS || text_or_empty(object, "/spec/nodeName").is_empty() || has_ended {
        return 0;
    }
    grace.seconds.or_else(|| number(object, "/spec/terminationGracePeriodSeconds")).unwrap_or(30).max(0)
}
