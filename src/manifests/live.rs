//! Reads Pod objects: bare pods written by hand, and pods running in a cluster.

use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{NodeName, Pod, PodKey, PodPlace, PodSpec, PodState, Workload};

use super::claimed;
use super::cursor::Cursor;
use super::meta::{self, Meta, Owner};
use super::owners::Maker;
use super::pod::{self, PodBody};
use super::scaling::leaving::{DELETION_COST, Standing};

/// A pod in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePod {
    /// Namespace and name.
    pub key: PodKey,
    /// Whether a cluster created it: it has a UID or a status phase.
    pub is_made: bool,
    /// The workload that created it: its direct owner, until ownership is resolved.
    pub workload: Option<Workload>,
    /// The creator of that owner, inferred from names.
    pub maker: Option<Maker>,
    /// The node that it is bound to.
    pub node: Option<NodeName>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Whether it belongs to a DaemonSet, or is a static pod of its node.
    pub is_daemon: bool,
    /// Whether it has `karpenter.sh/do-not-disrupt`.
    pub is_do_not_disrupt: bool,
    /// Whether it is being deleted.
    pub is_terminating: bool,
    /// Other state that matters before it is evicted.
    pub state: PodState,
    /// Data that decides when it is deleted if its workload is scaled down.
    pub standing: Standing,
}

/// Result of reading a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodObject {
    /// It runs, or should run.
    Live(Box<LivePod>, Box<PodBody>),
    /// It has finished and needs no node.
    Finished,
}

/// The annotation of mirror pods, the API server's copies of static pods.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Reads a pod.
#[must_use]
pub fn read(object: Cursor<'_>) -> Option<PodObject> {
    let status = object.get("status");
    let phase = status.and_then(|status| status.text("phase")).map(|phase| &**phase);
    if matches!(phase, Some("Succeeded" | "Failed")) {
        return Some(PodObject::Finished);
    }
    let meta = Meta::read(object);
    let Some(spec) = object.get("spec") else {
        object.missing("spec", "a pod needs `spec.containers`");
        return None;
    };
    object.get("metadata").into_iter().for_each(|metadata| pod::selector::labels_of(metadata, "labels"));
    let labels = meta.as_ref().map(|meta| meta.labels.clone()).unwrap_or_default();
    // Only pods admitted by a cluster have a UID; a hand-written pod may have an empty status.
    let is_admitted = meta.as_ref().is_some_and(|meta| meta.uid.is_some());
    let mut body = pod::read(spec, labels, status.filter(|_| is_admitted))?;
    if is_admitted || pod::node(spec).is_some() {
        body = body.admitted();
    }
    let meta = meta?;
    body = body.grouped(&meta.annotations);
    let owner_kind = meta.owner.as_ref().map(|owner| &*owner.kind);
    let is_daemon = matches!(owner_kind, Some("DaemonSet" | "Node")) || meta.annotations.contains_key(MIRROR);
    if is_daemon {
        body = body.unpinned();
    }
    let workload = owner(&meta);
    let pod = LivePod {
        key: PodKey { namespace: meta.namespace.clone(), name: Arc::clone(&meta.name) },
        is_made: is_admitted || phase.is_some(),
        maker: workload.as_ref().and_then(|owner| Maker::of(owner, &meta)),
        workload,
        node: pod::node(spec),
        created: meta.created,
        is_daemon,
        is_do_not_disrupt: meta.do_not_disrupt().is_some_and(meta::is_do_not_disrupt),
        is_terminating: meta.is_deleting,
        state: state(&meta, status),
        standing: Standing::read(&meta, status),
    };
    Some(PodObject::Live(Box::new(pod), Box::new(body)))
}

/// Reads the state of a pod that matters before it is evicted.
fn state(meta: &Meta, status: Option<Cursor<'_>>) -> PodState {
    let started = status.and_then(|status| status.time("startTime"));
    let protection = meta.do_not_disrupt().and_then(claimed::duration);
    let until = started.zip(protection).and_then(|(start, protection)| start.checked_add(protection).ok());
    let cost = meta.annotations.get(DELETION_COST).and_then(|cost| cost.parse().ok());
    let is_unready = |item: &Cursor<'_>| {
        let is = |key: &str, wanted: &str| item.text(key).is_some_and(|text| &**text == wanted);
        is("type", "Ready") && !is("status", "True")
    };
    PodState {
        protected_until: until,
        deletion_cost: cost.unwrap_or(0),
        is_unready: status.is_some_and(|status| status.items("conditions").iter().any(is_unready)),
        nominated: status
            .and_then(|status| status.text("nominatedNodeName"))
            .filter(|name| !name.is_empty())
            .map(NodeName::new),
        is_meant: false,
        uid: meta.uid.clone().filter(|_| meta.owner.is_none()),
    }
}

/// Returns the owner of a pod; a Node is not a workload.
fn owner(meta: &Meta) -> Option<Workload> {
    let Owner { kind, name } = meta.owner.as_ref().filter(|owner| &*owner.kind != "Node")?;
    Some(Workload { kind: Arc::clone(kind), namespace: meta.namespace.clone(), name: Arc::clone(name) })
}

impl LivePod {
    /// Converts the pod to the model, with this spec.
    #[must_use]
    pub fn into_pod(self, spec: Arc<PodSpec>) -> Pod {
        let place = self.node.map_or(PodPlace::Waiting, PodPlace::Bound);
        // Once a pod is bound, its nomination is obsolete, but older API servers leave it in place.
        let nominated = self.state.nominated.filter(|_| place == PodPlace::Waiting);
        Pod {
            key: self.key,
            workload: self.workload,
            spec,
            place,
            is_daemon: self.is_daemon,
            is_do_not_disrupt: self.is_do_not_disrupt,
            is_terminating: self.is_terminating,
            state: PodState { nominated, ..self.state },
        }
    }
}
