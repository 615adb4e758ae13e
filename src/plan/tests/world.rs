//! A small world with handwritten solutions, and the one way to plan it, with the checker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::model::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use crate::model::{
    CapacityType, Claimed, ClassName, Disruption, DisruptionReason, Effect, ExpireAfter, InstanceType,
    LabelKey, LabelSelector, MicroUsdPerHour, Node, NodeClass, NodeName, NodeStage, Offering, OsDisk, Pod,
    PodKey, PodPlace, PodSpec, PodState, Pool, PoolName, Price, Region, Requirement, Requirements,
    ResourceName, Resources, SkuName, Taint, Toleration, Zone, label,
};
use crate::plan::{Plan, plan};
use crate::policy::Policy;
use crate::review::CheckedPlan;
use crate::snapshot::{Daemon, Snapshot};
use crate::solve::price::{PriceBook, Quote, quote_nodes, sum};
use crate::solve::{Cost, Market, NewNode, Removal, Report, Solution, Substitute, Target, Unplaced, Variety};

const GIB: i64 = 1 << 30;

/// Maximum number of pods per node.
const PODS_MAX: i64 = 110;

/// Returns the plan of a solution; panics if the checker has findings. The cost of the fleet is summed here, because a
/// handwritten solution has none.
pub(crate) fn planned(snapshot: &Snapshot, policy: &Policy, solution: &Solution) -> Plan {
    let mut solution = solution.clone();
    let report = &mut solution.report;
    (report.cost_before, report.cost_after) = costs(snapshot, policy, &solution.target);
    let judged = CheckedPlan::judged(snapshot, policy, plan(snapshot, policy, &solution));
    judged.unwrap_or_else(|refused| panic!("the judge objects: {:#?}", refused.findings)).plan().clone()
}

/// Returns the cost of the fleet before and after. New nodes have their stated price; those with an effective but no
/// list price are paid for by the first commitment.
fn costs(snapshot: &Snapshot, policy: &Policy, target: &Target) -> (Cost, Cost) {
    let (market, book) = (Market::of(snapshot, policy), PriceBook::new(&policy.fleet.prices));
    let is_removed = |node: &Node| target.removed.iter().any(|removal| removal.node == node.name);
    let (today, unused) = quote_nodes(&snapshot.nodes, &market, &book);
    let before = sum(today, &unused, &book);
    let staying = snapshot.nodes.iter().filter(|node| !node.is_deleting && !is_removed(node));
    let (staying, mut unused) = quote_nodes(staying, &market, &book);
    let is_committed =
        |node: &&NewNode| node.list_price == Price::Unknown && node.effective_price != Price::Unknown;
    for _ in target.new.iter().filter(is_committed) {
        unused.0[0] -= 1;
    }
    let new = target.new.iter();
    let new = new.map(|node| Some(Quote { list: node.list_price, effective: node.effective_price }));
    (before, sum(staying.into_iter().chain(new), &unused, &book))
}

/// Returns the resources of this many pods, or of a node.
pub(crate) fn resources(cpu_milli: i64, memory_gib: i64, pods: i64) -> Resources {
    Resources::none()
        .with(ResourceName::Cpu, cpu_milli)
        .with(ResourceName::Memory, memory_gib * GIB)
        .with(ResourceName::Pods, pods)
}

pub(crate) fn pool(name: &str) -> Pool {
    Pool {
        name: PoolName::new(name),
        weight: 0,
        class: ClassName::new("default"),
        labels: BTreeMap::from([(LabelKey::new("team"), Arc::from("web"))]),
        annotations: BTreeMap::new(),
        taints: vec![taint()],
        startup_taints: vec![Taint::new("agent", "", Effect::NoExecute)],
        requirements: Requirements::none().with(label::ARCH, Requirement::one("amd64")),
        limits: Resources::none(),
        nodes_max: Some(u64::MAX),
        replicas: None,
        disruption: Disruption::default(),
        expire_after: ExpireAfter::Age(jiff::SignedDuration::from_hours(720)),
        termination_grace_period: None,
        is_deleting: false,
    }
}

/// Returns the taint that keeps pods other than the web's off the pool's nodes.
fn taint() -> Taint {
    Taint::new("dedicated", "web", Effect::NoSchedule)
}

