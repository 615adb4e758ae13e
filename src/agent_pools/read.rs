//! Reads the input file: output of `az`, responses of ARM, or Nodes.
//!
//! `az` and ARM spell some fields differently (`vnetSubnetId`, `vnetSubnetID`), and ARM nests them under `properties`.
//! Both forms are accepted; names are case-insensitive.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::class;
use super::nodes;
use super::profile::{AgentPool, Cluster, Mode};
use crate::manifests::Source;

/// Contents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The agent pools, sorted by name.
    pub pools: Vec<AgentPool>,
    /// The cluster.
    pub cluster: Cluster,
    /// Whether it was derived from Nodes, which carry less information than AKS's own description.
    pub is_of_nodes: bool,
}

/// Reads a file.
///
/// # Errors
/// The reason why it holds no agent pools.
pub fn read(source: Source) -> Result<Input, Vec<String>> {
    let value = serde_json::from_slice::<Value>(&source.bytes).ok();
    let mut input = match value.as_ref().and_then(profiles) {
        Some((profiles, cluster)) => {
            let pools = profiles.iter().map(|profile| agent_pool(&Fields::of(profile))).collect();
            Input { pools, cluster, is_of_nodes: false }
        }
        None => nodes::read(source)?,
    };
    input.pools.sort_by(|one, other| one.name.cmp(&other.name));
    let nameless = input.pools.iter().filter(|pool| pool.name.is_empty() || pool.size.is_empty()).count();
    match (nameless, input.pools.is_empty()) {
        (0, false) => Ok(input),
        (0, true) => Err(vec!["the file holds no agent pool".to_owned()]),
        (1, _) => Err(vec!["1 agent pool has no `name` or no `vmSize`".to_owned()]),
        (some, _) => Err(vec![format!("{some} agent pools have no `name` or no `vmSize`")]),
    }
}

/// Fields of an object by their lower-case names, including those under `properties`.
pub(super) struct Fields<'a>(BTreeMap<String, &'a Value>);

impl<'a> Fields<'a> {
    pub(super) fn of(value: &'a Value) -> Self {
        let map = value.as_object();
        let inner = map.and_then(|map| map.get("properties")).and_then(Value::as_object);
        let both = map.into_iter().chain(inner).flat_map(Map::iter);
        Self(both.filter(|(_, value)| !value.is_null()).map(|(key, value)| (folded(key), value)).collect())
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.get(&folded(key)).copied()
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool) == Some(true)
    }

    pub(super) fn texts(&self, key: &str) -> Vec<&'a str> {
        self.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub(super) fn map(&self, key: &str) -> BTreeMap<String, String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let map = self.get(key).and_then(Value::as_object).into_iter().flatten();
        map.map(|(key, value)| (key.clone(), text(value))).collect()
    }
}

/// Normalizes a name for comparison: `vnetSubnetID`, `vnetSubnetId`, and the `scale-down-…` names of `az`.
fn folded(key: &str) -> String {
    key.chars().filter(|letter| *letter != '-').flat_map(char::to_lowercase).collect()
}

/// Finds the agent pool profiles and the cluster's settings.
fn profiles(value: &Value) -> Option<(Vec<Value>, Cluster)> {
    let is_profile = |value: &Value| Fields::of(value).get("vmSize").is_some();
    let listed = value.as_array().or_else(|| value.get("value").and_then(Value::as_array));
    if let Some(list) = listed {
        if list.iter().all(is_profile) {
            let cluster = list.first().map(of_id).unwrap_or_default();
            return Some((list.clone(), cluster));
        }
        // `az aks list` with one cluster holds as much as `az aks show`.
        return match list.as_slice() {
            [one] => profiles(one),
            _ => None,
        };
    }
    let fields = Fields::of(value);
    if let Some(list) = fields.get("agentPoolProfiles").and_then(Value::as_array) {
        return Some((list.clone(), cluster(&fields)));
    }
    is_profile(value).then(|| (vec![value.clone()], of_id(value)))
}

fn cluster(fields: &Fields<'_>) -> Cluster {
    let text = |key: &str| fields.text(key).map(str::to_owned);
    let mut cluster = Cluster {
        name: text("name"),
        resource_group: text("resourceGroup"),
        location: text("location").map(|text| text.replace(' ', "").to_ascii_lowercase()),
        ..Cluster::default()
    };
    if let Some(network) = fields.get("networkProfile").map(Fields::of) {
        for (field, known) in [
            ("networkPlugin", &["azure", "none"][..]),
            ("networkPluginMode", &["overlay"]),
            ("networkDataplane", &["azure", "cilium"]),
        ] {
            match network.text(field).map(str::to_ascii_lowercase) {
                Some(value) if known.contains(&value.as_str()) => cluster.network.push((field, value)),
                Some(value) => cluster.left_out.push(format!(
                    "the cluster's `{field}` is `{value}`, which Karpenter on AKS does not know"
                )),
                None => {}
            }
        }
    }
    if let Some(scaler) = fields.get("autoScalerProfile").map(Fields::of) {
        cluster.unneeded_time = scaler.text("scaleDownUnneededTime").map(str::to_owned);
        if let Some(threshold) = scaler.text("scaleDownUtilizationThreshold").filter(|text| *text != "0.5") {
            cluster.left_out.push(format!(
                "the autoscaler's `scale-down-utilization-threshold` of {threshold}: Karpenter has none, it removes a node when its pods fit elsewhere"
            ));
        }
    }
    cluster
}

