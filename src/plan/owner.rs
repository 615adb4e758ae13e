//! Owners of the pods that a removal evicts: its approval is bound to them, whatever pods they have by then.
//!
//! Must never say whether a pod may be evicted: that is `eviction`.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{Namespace, NodeName, Pod, PodPlace};

/// The kind of a pod that nobody owns.
const POD: &str = "Pod";

/// The topmost controller of pods, or a pod that has none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodOwner {
    /// The namespace.
    pub namespace: Namespace,
    /// The kind, such as `Deployment`; `Pod` for a pod that nobody owns.
    pub kind: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The UID of a pod that nobody owns: one made later under its name is another. Null for controllers.
    pub uid: Option<Arc<str>>,
}

impl PodOwner {
    /// Returns whose a pod is.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        match &pod.workload {
            Some(workload) => Self {
                namespace: workload.namespace.clone(),
                kind: workload.kind.clone(),
                name: workload.name.clone(),
                uid: None,
            },
            None => Self {
                namespace: pod.key.namespace.clone(),
                kind: POD.into(),
                name: pod.key.name.clone(),
                uid: pod.state.uid.clone(),
            },
        }
    }

    /// Returns whether it is a pod that nobody owns.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        &*self.kind == POD
    }
}

impl fmt::Display for PodOwner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{} in {}", self.kind, self.name, self.namespace)
    }
}

/// Returns the pods that have to be evicted where a node goes: those of DaemonSets and static ones go with it, and what is
/// being deleted goes whatever is done.
pub fn evicted<'p>(pods: &'p [Pod], node: &'p NodeName) -> impl Iterator<Item = &'p Pod> {
    let is_here = move |pod: &&Pod| matches!(&pod.place, PodPlace::Bound(place) if place == node);
    pods.iter().filter(is_here).filter(|pod| is_evicted(pod))
}

/// Returns whose pods have to be evicted where a node goes, sorted.
#[must_use]
pub fn owners<'p>(pods: impl IntoIterator<Item = &'p Pod>) -> Vec<PodOwner> {
    let owners: BTreeSet<PodOwner> =
        pods.into_iter().filter(|pod| is_evicted(pod)).map(PodOwner::of).collect();
    owners.into_iter().collect()
}

fn is_evicted(pod: &Pod) -> bool {
    // A pod nominated to a node is not there yet.
    !pod.is_daemon && !pod.is_terminating && !pod.key.is_placeholder() && pod.promised().is_none()
}
