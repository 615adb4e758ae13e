//! Builders with one obvious default each, and a small catalogue with round numbers, modeled on what Karpenter's own
//! small worlds use. Allocatable is capacity minus 100m of CPU and 1Gi of memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::model::label;
use crate::model::{
    CapacityType, Claimed, ConsolidationPolicy, Disruption, Effect, ExpireAfter, HostPort, InstanceType,
    LabelKey, MicroUsdPerHour, Node, NodeClass, NodeStage, Offering, OsDisk, Pod, PodKey, PodPlace, PodSpec,
    PodState, Pool, PoolName, Price, Protocol, Quantity, Requirement, Requirements, ResourceName, Resources,
    Toleration, Zone,
};
use crate::policy::Policy;
use crate::snapshot::{Daemon, Snapshot};
use crate::solve::{NewNode, Solution, solve};

/// The zones of the small catalogue.
pub(super) const ZONES: [&str; 3] = ["eastus-1", "eastus-2", "eastus-3"];

pub(super) fn amount(name: &str, quantity: &str) -> (ResourceName, i64) {
    let resource = ResourceName::parse(name);
    let amount = resource.request(&Quantity::parse(quantity).expect("is a quantity"));
    (resource, amount)
}

pub(super) fn resources(amounts: &[(&str, &str)]) -> Resources {
    amounts.iter().map(|(name, quantity)| amount(name, quantity)).collect()
}

/// A size: cores, memory in GiB, price in millionths of a dollar, and spot price if available.
pub(super) struct Size {
    pub(super) name: &'static str,
    pub(super) arch: &'static str,
    pub(super) family: &'static str,
    pub(super) cpu: i64,
    pub(super) memory_gib: i64,
    pub(super) price: i64,
    pub(super) spot: i64,
    pub(super) gpus: i64,
}

const fn size(name: &'static str, family: &'static str, shape: (i64, i64), prices: (i64, i64)) -> Size {
    let ((cpu, memory_gib), (price, spot)) = (shape, prices);
    Size { name, arch: "amd64", family, cpu, memory_gib, price, spot, gpus: 0 }
}

/// The small catalogue.
pub(super) const SIZES: [Size; 12] = [
    size("Standard_D2s_v5", "D", (2, 8), (96_000, 20_000)),
    size("Standard_D4s_v5", "D", (4, 16), (192_000, 40_000)),
    size("Standard_D8s_v5", "D", (8, 32), (384_000, 80_000)),
    size("Standard_D16s_v5", "D", (16, 64), (768_000, 160_000)),
    size("Standard_E4s_v5", "E", (4, 32), (252_000, 60_000)),
    size("Standard_E8s_v5", "E", (8, 64), (504_000, 120_000)),
    size("Standard_F4s_v2", "F", (4, 8), (169_000, 35_000)),
    size("Standard_F8s_v2", "F", (8, 16), (338_000, 70_000)),
    size("Standard_B4ms", "B", (4, 16), (20_000, 5_000)),
    Size { arch: "arm64", ..size("Standard_D2ps_v5", "D", (2, 8), (77_000, 15_000)) },
    Size { arch: "arm64", ..size("Standard_D4ps_v5", "D", (4, 16), (154_000, 30_000)) },
    Size { gpus: 1, ..size("Standard_NC4as_T4_v3", "N", (4, 28), (526_000, 110_000)) },
];

impl Size {
    pub(super) fn kind(&self) -> InstanceType {
        let capacity: Resources = [
            (ResourceName::Cpu, self.cpu * 1000),
            (ResourceName::Memory, self.memory_gib << 30),
            (ResourceName::Pods, 110),
            (ResourceName::parse("nvidia.com/gpu"), self.gpus),
        ]
        .into_iter()
        .collect();
        let reserved = resources(&[("cpu", "100m"), ("memory", "1Gi")]);
        let requirements = Requirements::of_labels([
            (label::INSTANCE_TYPE, self.name),
            (label::ARCH, self.arch),
            (label::OS, "linux"),
            (label::SKU_FAMILY, self.family),
            (label::SKU_CPU, &self.cpu.to_string()),
            (label::SKU_GPU_COUNT, &self.gpus.to_string()),
        ])
        .with(label::ZONE, Requirement::new(crate::model::Operator::In, ZONES))
        .with(label::CAPACITY_TYPE, Requirement::new(crate::model::Operator::In, ["on-demand", "spot"]));
        let mut offerings = Vec::new();
        for zone in ZONES {
            for (capacity_type, price) in
                [(CapacityType::OnDemand, self.price), (CapacityType::Spot, self.spot)]
            {
                offerings.push(offering(zone, capacity_type, price));
            }
        }
        InstanceType {
            name: self.name.into(),
            requirements,
            allocatable: capacity.minus(&reserved),
            capacity,
            os_disk: OsDisk::Ephemeral,
            offerings,
            data_disks: None,
            is_estimate: false,
        }
    }
}