/// Reads the cluster from a pool's id: `…/resourceGroups/GROUP/…/managedClusters/NAME/agentPools/POOL`.
fn of_id(profile: &Value) -> Cluster {
    let fields = Fields::of(profile);
    let id = fields.text("id").unwrap_or_default();
    let parts: Vec<&str> = id.split('/').collect();
    let after = |key: &str| {
        let place = parts.iter().position(|part| part.eq_ignore_ascii_case(key))?;
        parts.get(place + 1).map(|part| (*part).to_owned())
    };
    Cluster {
        name: after("managedClusters"),
        resource_group: fields.text("resourceGroup").map(str::to_owned).or_else(|| after("resourceGroups")),
        ..Cluster::default()
    }
}

fn agent_pool(fields: &Fields<'_>) -> AgentPool {
    let text = |key: &str| fields.text(key).unwrap_or_default();
    let is = |key: &str, value: &str| text(key).eq_ignore_ascii_case(value);
    let count = fields.number("count").unwrap_or(0);
    let most = fields.number("maxCount").unwrap_or(count);
    let autoscaled = fields.is_true("enableAutoScaling");
    let mut pool = AgentPool {
        name: text("name").to_owned(),
        size: text("vmSize").to_owned(),
        mode: if is("mode", "System") { Mode::System } else { Mode::User },
        is_windows: is("osType", "Windows"),
        count,
        autoscaled: autoscaled.then(|| (fields.number("minCount").unwrap_or(0), most)),
        zones: fields.texts("availabilityZones").into_iter().map(str::to_owned).collect(),
        is_spot: is("scaleSetPriority", "Spot"),
        labels: fields.map("nodeLabels"),
        taints: fields.texts("nodeTaints").into_iter().map(str::to_owned).collect(),
        is_ultra_ssd: fields.is_true("enableUltraSSD"),
        ..AgentPool::default()
    };
    pool.left_out = without_counterpart(fields, &pool);
    class::read(fields, &mut pool);
    pool
}

/// Lists the settings of a pool that have no counterpart in Karpenter.
fn without_counterpart(fields: &Fields<'_>, pool: &AgentPool) -> Vec<String> {
    const WORDS: [(&str, &str); 9] = [
        ("podSubnetID", "pods get no subnet of their own"),
        ("proximityPlacementGroupID", "VMs are not placed near each other"),
        ("capacityReservationGroupID", "reserved capacity is not used"),
        ("hostGroupID", "dedicated hosts are not used"),
        ("nodePublicIPPrefixID", "nodes get no public address"),
        ("gpuInstanceProfile", "GPUs are not partitioned"),
        ("messageOfTheDay", "there is none"),
        ("windowsProfile", "nodes are Linux"),
        ("kubeletDiskType", "the kubelet's data is on the OS disk"),
    ];
    let mut out: Vec<String> = WORDS
        .iter()
        .filter(|(key, _)| fields.get(key).is_some() && fields.text(key) != Some("OS"))
        .map(|(key, instead)| format!("`{key}`: {instead}"))
        .collect();
    let mut say = |is_so: bool, what: String| out.extend(is_so.then_some(what));
    say(fields.is_true("enableNodePublicIP"), "`enableNodePublicIP`: nodes get no public address".to_owned());
    let runtime = fields.text("workloadRuntime").filter(|text| *text != "OCIContainer");
    say(
        runtime.is_some(),
        format!("`workloadRuntime` {}: containers run as usual", runtime.unwrap_or_default()),
    );
    let deallocates = fields.text("scaleDownMode") == Some("Deallocate");
    say(deallocates, "`scaleDownMode` Deallocate: nodes are deleted".to_owned());
    let price = fields.get("spotMaxPrice").and_then(price_text);
    say(
        pool.is_spot && price.is_some(),
        format!("`spotMaxPrice` {}: spot is bought up to the on-demand price", price.unwrap_or_default()),
    );
    let stopped =
        fields.get("powerState").map(Fields::of).and_then(|state| state.text("code")) == Some("Stopped");
    say(stopped, "the pool is stopped: its NodePool is not".to_owned());
    if let Some((least, _)) = pool.autoscaled.filter(|(least, _)| *least > 0) {
        say(
            true,
            format!("`minCount` {least}: Karpenter keeps no minimum; nodes are there while pods need them"),
        );
    }
    out
}

/// Returns a price as written; `None` for -1, which means "no limit" in Azure.
fn price_text(value: &Value) -> Option<String> {
    let text = value.as_number()?.to_string();
    (!text.starts_with("-1")).then_some(text)
}
