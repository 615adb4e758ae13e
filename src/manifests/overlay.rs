//! Lays manifests over the objects of a cluster: the state after they were applied.
//!
//! An object with the same group, kind, namespace and name is replaced; any other is added. Pruned objects are removed
//! with everything that they own. `replaced` decides which pods run then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::document::{self, Taker};
use super::fault::{Fault, Faults};
use super::found::Found;
use super::kept::{Identity, Kept, KeptObject};
use super::kind::told;
use super::operated::Operated;
use super::replaced::{self, Applied, Settled};
use super::said::Note;
use super::scalar::Truth;
use super::source::Source;
use super::stray::Lenience;
use super::tree::{Tree, Value};
use crate::model::{Namespace, Workload};

/// Kinds whose replicas may be set externally: if a manifest omits `replicas`, the current number stays.
const REPLICATED: [&str; 4] = ["Deployment", "ReplicaSet", "Rollout", "StatefulSet"];

/// Changes to lay over the objects of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// Objects to apply.
    pub with: Kept,
    /// Objects to remove.
    pub prune: BTreeSet<Identity>,
    /// A note for the plan if the user did not request the overlay explicitly.
    pub note: Option<Note>,
}

/// Returns the identities of the objects in sources, and all faults that keep one from being read.
#[must_use]
pub fn identities(sources: Vec<Source>) -> (BTreeSet<Identity>, Vec<Fault>) {
    let mut named = Named::default();
    for source in &sources {
        named.lenience = Lenience::of(source);
        document::read(source, &mut named);
    }
    (named.identities, named.faults.sorted())
}

#[derive(Default)]
struct Named {
    identities: BTreeSet<Identity>,
    faults: Faults,
    lenience: Lenience,
}

impl Taker for Named {
    fn object(&mut self, _: &Arc<str>, tree: Tree) {
        self.identities.extend(Identity::of(&tree));
    }

    fn fault(&mut self, fault: Fault) {
        if !self.lenience.is_unreadable_passed_over {
            self.faults.add(fault);
        }
    }

    fn goes_on(&self) -> bool {
        !self.faults.is_full()
    }
}

/// Reads the objects of a cluster with an overlay; returns the result and the number of sources.
pub(super) fn found(base: Kept, overlay: Overlay) -> (Found, usize) {
    let Overlay { with, prune, note } = overlay;
    let (before, _) = base.clone().found();
    let before = Settled::of(&before);
    let running = before.running();
    let mut applied = Applied::default();
    let mut objects: BTreeMap<Identity, KeptObject> = BTreeMap::new();
    let mut nameless = Vec::new();
    for object in base.objects {
        match object.identity() {
            Some(identity) => drop(objects.insert(identity, object)),
            None => nameless.push(object),
        }
    }
    let removed = removed(&objects, &prune);
    applied.removed = removed.iter().map(workload_of).collect();
    objects.retain(|identity, _| !removed.contains(identity));
    for mut object in with.objects {
        let Some(identity) = object.identity() else {
            nameless.push(object);
            continue;
        };
        let present = objects.get(&identity).map(|present| &present.tree);
        let workload = workload_of(&identity);
        if is_without_replicas(&identity, &object.tree) {
            let live = present.and_then(|present| present.at(&["spec", "replicas"])).cloned();
            let counted = || running.get(&workload).map(|count| number(*count));
            if let Some(replicas) = live.or_else(counted) {
                object.set_replicas(replicas);
            }
            applied.unscaled.insert(workload.clone());
        }
        applied.workloads.insert(workload);
        if let Some(present) = present {
            carry_over(present, &mut object.tree);
        }
        objects.insert(identity, object);
    }
    let merged = Kept {
        objects: objects.into_values().chain(nameless).collect(),
        laid: base.laid.into_iter().chain(applied.workloads.iter().cloned()).collect(),
        not_understood: not_understood(base.not_understood, with.not_understood, &prune),
        renders: base.renders.into_iter().chain(with.renders).collect(),
        operated: operated(base.operated, with.operated, &prune),
        passed_over: base.passed_over,
        listed: base.listed,
        strays: base.strays.into_iter().chain(with.strays).collect(),
        sources: base.sources + with.sources,
        documents: base.documents + with.documents,
        finished_pods: base.finished_pods,
    };
    let (mut found, sources) = merged.found();
    found.notes.extend(note);
    replaced::settle(&before, &mut found, &applied);
    (found, sources)
}

fn number(count: i64) -> Tree {
    Tree { line: 0, value: Value::Integer(count) }
}

fn is_without_replicas(identity: &Identity, tree: &Tree) -> bool {
    let written = tree.at(&["spec", "replicas"]).is_some_and(|replicas| replicas.value != Value::Null);
    REPLICATED.contains(&&*identity.kind) && !written
}

