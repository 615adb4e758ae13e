//! A small world for the tests of plan, render and sim, and the tests of plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Change, HeldRemoval, Plan, PlanFileFault, Precondition, Step, plan, read, write};
use crate::catalog::Catalog;
use crate::model::{
    Budget, BudgetNodes, CapacityType, ClassName, Disruption, DisruptionReason, Effect, ExpireAfter,
    InstanceType, LabelKey, MicroUsdPerHour, Node, NodeClass, NodeName, NodeStage, Offering, OsDisk, Pod,
    PodKey, PodPlace, PodSpec, Pool, PoolName, Price, Region, Requirement, Requirements, ResourceName,
    Resources, SkuName, Taint, Zone, label,
};
use crate::policy::Policy;
use crate::snapshot::{Daemon, Snapshot};
use crate::solve::{Cost, NewNode, Removal, Report, Solution, Substitute, Target};

const GIB: i64 = 1 << 30;

pub(crate) fn resources(cpu_milli: i64, memory_gib: i64) -> Resources {
    Resources::none()
        .with(ResourceName::Cpu, cpu_milli)
        .with(ResourceName::Memory, memory_gib * GIB)
        .with(ResourceName::Pods, 110)
}

pub(crate) fn pool(name: &str) -> Pool {
    Pool {
        name: PoolName::new(name),
        weight: 0,
        class: ClassName::new("default"),
        labels: BTreeMap::from([(LabelKey::new("team"), Arc::from("web"))]),
        annotations: BTreeMap::new(),
        taints: vec![Taint::new("dedicated", "web", Effect::NoSchedule)],
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

fn class() -> NodeClass {
    crate::policy::default_class(ClassName::new("default"))
}

pub(crate) fn policy(pools: impl IntoIterator<Item = Pool>) -> Policy {
    Policy {
        pools: pools.into_iter().map(|pool| (pool.name.clone(), pool)).collect(),
        classes: BTreeMap::from([(ClassName::new("default"), class())]),
        fleet: crate::model::Fleet::default(),
    }
}

fn price(micro_usd: i64) -> Price {
    Price::Listed(MicroUsdPerHour(micro_usd))
}

fn instance_type(name: &str, cores: i64) -> InstanceType {
    let offering = |zone: &str| Offering {
        zone: Zone::new(zone),
        capacity_type: CapacityType::OnDemand,
        price: price(50_000 * cores),
        is_available: true,
        requirements: Requirements::none().with(label::ZONE, Requirement::one(zone)),
    };
    InstanceType {
        name: SkuName::new(name),
        requirements: Requirements::none()
            .with(label::INSTANCE_TYPE, Requirement::one(name))
            .with(label::SKU_CPU, Requirement::one(&cores.to_string())),
        capacity: resources(1000 * cores, 4 * cores),
        allocatable: resources(900 * cores, 3 * cores),
        os_disk: OsDisk::Ephemeral,
        offerings: vec![offering("eastus-1"), offering("eastus-2")],
        is_estimate: false,
    }
}

pub(crate) fn snapshot(nodes: Vec<Node>, pods: Vec<Pod>) -> Snapshot {
    let types = vec![instance_type("Standard_D4s_v5", 4), instance_type("Standard_D8s_v5", 8)];
    let sizes = BTreeMap::from([(ClassName::new("default"), types)]);
    Snapshot {
        at: None,
        cluster: None,
        nodes,
        pods,
        daemons: vec![daemon("agent", &[Effect::NoSchedule]), daemon("picky", &[])],
        catalog: Catalog::recorded(Region::new("eastus"), sizes, BTreeSet::new()),
        gaps: Vec::new(),
        assumptions: Vec::new(),
    }
}

/// A daemonset that tolerates every taint of these effects.
fn daemon(name: &str, effects: &[Effect]) -> Daemon {
    let tolerations = effects
        .iter()
        .map(|effect| crate::model::Toleration { key: None, value: None, effect: Some(*effect) })
        .collect();
    let spec = PodSpec { requests: resources(100, 0), tolerations, ..PodSpec::default() };
    Daemon { namespace: "kube-system".into(), name: Arc::from(name), spec: Arc::new(spec), is_assumed: true }
}

pub(crate) fn pod(name: &str) -> Pod {
    Pod {
        key: PodKey::new("default", name),
        workload: None,
        spec: Arc::new(PodSpec { requests: resources(1000, 1), ..PodSpec::default() }),
        place: PodPlace::Waiting,
        is_daemon: false,
        is_do_not_disrupt: false,
        is_terminating: false,
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
        stage: NodeStage::Initialized,
        labels: labels.map(|(key, value)| (LabelKey::new(key), Arc::from(value))).into(),
        taints: Vec::new(),
        capacity: resources(4000, 16),
        allocatable: resources(3600, 12),
        is_unschedulable: false,
        is_do_not_disrupt: false,
        is_deleting: false,
        created: None,
        quiet_since: None,
        is_consolidatable: false,
    }
}

/// A node with these pods, with a substitute in the other zone and a larger one.
pub(crate) fn new_node(pool: &str, pods: &[&str]) -> NewNode {
    let substitute = |size: &str, zone: &str, micro_usd: i64| Substitute {
        effective_price: price(micro_usd),
        size: SkuName::new(size),
        zone: Zone::new(zone),
        capacity_type: CapacityType::OnDemand,
    };
    let pods: Vec<PodKey> = pods.iter().map(|name| PodKey::new("default", name)).collect();
    NewNode {
        pool: PoolName::new(pool),
        size: SkuName::new("Standard_D4s_v5"),
        zone: Zone::new("eastus-1"),
        capacity_type: CapacityType::OnDemand,
        list_price: price(200_000),
        effective_price: price(200_000),
        requests: resources(2100, 2),
        daemon_requests: resources(100, 0),
        allocatable: resources(3600, 12),
        capacity: resources(4000, 16),
        labels: BTreeMap::new(),
        opened_for: pods[0].clone(),
        pods,
        substitutes: vec![
            substitute("Standard_D4s_v5", "eastus-2", 200_000),
            substitute("Standard_D8s_v5", "eastus-1", 400_000),
            substitute("Standard_D8s_v5", "eastus-2", 400_000),
        ],
        is_estimate: false,
    }
}

pub(crate) fn solution(new: Vec<NewNode>, removed: &[&str]) -> Solution {
    let removal = |name: &&str| Removal { node: NodeName::new(name), reason: DisruptionReason::Empty };
    let rate = |nodes: usize| MicroUsdPerHour(200_000).times(nodes);
    let cost = |nodes: usize| Cost { list: rate(nodes), effective: rate(nodes), ..Cost::default() };
    let report =
        Report { cost_before: cost(removed.len() + 1), cost_after: cost(1 + new.len()), ..Report::default() };
    let removed = removed.iter().map(removal).collect();
    Solution { target: Target { kept: Vec::new(), new, removed }, report }
}

/// Two new nodes, one node that goes and one without a claim.
pub(crate) fn example() -> (Snapshot, Policy, Solution) {
    let stray = Node { claim: None, ..node("aks-general-zzz", "general") };
    let nodes = vec![stray, node("empty-1", "general"), node("kept-1", "general")];
    let pods = ["web-1", "web-2", "web-3", "web-4"].map(pod).into();
    let new = vec![new_node("general", &["web-1", "web-2"]), new_node("general", &["web-3", "web-4"])];
    (snapshot(nodes, pods), policy([pool("general")]), solution(new, &["empty-1"]))
}

pub(crate) fn example_plan() -> Plan {
    let (snapshot, policy, solution) = example();
    plan(&snapshot, &policy, &solution)
}

fn budget(nodes: BudgetNodes) -> Budget {
    Budget { reasons: None, nodes, window: None }
}

/// Plans the removal of so many of twenty nodes under these budgets; returns the waves' sizes.
fn removals(budgets: Vec<Budget>, count: usize) -> (Vec<usize>, Vec<HeldRemoval>) {
    let mut owner = pool("general");
    owner.disruption.budgets = budgets;
    let names: Vec<String> = (0..20).map(|place| format!("node-{place:02}")).collect();
    let nodes = names.iter().map(|name| node(name, "general")).collect();
    let gone: Vec<&str> = names.iter().take(count).map(String::as_str).collect();
    let plan = plan(&snapshot(nodes, Vec::new()), &policy([owner]), &solution(Vec::new(), &gone));
    let sizes = plan.spec.waves.iter().map(|wave| wave.steps[&Step::Delete].len());
    (sizes.collect(), plan.evidence.held)
}

#[test]
fn names_follow_from_content_and_do_not_move() {
    let plan = example_plan();
    let claims: Vec<&str> = plan.spec.creates().map(|(_, create, _)| create.claim.as_str()).collect();
    assert_eq!(
        claims,
        example_plan().spec.creates().map(|(_, create, _)| create.claim.as_str()).collect::<Vec<_>>()
    );
    assert_eq!(claims, ["general-6a32amb4as", "general-m3zqdmw3s3"]);
    for (id, create, _) in plan.spec.creates() {
        assert_eq!(create.claim.as_str(), format!("general-{id}"));
        assert_eq!(&*create.vm, format!("aks-general-{id}"));
    }
}

#[test]
fn names_of_nodes_that_exist_are_not_given_again() {
    let first = example_plan();
    let (mut snapshot, policy, solution) = example();
    let taken: Vec<String> = first.spec.creates().map(|(_, create, _)| create.vm.to_string()).collect();
    snapshot.nodes.extend(taken.iter().map(|name| node(name, "general")));
    let second = plan(&snapshot, &policy, &solution);
    assert_eq!(second.spec.creates().count(), 2);
    assert!(second.spec.creates().all(|(_, create, _)| !taken.contains(&create.vm.to_string())));
}

#[test]
fn more_pods_on_a_node_do_not_rename_it() {
    let (snapshot, policy, mut solution) = example();
    let before = plan(&snapshot, &policy, &solution);
    solution.target.new[0].pods.push(PodKey::new("default", "web-9"));
    solution.target.new[0].requests = resources(3100, 3);
    let after = plan(&snapshot, &policy, &solution);
    assert_eq!(before.spec.changes.keys().collect::<Vec<_>>(), after.spec.changes.keys().collect::<Vec<_>>());
}

#[test]
fn a_claim_lists_its_substitutes_where_every_combination_holds_the_pods() {
    let (snapshot, policy, mut solution) = example();
    let listed = |solution: &Solution| {
        let plan = plan(&snapshot, &policy, solution);
        let (_, _, claim) = plan.spec.creates().next().expect("a node is made");
        let values = |key: &str| claim.requirements.get(key).map(ToString::to_string).unwrap_or_default();
        format!("{} {} {:?}", values(label::INSTANCE_TYPE), values(label::ZONE), claim.price_max)
    };
    assert_eq!(
        listed(&solution),
        "In [Standard_D4s_v5, Standard_D8s_v5] In [eastus-1, eastus-2] Some(MicroUsdPerHour(400000))"
    );
    for node in &mut solution.target.new {
        // The larger size would hold them in the first zone only: then it cannot be listed beside the second.
        node.substitutes.pop();
    }
    assert_eq!(
        listed(&solution),
        "In [Standard_D4s_v5] In [eastus-1, eastus-2] Some(MicroUsdPerHour(200000))"
    );
    for node in &mut solution.target.new {
        node.effective_price = price(60_000);
        node.substitutes.retain(|other| other.zone.as_str() == "eastus-1");
    }
    assert_eq!(listed(&solution), "In [Standard_D4s_v5] In [eastus-1] Some(MicroUsdPerHour(60000))");
}

#[test]
fn a_claim_carries_what_the_pool_says_and_what_is_settled() {
    let plan = example_plan();
    let (_, create, claim) = plan.spec.creates().next().expect("a node is made");
    let labels: Vec<String> = claim.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        labels,
        [
            "karpenter.azure.com/aksnodeclass=default",
            "karpenter.sh/capacity-type=on-demand",
            "karpenter.sh/nodepool=general",
            "kubernetes.io/arch=amd64",
            "team=web"
        ]
    );
    assert_eq!(claim.requirements.get(label::REGISTERED), None);
    assert_eq!(create.requests, resources(2100, 2));
    assert_eq!(claim.taints.len() + claim.startup_taints.len(), 2);
}

#[test]
fn a_node_without_a_claim_is_adopted_only_where_others_have_one() {
    let (snapshot, policy, solution) = example();
    let adopts = |snapshot: &Snapshot| {
        let plan = plan(snapshot, &policy, &solution);
        plan.spec.changes.values().find_map(|planned| match &planned.change {
            Change::Adopt(adopt) => Some(adopt.claim.to_string()),
            Change::Create(_)
            | Change::Delete(_)
            | Change::Replace(_)
            | Change::Update(_)
            | Change::Forget(_)
            | Change::NoOp(_) => None,
        })
    };
    assert_eq!(adopts(&snapshot).as_deref(), Some("general-zzz"));
    let mut without_claims = snapshot;
    without_claims.nodes.iter_mut().for_each(|node| node.claim = None);
    assert_eq!(adopts(&without_claims), None);
}

#[test]
fn creates_come_before_drains_before_deletes_and_removals_have_their_conditions() {
    let plan = example_plan();
    let steps: Vec<&Step> = plan.spec.waves.iter().flat_map(|wave| wave.steps.keys()).collect();
    assert_eq!(steps, [&Step::Adopt, &Step::Create, &Step::Drain, &Step::Delete]);
    let (id, _) = plan.spec.deletes().next().expect("a node goes");
    let conditions = &plan.spec.changes[id].preconditions;
    assert!(conditions.contains(&Precondition::NodeEmpty { node: NodeName::new("empty-1") }));
    assert!(conditions.iter().any(|condition| matches!(condition, Precondition::SameNode { .. })));
}

#[test]
fn percentages_round_up_and_are_taken_of_what_is_left() {
    assert_eq!(removals(vec![budget(BudgetNodes::Percent(10))], 7).0, [2, 2, 2, 1]);
    assert_eq!(removals(vec![budget(BudgetNodes::Percent(15))], 20).0, [3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1]);
}

#[test]
fn the_smallest_budget_that_holds_counts() {
    let empty_only =
        Budget { reasons: Some([DisruptionReason::Empty].into()), ..budget(BudgetNodes::Count(1)) };
    assert_eq!(removals(vec![budget(BudgetNodes::Percent(50)), empty_only.clone()], 3).0, [1, 1, 1]);
    let drifted = Budget { reasons: Some([DisruptionReason::Drifted].into()), ..empty_only };
    assert_eq!(removals(vec![drifted], 3).0, [3]);
    assert_eq!(removals(Vec::new(), 20).0, [20]);
}

#[test]
fn a_budget_of_nothing_holds_removals_back_and_their_cost_stays() {
    let (waves, held) = removals(vec![budget(BudgetNodes::Count(0))], 2);
    assert_eq!(waves, [0; 0]);
    assert_eq!(held[1].node.as_str(), "node-01");
    assert_eq!(held[1].because, "a disruption budget lets no node go for reason Empty");
    let (snapshot, mut policy, solution) = example();
    let owner = policy.pools.values_mut().next().expect("there is a pool");
    owner.disruption.budgets = vec![budget(BudgetNodes::Count(0))];
    let plan = plan(&snapshot, &policy, &solution);
    assert_eq!(plan.spec.deletes().count(), 0);
    assert_eq!(plan.evidence.report.cost_after.effective, MicroUsdPerHour(800_000));
}

#[test]
fn without_a_time_a_window_counts_as_open_and_is_reported() {
    let (mut snapshot, mut policy, solution) = example();
    let owner = policy.pools.values_mut().next().expect("there is a pool");
    let window = Some((Arc::from("0 9 * * *"), jiff::SignedDuration::from_hours(8)));
    owner.disruption.budgets = vec![Budget { window, ..budget(BudgetNodes::Count(0)) }];
    let offline = plan(&snapshot, &policy, &solution);
    assert_eq!((offline.spec.deletes().count(), offline.evidence.report.undecided.len()), (0, 1));
    snapshot.at = Some("2026-11-20T20:00:00Z".parse().expect("is a time"));
    let evening = plan(&snapshot, &policy, &solution);
    assert_eq!((evening.spec.deletes().count(), evening.evidence.report.undecided.len()), (1, 0));
}

#[test]
fn nodes_that_leave_already_use_up_the_budget_of_the_first_wave() {
    let mut nodes: Vec<Node> = (0..4).map(|place| node(&format!("node-{place}"), "general")).collect();
    nodes[3].is_deleting = true;
    let planned = |budget_nodes| {
        let mut owner = pool("general");
        owner.disruption.budgets = vec![budget(budget_nodes)];
        let solution = solution(Vec::new(), &["node-0", "node-1", "node-2"]);
        let plan = plan(&snapshot(nodes.clone(), Vec::new()), &policy([owner]), &solution);
        let waves = plan.spec.waves.iter().map(|wave| wave.steps[&Step::Delete].len());
        (waves.collect::<Vec<_>>(), plan.evidence.held.into_iter().map(|held| held.because).next())
    };
    assert_eq!(planned(BudgetNodes::Count(2)), (vec![1, 2], None));
    let because = "1 of its pool on the way out already: the budgets let no more go at once";
    assert_eq!(planned(BudgetNodes::Percent(10)), (Vec::new(), Some(because.to_owned())));
}

#[test]
fn a_file_is_read_as_it_was_written_and_holds_what_the_judge_needs() {
    let plan = example_plan();
    let text = write(&plan);
    let read = read(&text).expect("the file is as it was written");
    assert_eq!(read, plan);
    assert_eq!(write(&read), text);
    assert_eq!(read.id(), plan.id());
    let (snapshot, policy, _) = example();
    assert_eq!((read.policy(), read.snapshot().pods), (policy, snapshot.pods));
    assert_eq!(read.snapshot().nodes, snapshot.nodes);
    assert!(text.contains("\"nodesMax\": \"18446744073709551615\""), "wide integers are text");
}

#[test]
fn the_digest_is_of_decisions_alone() {
    let (snapshot, policy, solution) = example();
    let mut dearer = solution.clone();
    dearer.report.without_requests = 3;
    dearer.target.new[0].pods.pop();
    assert_eq!(plan(&snapshot, &policy, &solution).digest(), plan(&snapshot, &policy, &dearer).digest());
    let mut other = solution;
    other.target.new.pop();
    assert_ne!(plan(&snapshot, &policy, &other).digest(), plan(&snapshot, &policy, &dearer).digest());
}

#[test]
fn a_file_that_was_touched_is_refused() {
    let text = write(&example_plan());
    let refused = |text: &str| read(text).expect_err("the file was touched").to_string();
    for (touched, fault) in [
        (text.replace("  ", "\t"), "line 2 is not written as nodeform writes it"),
        (text.trim_end().to_owned(), "is not written as nodeform writes it"),
        (text.replace('\n', "\r\n"), "line 1 is not written as nodeform writes it"),
        (text.replace("\"cpu\": 2100", "\"cpu\": 2101"), "the plan was changed after it was made"),
        (text.replace("nodeform.dev/v1alpha1", "nodeform.dev/v2"), "not `Plan` of `nodeform.dev/v1alpha1`"),
        (text.replace("\"cpu\": 2100", "\"cpu\": 9007199254740993"), "beyond 2^53-1"),
        ("{".to_owned(), "the plan is not JSON"),
        (String::new(), "the plan is not JSON"),
    ] {
        let found = refused(&touched);
        assert!(found.contains(fault), "{found}");
    }
}

/// Adds a field to one part of the file and writes it as nodeform would, with the digest it then has.
fn with_field(part: &str) -> Result<Plan, PlanFileFault> {
    let mut value: serde_json::Value = serde_json::from_str(&write(&example_plan())).expect("is JSON");
    let fields = if part.is_empty() { &mut value } else { &mut value[part] };
    fields["surprise"] = serde_json::json!(true);
    value["digest"] = serde_json::to_value(super::identity::digest_of(&value["spec"])).expect("has a form");
    read(&super::file::spelt(value))
}

#[test]
fn unknown_fields_are_refused_in_the_spec_and_ignored_in_evidence() {
    let refused = with_field("spec").expect_err("the field is not known").to_string();
    assert_eq!(refused, "`spec.surprise`: this is not known, or not written as nodeform writes it");
    let refused = with_field("").expect_err("the field is not known").to_string();
    assert_eq!(refused, "`surprise`: this field is not known");
    assert_eq!(with_field("evidence"), Ok(example_plan()));
}

#[test]
fn a_plan_of_nothing_is_empty() {
    let (snapshot, policy, _) = example();
    let mut settled = snapshot;
    settled.nodes.remove(0);
    let plan = plan(&settled, &policy, &solution(Vec::new(), &[]));
    assert!(plan.is_empty() && plan.spec.changes.is_empty());
    assert_eq!(plan.evidence.unchanged[0].nodes, 2);
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_names_every_part_of_the_file() {
    let schema = super::file::schema();
    let file: serde_json::Value = serde_json::from_str(&write(&example_plan())).expect("is JSON");
    let parts = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    assert_eq!(parts(&schema["properties"]), parts(&file));
    for (name, part) in [("PlanSpec", "spec"), ("Evidence", "evidence")] {
        assert_eq!(parts(&schema["$defs"][name]["properties"]), parts(&file[part]));
    }
    assert_eq!(parts(&schema["$defs"]["World"]["properties"]), parts(&file["evidence"]["world"]));
}
