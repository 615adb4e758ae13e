//! Daemonsets: which of them put a pod on a node, and which already have one there.
//!
//! An assumed daemonset is no exception: it comes unless a pod of its name already runs.

use std::collections::BTreeSet;

use super::labels::{Labels, daemon_may_come};
use super::taints::repels_daemon;
use crate::model::{LabelKey, Node, Pod, Pool, Taint};
use crate::snapshot::{Daemon, Snapshot};

/// Returns the daemonsets that will put a pod on an existing node and have none there yet.
pub(super) fn to_come<'a>(
    snapshot: &'a Snapshot,
    node: &Node,
    labels: &Labels,
    running: &[&Pod],
) -> Vec<&'a Daemon> {
    let there: BTreeSet<(&str, &str)> = running
        .iter()
        .filter_map(|pod| pod.workload.as_ref())
        .filter(|workload| &*workload.kind == "DaemonSet")
        .map(|workload| (workload.namespace.as_str(), &*workload.name))
        .collect();
    let daemons = snapshot.daemons.iter();
    daemons
        .filter(|daemon| !there.contains(&(daemon.namespace.as_str(), &*daemon.name)))
        .filter(|daemon| tolerates(daemon, &node.taints))
        .filter(|daemon| daemon_may_come(&daemon.spec, labels, |_| false))
        .collect()
}

/// Returns the daemonsets that will put a pod on a new node.
pub(super) fn on_new<'a>(snapshot: &'a Snapshot, pool: &Pool, labels: &Labels) -> Vec<&'a Daemon> {
    let given = |key: &LabelKey| snapshot.catalog.is_well_known(key);
    let daemons = snapshot.daemons.iter();
    daemons
        .filter(|daemon| tolerates(daemon, &pool.taints))
        .filter(|daemon| daemon_may_come(&daemon.spec, labels, given))
        .collect()
}

fn tolerates(daemon: &Daemon, taints: &[Taint]) -> bool {
    taints.iter().all(|taint| !repels_daemon(taint, &daemon.spec.tolerations))
}
