//! Writes the manifests: a NodeFleet, an AKSNodeClass for each distinct set of VM settings, and a NodePool for each
//! agent pool.

use std::collections::BTreeMap;

use serde_json::Value;

use super::profile::{AgentPool, Cluster, Mode};
use super::read::Input;
use super::yaml::{Yaml, scalar};
use super::{REGION, RegionFrom, Said, Started, requirements};
use crate::catalog::{Catalog, size_name::SizeName};
use crate::model::{Effect, Region, ResourceName, SkuName, label};

/// Time that Cluster Autoscaler on AKS waits before it removes an unneeded node.
const UNNEEDED_TIME: &str = "10m";
/// Name of the AKSNodeClass that most pools share.
const CLASS: &str = "default";

/// Writes the manifests.
pub(super) fn started(input: &Input, said: &Said) -> Started {
    let Input { pools, cluster, is_of_nodes } = input;
    let mut left_out = cluster.left_out.clone();
    let (region, region_from) = match (&said.location, &cluster.location) {
        (Some(said), _) => (said.clone(), RegionFrom::User),
        (None, Some(location)) => (Region::new(location), RegionFrom::File),
        (None, None) => (Region::new(REGION), RegionFrom::Nobody),
    };
    if region_from == RegionFrom::Nobody {
        left_out.push(format!(
            "the file does not say the cluster's region: `{REGION}` is taken; give `--location`"
        ));
    }
    if *is_of_nodes {
        left_out.push(
            "Nodes do not say the autoscaler's bounds, subnets and OS disks: `az aks show -o json` says more"
                .to_owned(),
        );
    }
    let catalog = Catalog::embedded(&region).ok();
    let converted: Vec<&AgentPool> =
        pools.iter().filter(|pool| pool.mode == Mode::User && !pool.is_windows).collect();
    let classes = classes(&converted);
    let mut yaml = Yaml::default();
    fleet(&mut yaml, (cluster, said), &region);
    for (spec, (name, pools)) in &classes {
        class(&mut yaml, name, spec, pools);
    }
    for pool in &converted {
        let class = &classes[&class_key(pool)].0;
        let writer = PoolWriter { pool, class, region: &region, catalog: catalog.as_ref(), cluster };
        left_out.extend(
            writer.write(&mut yaml).into_iter().map(|what| format!("agent pool `{}`: {what}", pool.name)),
        );
    }
    for pool in pools.iter().filter(|pool| pool.mode == Mode::System || pool.is_windows) {
        left_out.push(format!("agent pool `{}` {}", pool.name, stays(pool)));
        yaml.comment(
            0,
            &format!("Agent pool {} ({} × {}) {}.", pool.name, pool.count, pool.size, stays(pool)),
        );
    }
    Started { text: yaml.into_text(), pools: converted.len(), region, region_from, left_out }
}

fn stays(pool: &AgentPool) -> &'static str {
    match (pool.is_windows, pool.mode) {
        (true, _) => "runs Windows, which is not supported, and is kept",
        (false, Mode::System) => "is a system pool, which AKS needs, and is kept",
        (false, Mode::User) => "stays",
    }
}

type Classes<'a> = BTreeMap<String, (String, Vec<&'a str>)>;

fn class_key(pool: &AgentPool) -> String {
    serde_json::to_string(&pool.class).unwrap_or_default()
}

/// Returns the distinct sets of VM settings, each with a name and the pools that use it. The most used one is named
/// `default`; the others are named after their first pool.
fn classes<'a>(pools: &[&'a AgentPool]) -> Classes<'a> {
    let mut classes: Classes<'a> = BTreeMap::new();
    for pool in pools {
        let entry = classes.entry(class_key(pool)).or_insert_with(|| (pool.name.clone(), Vec::new()));
        entry.1.push(&pool.name);
    }
    let most = classes.values().map(|(_, pools)| pools.len()).max();
    if let Some((name, _)) = classes.values_mut().find(|(_, pools)| Some(pools.len()) == most) {
        CLASS.clone_into(name);
    }
    classes
}

fn fleet(yaml: &mut Yaml, (cluster, said): (&Cluster, &Said), region: &Region) {
    let name = said.cluster.as_deref().or(cluster.name.as_deref()).unwrap_or("my-cluster");
    yaml.comment(0, "What holds for the whole cluster.");
    head(yaml, ("nodeform.dev/v1alpha1", "NodeFleet"), &object_name(name));
    yaml.line(0, "spec:", "");
    yaml.line(1, "cluster:", "");
    yaml.line(2, &format!("name: {}", scalar(name)), "");
    if let Some(group) = &cluster.resource_group {
        yaml.line(2, &format!("resourceGroup: {}", scalar(group)), "");
    }
    yaml.line(2, &format!("location: {}", scalar(region.as_str())), "");
    for (field, value) in &cluster.network {
        yaml.line(2, &format!("{field}: {}", scalar(value)), "");
    }
    yaml.line(1, "mode: observe", "nothing is changed; plans are shown");
}

