//! Removes the marks of abandoned removals: removals started by a plan whose NodePlan was deleted (by hand or by
//! clean-up) or has ended, for instance because the VM could not be deleted. The next plan decides about these nodes
//! again.
//!
//! Only acts if the NodePlans were listed; otherwise a missing plan proves nothing. Never writes to the cluster.

use std::sync::Arc;

use super::{AzureFacts, Snapshot};
use crate::model::{ClaimName, Node, NodeName, label};

/// A node whose removal was started by a plan that is deleted or has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// The node.
    pub node: NodeName,
    /// Its NodeClaim, which carries the mark.
    pub claim: ClaimName,
    /// The plan named in the mark.
    pub plan: Arc<str>,
    /// Whether the node is deleted anyway: by hand, or because its VM no longer exists.
    pub is_leaving: bool,
}

/// Removes such marks, and the taint set for draining, from the nodes of a snapshot. Returns the affected nodes.
pub fn take(snapshot: &mut Snapshot) -> Vec<Abandoned> {
    let Some(facts) = snapshot.azure.clone() else { return Vec::new() };
    let Some(known) = facts.ledger.as_ref().and_then(|ledger| ledger.plans.as_ref()) else {
        return Vec::new();
    };
    let mut abandoned = Vec::new();
    for node in &mut snapshot.nodes {
        let (Some(claim), Some(plan)) = (node.claim.clone(), node.claimed.begun_by.clone()) else { continue };
        if known.contains(&plan) {
            continue;
        }
        let Some(freed) = freed(&facts, node) else { continue };
        let is_leaving = freed.is_deleting;
        *node = freed;
        abandoned.push(Abandoned { node: node.name.clone(), claim, plan, is_leaving });
    }
    abandoned
}