fn class() -> NodeClass {
    crate::policy::default_class(ClassName::new("default"))
}

pub(crate) fn policy(pools: impl IntoIterator<Item = Pool>) -> Policy {
    Policy {
        pools: pools.into_iter().map(|pool| (pool.name.clone(), pool)).collect(),
        classes: BTreeMap::from([(ClassName::new("default"), class())]),
        ..Policy::default()
    }
}

pub(super) fn price(micro_usd: i64) -> Price {
    Price::Listed(MicroUsdPerHour(micro_usd))
}

/// Returns a size with this many cores at this price in both zones.
pub(crate) fn instance_type(name: &str, cores: i64, price: Price) -> InstanceType {
    let offering = |zone: &str| Offering {
        zone: Zone::new(zone),
        capacity_type: CapacityType::OnDemand,
        price,
        is_available: true,
        reserved_count: None,
        requirements: Requirements::none().with(label::ZONE, Requirement::one(zone)),
    };
    InstanceType {
        name: SkuName::new(name),
        requirements: Requirements::none()
            .with(label::INSTANCE_TYPE, Requirement::one(name))
            .with(label::SKU_CPU, Requirement::one(&cores.to_string())),
        capacity: resources(1000 * cores, 4 * cores, PODS_MAX),
        allocatable: resources(900 * cores, 3 * cores, PODS_MAX),
        os_disk: OsDisk::Ephemeral,
        offerings: vec![offering("eastus-1"), offering("eastus-2")],
        data_disks: None,
        is_estimate: false,
    }
}

/// Returns a catalogue with a smaller and a larger size at these prices.
pub(crate) fn catalog(small: Price, large: Price) -> Catalog {
    let types = vec![instance_type("Standard_D4s_v5", 4, small), instance_type("Standard_D8s_v5", 8, large)];
    let sizes = BTreeMap::from([(ClassName::new("default"), types)]);
    Catalog::recorded(Region::new("eastus"), sizes, BTreeSet::new())
}

pub(crate) fn snapshot(nodes: Vec<Node>, pods: Vec<Pod>) -> Snapshot {
    Snapshot {
        at: None,
        cluster: None,
        assumes_system_node: nodes.is_empty(),
        nodes,
        pods,
        daemons: vec![daemon("agent", &[Effect::NoSchedule]), daemon("picky", &[])],
        catalog: catalog(price(200_000), price(400_000)),
        namespaces: std::collections::BTreeMap::new(),
        storage: crate::model::storage::Storage::default(),
        budgets: Vec::new(),
        groups: Vec::new(),
        refusals: Vec::new(),
        gaps: Vec::new(),
        assumptions: Vec::new(),
        supposed: crate::model::Supposed::default(),
        preemptions: Vec::new(),
        quota: None,
        azure: None,
    }
}

/// Returns a daemonset that tolerates all taints with these effects.
fn daemon(name: &str, effects: &[Effect]) -> Daemon {
    let tolerations = effects
        .iter()
        .map(|effect| Toleration { key: None, value: None, effect: Some(*effect), seconds: None })
        .collect();
    let spec = PodSpec { requests: resources(100, 0, 1), tolerations, ..PodSpec::default() };
    Daemon { namespace: "kube-system".into(), name: Arc::from(name), spec: Arc::new(spec), is_assumed: true }
}

/// Returns a pod of one core that tolerates the pool's taint.
pub(crate) fn pod(name: &str) -> Pod {
    let Taint { key, value, effect } = taint();
    let toleration = Toleration { key: Some(key), value: Some(value), effect: Some(effect), seconds: None };
    let spec =
        PodSpec { requests: resources(1000, 1, 1), tolerations: vec![toleration], ..PodSpec::default() };
    Pod {
        key: PodKey::new("default", name),
        workload: None,
        spec: Arc::new(spec),
        place: PodPlace::Waiting,
        is_daemon: false,
        is_do_not_disrupt: false,
        is_terminating: false,
        state: PodState::default(),
    }
}

