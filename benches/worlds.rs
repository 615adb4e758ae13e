//! Makes worlds to plan in: pods in the manner of the benchmark of Karpenter's scheduler, workloads of many sizes,
//! with and without spread, and pods that fit nowhere.
//!
//! Nothing is random: numbers follow from a seed, so that the same world has the same bytes.

use std::collections::BTreeSet;

use nodeform::manifests::Source;
use nodeform::model::Region;
use nodeform::offline::{self, Catalogs, Request, World};
use serde_json::{Value, json};

/// A generator of numbers (Knuth's MMIX constants).
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Begins with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let end = u64::try_from(end).expect("small");
        usize::try_from((self.0 >> 33) % end).expect("smaller than `end`")
    }

    /// Draws one of these.
    pub(crate) fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// What the benchmark's pods ask for.
const CPU_MILLI: [usize; 5] = [100, 250, 500, 1000, 1500];
const MEMORY_MIB: [usize; 6] = [100, 256, 512, 1024, 2048, 4096];
const LETTERS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// A pod that waits.
pub(crate) fn pod(name: &str, (cpu, memory): (usize, usize), labels: &Value, rules: &Value) -> Value {
    let requests = json!({"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")});
    let mut spec =
        json!({"containers": [{"name": "c", "image": "pause", "resources": {"requests": requests}}]});
    for (key, value) in rules.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    json!({"apiVersion": "v1", "kind": "Pod", "spec": spec,
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "status": {"phase": "Pending"}})
}

fn spread(topology_key: &str, labels: &Value) -> Value {
    json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": topology_key,
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": labels}}]})
}

fn term(kind: &str, topology_key: &str, labels: &Value) -> Value {
    let term = json!([{"labelSelector": {"matchLabels": labels}, "topologyKey": topology_key}]);
    json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": term}}})
}

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// Pods in five equal parts: without rules, spread over zones, spread over hosts, together in a zone, and alone on
/// their host.
pub(crate) fn diverse_pods(count: usize) -> Vec<Value> {
    let mut numbers = Numbers(42);
    let one = |place: usize| {
        let size = (numbers.of(&CPU_MILLI), numbers.of(&MEMORY_MIB));
        let (own, other) =
            (json!({"my-label": numbers.of(&LETTERS)}), json!({"my-label": numbers.of(&LETTERS)}));
        let (labels, rules) = match place % 5 {
            0 => (own, json!({})),
            1 => (own, spread(ZONE, &other)),
            2 => (own, spread(HOST, &other)),
            3 => {
                let together = json!({"my-affinity": numbers.of(&LETTERS)});
                (together.clone(), term("podAffinity", ZONE, &together))
            }
            _ => {
                let alone = json!({"app": "nginx"});
                (alone.clone(), term("podAntiAffinity", HOST, &alone))
            }
        };
        pod(&format!("pod-{place:05}"), size, &labels, &rules)
    };
    (0..count).map(one).collect()
}

/// Pods of the benchmark's sizes without any rule.
pub(crate) fn generic_pods(count: usize) -> Vec<Value> {
    let mut numbers = Numbers(7);
    let one = |place: usize| {
        let size = (numbers.of(&CPU_MILLI), numbers.of(&MEMORY_MIB));
        pod(&format!("generic-{place:05}"), size, &json!({}), &json!({}))
    };
    (0..count).map(one).collect()
}

/// Pods that no node holds.
pub(crate) fn impossible_pods(count: usize) -> Vec<Value> {
    let mut numbers = Numbers(13);
    let one = |place: usize| {
        let size = (numbers.of(&CPU_MILLI), numbers.of(&MEMORY_MIB));
        let rules = json!({"nodeSelector": {"nobody.example.com/has": format!("value-{}", place % 3)}});
        pod(&format!("impossible-{place:05}"), size, &json!({}), &rules)
    };
    (0..count).map(one).collect()
}