/// Returns the node without the started removal; `None` while its VM is being deleted, which cannot be cancelled.
fn freed(facts: &AzureFacts, node: &Node) -> Option<Node> {
    let mut freed = node.clone();
    freed.claimed.begun_by = None;
    let vm = facts.vm_of(node);
    let is_up = vm.is_some_and(|vm| vm.provisioning_state.as_deref() != Some("Deleting"));
    if !is_up && !node.claimed.is_deleted {
        // Without a VM, the node is like one deleted by hand: only its objects are left to delete.
        freed.claimed.is_deleted = true;
        if !facts.has_lost_vm(&freed) {
            return None;
        }
    }
    freed.is_deleting = freed.claimed.is_deleted;
    if !freed.is_deleting {
        freed.taints.retain(|taint| &*taint.key != label::DISRUPTED);
    }
    Some(freed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::take;
    use crate::manifests::Source;
    use crate::model::Node;
    use crate::offline::{self, Request};
    use crate::snapshot::Snapshot;
    use crate::snapshot::azure::{AzureFacts, LedgerFacts, OWN_TAG, VmFacts};

    const VM: &str =
        "/subscriptions/s/resourceGroups/nodes/providers/Microsoft.Compute/virtualMachines/aks-web-abc";

    fn facts(state: Option<&str>, plans: Option<&[&str]>) -> AzureFacts {
        let vm = state.map(|state| {
            let vm = serde_json::json!({
                "id": VM, "name": "aks-web-abc", "vmId": "1", "size": "Standard_D4s_v5", "zone": null,
                "provisioningState": state, "image": null, "created": null, "tags": {OWN_TAG: "uid"}, "interfaces": [],
                "osDisk": null,
            });
            serde_json::from_value::<VmFacts>(vm).unwrap()
        });
        let cluster = serde_json::json!({
            "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/demo",
            "name": "demo", "location": "westeurope", "nodeResourceGroup": "nodes", "kubernetesVersion": "1.34.2",
            "apiServer": "demo.example", "subnet": null, "adminUser": "azureuser",
            "network": {"plugin": "azure", "pluginMode": "overlay", "dataplane": null, "policy": null, "dnsServiceIp": null},
        });
        let plans = plans.map(|plans| plans.iter().map(|plan| (*plan).into()).collect::<BTreeSet<_>>());
        AzureFacts {
            cluster: serde_json::from_value(cluster).unwrap(),
            vms: Some(vm.into_iter().collect()),
            interfaces: Some(Vec::new()),
            backend_pools: None,
            security_groups: None,
            subnets: std::collections::BTreeMap::new(),
            ledger: Some(LedgerFacts { plans, ..LedgerFacts::default() }),
            images: std::collections::BTreeMap::new(),
            obstacles: crate::snapshot::obstacles::Obstacles::default(),
        }
    }

    fn snapshot(node_meta: &str, facts: AzureFacts) -> Snapshot {
        let text = format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: aks-web-abc, uid: u1, labels: {{karpenter.sh/nodepool: web}}{node_meta}}}\n\
             spec: {{providerID: 'azure://{VM}', taints: [{{key: karpenter.sh/disrupted, effect: NoSchedule}}]}}\n---\n\
             apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: web-abc, labels: {{karpenter.sh/nodepool: web}}, \
             annotations: {{nodeform.dev/cluster: uid, nodeform.dev/removal: gone/change/2026-01-01T00:00:00Z}}}}\n\
             spec: {{requirements: [], nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}}}\n\
             status: {{nodeName: aks-web-abc, providerID: 'azure://{VM}'}}\n"
        );
        let sources = vec![Source::new("all.yaml", text)];
        let location = Some(crate::model::Region::new("westeurope"));
        let world = offline::world(Request { sources, location, ..Request::default() }).expect("it is right");
        Snapshot { azure: Some(facts.into()), ..world.snapshot }
    }

    fn drained(node: &Node) -> (bool, bool, bool) {
        (node.is_deleting, !node.taints.is_empty(), node.claimed.begun_by.is_some())
    }

    fn after(node_meta: &str, facts: AzureFacts) -> ((bool, bool, bool), usize) {
        let mut snapshot = snapshot(node_meta, facts);
        let taken = take(&mut snapshot).len();
        (drained(&snapshot.nodes[0]), taken)
    }

    #[test]
    fn a_mark_whose_plan_is_gone_counts_for_nothing() {
        assert_eq!(after("", facts(Some("Succeeded"), Some(&["other"]))), ((false, false, false), 1));
    }

    #[test]
    fn a_mark_counts_while_its_plan_is_recorded_and_where_nobody_listed_plans() {
        for plans in [Some(&["gone"][..]), None] {
            assert_eq!(after("", facts(Some("Succeeded"), plans)), ((true, true, true), 0), "{plans:?}");
        }
    }

    #[test]
    fn a_vm_that_is_being_deleted_is_not_taken_back() {
        assert_eq!(after("", facts(Some("Deleting"), Some(&[]))), ((true, true, true), 0));
    }

    #[test]
    fn a_node_without_its_vm_goes_as_one_that_somebody_deletes() {
        let down = "}\nstatus: {conditions: [{type: Ready, status: 'False'}]";
        let ((is_deleting, _, is_begun), taken) = after(down, facts(None, Some(&[])));
        assert_eq!((is_deleting, is_begun, taken), (true, false, 1));
        let ((is_deleting, _, is_begun), taken) = after("", facts(None, Some(&[])));
        assert_eq!((is_deleting, is_begun, taken), (true, true, 0), "it is up: the list of VMs may be wrong");
    }

    #[test]
    fn one_that_somebody_deletes_as_well_goes_by_hand() {
        let deleted = ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [karpenter.sh/termination]";
        let mut snapshot = snapshot(deleted, facts(Some("Succeeded"), Some(&[])));
        let taken = take(&mut snapshot);
        assert!(taken.len() == 1 && taken[0].is_leaving, "{taken:?}");
        assert!(snapshot.nodes[0].claimed.is_deleted_by_hand());
    }
}
