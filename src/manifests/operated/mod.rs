//! Objects from which an operator creates pods in a way that only it knows: reported with their replicas, never
//! planned.
//!
//! An object is recognised by its shape (a number of replicas, containers or steps with an image) or by a table of
//! well-known kinds. Objects of other tools and controllers that use the same fields differently do not count.

mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::kind::{self, group_and_version};
use super::tree::{Tree, Value, shortened};
use crate::model::Workload;

/// An object that an operator makes pods of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Operated {
    /// The kind.
    pub kind: String,
    /// The name as `namespace/name`, or the name alone where there is no namespace.
    pub name: String,
    /// How many replicas it asks for, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
}

/// How deep in a spec numbers of replicas are looked for: `spec.clusters[].nodes.data.replicas`.
const DEPTH_MAX: usize = 6;

impl Operated {
    /// Reads an object; `None` where no operator is known or seems to make pods of it, or where it asks for none.
    #[must_use]
    pub fn read(api_version: &str, kind: &str, object: &Tree) -> Option<Self> {
        let (group, _) = group_and_version(api_version);
        let known = table::paths(group, kind);
        if known.is_none() && !table::may_be_operated(group, kind) {
            return None;
        }
        if is_at_rest(object) {
            return None;
        }
        let spec = object.get("spec");
        let mut counts = Vec::new();
        spec.into_iter().for_each(|spec| counted(spec, 0, &mut counts));
        for path in known.unwrap_or_default() {
            at(object, path, &mut counts);
        }
        let has_container = || spec.is_some_and(holds_container);
        if counts.is_empty() && known.is_none() && !has_container() {
            return None;
        }
        let replicas = counts
            .iter()
            .copied()
            .fold(None, |sum: Option<i64>, count| Some(sum.unwrap_or(0).saturating_add(count)));
        if replicas == Some(0) {
            return None;
        }
        let text =
            |key| object.at(&["metadata", key]).and_then(Tree::as_text).filter(|text| !text.is_empty());
        let name = text("name").or_else(|| text("generateName")).map_or("without a name", |name| name);
        let name = text("namespace").map_or_else(|| name.to_owned(), |space| format!("{space}/{name}"));
        Some(Self { kind: kind::told(api_version, kind), name: shortened(&name), replicas })
    }

    /// Returns whether this object made one of these workloads or pods, by what controls them.
    fn is_among(&self, makers: &BTreeSet<Workload>) -> bool {
        let (namespace, name) = self.name.split_once('/').unwrap_or(("default", &self.name));
        makers.iter().any(|maker| {
            Some(&*maker.kind) == self.kind.split(' ').next()
                && maker.namespace.as_str() == namespace
                && *maker.name == *name
        })
    }
}

/// Leaves out what already made something that the input holds: that is planned with.
#[must_use]
pub fn unmade(operated: BTreeSet<Operated>, makers: &BTreeSet<Workload>) -> BTreeSet<Operated> {
    operated.into_iter().filter(|one| !one.is_among(makers)).collect()
}

/// Says how many there are of each kind, and how many replicas they ask for: `1 Kafka (3 replicas)`.
#[must_use]
pub fn by_kind(operated: &BTreeSet<Operated>) -> Vec<String> {
    let mut kinds: BTreeMap<&str, (usize, Option<i64>)> = BTreeMap::new();
    for Operated { kind, replicas, .. } in operated {
        let (count, sum) = kinds.entry(kind).or_default();
        *count += 1;
        *sum = match (*sum, *replicas) {
            (None, other) | (other, None) => other,
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
        };
    }
    let said = |(kind, (count, replicas)): (&str, (usize, Option<i64>))| match replicas {
        None => format!("{count} {kind}"),
        Some(1) => format!("{count} {kind} (1 replica)"),
        Some(replicas) => format!("{count} {kind} ({replicas} replicas)"),
    };
    kinds.into_iter().map(said).collect()
}

/// Finds numbers of replicas: where a map has one, those further in are its own business.
fn counted(tree: &Tree, depth: usize, counts: &mut Vec<i64>) {
    if depth > DEPTH_MAX {
        return;
    }
    let below: Vec<&Tree> = match &tree.value {
        Value::Map(entries) => {
            let own = ["replicas", "instances", "replicaCount"].iter().find_map(|key| number(tree.get(key)?));
            if let Some(count) = own {
                return counts.push(count);
            }
            entries.iter().filter(|entry| &*entry.key != "status").map(|entry| &entry.value).collect()
        }
        Value::List(items) => items.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => return,
    };
    below.into_iter().for_each(|tree| counted(tree, depth + 1, counts));
}

/// Finds the numbers at the end of a path, in which `*` is every item of a list or value of a map.
fn at(tree: &Tree, path: &[&str], counts: &mut Vec<i64>) {
    let Some((key, rest)) = path.split_first() else {
        counts.extend(number(tree));
        return;
    };
    let below: Vec<&Tree> = match (&tree.value, *key) {
        (Value::List(items), "*") => items.iter().collect(),
        (Value::Map(entries), "*") => entries.iter().map(|entry| &entry.value).collect(),
        (_, key) => tree.get(key).into_iter().collect(),
    };
    below.into_iter().for_each(|tree| at(tree, rest, counts));
}

const fn number(tree: &Tree) -> Option<i64> {
    if let Value::Integer(count) = &tree.value
        && *count >= 0
    {
        Some(*count)
    } else {
        None
    }
}

/// Returns whether an object has run to its end or is switched off: nothing makes pods of it then.
fn is_at_rest(object: &Tree) -> bool {
    let has_ended = ["completionTime", "finishedAt", "terminationTime"]
        .iter()
        .any(|key| object.at(&["status", key]).and_then(Tree::as_text).is_some_and(|time| !time.is_empty()));
    let spec = |key| object.at(&["spec", key]).map(|tree| &tree.value);
    let is_off = matches!(spec("running"), Some(Value::Bool(running)) if !running.is_true())
        || matches!(spec("runStrategy"), Some(Value::Text(strategy)) if &**strategy == "Halted");
    has_ended || is_off
}

/// What keys end in, in small letters, below which containers stand, one or several, whoever runs them: Argo's `container`
/// and `script`, Tekton's `steps` and `sidecars`, the `initContainers` of others.
const CONTAINERS: [&str; 7] = ["container", "containers", "script", "sidecar", "sidecars", "step", "steps"];

/// Returns whether a container with an image stands somewhere below, under a key that says so. An image alone says
/// nothing: an operator's settings name images too.
fn holds_container(tree: &Tree) -> bool {
    let has_image = |tree: &Tree| tree.text("image").is_some_and(|image| !image.is_empty());
    let is_said = |key: &str| CONTAINERS.iter().any(|end| key.to_ascii_lowercase().ends_with(end));
    let holds_one = |tree: &Tree| {
        let items = || tree.as_list().into_iter().flatten();
        let values = || tree.as_map().into_iter().flatten().map(|entry| &entry.value);
        has_image(tree) || items().any(has_image) || values().any(has_image)
    };
    match &tree.value {
        Value::Map(entries) => entries
            .iter()
            .any(|entry| (is_said(&entry.key) && holds_one(&entry.value)) || holds_container(&entry.value)),
        Value::List(items) => items.iter().any(holds_container),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => false,
    }
}
