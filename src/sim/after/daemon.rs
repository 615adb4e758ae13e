//! Daemonset pods that a node receives once it has joined.
//!
//! Follows Kubernetes' rule for existing nodes: the labels match selector and affinity, and the taints are tolerated.
//! Never checks free capacity: a daemonset pod that does not fit stays Pending on its node.

use std::sync::Arc;

use crate::model::taint::first_untolerated;
use crate::model::{Node, Pod, PodKey, PodPlace, PodSpec, PodState, Requirements, Taint, Workload};
use crate::snapshot::Daemon;

/// Returns the daemonset pods of this node.
pub(super) fn pods_of<'a>(node: &'a Node, daemons: &'a [Daemon]) -> impl Iterator<Item = Pod> + 'a {
    let labels = Requirements::of_labels(node.labels.iter().map(|(key, value)| (key.as_str(), &**value)));
    let runs = move |daemon: &&Daemon| runs_on(&daemon.spec, &labels, &node.taints);
    daemons.iter().filter(runs).map(|daemon| pod_of(daemon, node))
}

fn runs_on(spec: &PodSpec, labels: &Requirements, taints: &[Taint]) -> bool {
    let meets = |wanted: &Requirements| wanted.satisfied_by(labels, |_| false).is_ok();
    meets(&spec.node_selector)
        && spec.node_affinity.required.as_ref().is_none_or(|terms| terms.iter().any(meets))
        && first_untolerated(taints, &spec.tolerations).is_none()
}

fn pod_of(daemon: &Daemon, node: &Node) -> Pod {
    let Daemon { namespace, name, spec, is_assumed: _ } = daemon;
    Pod {
        key: PodKey { namespace: namespace.clone(), name: Arc::from(format!("{name}-{}", node.name)) },
        workload: Some(Workload {
            kind: Arc::from("DaemonSet"),
            namespace: namespace.clone(),
            name: name.clone(),
        }),
        spec: spec.clone(),
        place: PodPlace::Bound(node.name.clone()),
        is_daemon: true,
        is_do_not_disrupt: false,
        is_terminating: false,
        state: PodState::default(),
    }
}
