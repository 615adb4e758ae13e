//! The NodeFleet's stored observations of nodes, combined with the current ones, and their consequences.
//!
//! Never prefers stored data over current data: an existing node is described by itself.

use std::sync::Arc;

use jiff::Timestamp;

use crate::api::node_fleet::{LearnedNode as WireNode, NodeFleetStatus, TriedNode};
use crate::manifests::Objects;
use crate::model::{
    Alike, Effect, Learned, LearnedNode, NetworkSetup, NodeName, PoolName, Purpose, Quantity, ResourceName,
    Resources, SkuName, Taint, Tried,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::snapshot::learned::{learned, sizes};
use crate::snapshot::tried::{Scene, Tries, tries};

/// Observations of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Outcomes of nodes that were created for pods which are still pending.
    pub tries: Tries,
    /// Actual resources of groups of similar nodes; only for a live cluster.
    pub nodes: Vec<LearnedNode>,
}

/// Collects the observations and lowers the catalogue to them: new nodes offer no more than earlier ones did. Without a
/// time there are no observations.
pub(super) fn taken(
    snapshot: &mut Snapshot,
    objects: &Objects,
    (policy, network): (&Policy, NetworkSetup),
) -> Arc<Evidence> {
    let Some(at) = snapshot.at else { return Arc::default() };
    let known = remembered(objects);
    let tries = tries(Scene {
        nodes: &snapshot.nodes,
        pods: &objects.pods,
        waiting_since: &objects.waiting_since,
        policy,
        sold: (&snapshot.catalog, network),
        known: &known.tried,
        at,
    });
    let nodes = learnt(snapshot, policy, &known.nodes, at);
    Arc::new(Evidence { tries, nodes })
}

fn learnt(
    snapshot: &mut Snapshot,
    policy: &Policy,
    known: &[LearnedNode],
    at: Timestamp,
) -> Vec<LearnedNode> {
    let Some(facts) = snapshot.azure.clone() else { return Vec::new() };
    let nodes = learned(&snapshot.nodes, policy, known, at);
    let sizes = sizes(&nodes, policy, &facts);
    if !sizes.is_empty() {
        snapshot.catalog = snapshot.catalog.clone().with_learned(sizes);
    }
    nodes
}

/// Returns the stored observations. Two NodeFleets contradict each other, so both are ignored.
fn remembered(objects: &Objects) -> Learned {
    let mut fleets = objects.ours.iter().filter(|object| &*object.kind == "NodeFleet");
    let (Some(fleet), None) = (fleets.next(), fleets.next()) else { return Learned::default() };
    let status = fleet.value.get("status").cloned().unwrap_or_default();
    let status: NodeFleetStatus = serde_json::from_value(status).unwrap_or_default();
    Learned {
        tried: status.tried.iter().flatten().filter_map(tried).collect(),
        nodes: status.learned.iter().flatten().filter_map(node).collect(),
    }
}

fn tried(wire: &TriedNode) -> Option<Tried> {
    let TriedNode { node, pods, pool, made_from, joined, because } = wire;
    Some(Tried {
        node: NodeName::new(node),
        pods: pods.iter().map(Purpose::new).collect(),
        pool: PoolName::new(pool),
        made_from: made_from.as_str().into(),
        joined: joined.parse().ok()?,
        because: because.as_str().into(),
    })
}

fn node(wire: &WireNode) -> Option<LearnedNode> {
    let WireNode { pool, size, image, max_pods, class_hash, allocatable, taints, seen } = wire;
    let alike = Alike {
        pool: PoolName::new(pool),
        size: SkuName::new(size),
        image: image.as_str().into(),
        max_pods: i64::from(*max_pods),
    };
    let amounts = allocatable.iter().map(|(name, amount)| {
        let name = ResourceName::parse(name);
        let amount = name.capacity(&Quantity::parse(&amount.to_string())?);
        Some((name, amount))
    });
    Some(LearnedNode {
        alike,
        class_hash: class_hash.as_str().into(),
        // A row that cannot be parsed completely is ignored.
        allocatable: amounts.collect::<Option<Resources>>()?,
        taints: taints.iter().filter_map(|text| taint(text)).collect(),
        seen: seen.parse().ok()?,
    })
}

/// Parses a taint in its display format.
fn taint(text: &str) -> Option<Taint> {
    let (what, effect) = text.rsplit_once(':')?;
    let (key, value) = what.split_once('=').unwrap_or((what, ""));
    Some(Taint::new(key, value, Effect::parse(effect)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::Source;
    use crate::model::Region;
    use crate::offline::{Request, read, world};
    use crate::snapshot::AzureFacts;

    fn facts() -> AzureFacts {
        let cluster = serde_json::json!({
            "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/demo",
            "name": "demo", "location": "westeurope", "nodeResourceGroup": "nodes", "kubernetesVersion": "1.34.2",
            "apiServer": "demo.example", "subnet": null, "adminUser": "azureuser",
            "network": {"plugin": "azure", "pluginMode": "overlay", "dataplane": null, "policy": null, "dnsServiceIp": null},
        });
        AzureFacts {
            cluster: serde_json::from_value(cluster).expect("it is a cluster"),
            vms: None,
            interfaces: None,
            backend_pools: None,
            security_groups: None,
            subnets: std::collections::BTreeMap::new(),
            ledger: None,
            images: std::collections::BTreeMap::new(),
            obstacles: crate::snapshot::obstacles::Obstacles::default(),
        }
    }

    #[test]
    fn what_the_nodefleet_remembers_of_a_size_lowers_what_new_nodes_offer() {
        let class = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: {imageFamily: \
                     Ubuntu}\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: \
                     {spec: {requirements: [], nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: \
                     default}}}}\n";
        let (_, policy) = read(vec![Source::new("a.yaml", class.to_owned())]).expect("it is right");
        let hash = policy.classes.values().next().expect("a class").hash.clone();
        let fleet = format!(
            "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: prod}}\nspec: {{}}\nstatus: {{learned: \
             [{{pool: general, size: Standard_D2s_v5, image: i, maxPods: 250, classHash: '{hash}', allocatable: {{memory: \
             3Gi}}, taints: ['a/b=c:NoSchedule'], seen: '2026-01-01T00:00:00Z'}}]}}\n"
        );
        let sources = || vec![Source::new("a.yaml", format!("{class}{fleet}"))];
        let (objects, _) = read(sources()).expect("it is right");
        let request =
            Request { sources: sources(), location: Some(Region::new("westeurope")), ..Request::default() };
        let world = world(request).expect("it is right");
        let network = NetworkSetup::AzureOverlay { is_cilium: false };
        let offers = |day: &str, is_live: bool| {
            let azure = is_live.then(|| Arc::new(facts()));
            let at = Some(format!("2026-01-{day}T00:00:00Z").parse().expect("a time"));
            let mut snapshot = Snapshot { azure, at, ..world.snapshot.clone() };
            let evidence = taken(&mut snapshot, &objects, (&policy, network));
            let class = policy.classes.values().next().expect("a class");
            let offered = snapshot.catalog.offered(class, network);
            let kind = offered
                .types
                .iter()
                .find(|kind| kind.name.as_str() == "Standard_D2s_v5")
                .expect("it is sold");
            (kind.allocatable.get(&ResourceName::Memory) == 3 << 30, evidence.nodes.len())
        };
        assert_eq!(offers("02", true), (true, 1));
        assert_eq!(offers("09", true), (false, 0), "after a week nobody believes it");
        assert_eq!(offers("02", false), (false, 0), "files are planned as they stand");
    }
}
