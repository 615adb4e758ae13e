//! Rows from a snapshot, prices and statements about nodes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::row::{PodRow, Row, Stage, Use};
use super::said::{self, Machine, Planned, Said};
use super::shares;
use crate::model::{Node, NodeName, NodeStage, Pod, PodPlace, Price, label};
use crate::render::words::count;
use crate::snapshot::Snapshot;
use crate::solve::price::bought_as;

/// Label of nodes of AKS agent pools.
const AGENT_POOL: &str = "kubernetes.azure.com/agentpool";

/// Maximum number of pods listed as holding a node.
const HOLDERS_MAX: usize = 2;

/// Data read from a cluster.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// Nodes, NodeClaims and pods.
    pub snapshot: &'a Snapshot,
    /// Prices of nodes, as far as known.
    pub prices: &'a BTreeMap<NodeName, Price>,
    /// Kinds that could not be listed, named as by `kubectl api-resources -o name`.
    pub unread: BTreeSet<String>,
    /// Statements of others about the nodes.
    pub said: Said,
    /// What could not be read, and what was assumed.
    pub notes: Vec<String>,
}

/// A fleet at one point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fleet {
    /// Time of the snapshot.
    pub at: Option<Timestamp>,
    /// Its nodes by name, including those that plans create.
    pub rows: Vec<Row>,
    /// Number of pending pods; `None` if pods could not be read.
    pub pending: Option<usize>,
    /// Node provisioners and what they are about to do.
    pub provisioners: Vec<String>,
    /// What could not be read, why no change starts, and why pods are pending.
    pub notes: Vec<String>,
}

/// Returns the rows of a cluster.
#[must_use]
pub fn fleet(seen: Seen<'_>) -> Fleet {
    let Seen { snapshot, prices, unread, said, notes } = seen;
    let knows_pods = !unread.contains("pods");
    let pods = shares::by_node(snapshot);
    let nodes = snapshot.nodes.iter();
    let mut rows: Vec<Row> = nodes
        .map(|node| {
            let pods = knows_pods.then(|| pods.get(&node.name).map(Vec::as_slice).unwrap_or_default());
            existing(node, (pods, snapshot.at), prices, &said)
        })
        .collect();
    let claims = snapshot.nodes.iter().filter_map(|node| node.claim.as_ref()).map(|claim| claim.as_str());
    let there: BTreeSet<&str> = snapshot.nodes.iter().map(|node| node.name.as_str()).chain(claims).collect();
    let is_there = |planned: &&Planned| {
        there.contains(planned.node.as_str())
            || planned.claim.as_deref().is_some_and(|claim| there.contains(claim))
    };
    rows.extend(
        said.creates
            .iter()
            .filter(|planned| !is_there(planned))
            .filter_map(|planned| planned.machine.as_ref().map(|machine| new(planned, machine, &said))),
    );
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    let waits = |pod: &&Pod| pod.place == PodPlace::Waiting && !pod.is_terminating;
    Fleet {
        at: snapshot.at,
        pending: knows_pods.then(|| snapshot.pods.iter().filter(waits).count()),
        provisioners: provisioners(snapshot, &said, &unread),
        notes: [notes, said.warnings].concat(),
        rows,
    }
}

/// Describes the node provisioners of the cluster.
fn provisioners(snapshot: &Snapshot, said: &Said, unread: &BTreeSet<String>) -> Vec<String> {
    if !said.fleets.is_empty() {
        return said.fleets.clone();
    }
    if ["nodefleets.nodeform.dev", "nodeclaims.karpenter.sh"].iter().any(|kind| unread.contains(*kind)) {
        return vec!["Provisioner unknown: NodeFleets or NodeClaims cannot be listed".to_owned()];
    }
    let claims = || snapshot.nodes.iter().filter(|node| node.claim.is_some());
    let own = claims().filter(|node| node.claimed.is_own).count();
    let others = claims().count() - own;
    vec![match (own, others) {
        (0, 0) => "No NodeFleet and no NodeClaims: nodes of agent pools alone".to_owned(),
        (0, others) => {
            format!("No NodeFleet; {} of Karpenter (node auto provisioning)", count(others, "NodeClaim"))
        }
        (own, 0) => format!("No NodeFleet; {} of nodeform", count(own, "NodeClaim")),
        (own, others) => {
            format!("No NodeFleet; {} of nodeform, {others} of Karpenter", count(own, "NodeClaim"))
        }
    }]
}

fn existing(
    node: &Node,
    (pods, at): (Option<&[&Pod]>, Option<Timestamp>),
    prices: &BTreeMap<NodeName, Price>,
    said: &Said,
) -> Row {
    let labelled = |key: &str| node.labels.get(key).map(|value| value.to_string());
    let [cpu, memory, pod_count] = shares::uses(node, pods);
    let pod_list = pods.map(|pods| shares::pod_rows(pods, at));
    Row {
        name: node.name.to_string(),
        pool: node.pool.as_ref().map(ToString::to_string).or_else(|| labelled(AGENT_POOL)),
        size: labelled(label::INSTANCE_TYPE),
        zone: labelled(label::ZONE),
        bought: bought_as(node).map(|(_, bought)| bought),
        stage: stage(node),
        cpu,
        memory,
        pods: pod_count,
        price: prices.get(&node.name).copied().unwrap_or(Price::Unknown),
        created: node.created,
        planned: planned(node, said),
        held: held(node, pod_list.as_deref(), said),
        notes: notes(node),
        pod_list,
    }
}

