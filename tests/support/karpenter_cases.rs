//! The recorded worlds of `fixtures/karpenter-cases/`: their objects, completed as the recording completed them, and
//! the outcomes, both in the words in which they are compared.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::karpenter_commands::{shown_recorded, with_claims};
use nodeform::manifests::Source;
use nodeform::model::{MinValuesPolicy, PodKey, Region};
use nodeform::offline::{self, Request, World};
use nodeform::solve::karpenter::{
    Chosen, Claim, Outcome, OverlayGate, Preferences, ReservedMode, Settings, SpotToSpot,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// A recorded world.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) settings: Settings,
    pub(crate) outcomes: Vec<Vec<String>>,
    folder: PathBuf,
}

#[derive(Deserialize)]
struct Recorded {
    case: String,
    command: String,
    #[serde(default)]
    settings: RecordedSettings,
    outcomes: Vec<Value>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RecordedSettings {
    feature_gates: String,
    min_values_policy: String,
    preference_policy: String,
    reserved_mode: String,
}

#[derive(Deserialize)]
struct RecordedOutcome {
    claims: Vec<RecordedClaim>,
    existing: BTreeMap<String, Vec<String>>,
    errors: Vec<String>,
    ignored: Vec<String>,
}

#[derive(Deserialize)]
struct RecordedClaim {
    pool: String,
    requirements: Vec<String>,
    cheapest: String,
    sizes: usize,
    requests: BTreeMap<String, String>,
    pods: Vec<String>,
    #[serde(default)]
    relaxed: bool,
}

/// Reads all worlds of a folder.
pub(crate) fn cases(folder: &str) -> Vec<Case> {
    let lines = recorded_lines(folder, "expected.jsonl");
    let folder = fixtures().join(folder);
    lines.lines().map(|line| case(&folder, line)).collect()
}

/// Reads a file of a folder of recorded worlds.
pub(crate) fn recorded_lines(folder: &str, file: &str) -> String {
    read(&fixtures().join(folder).join(file))
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn case(folder: &Path, line: &str) -> Case {
    let recorded: Recorded = serde_json::from_str(line).expect("a recorded world");
    let Recorded { case, command, settings, outcomes } = recorded;
    let shown = |outcome: Value| {
        let outcome: RecordedOutcome = serde_json::from_value(outcome).expect("a recorded outcome");
        outcome.shown()
    };
    let is_solved = command == "solve";
    let shown = |outcome| if is_solved { shown(outcome) } else { shown_recorded(outcome) };
    Case {
        name: case,
        command,
        settings: Settings {
            preferences: match settings.preference_policy.as_str() {
                "Ignore" => Preferences::Ignore,
                _ => Preferences::Respect,
            },
            min_values: match settings.min_values_policy.as_str() {
                "BestEffort" => MinValuesPolicy::BestEffort,
                _ => MinValuesPolicy::Strict,
            },
            reserved: match settings.reserved_mode.as_str() {
                "fallback" => ReservedMode::Fallback,
                _ => ReservedMode::Strict,
            },
            overlays: match settings.feature_gates.contains("NodeOverlay=true") {
                true => OverlayGate::Open,
                false => OverlayGate::Closed,
            },
            spot_to_spot: match settings.feature_gates.contains("SpotToSpotConsolidation=true") {
                true => SpotToSpot::Open,
                false => SpotToSpot::Closed,
            },
            ..Settings::default()
        },
        outcomes: outcomes.into_iter().map(shown).collect(),
        folder: folder.to_owned(),
    }
}

impl RecordedOutcome {
    fn shown(self) -> Vec<String> {
        let amounts = |requests: &BTreeMap<String, String>| {
            let requests: Vec<String> =
                requests.iter().map(|(name, amount)| format!("{name}={}", amount_of(name, amount))).collect();
            requests.join(",")
        };
        let mut lines: Vec<String> = self
            .claims
            .iter()
            .map(|claim| {
                let relaxed = if claim.relaxed { " relaxed" } else { "" };
                let RecordedClaim { pool, requirements, cheapest, sizes, requests, pods, .. } = claim;
                let (requirements, pods) = (requirements.join("; "), pods.join(" "));
                let requests = amounts(requests);
                format!("new {pool} [{requirements}] {cheapest}, {sizes} sizes, {requests}{relaxed}: {pods}")
            })
            .collect();
        lines.extend(self.existing.iter().map(|(node, pods)| format!("on {node}: {}", pods.join(" "))));
        lines.extend(self.errors.iter().map(|pod| format!("refused {pod}")));
        lines.extend(self.ignored.iter().map(|pod| format!("ignored {pod}")));
        lines.sort();
        lines
    }
}

/// Writes an amount in the resource's unit.
pub(crate) fn amount_of(name: &str, amount: &str) -> i64 {
    let quantity = nodeform::model::Quantity::parse(amount).expect("a quantity");
    nodeform::model::ResourceName::parse(name).request(&quantity)
}

/// Writes an outcome of ours in the same words.
pub(crate) fn shown(outcome: &Outcome) -> Vec<String> {
    let Outcome { claims, existing, errors, ignored } = outcome;
    let mut lines: Vec<String> =
        claims.iter().map(|claim| shown_claim(claim, &joined(&claim.pods))).collect();
    lines.extend(existing.iter().map(|(node, pods)| format!("on {node}: {}", joined(pods))));
    lines.extend(errors.iter().map(|error| format!("refused {}", error.pod)));
    lines.extend(ignored.iter().map(|ignored| format!("ignored {}", ignored.pod)));
    lines.sort();
    lines
}

/// Writes the names of pods after each other.
pub(crate) fn joined(pods: &[PodKey]) -> String {
    pods.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Writes millionths as a decimal, without zeros at its end.
pub(crate) fn decimal(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let amount = millionths.unsigned_abs();
    let fraction = format!("{:06}", amount % 1_000_000);
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{dot}{fraction}", amount / 1_000_000)
}

/// Writes a claim of ours.
pub(crate) fn shown_claim(claim: &Claim, pods: &str) -> String {
    let entries = claim.requirements.entries().into_iter().map(|entry| {
        let values: Vec<&str> = entry.values.iter().map(|value| &**value).collect();
        let least = entry.min_values.map(|least| format!(" min {least}")).unwrap_or_default();
        let text = format!("{} {} {}", entry.key, entry.operator, values.join(","));
        format!("{}{least}", text.trim_end())
    });
    let requirements: Vec<String> = entries.collect();
    let cheapest = claim.cheapest.as_ref().map_or("nothing".to_owned(), |chosen| {
        let Chosen { size, zone, capacity_type, price } = chosen;
        format!("{size} {zone} {capacity_type} {}", decimal(price.known().map_or(0, |price| price.0)))
    });
    let requests: Vec<String> =
        claim.requests.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    let relaxed = if claim.is_min_values_relaxed { " relaxed" } else { "" };
    let mut requests = requests;
    requests.sort();
    let (pool, requirements, requests) = (&claim.pool, requirements.join("; "), requests.join(","));
    format!(
        "new {pool} [{requirements}] {cheapest}, {} sizes, {requests}{relaxed}: {pods}",
        claim.sizes.len()
    )
}

impl Case {
    /// Reads the world.
    pub(crate) fn world(&self) -> World {
        offline::world(self.request()).unwrap_or_else(|problems| panic!("{}: {problems:#?}", self.name))
    }

    /// Reads the objects and completes them.
    pub(crate) fn request(&self) -> Request {
        let text = read(&self.folder.join(format!("{}.yaml", self.name)));
        let mut objects: Vec<Value> = serde_yaml::Deserializer::from_str(&text)
            .map(|document| Value::deserialize(document).expect("a document"))
            .collect();
        let config = objects.iter().position(|object| object["kind"] == "PeerConfig").expect("its settings");
        let config = objects.remove(config);
        let catalogue = match config.get("catalogue") {
            Some(own) => own.clone(),
            None => serde_json::from_str(&read(&fixtures().join("karpenter-cases/types.json")))
                .expect("a catalogue"),
        };
        let types = types(&catalogue);
        objects.iter_mut().for_each(|object| complete(object, &types));
        let now = config["settings"]["now"].as_str().unwrap_or_default();
        if self.command == "consolidate" {
            with_claims(&mut objects);
        }
        Request {
            sources: vec![Source::new(
                "world.json",
                json!({"kind": "List", "apiVersion": "v1", "items": objects}).to_string(),
            )],
            catalogs: vec![("types.json".into(), catalogue.to_string())].into(),
            location: Some(Region::new("eastus")),
            at: now.parse().ok(),
            without_system_daemons: true,
            ..Request::default()
        }
    }

    /// Returns whether Karpenter decided one way or another.
    pub(crate) fn is_varied(&self) -> bool {
        self.outcomes.len() > 1
    }

    /// Returns the pods of the world that recorded outcomes speak of.
    pub(crate) fn pods(&self) -> BTreeSet<&str> {
        let words = self.outcomes.iter().flatten().flat_map(|line| line.split(' '));
        words.filter(|word| word.contains('/') && !word.contains('.')).collect()
    }
}

fn types(catalogue: &Value) -> BTreeMap<String, Value> {
    let types = catalogue["instanceTypes"].as_array().expect("types");
    types.iter().map(|kind| (kind["name"].as_str().expect("a name").to_owned(), kind.clone())).collect()
}

/// Gives an object what a cluster would have given it.
fn complete(object: &mut Value, types: &BTreeMap<String, Value>) {
    match object["kind"].as_str() {
        Some("NodePool") => {
            let class = json!({"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"});
            object["spec"]["template"]["spec"]["nodeClassRef"] = class;
        }
        Some("Node" | "NodeClaim") => complete_node(object, types),
        _ => {}
    }
}

fn complete_node(object: &mut Value, types: &BTreeMap<String, Value>) {
    let name = object["metadata"]["labels"]["node.kubernetes.io/instance-type"].as_str().map(str::to_owned);
    let Some(kind) = name.and_then(|name| types.get(&name)) else { return };
    let labels = kind["requirements"].as_object().into_iter().flatten();
    for (key, value) in labels.filter(|(_, value)| value.is_string()) {
        let there = &mut object["metadata"]["labels"][key];
        if there.is_null() {
            *there = value.clone();
        }
    }
    if object["kind"] == "Node" {
        object["spec"]["providerID"] =
            json!(format!("peer:///{}", object["metadata"]["name"].as_str().unwrap_or("")));
    }
    if object["status"]["capacity"].is_null() {
        object["status"]["capacity"] = kind["capacity"].clone();
    }
    if object["status"]["allocatable"].is_null() {
        object["status"]["allocatable"] = allocatable(kind);
    }
}

fn allocatable(kind: &Value) -> Value {
    let mut left = kind["capacity"].clone();
    for reserved in ["kubeReserved", "systemReserved", "evictionThreshold"] {
        for (name, amount) in kind["overhead"][reserved].as_object().into_iter().flatten() {
            let number = |value: &Value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                amount_of(name, &text)
            };
            let unit = if name == "cpu" { "m" } else { "" };
            left[name] = json!(format!("{}{unit}", number(&left[name]) - number(amount)));
        }
    }
    left
}