fn class(yaml: &mut Yaml, name: &str, spec: &str, pools: &[&str]) {
    yaml.line(0, "---", "");
    yaml.comment(
        0,
        &format!(
            "How the VMs are built; as those of agent {} {}.",
            if pools.len() == 1 { "pool" } else { "pools" },
            pools.join(", ")
        ),
    );
    head(yaml, ("karpenter.azure.com/v1beta1", "AKSNodeClass"), name);
    yaml.line(0, "spec:", "");
    let spec: BTreeMap<String, Value> = serde_json::from_str(spec).unwrap_or_default();
    spec.iter().for_each(|(key, value)| yaml.entry(1, key, value));
}

fn head(yaml: &mut Yaml, (version, kind): (&str, &str), name: &str) {
    yaml.line(0, &format!("apiVersion: {version}"), "");
    yaml.line(0, &format!("kind: {kind}"), "");
    yaml.line(0, "metadata:", "");
    yaml.line(1, &format!("name: {}", scalar(name)), "");
}

/// Converts a cluster name to a valid Kubernetes object name: lower case, with `-` for characters that are not allowed.
pub(super) fn object_name(text: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(letter).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "pool".to_owned() } else { name.chars().take(63).collect() }
}

struct PoolWriter<'a> {
    pool: &'a AgentPool,
    class: &'a str,
    region: &'a Region,
    catalog: Option<&'a Catalog>,
    cluster: &'a Cluster,
}