pub(super) fn offering(zone: &str, capacity_type: CapacityType, price: i64) -> Offering {
    Offering {
        zone: Zone::new(zone),
        capacity_type,
        price: if price == 0 { Price::Unknown } else { Price::Listed(MicroUsdPerHour(price)) },
        is_available: true,
        reserved_count: None,
        requirements: Requirements::of_labels([
            (label::ZONE, zone),
            (label::CAPACITY_TYPE, capacity_type.as_str()),
        ]),
    }
}

/// Returns a pod in the default namespace that requests 500m and 512Mi.
pub(super) fn pod(name: &str) -> Pod {
    let requests = resources(&[("cpu", "500m"), ("memory", "512Mi"), ("pods", "1")]);
    Pod {
        key: PodKey::new("default", name),
        workload: None,
        spec: Arc::new(PodSpec { requests, ..PodSpec::default() }),
        place: PodPlace::Waiting,
        is_daemon: false,
        is_do_not_disrupt: false,
        is_terminating: false,
        state: PodState::default(),
    }
}

/// Changes of a pod, one at a time.
pub(super) trait PodWith: Sized {
    fn spec(self, change: impl FnOnce(&mut PodSpec)) -> Self;

    fn asks(self, name: &str, quantity: &str) -> Self {
        let (name, amount) = amount(name, quantity);
        self.spec(|spec| spec.requests.set(name, amount))
    }
    fn cpu(self, quantity: &str) -> Self {
        self.asks("cpu", quantity)
    }
    fn memory(self, quantity: &str) -> Self {
        self.asks("memory", quantity)
    }
    fn selects(self, key: &str, value: &str) -> Self {
        self.spec(|spec| spec.node_selector.add(LabelKey::new(key), Requirement::one(value)))
    }
    fn terms(self, terms: Vec<Requirements>) -> Self {
        self.spec(|spec| spec.node_affinity.required = Some(terms))
    }
    fn tolerates(self, toleration: Toleration) -> Self {
        self.spec(|spec| spec.tolerations.push(toleration))
    }
    fn priority(self, priority: i32) -> Self {
        self.spec(|spec| spec.priority = priority)
    }
    fn port(self, port: u16) -> Self {
        let port = HostPort { port, protocol: Protocol::Tcp, address: None };
        self.spec(|spec| {
            spec.host_ports.insert(port);
        })
    }
}

impl PodWith for Pod {
    fn spec(mut self, change: impl FnOnce(&mut PodSpec)) -> Self {
        change(Arc::make_mut(&mut self.spec));
        self
    }
}

impl PodWith for Daemon {
    fn spec(mut self, change: impl FnOnce(&mut PodSpec)) -> Self {
        change(Arc::make_mut(&mut self.spec));
        self
    }
}

/// Binds a pod to a node.
pub(super) fn on(node: &str, pod: Pod) -> Pod {
    Pod { place: PodPlace::Bound(node.into()), ..pod }
}

pub(super) fn toleration(key: &str, value: Option<&str>, effect: Option<Effect>) -> Toleration {
    Toleration { key: Some(Arc::from(key)), value: value.map(Arc::from), effect, seconds: None }
}

/// Returns a DaemonSet in `kube-system` that requests 500m and 512Mi.
pub(super) fn daemon(name: &str) -> Daemon {
    let spec = pod(name).spec;
    Daemon { namespace: "kube-system".into(), name: Arc::from(name), spec, is_assumed: false }
}

/// Returns a pool of on-demand amd64 nodes.
pub(super) fn pool(name: &str) -> Pool {
    any_pool(name)
        .requires(label::CAPACITY_TYPE, Requirement::one("on-demand"))
        .requires(label::ARCH, Requirement::one("amd64"))
}

/// Returns a pool without requirements.
pub(super) fn any_pool(name: &str) -> Pool {
    Pool {
        name: name.into(),
        weight: 0,
        class: "default".into(),
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        requirements: Requirements::none(),
        limits: Resources::none(),
        nodes_max: None,
        replicas: None,
        // Nodes with pods are kept, unless a test is about their removal.
        disruption: Disruption { policy: ConsolidationPolicy::WhenEmpty, ..Disruption::default() },
        expire_after: ExpireAfter::Never,
        termination_grace_period: None,
        is_deleting: false,
    }
}

impl Pool {
    pub(super) fn requires(mut self, key: &str, requirement: Requirement) -> Self {
        self.requirements.add(LabelKey::new(key), requirement);
        self
    }
}

/// Returns an initialized on-demand node of pool `default` in zone 1, with the capacity of the size of this name.
pub(super) fn node(name: &str, size: &str) -> Node {
    let kind = SIZES.iter().find(|there| there.name == size).expect("is in the small catalogue").kind();
    let labels = [
        (label::INSTANCE_TYPE, size),
        (label::ZONE, ZONES[0]),
        (label::CAPACITY_TYPE, "on-demand"),
        (label::ARCH, "amd64"),
        (label::NODE_POOL, "default"),
    ];
    Node {
        name: name.into(),
        claim: Some(name.into()),
        pool: Some("default".into()),
        class: Some("default".into()),
        provider_id: None,
        uid: None,
        claim_uid: None,
        stage: NodeStage::Initialized,
        labels: labels.into_iter().map(|(key, value)| (LabelKey::new(key), Arc::from(value))).collect(),
        taints: Vec::new(),
        capacity: kind.capacity,
        allocatable: kind.allocatable,
        is_unschedulable: false,
        is_do_not_disrupt: false,
        kept_because: None,
        is_deleting: false,
        created: None,
        quiet_since: None,
        is_consolidatable: false,
        claimed: Claimed::default(),
        troubles: Vec::new(),
    }
}

