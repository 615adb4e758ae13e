//! Recorded commands of Karpenter's disruption, and ours, in the same words; and what a cluster adds to nodes and pods
//! before their disruption is decided.

use std::collections::BTreeMap;

use nodeform::model::MicroUsdPerHour;
use nodeform::solve::Target;
use nodeform::solve::karpenter::{self, Command, Method};
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::karpenter_cases::{amount_of, decimal, joined, recorded_lines, shown_claim};

/// What was recorded of a world: which method decided, and what.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    decided_by: String,
    decision: Option<Decision>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Decision {
    reason: String,
    candidates: Vec<Node>,
    replacements: Vec<Replacement>,
    pods_moved_to_existing_nodes: Vec<Moved>,
    estimated_savings_per_hour: Number,
}

#[derive(Deserialize)]
struct Node {
    node: String,
}

#[derive(Deserialize)]
struct Moved {
    name: String,
    pods: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    node_pool: String,
    requirements: Option<Vec<Entry>>,
    requests: BTreeMap<String, String>,
    instance_type_count: usize,
    cheapest: Option<Cheapest>,
    pods: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    key: String,
    operator: String,
    values: Option<Vec<String>>,
    min_values: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cheapest {
    instance_type: String,
    zone: String,
    capacity_type: String,
    price: Number,
}

/// Writes a recorded outcome; nothing where nothing was decided.
pub(crate) fn shown_recorded(outcome: Value) -> Vec<String> {
    let recorded: Recorded = serde_json::from_value(outcome).expect("a recorded command");
    let Some(decision) = recorded.decision else { return Vec::new() };
    let Decision {
        reason,
        candidates,
        replacements,
        pods_moved_to_existing_nodes,
        estimated_savings_per_hour,
    } = decision;
    let nodes: Vec<String> = candidates.into_iter().map(|candidate| candidate.node).collect();
    let savings = decimal(millionths(&estimated_savings_per_hour));
    let mut lines = vec![format!("{} {reason} {}, saves {savings}", recorded.decided_by, nodes.join(" "))];
    lines.extend(replacements.into_iter().map(Replacement::shown));
    lines.extend(
        pods_moved_to_existing_nodes
            .into_iter()
            .map(|moved| format!("on {}: {}", moved.name, moved.pods.join(" "))),
    );
    lines[1..].sort();
    lines
}

/// Reads dollars, rounded to a millionth.
fn millionths(dollars: &Number) -> i64 {
    let text = dollars.to_string();
    let (sign, amount) = text.strip_prefix('-').map_or((1, text.as_str()), |amount| (-1, amount));
    sign * MicroUsdPerHour::from_decimal_usd(amount).expect("an amount of dollars").0
}

impl Replacement {
    fn shown(self) -> String {
        let entries = self.requirements.unwrap_or_default().into_iter().map(|entry| {
            let least = entry.min_values.map(|least| format!(" min {least}")).unwrap_or_default();
            let text =
                format!("{} {} {}", entry.key, entry.operator, entry.values.unwrap_or_default().join(","));
            format!("{}{least}", text.trim_end())
        });
        let entries: Vec<String> = entries.collect();
        let cheapest = self.cheapest.map_or("nothing".to_owned(), |way| {
            let Cheapest { instance_type, zone, capacity_type, price } = way;
            format!("{instance_type} {zone} {capacity_type} {}", decimal(millionths(&price)))
        });
        let requests: Vec<String> = self
            .requests
            .iter()
            .map(|(name, amount)| format!("{name}={}", amount_of(name, amount)))
            .collect();
        let (pool, sizes, pods) = (self.node_pool, self.instance_type_count, self.pods.unwrap_or_default());
        let (entries, requests, pods) = (entries.join("; "), requests.join(","), pods.join(" "));
        format!("new {pool} [{entries}] {cheapest}, {sizes} sizes, {requests}: {pods}")
    }
}

/// Writes a command of ours in the same words.
pub(crate) fn shown_command(command: Option<&Command>) -> Vec<String> {
    let Some(Command { method, nodes, replacements, moved, savings }) = command else { return Vec::new() };
    let by = match method {
        Method::Emptiness => "emptiness",
        Method::StaticDrift => "static-drift",
        Method::Drift => "drift",
        Method::MultiNode => "multi-node",
        Method::SingleNode => "single-node",
    };
    let nodes: Vec<&str> = nodes.iter().map(|node| node.as_str()).collect();
    let (reason, savings) = (method.reason(), decimal(savings.0));
    let mut lines = vec![format!("{by} {reason} {}, saves {savings}", nodes.join(" "))];
    lines.extend(replacements.iter().map(|claim| shown_claim(claim, &joined(&claim.pods))));
    lines.extend(moved.iter().map(|(node, pods)| format!("on {node}: {}", joined(pods))));
    lines[1..].sort();
    lines
}

/// Gives nodes of pools the claims that they have in a cluster, where the world has none.
pub(crate) fn with_claims(objects: &mut Vec<Value>) {
    let of = |object: &Value, kind: &str| object["kind"] == kind;
    let known: Vec<Value> = objects
        .iter()
        .filter(|object| of(object, "NodeClaim"))
        .map(|claim| claim["status"]["providerID"].clone())
        .collect();
    let mut made = Vec::new();
    for node in objects.iter_mut().filter(|object| of(object, "Node")) {
        let is_managed = node["metadata"]["labels"]["karpenter.sh/nodepool"].is_string();
        if !is_managed || known.contains(&node["spec"]["providerID"]) {
            continue;
        }
        for label in ["karpenter.sh/registered", "karpenter.sh/initialized"] {
            let there = &mut node["metadata"]["labels"][label];
            if there.is_null() {
                *there = json!("true");
            }
        }
        made.push(claim_of(node));
    }
    objects.extend(made);
}

fn claim_of(node: &Value) -> Value {
    let is_initialized = node["metadata"]["labels"]["karpenter.sh/initialized"] == "true";
    let mut conditions = vec!["Launched", "Registered"];
    if is_initialized {
        conditions.extend(["Initialized", "Consolidatable"]);
    }
    let conditions: Vec<Value> =
        conditions.iter().map(|kind| json!({"type": kind, "status": "True", "reason": kind})).collect();
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": node["metadata"],
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [],
            "taints": node["spec"]["taints"],
        },
        "status": {
            "providerID": node["spec"]["providerID"],
            "nodeName": node["metadata"]["name"],
            "capacity": node["status"]["capacity"],
            "allocatable": node["status"]["allocatable"],
            "conditions": conditions,
        },
    })
}