/// Workloads of many sizes, as clusters have them: cores from a twentieth to eight, a half to twelve GiB a core, one
/// to sixty replicas, all times a factor; spread over zones where asked for.
pub(crate) fn workloads((count, factor): (usize, usize), seed: u64, is_spread: bool) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut pods = Vec::new();
    let mut workload = 0;
    while pods.len() < count {
        workload += 1;
        let cpu =
            numbers.of(&[50, 100, 150, 200, 250, 300, 500, 750, 1000, 1500, 2000, 3000, 4000, 8000]) * factor;
        let memory = (cpu * (512 + numbers.below(24) * 512) / 1000).max(64);
        let replicas = numbers.of(&[1, 2, 3, 3, 5, 8, 12, 20, 40, 60]).min(count - pods.len());
        let labels = json!({"app": format!("workload-{workload}")});
        let rules = if is_spread { spread(ZONE, &labels) } else { json!({}) };
        for replica in 0..replicas {
            pods.push(pod(&format!("w{workload}-{replica:02}"), (cpu, memory), &labels, &rules));
        }
    }
    pods
}

/// Pods of the sizes of a trace.
pub(crate) fn trace_pods(rows: impl Iterator<Item = (usize, usize)>) -> Vec<Value> {
    let one = |(place, size): (usize, (usize, usize))| {
        pod(&format!("trace-{place:05}"), size, &json!({}), &json!({}))
    };
    rows.enumerate().map(one).collect()
}

