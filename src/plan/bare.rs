//! Pods without a controller on nodes that the plan removes: once evicted they are gone, because nothing recreates
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ChangeId, Delete};
use super::spec::PlannedChange;
use crate::model::{NodeName, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::Warning;

/// How to avoid losing such a pod.
const HINT: &str = "to keep one, annotate it with `karpenter.sh/do-not-disrupt: \"true\"`; to have it recreated, run it by a Deployment, a StatefulSet or a Job";

/// Returns a warning about the pods without a controller that these changes evict, if any.
pub(super) fn warning(snapshot: &Snapshot, changes: &BTreeMap<ChangeId, PlannedChange>) -> Option<Warning> {
    let gone: BTreeSet<&NodeName> = changes.values().filter_map(|planned| removed(&planned.change)).collect();
    let bare = snapshot.pods.iter().filter(|pod| {
        let goes = matches!(&pod.place, PodPlace::Bound(node) if gone.contains(node));
        goes && pod.workload.is_none() && !pod.is_daemon && !pod.is_terminating
    });
    let bare: BTreeSet<&PodKey> = bare.map(|pod| &pod.key).collect();
    let first = bare.first()?;
    let (object, what) = match bare.len() {
        1 => (
            format!("pod `{first}`"),
            "has no controller: once it is evicted it is gone, and nothing makes it again",
        ),
        count => (
            format!("pod `{first}` and {} more", count - 1),
            "have no controller: once they are evicted they are gone, and nothing makes them again",
        ),
    };
    Some(Warning { object, what: what.to_owned(), hint: Some(HINT.to_owned()) })
}

const fn removed(change: &Change) -> Option<&NodeName> {
    match change {
        Change::Delete(Delete { target, .. }) => Some(&target.node),
        Change::Create(_) | Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => {
            None
        }
    }
}