fn new(planned: &Planned, machine: &Machine, said: &Said) -> Row {
    let Machine { pool, size, zone, bought } = machine.clone();
    Row {
        name: planned.node.clone(),
        pool: Some(pool),
        size: Some(size),
        zone: Some(zone),
        bought: Some(bought),
        stage: Stage::Planned,
        cpu: Use::default(),
        memory: Use::default(),
        pods: Use::default(),
        price: Price::Unknown,
        created: None,
        planned: vec![planned.text.clone()],
        held: said.held.get(&planned.node).cloned().unwrap_or_default(),
        notes: Vec::new(),
        pod_list: Some(Vec::new()),
    }
}

fn stage(node: &Node) -> Stage {
    let is_draining = node.taints.iter().any(|taint| &*taint.key == label::DISRUPTED);
    match node.stage {
        _ if node.claimed.is_lost => Stage::Lost,
        NodeStage::Launching if node.is_deleting => Stage::Deleting,
        NodeStage::Launching => Stage::Launching,
        _ if node.claimed.is_deleted => Stage::Deleting,
        _ if node.is_deleting || is_draining => Stage::Draining,
        NodeStage::Registered => Stage::Registered,
        NodeStage::Initialized if !node.is_ready() => Stage::NotReady,
        NodeStage::Initialized if node.is_unschedulable => Stage::Cordoned,
        NodeStage::Initialized => Stage::Ready,
    }
}

/// Returns the planned changes of a node: nodeform's plans, or else its NodeClaim and taints.
fn planned(node: &Node, said: &Said) -> Vec<String> {
    let by_plans = said.planned.get(node.name.as_str()).into_iter().flatten();
    let mut planned: Vec<String> = by_plans.map(|planned| planned.text.clone()).collect();
    let creates = said.creates.iter().filter(|create| {
        create.node == node.name.as_str()
            || create.claim.as_deref() == node.claim.as_ref().map(|it| it.as_str())
    });
    planned.extend(creates.map(|create| create.text.clone()));
    planned.extend(node.taints.iter().filter_map(|taint| said::autoscaler(&taint.key)).map(str::to_owned));
    if let Some(plan) = node.claimed.begun_by.as_ref().filter(|_| planned.is_empty()) {
        planned.push(format!("- delete: by plan `{plan}`"));
    }
    if let Some(drift) = &node.claimed.drift {
        let reason = if drift.reason.is_empty() { String::new() } else { format!(": {}", drift.reason) };
        planned.push(format!("drifted{reason}"));
    }
    if node.is_consolidatable && planned.is_empty() && said.fleets.is_empty() {
        planned.push("consolidatable".to_owned());
    }
    planned
}

/// Returns the holds of a node: the NodeFleet's first, then those of the node and its pods.
fn held(node: &Node, pods: Option<&[PodRow]>, said: &Said) -> Vec<String> {
    let names = [Some(node.name.as_str()), node.claim.as_ref().map(|claim| claim.as_str())];
    let mut names: Vec<&str> = names.into_iter().flatten().collect();
    names.dedup();
    let mut held: Vec<String> =
        names.iter().filter_map(|name| said.held.get(*name)).flatten().cloned().collect();
    held.extend(node.why_kept().map(str::to_owned));
    let protected: Vec<&PodRow> = pods.into_iter().flatten().filter(|pod| pod.is_protected).collect();
    held.extend(protected.iter().take(HOLDERS_MAX).map(|pod| said::pod_in_the_way(&pod.key)));
    if protected.len() > HOLDERS_MAX {
        held.push(format!("{} more such pods", protected.len() - HOLDERS_MAX));
    }
    held
}

/// Returns other notes about a node.
fn notes(node: &Node) -> Vec<String> {
    let troubles =
        node.troubles.iter().map(|trouble| format!("condition {} is {}", trouble.kind, trouble.status));
    let lacks = node.claimed.lacks.iter().map(|lack| format!("not initialized: {lack}"));
    let cordoned = node.is_unschedulable.then(|| "cordoned: takes no new pods".to_owned());
    let quiet =
        node.is_consolidatable.then(|| "Karpenter may consolidate it (condition Consolidatable)".to_owned());
    let taints = (!node.taints.is_empty()).then(|| {
        let taints: Vec<String> = node.taints.iter().map(ToString::to_string).collect();
        format!("taints {}", taints.join(", "))
    });
    troubles.chain(lacks).chain(cordoned).chain(quiet).chain(taints).collect()
}
