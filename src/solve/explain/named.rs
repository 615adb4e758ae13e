//! Resolves a name given by a user: to a pod, to the pods with that name prefix, or to those of a workload.

use std::collections::BTreeSet;

use crate::model::{Namespace, Pod, Workload};
use crate::snapshot::Snapshot;

/// Namespace that kubectl uses if none is given.
const NAMESPACE: &str = "default";

/// Short names of kinds in kubectl.
const SHORT: [(&str, &str); 6] = [
    ("deploy", "deployment"),
    ("sts", "statefulset"),
    ("rs", "replicaset"),
    ("ds", "daemonset"),
    ("cj", "cronjob"),
    ("rc", "replicationcontroller"),
];

/// Result of resolving a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant<'a> {
    /// These pods, sorted; never empty.
    Pods(Vec<&'a Pod>),
    /// Pods in each of these namespaces, and no namespace was given.
    InSeveral(BTreeSet<&'a Namespace>),
    /// No pod.
    Nothing,
}

/// Finds pods by the kind and the name that a user wrote. `pod` means a pod, or a prefix of pod names; anything else is
/// the kind of a workload. Without a namespace, kubectl's default is tried first, then any that is the only one with
/// matches.
#[must_use]
pub fn pods_meant<'a>(
    snapshot: &'a Snapshot,
    (kind, name): (&str, &str),
    namespace: Option<&str>,
) -> Meant<'a> {
    let is_pod = matches!(kind, "pod" | "pods" | "po");
    let workload_kind = long(kind);
    let is_named = |pod: &&Pod| match is_pod {
        true => *pod.key.name == *name,
        false => pod.workload.as_ref().is_some_and(|workload| is_workload(workload, &workload_kind, name)),
    };
    let found = within(snapshot, namespace, is_named);
    if is_pod && matches!(found, Meant::Nothing) {
        return within(snapshot, namespace, |pod| pod.key.name.starts_with(name));
    }
    found
}

/// Returns whether this is a well-known workload kind, or the kind of a workload of some pod in the input.
#[must_use]
pub fn is_workload_kind(snapshot: &Snapshot, kind: &str) -> bool {
    let kind = long(kind);
    let is_of = |workload: &Workload| workload.kind.eq_ignore_ascii_case(&kind);
    SHORT.iter().any(|(_, long)| *long == kind)
        || kind == "job"
        || snapshot.pods.iter().any(|pod| pod.workload.as_ref().is_some_and(is_of))
}

/// Returns whether `asked` means this kind: in any case, in the plural, or in kubectl's short form.
#[must_use]
pub fn is_kind(asked: &str, kind: &str) -> bool {
    long(asked).eq_ignore_ascii_case(kind)
}

/// Returns a kind in the singular and in full.
fn long(kind: &str) -> String {
    let lower = kind.to_ascii_lowercase();
    if let Some((_, long)) = SHORT.iter().find(|(short, _)| *short == lower) {
        return (*long).to_owned();
    }
    lower.strip_suffix('s').map_or_else(|| lower.clone(), str::to_owned)
}

fn is_workload(workload: &Workload, kind: &str, name: &str) -> bool {
    workload.kind.eq_ignore_ascii_case(kind) && *workload.name == *name
}

fn within<'a>(
    snapshot: &'a Snapshot,
    namespace: Option<&str>,
    is_meant: impl Fn(&&Pod) -> bool,
) -> Meant<'a> {
    let mut found: Vec<&Pod> = snapshot.pods.iter().filter(is_meant).collect();
    found.sort_by(|one, other| one.key.cmp(&other.key));
    let in_one = |wanted: &str| -> Vec<&'a Pod> {
        found.iter().copied().filter(|pod| pod.key.namespace.as_str() == wanted).collect()
    };
    let own = in_one(namespace.unwrap_or(NAMESPACE));
    if !own.is_empty() {
        return Meant::Pods(own);
    }
    let spaces: BTreeSet<&Namespace> = found.iter().map(|pod| &pod.key.namespace).collect();
    match (namespace, spaces.len()) {
        (Some(_), _) | (None, 0) => Meant::Nothing,
        (None, 1) => Meant::Pods(found),
        (None, _) => Meant::InSeveral(spaces),
    }
}
