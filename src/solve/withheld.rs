//! Pods for which no further node is created: the nodes created for such pods run none of them.
//!
//! Nodes that are not initialized yet may still take them, so pods that fit there are planned as usual; the rest stay
//! Pending, with the reason. On nodes that already carry pods, kube-scheduler binds them itself as soon as they fit.
//! Never moves or removes anything that runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::purpose::Purposes;
use crate::model::{NodeStage, PodKey, PodPlace, PodSpec, Purpose};
use crate::snapshot::Snapshot;

use super::daemons::Daemons;
use super::demand::Demand;
use super::existing;
use super::topology::Topology;

/// Returns the world in which pods of these purposes get no further node.
#[must_use]
pub fn withheld(mut snapshot: Snapshot, held: &BTreeMap<Purpose, Arc<str>>) -> Snapshot {
    if held.is_empty() {
        return snapshot;
    }
    let mut reasons: BTreeMap<PodKey, Arc<str>> = BTreeMap::new();
    let mut purposes = Purposes::default();
    for pod in &snapshot.pods {
        let waits = pod.place == PodPlace::Waiting && !pod.is_daemon && !pod.is_terminating;
        if waits && let Some(reason) = held.get(&purposes.of(pod)) {
            reasons.insert(pod.key.clone(), Arc::clone(reason));
        }
    }
    for pod in seated(&snapshot, &reasons) {
        reasons.remove(&pod);
    }
    let mut specs: BTreeMap<(usize, Arc<str>), Arc<PodSpec>> = BTreeMap::new();
    for pod in &mut snapshot.pods {
        let Some(reason) = reasons.get(&pod.key) else { continue };
        let spec = specs.entry((Arc::as_ptr(&pod.spec).addr(), Arc::clone(reason))).or_insert_with(|| {
            Arc::new(PodSpec { withheld: Some(Arc::clone(reason)), ..PodSpec::clone(&pod.spec) })
        });
        pod.spec = Arc::clone(spec);
    }
    snapshot
}

/// Returns those of these pods that fit on nodes that are not initialized yet.
fn seated(snapshot: &Snapshot, reasons: &BTreeMap<PodKey, Arc<str>>) -> BTreeSet<PodKey> {
    let is_coming = |stage: NodeStage| stage != NodeStage::Initialized;
    if reasons.is_empty() || !snapshot.nodes.iter().any(|node| is_coming(node.stage)) {
        return BTreeSet::new();
    }
    let topology = Topology::of(snapshot);
    let daemons = Daemons::of(snapshot, &topology);
    let demand = Demand::of_these(snapshot, &topology, |pod| reasons.contains_key(&pod.key));
    let mut nodes = existing::standing(snapshot, &daemons, &topology);
    nodes.retain(|standing| is_coming(standing.node.stage));
    let _ = existing::fill(&demand, &mut nodes);
    nodes.into_iter().flat_map(|standing| standing.placed).collect()
}
