//! Nominated pods (`status.nominatedNodeName`): bound to their node while the nomination holds.
//!
//! It holds while the node exists, is not being deleted, and the pod fits it now. A newer taint or cordon, or less of a
//! resource than expected, breaks it, no matter what wrote it. kube-scheduler then looks for another node, and so do
//! plans. The node shows the origin: if it was created for pods of this owner and template, nodeform wrote the
//! nomination.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, NodeName, Pod, PodKey, PodPlace, Purpose};
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::demand::Ask;
use crate::solve::existing;
use crate::solve::fit::Site;
use crate::solve::topology::Topology;

/// The node that a pod is bound to, and whether nodeform nominated it.
type Seat = (NodeName, bool);

/// Binds pods whose nomination holds, the highest priority first, as far as they fit once the pods that are being
/// deleted are gone.
pub(super) fn seat(snapshot: &mut Snapshot) {
    let seats = seats(snapshot);
    if seats.is_empty() {
        return;
    }
    for pod in &mut snapshot.pods {
        if let Some((node, is_meant)) = seats.get(&pod.key) {
            pod.place = PodPlace::Bound(node.clone());
            pod.state.is_meant = *is_meant;
        }
    }
}

fn is_asking(pod: &Pod) -> bool {
    pod.state.nominated.is_some() && pod.place == PodPlace::Waiting && !pod.is_daemon && !pod.is_terminating
}

fn seats(snapshot: &Snapshot) -> BTreeMap<PodKey, Seat> {
    let mut asking: Vec<&Pod> = snapshot.pods.iter().filter(|pod| is_asking(pod)).collect();
    if asking.is_empty() {
        return BTreeMap::new();
    }
    asking.sort_by_key(|pod| (Reverse(pod.spec.priority), &pod.key));
    let mut sites = sites(snapshot, &asking);
    let mut seats = BTreeMap::new();
    for pod in asking {
        let Some((node, site)) = pod.state.nominated.as_ref().and_then(|node| sites.get_mut(node)) else {
            continue;
        };
        let ask = Ask::of(&pod.spec);
        if site.why(&ask).is_ok() && site.put(&ask, 1).is_ok() {
            let is_meant =
                !node.claimed.made_for.is_empty() && node.claimed.made_for.contains(&Purpose::of(pod));
            seats.insert(pod.key.clone(), (node.name.clone(), is_meant));
        }
    }
    seats
}

/// Returns the free capacity of the nominated nodes.
fn sites<'s>(snapshot: &'s Snapshot, asking: &[&Pod]) -> BTreeMap<&'s NodeName, (&'s Node, Site<'s>)> {
    let named: BTreeSet<&NodeName> = asking.iter().filter_map(|pod| pod.state.nominated.as_ref()).collect();
    let mut bound: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| !pod.is_terminating) {
        if let PodPlace::Bound(node) = &pod.place
            && named.contains(node)
        {
            bound.entry(node).or_default().push(pod);
        }
    }
    // kube-scheduler itself checks rules between pods here.
    let topology = Topology::default();
    let daemons = Daemons::of(snapshot, &topology);
    let is_open = |node: &&Node| named.contains(&node.name) && !node.is_deleting;
    let site = |node: &'s Node| {
        let there = bound.get(&node.name).map_or(&[][..], Vec::as_slice);
        (&node.name, (node, existing::site(node, there, (&daemons, &topology))))
    };
    snapshot.nodes.iter().filter(is_open).map(site).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::Source;
    use crate::offline::{self, Request};

    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, uid: p}\nspec: {containers: [{name: \
         c, resources: {requests: {cpu: '1', memory: 1Gi}}}]}\nstatus: {phase: Pending, nominatedNodeName: aks-c1}\n";

    fn world(node: &str, claim: &str) -> Snapshot {
        let text = format!(
            "{POD}---\napiVersion: v1\nkind: Node\nmetadata: {{name: other}}\n{node}---\napiVersion: karpenter.sh/v1\nkind: \
             NodeClaim\nmetadata: {{name: c1{claim}}}\nspec: {{requirements: [], nodeClassRef: {{group: karpenter.azure.com, \
             kind: AKSNodeClass, name: default}}}}\nstatus: {{providerID: 'azure:///c1', nodeName: aks-c1, capacity: {{cpu: \
             '4', memory: 16Gi, pods: '110'}}, conditions: [{{type: Registered, status: 'True'}}, {{type: Initialized, \
             status: 'True'}}]}}\n"
        );
        let sources = vec![Source::new("all.yaml", text)];
        let location = Some(crate::model::Region::new("westeurope"));
        offline::world(Request { sources, location, ..Request::default() }).expect("it is right").snapshot
    }

    fn node(spec: &str, cpu: &str) -> String {
        format!(
            "---\napiVersion: v1\nkind: Node\nmetadata: {{name: aks-c1, labels: {{karpenter.sh/registered: 'true', \
             karpenter.sh/initialized: 'true'}}}}\nspec: {{providerID: 'azure:///c1'{spec}}}\nstatus: {{capacity: {{cpu: '4', \
             memory: 16Gi, pods: '110'}}, allocatable: {{cpu: {cpu}, memory: 12Gi, pods: '110'}}, conditions: [{{type: Ready, \
             status: 'True'}}]}}\n"
        )
    }

    /// Returns whether nodeform nominated the pod; `None` if the pod is not bound.
    fn seat(world: &Snapshot) -> Option<bool> {
        let pod = world.pods.iter().find(|pod| &*pod.key.name == "p").expect("it is there");
        pod.promised().map(|_| pod.state.is_meant)
    }

    #[test]
    fn a_promise_counts_while_the_node_is_there_and_the_pod_fits_it() {
        assert_eq!(seat(&world(&node("", "3800m"), "")), Some(false), "kube-scheduler wrote it");
        let taint = ", taints: [{key: example.com/quarantine, effect: NoSchedule}]";
        assert_eq!(seat(&world(&node(taint, "3800m"), "")), None, "a taint came since");
        assert_eq!(seat(&world(&node(", unschedulable: true", "3800m"), "")), None, "it is cordoned");
        assert_eq!(seat(&world(&node("", "900m"), "")), None, "it has less than was expected");
        assert_eq!(seat(&world("", "")), None, "the Node is gone, whatever its NodeClaim promises");
    }

    #[test]
    fn what_nodeform_wrote_is_told_from_what_kube_scheduler_wrote() {
        let objects = crate::manifests::read(vec![Source::new("p.yaml", POD.to_owned())]).expect("is right");
        let purpose = Purpose::of(&objects.pods[0]);
        let made_for = format!(", annotations: {{nodeform.dev/pods: 'abcdefghij,{purpose}'}}");
        assert_eq!(seat(&world(&node("", "3800m"), &made_for)), Some(true));
        let for_others = ", annotations: {nodeform.dev/pods: abcdefghij}";
        assert_eq!(seat(&world(&node("", "3800m"), for_others)), Some(false));
    }
}