pub(crate) fn node(name: &str, pool: &str) -> Node {
    let labels = [
        (label::NODE_POOL, pool),
        (label::INSTANCE_TYPE, "Standard_D4s_v5"),
        (label::ZONE, "eastus-1"),
        (label::CAPACITY_TYPE, "on-demand"),
    ];
    Node {
        name: NodeName::new(name),
        claim: Some(name.into()),
        pool: Some(PoolName::new(pool)),
        class: Some(ClassName::new("default")),
        provider_id: Some(Arc::from(format!("azure:///vm/{name}"))),
        uid: None,
        claim_uid: None,
        stage: NodeStage::Initialized,
        labels: labels.map(|(key, value)| (LabelKey::new(key), Arc::from(value))).into(),
        taints: Vec::new(),
        capacity: resources(4000, 16, PODS_MAX),
        allocatable: resources(3600, 12, PODS_MAX),
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

pub(crate) fn keys(names: &[&str]) -> Vec<PodKey> {
    names.iter().map(|name| PodKey::new("default", name)).collect()
}

/// Returns a node with these pods, a substitute in the other zone and a larger one.
pub(crate) fn new_node(pool: &str, pods: &[&str]) -> NewNode {
    let substitute = |size: &str, zone: &str, micro_usd: i64| Substitute {
        effective_price: price(micro_usd),
        size: SkuName::new(size),
        zone: Zone::new(zone),
        capacity_type: CapacityType::OnDemand,
    };
    let count = i64::try_from(pods.len()).expect("few pods");
    let pods = keys(pods);
    NewNode {
        pool: PoolName::new(pool),
        size: SkuName::new("Standard_D4s_v5"),
        zone: Zone::new("eastus-1"),
        capacity_type: CapacityType::OnDemand,
        list_price: price(200_000),
        effective_price: price(200_000),
        premium: MicroUsdPerHour::default(),
        requests: resources(100 + 1000 * count, count, 1 + count),
        daemon_requests: resources(100, 0, 1),
        allocatable: resources(3600, 12, PODS_MAX),
        capacity: resources(4000, 16, PODS_MAX),
        labels: BTreeMap::new(),
        opened_for: Some(pods[0].clone()),
        pods,
        substitutes: vec![
            substitute("Standard_D4s_v5", "eastus-2", 200_000),
            substitute("Standard_D8s_v5", "eastus-1", 400_000),
            substitute("Standard_D8s_v5", "eastus-2", 400_000),
        ],
        variety: Variety::default(),
        is_estimate: false,
    }
}

/// Returns a PodDisruptionBudget of all pods that allows this many disruptions.
pub(crate) fn web_budget(most: u32) -> DisruptionBudget {
    DisruptionBudget {
        namespace: "default".into(),
        name: "web".into(),
        selector: Some(LabelSelector::default()),
        bound: Some(PodBound::MaxUnavailable(PodShare::Count(most))),
        unhealthy: UnhealthyPods::IfHealthyBudget,
        counts: None,
    }
}

pub(crate) fn solution(new: Vec<NewNode>, removed: &[&str]) -> Solution {
    let removal =
        |name: &&str| Removal { node: NodeName::new(name), reason: DisruptionReason::Empty, what: None };
    let removed = removed.iter().map(removal).collect();
    Solution { target: Target { kept: Vec::new(), new, removed }, report: Report::default() }
}

/// Returns pods that request more than there is.
pub(crate) fn unplaced(names: &[&str]) -> Unplaced {
    Unplaced {
        pods: keys(names),
        rule: "cpu".into(),
        because: "`900` is asked for, `7.2` is the most".into(),
        nearest: Some("`Standard_D8s_v5` in pool `general`".into()),
        details: Vec::new(),
    }
}

/// Returns a world with two new nodes, one node to remove and one without a claim.
pub(crate) fn example() -> (Snapshot, Policy, Solution) {
    let stray = Node { claim: None, ..node("aks-general-zzz", "general") };
    let nodes = vec![stray, node("empty-1", "general"), node("kept-1", "general")];
    let pods = ["web-1", "web-2", "web-3", "web-4"].map(pod).into();
    let new = vec![new_node("general", &["web-1", "web-2"]), new_node("general", &["web-3", "web-4"])];
    (snapshot(nodes, pods), policy([pool("general")]), solution(new, &["empty-1"]))
}

pub(crate) fn example_plan() -> Plan {
    let (snapshot, policy, solution) = example();
    planned(&snapshot, &policy, &solution)
}