/// What Karpenter did command after command until it found nothing more.
pub(crate) struct Sequence {
    /// The world.
    pub(crate) name: String,
    /// The commands, and what there is after them.
    pub(crate) steps: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedSequence {
    case: String,
    steps: Vec<RecordedStep>,
    nodes: usize,
}

#[derive(Deserialize)]
struct RecordedStep {
    by: String,
    nodes: Vec<String>,
    replacement: Option<String>,
}

/// Reads the recorded sequences of a folder.
pub(crate) fn sequences(folder: &str) -> Vec<Sequence> {
    let text = recorded_lines(folder, "sequences.jsonl");
    let lines = text.lines().map(|line| {
        let RecordedSequence { case, steps, nodes } =
            serde_json::from_str(line).expect("a recorded sequence");
        let steps = steps.into_iter().map(|RecordedStep { by, nodes, replacement }| {
            let made = replacement.map_or(String::new(), |text| {
                // Prices are written with six decimals there.
                let (way, _price) = text.rsplit_once(' ').expect("a price");
                format!(": {way}")
            });
            format!("{by} {}{made}", nodes.join(" "))
        });
        let end = format!("{nodes} nodes are left");
        Sequence { name: case, steps: steps.chain([end]).collect() }
    });
    lines.collect()
}

/// Writes our commands in the same words.
pub(crate) fn shown_sequence(sequence: &karpenter::Sequence) -> Vec<String> {
    let steps = sequence.commands.iter().map(|command| {
        let shown = shown_command(Some(command));
        let by = shown[0].split(' ').next().unwrap_or_default().to_owned();
        let nodes: Vec<&str> = command.nodes.iter().map(|node| node.as_str()).collect();
        let made = command.replacements.iter().filter_map(|claim| claim.cheapest.as_ref());
        let made: Vec<String> =
            made.map(|way| format!(": {} {} {}", way.size, way.zone, way.capacity_type)).collect();
        format!("{by} {}{}", nodes.join(" "), made.concat())
    });
    let end = format!("{} nodes are left", sequence.after.nodes.len());
    steps.chain([end]).collect()
}

/// Returns what recorded steps lead to: the nodes that were there and go, and what is made and stays.
pub(crate) fn shown_end(steps: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut made: BTreeMap<String, &str> = BTreeMap::new();
    for (number, step) in (1..).zip(steps.iter().filter(|step| !step.ends_with(" are left"))) {
        let (going, way) =
            step.split_once(": ").map_or((step.as_str(), None), |(going, way)| (going, Some(way)));
        for node in going.split(' ').skip(1) {
            if made.remove(node).is_none() {
                lines.push(format!("- {node}"));
            }
        }
        made.extend(way.map(|way| (format!("new-{number:04}-0"), way)));
    }
    lines.extend(made.into_values().map(|way| format!("+ {way}")));
    lines.sort();
    lines
}

/// Writes a target in the same words.
pub(crate) fn shown_target(target: &Target) -> Vec<String> {
    let gone = target.removed.iter().map(|removal| format!("- {}", removal.node));
    let made = target.new.iter().map(|node| format!("+ {} {} {}", node.size, node.zone, node.capacity_type));
    let mut lines: Vec<String> = gone.chain(made).collect();
    lines.sort();
    lines
}