/// Pods that wish for the first zone, for a zone without each other, and for a host of their own: after
/// `gen -kind preference` of the peer, with the size that it gives them.
pub(crate) fn preference_pods(count: usize) -> Vec<Value> {
    let labels = json!({"app": "nginx"});
    let apart = |weight: usize, key: &str| json!({"weight": weight, "podAffinityTerm": {"topologyKey": key, "labelSelector": {"matchLabels": labels}}});
    let zone = json!({"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["test-zone-1"]}]});
    let rules = json!({"affinity": {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": zone}]},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [apart(10, ZONE), apart(1, HOST)]}}});
    (0..count).map(|place| pod(&format!("preference-{place:05}"), (100, 4096), &labels, &rules)).collect()
}

/// The cores in thousandths and the memory in MiB that a pod made here asks for.
pub(crate) fn size_of(pod: &Value) -> (usize, usize) {
    let requests = &pod["spec"]["containers"][0]["resources"]["requests"];
    let amount = |name: &str, unit: &str| {
        let text = requests[name].as_str().and_then(|text| text.strip_suffix(unit));
        text.and_then(|text| text.parse().ok()).expect("a pod made here")
    };
    (amount("cpu", "m"), amount("memory", "Mi"))
}

/// How many teams there are, each with a pool of its own.
pub(crate) const TEAMS: usize = 20;

/// The name of a team, and of its pool.
pub(crate) fn team(number: usize) -> String {
    format!("team-{number:02}")
}

/// Workloads of one pod each: small sizes, a third of them tied to a team's pool, a tenth spread over zones.
pub(crate) fn workloads_of_teams(count: usize, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let one = |place: usize| {
        let cpu = numbers.of(&[50, 100, 100, 150, 200, 250, 250, 300, 400, 500, 750, 1000]);
        let memory = (cpu * (1024 + numbers.below(8) * 512) / 1000).max(64);
        let labels = json!({"app": format!("workload-{place}")});
        let mut rules = if place % 10 == 7 { spread(ZONE, &labels) } else { json!({}) };
        if place.is_multiple_of(3) {
            rules["nodeSelector"] = json!({"example.com/team": team(numbers.below(TEAMS))});
        }
        pod(&format!("w{place}"), (cpu, memory), &labels, &rules)
    };
    (0..count).map(one).collect()
}

/// The team that a pod is tied to.
pub(crate) fn team_of(pod: &Value) -> Option<usize> {
    pod["spec"]["nodeSelector"]["example.com/team"].as_str()?.strip_prefix("team-")?.parse().ok()
}

/// The 400 types of the benchmark: one to 400 cores with two GiB each, priced by their size.
pub(crate) fn types() -> String {
    let kind = |cores: usize| {
        #[expect(
            clippy::cast_precision_loss,
            clippy::float_arithmetic,
            reason = "prices of a list are floats"
        )]
        let price = 0.1 * cores as f64 + 0.1 * (cores as f64) * 2.147_483_648;
        let offer = |zone: &str, bought: &str| json!({"zone": zone, "capacityType": bought, "price": price});
        json!({"name": format!("fake-it-{}", cores - 1),
            "requirements": {"kubernetes.io/arch": ["amd64"], "kubernetes.io/os": ["darwin", "linux", "windows"],
                "integer": [cores.to_string()], "size": [if cores > 4 { "large" } else { "small" }],
                "special": if cores > 4 { json!(["optional"]) } else { json!([]) }},
            "capacity": {"cpu": cores.to_string(), "memory": format!("{}Gi", cores * 2), "pods": (cores * 10).to_string()},
            "overhead": {"kubeReserved": {"cpu": "100m", "memory": "10Mi"}},
            "offerings": [offer("test-zone-1", "spot"), offer("test-zone-2", "spot"), offer("test-zone-1", "on-demand"),
                offer("test-zone-2", "on-demand"), offer("test-zone-3", "on-demand")]})
    };
    let types: Vec<Value> = (1..=400).map(kind).collect();
    json!({"wellKnownLabels": ["size", "special", "integer"], "instanceTypes": types}).to_string()
}

/// A pool that takes any size of the 400 types.
const ANY_POOL: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {cpu: \"10000000\", memory: 10000000Gi}
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
";

/// A pool that takes D, E and F sizes of version 4 and newer, on demand.
const GENERAL_POOL: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.azure.com/sku-family, operator: In, values: [D, E, F]}
        - {key: karpenter.azure.com/sku-version, operator: Gt, values: [\"3\"]}
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
";

fn world(pods: Vec<Value>, (pool, location): (&str, &str), catalogs: Catalogs) -> World {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": pods}).to_string();
    let sources = vec![Source::new("pool.yaml", pool), Source::new("pods.json", list)];
    let request = Request {
        sources,
        catalogs,
        location: Some(Region::new(location)),
        without_system_daemons: true,
        targets: BTreeSet::new(),
        ..Request::default()
    };
    offline::world(request).expect("a generated world can be read")
}

/// Pods on the 400 types of the benchmark.
pub(crate) fn on_types(pods: Vec<Value>) -> World {
    world(pods, (ANY_POOL, "test"), vec![("types.json".to_owned(), types())].into())
}

/// Nodes and pods on the 400 types of the benchmark, where everything may go at once.
pub(crate) fn on_types_without_budgets(objects: Vec<Value>) -> World {
    world(objects, (&without_budgets(ANY_POOL), "test"), vec![("types.json".to_owned(), types())].into())
}

/// Nodes and pods on many sizes of East US, spot and on demand, with a pool for every team.
pub(crate) fn on_teams(objects: Vec<Value>) -> World {
    let class = GENERAL_POOL.split("---\n").nth(1).expect("the pool's class").to_owned();
    let one = |number: usize| {
        let name = team(number);
        format!(
            "---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  disruption: {{consolidateAfter: 0s, budgets: [{{nodes: \"100%\"}}]}}
  template:
    metadata: {{labels: {{example.com/team: {name}}}}}
    spec:
      nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}
      requirements:
        - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
        - {{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}}
        - {{key: karpenter.azure.com/sku-family, operator: In, values: [D, E, F, L, M, B]}}
"
        )
    };
    let pools: String = (0..TEAMS).map(one).collect();
    world(objects, (&(class + &pools), "eastus"), Catalogs::default())
}

/// Nodes and pods on D, E and F sizes of the embedded list of East US, where everything may go at once.
pub(crate) fn on_azure_without_budgets(objects: Vec<Value>) -> World {
    world(objects, (&without_budgets(GENERAL_POOL), "eastus"), Catalogs::default())
}

/// A pool all of whose nodes may go at once.
fn without_budgets(pool: &str) -> String {
    let all = "  disruption: {consolidateAfter: 0s, budgets: [{nodes: \"100%\"}]}\n  template:";
    pool.replace("  template:", all)
}

/// Pods on D, E and F sizes of the embedded list of East US.
pub(crate) fn on_azure(pods: Vec<Value>) -> World {
    world(pods, (GENERAL_POOL, "eastus"), Catalogs::default())
}