impl PoolWriter<'_> {
    /// Writes the NodePool and returns the settings that could not be carried over.
    fn write(&self, yaml: &mut Yaml) -> Vec<String> {
        let pool = self.pool;
        let mut left_out = pool.left_out.clone();
        yaml.line(0, "---", "");
        yaml.comment(0, &format!("Takes over from agent pool {}: {}.", pool.name, size_of(pool)));
        head(yaml, ("karpenter.sh/v1", "NodePool"), &object_name(&pool.name));
        yaml.line(0, "spec:", "");
        yaml.line(1, "template:", "");
        self.labels(yaml, &mut left_out);
        yaml.line(2, "spec:", "");
        yaml.line(3, "requirements:", "");
        for asked in requirements::of(pool, self.region) {
            if !asked.why.is_empty() {
                yaml.comment(4, &asked.why);
            }
            yaml.line(4, &format!("- key: {}", asked.key), "");
            yaml.line(5, &format!("operator: {}", asked.operator), "");
            let values: Vec<String> = asked.values.iter().map(|value| scalar(value)).collect();
            yaml.line(5, &format!("values: [{}]", values.join(", ")), "");
        }
        self.taints(yaml, &mut left_out);
        yaml.line(3, "nodeClassRef:", "");
        yaml.line(4, "group: karpenter.azure.com", "");
        yaml.line(4, "kind: AKSNodeClass", "");
        yaml.line(4, &format!("name: {}", scalar(&object_name(self.class))), "");
        yaml.line(3, "expireAfter: 720h", "nodes are replaced after 30 days, so that images stay current");
        self.limits(yaml, &mut left_out);
        self.disruption(yaml);
        for what in &left_out {
            yaml.comment(1, &format!("Not carried over: {what}"));
        }
        left_out
    }

    fn labels(&self, yaml: &mut Yaml, left_out: &mut Vec<String>) {
        let (own, kept): (Vec<_>, Vec<_>) =
            self.pool.labels.iter().partition(|(key, _)| !is_kept_by_others(key));
        if !own.is_empty() {
            yaml.line(2, "metadata:", "");
            yaml.line(3, "labels:", "");
            for (key, value) in own {
                yaml.line(4, &format!("{}: {}", scalar(key), scalar(value)), "");
            }
        }
        let given = |key: &str| key == label::AKS_SCALE_SET_PRIORITY || key == label::AKS_MODE;
        for (key, _) in kept.into_iter().filter(|(key, _)| !given(key)) {
            left_out.push(format!("label `{key}`: AKS and Karpenter keep it for themselves"));
        }
    }

    fn taints(&self, yaml: &mut Yaml, left_out: &mut Vec<String>) {
        let (taints, wrong): (Vec<_>, Vec<_>) =
            self.pool.taints.iter().map(|text| taint(text).ok_or(text)).partition(Result::is_ok);
        left_out.extend(
            wrong.into_iter().filter_map(Result::err).map(|text| format!("taint `{text}` is not understood")),
        );
        if taints.is_empty() {
            return;
        }
        yaml.line(3, "taints:", "");
        for (key, value, effect) in taints.into_iter().flatten() {
            yaml.line(4, &format!("- key: {}", scalar(key)), "");
            if !value.is_empty() {
                yaml.line(5, &format!("value: {}", scalar(value)), "");
            }
            yaml.line(5, &format!("effect: {}", effect.as_str()), "");
        }
    }

    /// Writes limits equal to the agent pool's maximum capacity.
    fn limits(&self, yaml: &mut Yaml, left_out: &mut Vec<String>) {
        let most = self.pool.autoscaled.map_or(self.pool.count, |(_, most)| most);
        if most == 0 {
            left_out.push("it has no nodes and no `maxCount`: its NodePool is not limited".to_owned());
            return;
        }
        let cpus = SizeName::parse(&SkuName::new(&self.pool.size)).map(|parts| u64::from(parts.cpus));
        let memory = self.catalog.and_then(|catalog| catalog.size(&SkuName::new(&self.pool.size)));
        let why = match self.pool.autoscaled {
            Some(_) => format!("as much as `maxCount` {most} × {} has", self.pool.size),
            None if most == 1 => "as much as its one node has: raise it to let the pool grow".to_owned(),
            None => format!("as much as its {most} nodes have: raise it to let the pool grow"),
        };
        yaml.line(1, "limits:", &why);
        yaml.line(2, &format!("nodes: {most}"), "");
        if let Some(cpus) = cpus {
            yaml.line(2, &format!("cpu: \"{}\"", cpus.saturating_mul(most)), "");
        }
        if let Some(sold) = memory {
            let bytes = sold.size.memory_bytes.saturating_mul(i64::try_from(most).unwrap_or(i64::MAX));
            yaml.line(2, &format!("memory: {}", scalar(&ResourceName::Memory.show(bytes))), "");
        }
    }

    fn disruption(&self, yaml: &mut Yaml) {
        let said = self.cluster.unneeded_time.as_deref().filter(|text| is_duration(text));
        let why = match said {
            Some(_) => "the autoscaler's `scale-down-unneeded-time`",
            None => "what Cluster Autoscaler waits on AKS (`scale-down-unneeded-time`)",
        };
        yaml.line(1, "disruption:", "");
        yaml.line(2, "consolidationPolicy: WhenEmptyOrUnderutilized", "");
        yaml.line(2, &format!("consolidateAfter: {}", said.unwrap_or(UNNEEDED_TIME)), why);
        yaml.line(2, "budgets:", "");
        yaml.line(3, "- nodes: 10%", "");
    }
}

fn is_duration(text: &str) -> bool {
    let mut digits = 0;
    let is_right = text.chars().all(|letter| match letter {
        '0'..='9' => {
            digits += 1;
            true
        }
        's' | 'm' | 'h' => std::mem::take(&mut digits) > 0,
        _ => false,
    });
    is_right && digits == 0 && !text.is_empty()
}

fn size_of(pool: &AgentPool) -> String {
    let range = match pool.autoscaled {
        Some((least, most)) => format!("{least} to {most} nodes, now {}", pool.count),
        None if pool.count == 1 => "1 node, fixed".to_owned(),
        None => format!("{} nodes, fixed", pool.count),
    };
    let spot = if pool.is_spot { ", spot" } else { "" };
    format!("{}, {range}{spot}", pool.size)
}

/// Returns whether a label belongs to AKS or Karpenter, so a NodePool must not set it.
fn is_kept_by_others(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_of = |other: &str| domain == other || domain.ends_with(&format!(".{other}"));
    ["agentpool", "storageprofile", "storagetier", "accelerator", label::HOSTNAME].contains(&key)
        || ["kubernetes.azure.com", "karpenter.sh", "karpenter.azure.com"].into_iter().any(is_of)
}

/// Parses `key=value:Effect` and `key:Effect`.
fn taint(text: &str) -> Option<(&str, &str, Effect)> {
    let (head, effect) = text.rsplit_once(':')?;
    let (key, value) = head.split_once('=').unwrap_or((head, ""));
    Some((key, value, Effect::parse(effect)?)).filter(|_| !key.is_empty())
}
