//! Warns about pods on nodes of another operating system than they declare (`spec.os.name`).
//!
//! kube-scheduler ignores this, so placement does too: it binds such a pod, and the kubelet refuses it. This module
//! only reports that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Node, NodeName, PodKey, label};
use crate::snapshot::Snapshot;
use crate::solve::solution::{Solution, Warning};

/// The operating system of Karpenter's nodes on AKS.
const LINUX: &str = "linux";

/// Warns about pods that are placed where they cannot run, once per pair of operating systems.
pub fn warn(snapshot: &Snapshot, solution: &mut Solution) {
    let asking = snapshot.pods.iter().filter_map(|pod| Some((&pod.key, pod.spec.os.as_ref()?)));
    let asking: BTreeMap<&PodKey, &Arc<str>> = asking.collect();
    if asking.is_empty() {
        return;
    }
    let of_node = |node: &Node| Some((node.name.clone(), node.labels.get(label::OS)?.clone()));
    let systems: BTreeMap<NodeName, Arc<str>> = snapshot.nodes.iter().filter_map(of_node).collect();
    let new = solution.target.new.iter().flat_map(|node| node.pods.iter().map(|pod| (pod, LINUX)));
    let kept = solution.target.kept.iter().filter_map(|kept| Some((kept, &**systems.get(&kept.node)?)));
    let kept = kept.flat_map(|(kept, system)| kept.pods.iter().map(move |pod| (pod, system)));
    let mut wrong: BTreeMap<(&str, &str), BTreeSet<&PodKey>> = BTreeMap::new();
    for (pod, system) in new.chain(kept) {
        if let Some(wanted) = asking.get(pod).filter(|wanted| &****wanted != system) {
            wrong.entry((wanted, system)).or_default().insert(pod);
        }
    }
    let warnings: Vec<Warning> = wrong.iter().filter_map(|(systems, pods)| warning(*systems, pods)).collect();
    solution.report.warnings.extend(warnings);
    solution.report.warnings.sort();
}

fn warning((wanted, system): (&str, &str), pods: &BTreeSet<&PodKey>) -> Option<Warning> {
    let first = pods.first()?;
    let (more, says, it) = match pods.len() {
        1 => (String::new(), "says that it is", "it"),
        count => (format!(" and {} more", count - 1), "say that they are", "them"),
    };
    let only = if wanted == LINUX { "" } else { "; Karpenter makes none on AKS, agent pools have them" };
    Some(Warning {
        object: format!("pod `{first}`{more}"),
        what: format!(
            "{says} for {wanted} (`spec.os.name`), which Kubernetes' scheduler does not ask: it binds {it} to a node of \
             {system}, and the kubelet there refuses {it}"
        ),
        hint: Some(format!("select such nodes: `nodeSelector` `{}: {wanted}`{only}", label::OS)),
    })
}