/// A world to be solved.
#[derive(Clone)]
pub(super) struct World {
    pub(super) snapshot: Snapshot,
    pub(super) policy: Policy,
    types: Vec<InstanceType>,
}

impl World {
    /// Creates a world with the small catalogue and these pools.
    pub(super) fn of(pools: Vec<Pool>) -> Self {
        let by_name = |pool: Pool| (pool.name.clone(), pool);
        let pools: BTreeMap<PoolName, Pool> = pools.into_iter().map(by_name).collect();
        let types: Vec<InstanceType> = SIZES.iter().map(Size::kind).collect();
        let snapshot = Snapshot {
            at: None,
            cluster: None,
            nodes: Vec::new(),
            pods: Vec::new(),
            daemons: Vec::new(),
            catalog: catalog(types.clone()),
            namespaces: BTreeMap::new(),
            storage: crate::model::storage::Storage::default(),
            budgets: Vec::new(),
            groups: Vec::new(),
            refusals: Vec::new(),
            gaps: Vec::new(),
            assumptions: Vec::new(),
            assumes_system_node: true,
            supposed: crate::model::Supposed::default(),
            preemptions: Vec::new(),
            quota: None,
            azure: None,
        };
        let classes = BTreeMap::from([("default".into(), class())]);
        Self { snapshot, policy: Policy { pools, classes, ..Policy::default() }, types }
    }

    pub(super) fn pods(mut self, pods: impl IntoIterator<Item = Pod>) -> Self {
        self.snapshot.pods.extend(pods);
        self
    }

    pub(super) fn nodes(mut self, nodes: impl IntoIterator<Item = Node>) -> Self {
        self.snapshot.nodes.extend(nodes);
        self.snapshot.assumes_system_node &= self.snapshot.nodes.is_empty();
        self
    }

    pub(super) fn daemons(mut self, daemons: impl IntoIterator<Item = Daemon>) -> Self {
        self.snapshot.daemons.extend(daemons);
        self
    }

    /// Changes the types that are sold.
    pub(super) fn types(mut self, change: impl FnOnce(&mut Vec<InstanceType>)) -> Self {
        change(&mut self.types);
        self.snapshot.catalog = catalog(self.types.clone());
        self
    }

    pub(super) fn solve(&self) -> Solution {
        solve(&self.snapshot, &self.policy)
    }

    /// Solves and returns the warnings for the user.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.solve().report.warnings.into_iter();
        warnings.map(|warning| format!("{}: {}", warning.object, warning.what)).collect()
    }

    /// Solves and returns the result as text, one line per fact.
    pub(super) fn text(&self) -> String {
        text(&self.solve())
    }
}

fn catalog(types: Vec<InstanceType>) -> Catalog {
    Catalog::of_types("eastus".into(), types, label::WELL_KNOWN_AZURE.map(LabelKey::new))
}

fn class() -> NodeClass {
    crate::policy::default_class("default".into())
}

fn price(price: Price) -> String {
    match price {
        Price::Listed(amount) => amount.0.to_string(),
        Price::Estimated(amount) => format!("~{}", amount.0),
        Price::Unknown => "unknown".to_owned(),
    }
}

fn names(pods: &[PodKey]) -> String {
    pods.iter().map(|pod| &*pod.name).collect::<Vec<_>>().join(" ")
}

fn new_line(node: &NewNode) -> String {
    let NewNode { pool, size, zone, capacity_type, effective_price, labels, pods, .. } = node;
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    let labels = labels.concat();
    format!("+ {pool} {size} {zone} {capacity_type} {}{labels}: {}\n", price(*effective_price), names(pods))
}

/// Returns a solution's decisions as text.
pub(super) fn text(solution: &Solution) -> String {
    let mut text = String::new();
    for kept in solution.target.kept.iter().filter(|kept| !kept.pods.is_empty()) {
        text += &format!("= {}: {}\n", kept.node, names(&kept.pods));
    }
    for node in &solution.target.new {
        text += &new_line(node);
    }
    for removal in &solution.target.removed {
        text += &format!("- {}: {}\n", removal.node, removal.reason);
    }
    for unplaced in &solution.report.unplaced {
        text += &format!("? {}: {}: {}\n", names(&unplaced.pods), unplaced.rule, unplaced.because);
    }
    for held in &solution.report.held {
        text += &format!("! {}: {}\n", names(&held.pods), held.waits_for);
    }
    for (node, reason) in &solution.report.staying {
        text += &format!("~ {node}: {reason}\n");
    }
    text
}