impl KeptObject {
    fn set_replicas(&mut self, replicas: Tree) {
        if let Some(spec) = self.tree.get_mut("spec") {
            spec.set("replicas", replicas);
        }
    }
}

/// Copies the parts that applying does not change: the status, and metadata set by the cluster.
fn carry_over(present: &Tree, applied: &mut Tree) {
    if applied.get("status").is_none()
        && let Some(status) = present.get("status")
    {
        applied.set("status", status.clone());
    }
    for key in ["uid", "creationTimestamp", "ownerReferences", "deletionTimestamp"] {
        let (Some(value), Some(metadata)) = (present.at(&["metadata", key]), applied.get_mut("metadata"))
        else {
            continue;
        };
        if metadata.get(key).is_none() {
            metadata.set(key, value.clone());
        }
    }
}

/// Returns the removed objects: pruned ones, those in pruned namespaces, and those owned by a removed object.
fn removed(objects: &BTreeMap<Identity, KeptObject>, prune: &BTreeSet<Identity>) -> BTreeSet<Identity> {
    let mut removed = prune.clone();
    let spaces: BTreeSet<&Arc<str>> = prune
        .iter()
        .filter(|gone| gone.group.is_empty() && &*gone.kind == "Namespace")
        .map(|gone| &gone.name)
        .collect();
    removed.extend(objects.keys().filter(|identity| spaces.contains(&identity.namespace)).cloned());
    // Owners may have owners themselves: pods of a CronJob's Job.
    const DEPTH_MAX: usize = 4;
    for _ in 0..DEPTH_MAX {
        let owned: Vec<Identity> = objects
            .iter()
            .filter(|(identity, _)| !removed.contains(*identity))
            .filter(|(identity, object)| {
                owner(identity, object).is_some_and(|owner| removed.contains(&owner))
            })
            .map(|(identity, _)| identity.clone())
            .collect();
        if owned.is_empty() {
            break;
        }
        removed.extend(owned);
    }
    removed
}

fn owner(identity: &Identity, object: &KeptObject) -> Option<Identity> {
    let owners = object.tree.at(&["metadata", "ownerReferences"])?.as_list()?;
    let controls =
        |owner: &&Tree| owner.get("controller").is_some_and(|flag| flag.value == Value::Bool(Truth::TRUE));
    let owner = owners.iter().find(controls).or_else(|| owners.first())?;
    let (group, _) = super::kind::group_and_version(owner.text("apiVersion")?);
    let (kind, name) = (Arc::from(owner.text("kind")?), Arc::from(owner.text("name")?));
    Some(Identity { group: Arc::from(group), kind, name, namespace: Arc::clone(&identity.namespace) })
}

fn workload_of(identity: &Identity) -> Workload {
    let Identity { group: _, kind, namespace, name } = identity;
    Workload { kind: Arc::clone(kind), namespace: Namespace::new(&**namespace), name: Arc::clone(name) }
}

/// Merges the objects from which operators create pods: applied ones win, pruned ones are removed.
fn operated(
    base: BTreeSet<Operated>,
    with: BTreeSet<Operated>,
    prune: &BTreeSet<Identity>,
) -> BTreeSet<Operated> {
    let known = |one: &Operated| (one.kind.clone(), one.name.clone());
    let mut all: BTreeMap<_, Operated> = base.into_iter().map(|one| (known(&one), one)).collect();
    all.extend(with.into_iter().map(|one| (known(&one), one)));
    for Identity { group, kind, namespace, name } in prune {
        let kind = told(&format!("{group}/v1"), kind);
        let bare = (&**namespace == "default").then(|| name.to_string());
        for name in bare.into_iter().chain([format!("{namespace}/{name}")]) {
            all.remove(&(kind.clone(), name));
        }
    }
    all.into_values().collect()
}

type NotUnderstood = BTreeMap<String, super::NotUnderstood>;

/// Merges the objects that are not understood, each once, without pruned ones.
fn not_understood(base: NotUnderstood, with: NotUnderstood, prune: &BTreeSet<Identity>) -> NotUnderstood {
    let mut all = base;
    for (kind, found) in with {
        let super::NotUnderstood { why, names } = found;
        let entry = all.entry(kind).or_insert_with(|| super::NotUnderstood { why, names: BTreeMap::new() });
        for (name, count) in names {
            let present = entry.names.entry(name).or_default();
            *present = (*present).max(count);
        }
    }
    for Identity { group, kind, namespace, name } in prune {
        if let Some(found) = all.get_mut(&told(&format!("{group}/v1"), kind)) {
            found.names.remove(&format!("{namespace}/{name}"));
            if &**namespace == "default" {
                found.names.remove(&**name);
            }
        }
    }
    all.retain(|_, found| !found.names.is_empty());
    all
}
