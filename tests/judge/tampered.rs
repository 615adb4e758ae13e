//! Planted bugs: a good plan is tampered with, and the judge must object by the right rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::build::World;
use crate::support::by_hand::{by_hand, keys};
use crate::support::{daemon, node, pod, pool, world};
use nodeform::check::{Finding, Rule, check};
use nodeform::model::disruption_budget::{BudgetCounts, DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use nodeform::model::{
    Budget, BudgetNodes, CapacityType, ChangeClass, ConsolidationPolicy, DisruptionReason, Effect, Freeze,
    FreezeWindow, Holds, LabelKey, LabelSelector, MicroUsd, MicroUsdPerHour, NodeStage, Operator, PodKey,
    Price, Quota, Requirement, ResourceName, SchedulingRule, SizeQuota, SkuName, Trouble, Usage, Wishes,
    label,
};
use nodeform::plan::{
    Change, ChangeId, ClaimSpec, Create, Delete, HeldChange, Inputs, Placement, Plan, Precondition, Reason,
    Step, Wave,
};
use nodeform::review::CheckedPlan;
use nodeform::solve::{Cost, Held, Slack};

const ON_DEMAND: CapacityType = CapacityType::OnDemand;
const SPOT: CapacityType = CapacityType::Spot;

/// Two new nodes: a large one on demand, full but for 300m, and an arm64 one as spot.
fn shop() -> (World, Plan) {
    let world = world()
        .pool(pool("general"))
        .daemon(daemon("agent").with(|pod| pod.port(9100)))
        .pods(pod("web").cpu("1").times(3))
        .pod(pod("db").cpu("500m").zone("1").port(5432))
        .pod(pod("arm").selecting(label::ARCH, "arm64"));
    by_hand(world)
        .making("general", ("Standard_D4s_v5", "1", ON_DEMAND), &["web-1", "web-2", "web-3", "db"])
        .making("general", ("Standard_D4ps_v5", "2", SPOT), &["arm"])
        .planned()
}

/// A pool of five nodes, two of them empty, of which one may go at a time, beside a foreign node.
fn aging() -> (World, Plan) {
    let agent = daemon("agent");
    let mut world = world()
        .pool(pool("default").budget(BudgetNodes::Count(1)))
        .daemon(agent.clone())
        .node(node("busy"))
        .node(node("kept"))
        .node(node("shy").do_not_disrupt())
        .node(node("empty-1"))
        .node(node("empty-2"))
        .node(node("foreign").foreign())
        .pod(pod("old").cpu("3").on("busy"))
        .pod(pod("older").cpu("1").on("kept"))
        .pod(pod("new").cpu("2"));
    let nodes = ["busy", "kept", "shy", "empty-1", "empty-2", "foreign"];
    world = world.pods(nodes.iter().map(|node| agent.on(node)));
    by_hand(world).keeping("kept", &["new"]).removing("empty-1").removing("empty-2").planned()
}

/// What the judge finds in a plan that is bound to its policy as it is now: what is tampered with is
/// something else.
fn findings((world, plan): &(World, Plan)) -> Vec<Finding> {
    let mut plan = plan.clone();
    plan.spec.inputs = Inputs::of(&world.policy);
    for condition in plan.spec.changes.values_mut().flat_map(|planned| &mut planned.preconditions) {
        if let Precondition::WithinLimits { pool, nodes_max, limits } = condition
            && let Some(known) = world.policy.pools.get(pool)
        {
            (*nodes_max, *limits) = (known.nodes_max, known.limits.clone());
        }
    }
    check(&world.snapshot, &world.policy, &plan)
}

/// The rules by which the judge objects.
fn rules(case: &(World, Plan)) -> Vec<Rule> {
    let mut rules: Vec<Rule> = findings(case).into_iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

#[track_caller]
fn objects(rule: Rule, case: &(World, Plan)) {
    let found = findings(case);
    assert!(found.iter().any(|finding| finding.rule == rule), "no `{rule}` among {found:#?}");
}

/// Objects by this rule and by no other.
#[track_caller]
fn objects_only(rule: Rule, case: &(World, Plan)) {
    assert_eq!(rules(case), [rule], "{:#?}", findings(case));
}

fn id_with(plan: &Plan, pod: &str) -> ChangeId {
    let key = PodKey::new("default", pod);
    let has = |placement: &Placement| placement.pods.contains(&key);
    let mut all = plan.evidence.placements.iter();
    all.find(|(_, placement)| has(placement)).map(|(id, _)| id.clone()).expect("the pod is on a new node")
}

fn placement<'a>(plan: &'a mut Plan, pod: &str) -> &'a mut Placement {
    let id = id_with(plan, pod);
    plan.evidence.placements.get_mut(&id).expect("was just found")
}

fn create<'a>(plan: &'a mut Plan, pod: &str) -> &'a mut Create {
    let id = id_with(plan, pod);
    let change = &mut plan.spec.changes.get_mut(&id).expect("placements are of changes").change;
    let Change::Create(create) = change else { panic!("{change:?} makes no node") };
    create
}

fn claim<'a>(plan: &'a mut Plan, pod: &str) -> &'a mut ClaimSpec {
    let spec = create(plan, pod).spec.clone();
    plan.spec.claims.get_mut(&spec).expect("claims are in the plan")
}

fn delete<'a>(plan: &'a mut Plan, node: &str) -> &'a mut Delete {
    let mut changes = plan.spec.changes.values_mut();
    let found = changes.find_map(|planned| {
        let Change::Delete(delete) = &mut planned.change else { return None };
        (delete.target.node.as_str() == node).then_some(delete)
    });
    found.expect("the node is removed")
}

fn pod_mut<'a>(world: &'a mut World, name: &str) -> &'a mut nodeform::model::Pod {
    world.snapshot.pods.iter_mut().find(|pod| &*pod.key.name == name).expect("the pod exists")
}

/// Changes what the scheduler reads of a pod after it was planned.
fn respec(world: &mut World, name: &str, change: impl FnOnce(&mut nodeform::model::PodSpec)) {
    change(Arc::make_mut(&mut pod_mut(world, name).spec));
}

fn pool_mut<'a>(world: &'a mut World, name: &str) -> &'a mut nodeform::model::Pool {
    world.policy.pools.get_mut(name).expect("the pool exists")
}

mod pods {
    use super::*;

    #[test]
    fn a_pod_that_stands_twice_is_seen() {
        let mut case = shop();
        placement(&mut case.1, "arm").pods = keys(&["arm", "web-1"]);
        objects(Rule::Pods, &case);
    }

    #[test]
    fn a_pod_that_is_lost_is_seen() {
        let mut case = shop();
        placement(&mut case.1, "web-1").pods.retain(|pod| &*pod.name != "web-2");
        objects(Rule::Pods, &case);
    }

    #[test]
    fn a_pod_that_does_not_exist_is_seen() {
        let mut case = shop();
        placement(&mut case.1, "arm").pods = keys(&["arm", "ghost"]);
        objects(Rule::Pods, &case);
    }

    #[test]
    fn a_running_pod_that_is_placed_again_is_seen() {
        let mut case = aging();
        case.1.evidence.kept.insert("busy".into(), keys(&["older"]));
        objects(Rule::Pods, &case);
    }

    #[test]
    fn a_pod_both_placed_and_excused_is_seen() {
        let mut case = shop();
        case.1.evidence.report.held.push(nodeform::solve::Held {
            pods: keys(&["arm"]),
            waits_for: "nothing".to_owned(),
            because: "nothing".to_owned(),
        });
        objects_only(Rule::Pods, &case);
    }

    #[test]
    fn a_removed_node_that_receives_pods_is_seen() {
        let mut case = aging();
        case.1.evidence.kept = [("empty-1".into(), keys(&["new"]))].into();
        objects_only(Rule::Pods, &case);
    }

    #[test]
    fn a_node_that_is_being_deleted_and_receives_pods_is_seen() {
        let mut case = aging();
        let going = case.0.snapshot.nodes.iter_mut().find(|node| node.name.as_str() == "kept");
        going.expect("exists").is_deleting = true;
        objects(Rule::Pods, &case);
    }

    #[test]
    fn a_node_that_does_not_exist_and_receives_pods_is_seen() {
        let mut case = aging();
        case.1.evidence.kept = [("ghost".into(), keys(&["new"]))].into();
        objects_only(Rule::Pods, &case);
    }

    #[test]
    fn a_daemonsets_pod_that_is_placed_is_seen() {
        let mut case = shop();
        pod_mut(&mut case.0, "arm").is_daemon = true;
        objects_only(Rule::Pods, &case);
    }

    #[test]
    fn a_gated_pod_that_is_placed_is_seen() {
        let mut case = shop();
        respec(&mut case.0, "arm", |spec| {
            spec.gates.insert(Arc::from("example.com/wait"));
        });
        objects_only(Rule::HeldBack, &case);
    }

    #[test]
    fn a_pod_with_any_required_rule_that_is_not_there_yet_is_seen() {
        for rule in [SchedulingRule::Volumes, SchedulingRule::ResourceClaims] {
            let world = world().pool(pool("general")).pod(pod("one").using(rule));
            let plan = by_hand(world).making("general", ("Standard_D2s_v5", "1", ON_DEMAND), &["one"]);
            objects_only(Rule::HeldBack, &plan.unjudged());
        }
    }
}

mod nodes {
    use super::*;

    #[test]
    fn one_pod_too_many_is_seen() {
        let mut case = shop();
        case.0 = case.0.pod(pod("web-4").cpu("350m"));
        let placement = placement(&mut case.1, "web-1");
        placement.pods = keys(&["db", "web-1", "web-2", "web-3", "web-4"]);
        objects(Rule::Capacity, &case);
    }

    #[test]
    fn too_many_pods_by_number_are_seen() {
        let world = world().pool(pool("general")).pods(pod("tiny").cpu("1m").memory("1Mi").times(31));
        let names: Vec<String> = (1..=31).map(|number| format!("tiny-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let plan = by_hand(world).making("general", ("Standard_D16s_v5", "1", ON_DEMAND), &names);
        objects_only(Rule::Capacity, &plan.unjudged());
    }

    #[test]
    fn forgotten_daemonsets_are_seen() {
        let mut case = shop();
        case.0 = case.0.daemon(daemon("forgotten").with(|pod| pod.cpu("350m")));
        objects(Rule::Capacity, &case);
    }

    #[test]
    fn a_daemonset_that_is_still_to_come_to_a_running_node_is_seen() {
        let mut case = aging();
        // On `kept` 4000m - 100m are there, 3100m are taken.
        case.0 = case.0.daemon(daemon("late").with(|pod| pod.cpu("1")));
        objects_only(Rule::Capacity, &case);
    }

    #[test]
    fn an_extended_resource_that_a_size_has_not_is_seen() {
        let mut case = shop();
        respec(&mut case.0, "arm", |spec| spec.requests.set(ResourceName::parse("nvidia.com/gpu"), 1));
        objects(Rule::Capacity, &case);
    }

    #[test]
    fn an_untolerated_taint_is_seen_and_a_preference_is_not() {
        let taint = |effect| {
            let mut case = shop();
            pool_mut(&mut case.0, "general").taints = pool("x").taint("team", effect).build().taints;
            rules(&case).contains(&Rule::Taints)
        };
        assert!(taint(Effect::NoSchedule) && taint(Effect::NoExecute));
        assert!(!taint(Effect::PreferNoSchedule));
    }

    #[test]
    fn a_pod_on_a_cordoned_node_is_seen() {
        let mut case = aging();
        let kept = case.0.snapshot.nodes.iter_mut().find(|node| node.name.as_str() == "kept");
        kept.expect("exists").is_unschedulable = true;
        objects_only(Rule::Taints, &case);
    }

    #[test]
    fn a_wrong_zone_is_seen() {
        let world = world().pool(pool("general")).pod(pod("db").zone("1"));
        let plan = by_hand(world).making("general", ("Standard_D2s_v5", "2", ON_DEMAND), &["db"]);
        objects(Rule::NodeAffinity, &plan.unjudged());
    }

    #[test]
    fn a_wrong_architecture_is_seen() {
        let mut case = shop();
        respec(&mut case.0, "arm", |spec| {
            spec.node_selector.set(LabelKey::new(label::ARCH), Requirement::one("amd64"));
        });
        objects(Rule::NodeAffinity, &case);
    }

    #[test]
    fn a_label_that_nobody_settled_is_seen() {
        let choice = ("Standard_D2s_v5", "1", ON_DEMAND);
        let trial = |pod| by_hand(world().pool(pool("general")).pod(pod)).making("general", choice, &["one"]);
        let asking = pod("one").selecting(label::AKS_MODE, "system");
        objects(Rule::NodeAffinity, &trial(asking).unjudged());
    }

    #[test]
    fn no_term_of_several_that_holds_is_seen() {
        let trial = |pod| {
            let world = world().pool(pool("general")).pod(pod);
            by_hand(world).making("general", ("Standard_D8s_v5", "1", ON_DEMAND), &["one"])
        };
        let terms = |most: &str| {
            pod("one")
                .or_term(&[(label::ARCH, Operator::In, &["arm64"])])
                .or_term(&[(label::SKU_CPU, Operator::Gt, &["4"]), (label::SKU_CPU, Operator::Lt, &[most])])
        };
        trial(terms("9")).planned();
        objects(Rule::NodeAffinity, &trial(terms("8")).unjudged());
    }

    #[test]
    fn two_pods_on_one_port_are_seen() {
        let mut case = shop();
        respec(&mut case.0, "web-1", |spec| {
            spec.host_ports = pod("x").port(5432).build().spec.host_ports.clone();
        });
        objects_only(Rule::HostPorts, &case);
    }

    #[test]
    fn a_port_that_a_daemonset_takes_is_seen() {
        let mut case = shop();
        respec(&mut case.0, "arm", |spec| {
            spec.host_ports = pod("x").port(9100).build().spec.host_ports.clone();
        });
        objects(Rule::HostPorts, &case);
    }
}

mod offerings {
    use super::*;

    #[test]
    fn a_size_that_is_not_offered_there_is_seen() {
        let mut case = shop();
        claim(&mut case.1, "arm").primary.zone = "westeurope-9".into();
        objects(Rule::Offering, &case);
    }

    #[test]
    fn a_size_that_cannot_be_had_now_is_seen() {
        let world = world().pool(pool("general")).pod(pod("one"));
        let plan = by_hand(world).making("general", ("Standard_D2s_v5", "3", SPOT), &["one"]);
        objects_only(Rule::Offering, &plan.unjudged());
    }

    #[test]
    fn spot_that_the_pool_does_not_allow_is_seen() {
        let mut case = shop();
        let requirements = &mut pool_mut(&mut case.0, "general").requirements;
        requirements.set(LabelKey::new(label::CAPACITY_TYPE), Requirement::one("on-demand"));
        objects(Rule::Offering, &case);
    }

    #[test]
    fn a_family_that_the_pool_refuses_is_seen() {
        let mut case = shop();
        let requirements = &mut pool_mut(&mut case.0, "general").requirements;
        requirements.set(LabelKey::new(label::SKU_FAMILY), Requirement::new(Operator::NotIn, ["D"]));
        objects(Rule::Offering, &case);
    }

    #[test]
    fn a_burstable_size_that_nobody_names_is_seen() {
        let trial = |pod| {
            let world = world().pool(pool("general")).pod(pod);
            by_hand(world).making("general", ("Standard_B4ms", "1", ON_DEMAND), &["one"])
        };
        trial(pod("one").selecting(label::SKU_FAMILY, "B")).planned();
        objects_only(Rule::Offering, &trial(pod("one")).unjudged());
    }

    #[test]
    fn a_pool_that_is_being_deleted_is_seen() {
        let mut case = shop();
        pool_mut(&mut case.0, "general").is_deleting = true;
        objects_only(Rule::Offering, &case);
    }

    #[test]
    fn a_pool_whose_new_nodes_are_on_hold_is_seen() {
        let mut case = shop();
        case.0.policy.fleet.holds.classes.insert(ChangeClass::Create);
        objects_only(Rule::Offering, &case);
    }

    #[test]
    fn a_class_that_does_not_exist_is_seen() {
        let mut case = shop();
        case.0.policy.classes.clear();
        objects(Rule::Offering, &case);
    }

    #[test]
    fn a_label_that_contradicts_the_size_is_seen() {
        let mut case = shop();
        claim(&mut case.1, "arm").labels.insert(LabelKey::new(label::ARCH), Arc::from("amd64"));
        objects(Rule::Offering, &case);
    }

    #[test]
    fn a_substitute_that_is_too_small_is_seen() {
        let mut case = shop();
        let claim = claim(&mut case.1, "web-1");
        let sizes = Requirement::new(Operator::In, ["Standard_D2s_v5", "Standard_D4s_v5"]);
        claim.requirements.set(LabelKey::new(label::INSTANCE_TYPE), sizes);
        objects(Rule::Offering, &case);
    }

    #[test]
    fn a_substitute_in_a_zone_where_a_pod_may_not_be_is_seen() {
        let mut case = shop();
        let claim = claim(&mut case.1, "db");
        let zones = Requirement::new(Operator::In, ["westeurope-1", "westeurope-2"]);
        claim.requirements.set(LabelKey::new(label::ZONE), zones);
        objects(Rule::Offering, &case);
    }

    #[test]
    fn a_wrong_price_is_seen() {
        let mut case = shop();
        placement(&mut case.1, "arm").list_price = Price::Listed(MicroUsdPerHour(1));
        objects_only(Rule::Price, &case);
        let mut case = shop();
        placement(&mut case.1, "arm").effective_price = Price::Listed(MicroUsdPerHour(1));
        objects_only(Rule::Price, &case);
    }

    #[test]
    fn totals_that_are_not_the_sums_of_the_nodes_are_seen() {
        let changes: [fn(&mut Cost); 4] = [
            |cost| cost.list += MicroUsdPerHour(1),
            |cost| cost.effective = cost.effective - MicroUsdPerHour(1),
            |cost| cost.unpriced_nodes += 1,
            |cost| cost.is_estimate = !cost.is_estimate,
        ];
        for change in changes {
            let mut case = aging();
            change(&mut case.1.evidence.report.cost_before);
            objects_only(Rule::Price, &case);
            let mut case = aging();
            change(&mut case.1.evidence.report.cost_after);
            objects_only(Rule::Price, &case);
        }
    }

    #[test]
    fn room_for_the_scheduler_that_is_no_part_of_the_cost_is_seen() {
        let said = |pods: usize, cost: i64| {
            let mut case = aging();
            let cost = MicroUsdPerHour(cost);
            case.1.evidence.report.slack = Some(Slack { pods, cost, is_estimate: false });
            case
        };
        assert_eq!(rules(&said(1, 1)), []);
        for (pods, cost) in [(0, 1), (1, 0), (1, -1), (1, 1_000_000_000_000)] {
            objects_only(Rule::Price, &said(pods, cost));
        }
    }

    #[test]
    fn commitments_that_nothing_uses_and_are_left_out_of_the_sums_are_seen() {
        let mut case = aging();
        let price = MicroUsdPerHour(100_000);
        let unused = nodeform::model::Commitment { size: "Standard_L8s_v3".into(), count: 2, price };
        case.0 = case.0.fleet(|fleet| fleet.prices.commitments.push(unused));
        objects_only(Rule::Price, &case);
        let report = &mut case.1.evidence.report;
        report.cost_before.effective += price.times(2);
        report.cost_after.effective += price.times(2);
        assert_eq!(rules(&case), []);
    }

    #[test]
    fn a_price_is_shown_in_dollars() {
        let mut case = shop();
        placement(&mut case.1, "arm").list_price = Price::Listed(MicroUsdPerHour(1_192_500));
        let found = findings(&case);
        assert!(found.iter().any(|f| f.message.contains("has list price $1.1925 an hour")), "{found:#?}");
    }

    #[test]
    fn an_unknown_price_that_counts_as_nothing_is_seen() {
        let world = world().pool(pool("general")).pod(pod("one").selecting(label::SKU_FAMILY, "L"));
        let (world, mut plan) =
            by_hand(world).making("general", ("Standard_L8s_v3", "1", ON_DEMAND), &["one"]).planned();
        let placement = placement(&mut plan, "one");
        placement.list_price = Price::Listed(MicroUsdPerHour(0));
        placement.effective_price = Price::Listed(MicroUsdPerHour(0));
        objects_only(Rule::Price, &(world, plan));
    }

    #[test]
    fn a_discount_and_costs_of_nodes_that_are_forgotten_are_seen() {
        let mut case = shop();
        case.0 = case.0.fleet(|fleet| fleet.prices.cost_per_node = MicroUsdPerHour(1000));
        objects(Rule::Price, &case);
        let mut case = shop();
        let discount = nodeform::model::Discount { family: Arc::from("Dsv5"), percent: 30 };
        case.0 = case.0.fleet(|fleet| fleet.prices.discounts.push(discount));
        objects_only(Rule::Price, &case);
    }

    #[test]
    fn a_commitment_that_is_used_more_often_than_it_was_bought_is_seen() {
        let price = MicroUsdPerHour(100_000);
        let commitment = |count| nodeform::model::Commitment { size: "Standard_D4s_v5".into(), count, price };
        let case = |count| {
            let mut case = shop();
            case.0 = case.0.fleet(|fleet| fleet.prices.commitments.push(commitment(count)));
            // The commitment's price and the disk's.
            let paid = Price::Listed(MicroUsdPerHour(124_700));
            let full = std::mem::replace(&mut placement(&mut case.1, "web-1").effective_price, paid);
            let report = &mut case.1.evidence.report;
            report.cost_before.effective = price.times(count as usize);
            let after = report.cost_after.effective + MicroUsdPerHour(124_700);
            report.cost_after.effective = after - full.known().expect("sizes of the shop have prices");
            rules(&case)
        };
        assert_eq!(case(1), []);
        assert_eq!(case(0), [Rule::Price]);
    }
}

mod limits {
    use super::*;

    #[test]
    fn a_pool_beyond_its_limit_is_seen() {
        let mut case = shop();
        pool_mut(&mut case.0, "general").limits.set(ResourceName::Cpu, 7999);
        objects_only(Rule::PoolLimits, &case);
        pool_mut(&mut case.0, "general").limits.set(ResourceName::Cpu, 8000);
        assert_eq!(rules(&case), []);
    }

    #[test]
    fn a_pool_with_too_many_nodes_is_seen() {
        let mut case = shop();
        pool_mut(&mut case.0, "general").nodes_max = Some(1);
        objects_only(Rule::PoolLimits, &case);
    }

    #[test]
    fn nodes_that_exist_count_toward_a_limit() {
        let mut case = shop();
        pool_mut(&mut case.0, "general").nodes_max = Some(2);
        case.0 = case.0.node(node("old").of_pool("general").stage(NodeStage::Launching));
        objects(Rule::PoolLimits, &case);
    }

    #[test]
    fn a_fleet_beyond_its_limits_is_seen() {
        let limits: [fn(&mut nodeform::model::FleetLimits); 4] = [
            |limits| limits.nodes = Some(1),
            |limits| limits.cpu_milli = Some(7000),
            |limits| limits.memory_bytes = Some(1 << 30),
            |limits| limits.cost_per_month = Some(MicroUsd(100_000_000)),
        ];
        for limit in limits {
            let mut case = shop();
            case.0 = case.0.fleet(|fleet| limit(&mut fleet.limits));
            objects_only(Rule::FleetLimits, &case);
        }
    }

    #[test]
    fn a_quota_that_is_exceeded_is_seen() {
        // The plan makes four vCPUs on demand and four as spot.
        let beyond = |usages: &[(&str, i64, i64)]| {
            let mut case = shop();
            let usage = |(name, used, limit): &(&str, i64, i64)| Usage {
                name: Arc::from(*name),
                used: *used,
                limit: *limit,
            };
            let usages: Vec<Usage> = usages.iter().map(usage).collect();
            let size = SizeQuota { family: Arc::from("standardDSv5Family"), vcpus: 4 };
            let sizes = BTreeMap::from([(SkuName::new("Standard_D4s_v5"), size)]);
            case.0.snapshot.quota = Some(Arc::new(Quota::new(&usages, sizes)));
            rules(&case)
        };
        assert_eq!(beyond(&[("StandardDsV5Family", 6, 10), ("cores", 0, 4), ("lowPriorityCores", 1, 5)]), []);
        assert_eq!(beyond(&[("StandardDsV5Family", 7, 10)]), [Rule::Quota]);
        assert_eq!(beyond(&[("cores", 0, 3)]), [Rule::Quota]);
        assert_eq!(beyond(&[("LowPriorityCores", 2, 5)]), [Rule::Quota]);
        assert_eq!(beyond(&[("standardDPSv5Family", 0, 0), ("cores", 9, -1)]), []);
    }

    #[test]
    fn a_heavier_pool_that_had_room_is_seen() {
        let case = |heavy| {
            let mut case = shop();
            case.0 = case.0.pool(heavy);
            rules(&case)
        };
        assert_eq!(case(pool("heavy").weight(10)), [Rule::PoolWeight]);
        assert_eq!(case(pool("equal")), []);
        assert_eq!(case(pool("tainted").weight(10).taint("team", Effect::NoSchedule)), []);
        assert_eq!(case(pool("full").weight(10).nodes_max(0)), []);
        assert_eq!(case(pool("small").weight(10).limit("cpu", "1")), []);
        let windows = pool("windows").weight(10).requiring(label::OS, Operator::In, &["windows"]);
        assert_eq!(case(windows), []);
        let unpriced = pool("unpriced").weight(10).requiring(label::SKU_FAMILY, Operator::In, &["L"]);
        assert_eq!(case(unpriced), []);
        assert_eq!(case(pool("leaving").weight(10).deleting()), []);
    }

    #[test]
    fn a_node_opened_for_a_pod_that_is_elsewhere_is_seen() {
        let mut case = shop();
        placement(&mut case.1, "arm").opened_for = Some(PodKey::new("default", "web-1"));
        objects(Rule::PoolWeight, &case);
    }
}

mod removals {
    use super::*;

    fn node_mut<'a>(case: &'a mut (World, Plan), name: &str) -> &'a mut nodeform::model::Node {
        case.0.snapshot.nodes.iter_mut().find(|node| node.name.as_str() == name).expect("the node exists")
    }

    #[test]
    fn a_busy_node_that_goes_is_seen() {
        let mut case = aging();
        case.0 = case.0.pod(pod("late").on("empty-1"));
        objects(Rule::Removal, &case);
    }

    /// Two nodes of which one goes, with its pod on the other then.
    fn sharing() -> (World, Plan) {
        let world = world()
            .pool(pool("default"))
            .node(node("a"))
            .node(node("b"))
            .pod(pod("one").label("app", "one").cpu("1").on("a"))
            .pod(pod("two").cpu("1").on("b"));
        by_hand(world).keeping("b", &["one"]).moving_off("a").planned()
    }

    #[test]
    fn an_underutilized_node_of_a_pool_that_lets_only_empty_ones_go_is_seen() {
        let mut case = sharing();
        let pools = case.0.policy.pools.values_mut();
        pools.for_each(|pool| pool.disruption.policy = ConsolidationPolicy::WhenEmpty);
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_saving_that_is_too_little_for_a_balanced_pool_is_seen() {
        let large = node("a").size("Standard_D8s_v5");
        let world = world().pool(pool("default")).node(large).pod(pod("one").cpu("1").on("a"));
        let making = by_hand(world).making("default", ("Standard_F8s_v2", "1", ON_DEMAND), &["one"]);
        let mut case = making.moving_off("a").planned();
        // An eighth is saved, and all is disturbed.
        let pools = case.0.policy.pools.values_mut();
        pools.for_each(|pool| pool.disruption.policy = ConsolidationPolicy::Balanced);
        objects_only(Rule::Removal, &case);
        case.0.snapshot.pods.iter_mut().for_each(|pod| pod.state.deletion_cost = i32::MIN);
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_pod_that_is_forgotten_when_its_node_goes_is_seen() {
        let mut case = sharing();
        case.1.evidence.kept.clear();
        objects(Rule::Pods, &case);
        let mut case = sharing();
        case.1.evidence.kept.clear();
        case.1.evidence.report.held.push(nodeform::solve::Held {
            pods: keys(&["one"]),
            waits_for: "nothing".to_owned(),
            because: "nobody knows".to_owned(),
        });
        objects_only(Rule::Pods, &case);
    }

    #[test]
    fn a_pod_that_keeps_its_node_is_seen() {
        let mut case = sharing();
        case.0.snapshot.pods.iter_mut().for_each(|pod| pod.is_do_not_disrupt = true);
        objects_only(Rule::Removal, &case);
        let budget = |name: &str, allowed: u32| DisruptionBudget {
            namespace: "default".into(),
            name: name.into(),
            selector: Some(LabelSelector::default()),
            bound: None,
            unhealthy: UnhealthyPods::IfHealthyBudget,
            counts: Some(BudgetCounts {
                disruptions_allowed: allowed,
                current_healthy: 2,
                desired_healthy: 1,
                expected_pods: 2,
            }),
        };
        for budgets in [vec![budget("none", 0)], vec![budget("one", 1), budget("two", 1)]] {
            let mut case = sharing();
            case.0.snapshot.budgets = budgets;
            objects_only(Rule::Removal, &case);
        }
        let mut case = sharing();
        case.0.snapshot.budgets = vec![budget("one", 1)];
        assert_eq!(rules(&case), []);
    }

    #[test]
    fn a_pod_that_moves_to_a_node_which_has_not_come_up_is_seen() {
        let mut case = sharing();
        node_mut(&mut case, "b").stage = NodeStage::Registered;
        objects(Rule::Removal, &case);
    }

    #[test]
    fn an_empty_node_that_a_held_pod_may_need_is_seen() {
        let mut case = aging();
        let late = pod("late").using(SchedulingRule::Volumes);
        case.0 = case.0.pod(late);
        let held = Held {
            pods: vec![PodKey::new("default", "late")],
            waits_for: "volumes".to_owned(),
            because: "nobody knows where they are".to_owned(),
        };
        case.1.evidence.report.held.push(held);
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn an_empty_node_that_is_called_underutilized_is_seen() {
        let mut case = sharing();
        case.0.snapshot.pods.retain(|pod| &*pod.key.name != "one");
        case.1.evidence.kept.clear();
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_node_that_goes_for_nothing_is_seen() {
        let world = world().pool(pool("default")).node(node("a")).pod(pod("one").cpu("1").on("a"));
        let making = by_hand(world).making("default", ("Standard_D4s_v5", "1", ON_DEMAND), &["one"]);
        objects_only(Rule::Removal, &making.moving_off("a").unjudged());
    }

    /// A node whose claim says that it drifted goes, with its pod on a like one.
    fn drifting() -> (World, Plan) {
        let mut world = world().pool(pool("default")).node(node("a")).pod(pod("one").cpu("1").on("a"));
        let drift = nodeform::model::Drift { reason: "ImageDrift".into(), since: None };
        world.snapshot.nodes[0].claimed.drift = Some(drift);
        let making = by_hand(world).making("default", ("Standard_D4s_v5", "1", ON_DEMAND), &["one"]);
        making.moving_off_due("a", DisruptionReason::Drifted).planned()
    }

    #[test]
    fn a_node_that_is_called_drifted_and_is_not_is_seen() {
        let mut case = drifting();
        node_mut(&mut case, "a").claimed.drift = None;
        objects_only(Rule::Removal, &case);
        let stamp = |version: &str| {
            let mut case = drifting();
            let claimed = &mut node_mut(&mut case, "a").claimed;
            claimed.drift = None;
            claimed.class_stamp = Some(nodeform::model::Stamp { hash: "1".into(), version: version.into() });
            case
        };
        assert_eq!(rules(&stamp("v3")), []);
        objects_only(Rule::Removal, &stamp("v1"));
    }

    /// One of five nodes has been unready for an hour and was made a day ago; it goes, with its pod on a like one.
    fn failing(reason: DisruptionReason) -> (World, Plan) {
        let mut world = world().pool(pool("default")).pod(pod("one").cpu("1").on("a"));
        for name in ["a", "b", "c", "d", "e"] {
            world = world.node(node(name));
        }
        for name in ["b", "c", "d", "e"] {
            world = world.pod(pod(&format!("of-{name}")).cpu("1").on(name));
        }
        let time = |text: &str| Some(text.parse().expect("is a time"));
        world.snapshot.at = time("2026-11-21T12:00:00Z");
        for owner in world.policy.pools.values_mut() {
            let day = "PT24H".parse().expect("is a duration");
            owner.expire_after = nodeform::model::ExpireAfter::Age(day);
        }
        let sick = &mut world.snapshot.nodes[0];
        sick.created = time("2026-11-20T11:00:00Z");
        sick.troubles = vec![nodeform::model::Trouble {
            kind: "Ready".into(),
            status: "False".into(),
            since: time("2026-11-21T11:00:00Z"),
        }];
        let making = by_hand(world).making("default", ("Standard_D4s_v5", "1", ON_DEMAND), &["one"]);
        making.moving_off_due("a", reason).planned()
    }

    #[test]
    fn a_node_is_too_old_from_the_very_moment_on() {
        let at = |made: &str| {
            let mut case = failing(DisruptionReason::Expired);
            node_mut(&mut case, "a").created = Some(made.parse().expect("is a time"));
            rules(&case)
        };
        assert_eq!(at("2026-11-20T12:00:00Z"), []);
        assert_eq!(at("2026-11-20T12:00:01Z"), [Rule::Removal]);
    }

    #[test]
    fn a_node_that_is_called_too_old_and_is_not_is_seen() {
        let mut case = failing(DisruptionReason::Expired);
        node_mut(&mut case, "a").created = case.0.snapshot.at;
        objects_only(Rule::Removal, &case);
        let mut case = failing(DisruptionReason::Expired);
        node_mut(&mut case, "a").claimed.expire_after = Some(nodeform::model::ExpireAfter::Never);
        objects_only(Rule::Removal, &case);
        let mut case = failing(DisruptionReason::Expired);
        case.0.snapshot.pods.iter_mut().for_each(|pod| pod.is_do_not_disrupt = true);
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_repair_of_a_node_that_is_well_or_of_too_many_is_seen() {
        let mut case = failing(DisruptionReason::Unhealthy);
        case.0.snapshot.pods.iter_mut().for_each(|pod| pod.is_do_not_disrupt = true);
        assert_eq!(rules(&case), [], "its pods are not asked");
        node_mut(&mut case, "a").troubles.clear();
        objects_only(Rule::Removal, &case);
        let mut case = failing(DisruptionReason::Unhealthy);
        let troubles = node_mut(&mut case, "a").troubles.clone();
        node_mut(&mut case, "b").troubles = troubles;
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_drifted_node_needs_neither_quiet_nor_a_pool_that_consolidates() {
        let mut case = drifting();
        let disruption = &mut pool_mut(&mut case.0, "default").disruption;
        (disruption.policy, disruption.consolidate_after) = (ConsolidationPolicy::WhenEmpty, None);
        assert_eq!(rules(&case), []);
    }

    #[test]
    fn a_protected_pod_of_a_drifted_node_is_seen_unless_the_node_drains_only_for_so_long() {
        let mut case = drifting();
        case.0.snapshot.pods[0].is_do_not_disrupt = true;
        objects_only(Rule::Removal, &case);
        let hour = Some("PT1H".parse().expect("is a duration"));
        node_mut(&mut case, "a").claimed.termination_grace_period = hour;
        assert_eq!(rules(&case), []);
        node_mut(&mut case, "a").is_do_not_disrupt = true;
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_foreign_node_that_goes_is_seen() {
        let mut case = aging();
        let target = &mut delete(&mut case.1, "empty-1").target;
        target.node = "foreign".into();
        (target.pool, target.claim) = (None, None);
        target.provider_id = Some(Arc::from("azure:///vm/foreign"));
        objects(Rule::Removal, &case);
    }

    #[test]
    fn a_protected_node_that_goes_is_seen() {
        let mut case = aging();
        node_mut(&mut case, "empty-1").is_do_not_disrupt = true;
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_node_that_goes_twice_or_already_is_seen() {
        let mut case = aging();
        node_mut(&mut case, "empty-1").is_deleting = true;
        objects(Rule::Removal, &case);
        let mut case = aging();
        let first = delete(&mut case.1, "empty-1").target.clone();
        delete(&mut case.1, "empty-2").target = first;
        objects(Rule::Removal, &case);
    }

    #[test]
    fn a_node_of_a_pool_that_never_consolidates_is_seen() {
        let mut case = aging();
        pool_mut(&mut case.0, "default").disruption.consolidate_after = None;
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_node_that_is_not_known_to_be_quiet_is_seen() {
        let mut case = aging();
        let five_minutes = "PT5M".parse().expect("is a duration");
        pool_mut(&mut case.0, "default").disruption.consolidate_after = Some(five_minutes);
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn a_node_of_an_unknown_pool_is_seen() {
        let mut case = aging();
        case.0.policy.pools.clear();
        objects(Rule::Removal, &case);
    }

    #[test]
    fn a_reason_that_is_not_planned_with_is_seen() {
        let mut case = aging();
        delete(&mut case.1, "empty-1").reason = DisruptionReason::Underutilized;
        objects(Rule::Removal, &case);
    }

    #[test]
    fn a_node_without_a_claim_where_others_have_theirs_is_seen() {
        let mut case = aging();
        node_mut(&mut case, "empty-1").claim = None;
        delete(&mut case.1, "empty-1").target.claim = None;
        objects_only(Rule::Gaps, &case);
    }

    #[test]
    fn another_node_under_the_same_name_is_seen() {
        let mut case = aging();
        node_mut(&mut case, "empty-1").provider_id = Some(Arc::from("azure:///vm/reborn"));
        objects_only(Rule::Removal, &case);
    }

    #[test]
    fn more_nodes_in_a_wave_than_the_budget_allows_are_seen() {
        let mut case = aging();
        let waves = &mut case.1.spec.waves;
        assert_eq!(waves.len(), 2);
        let second = waves.pop().expect("there are two");
        for (step, ids) in second.steps {
            let all = waves[0].steps.entry(step).or_default();
            all.extend(ids);
            all.sort();
        }
        objects_only(Rule::Budget, &case);
    }

    #[test]
    fn a_node_that_goes_while_another_of_its_pool_is_not_ready_is_seen() {
        let with = |node: &str| {
            let mut case = aging();
            node_mut(&mut case, node).troubles =
                vec![Trouble { kind: "Ready".into(), status: "Unknown".into(), since: None }];
            case
        };
        objects_only(Rule::Budget, &with("shy"));
        assert_eq!(
            findings(&with("shy"))[0].to_string(),
            "budget: pool `default`: wave 1 takes 1 nodes away as Empty beside 1 not ready, its budgets allow 1"
        );
        assert_eq!(rules(&with("empty-1")), [], "it is out once, and gone when the next one goes");
        objects_only(Rule::Budget, &with("empty-2"));
        assert_eq!(rules(&with("foreign")), []);
        let mut joining = with("shy");
        node_mut(&mut joining, "shy").stage = NodeStage::Registered;
        assert_eq!(rules(&joining), [], "what has not joined is not out");
    }

    /// Two underutilized nodes of two pools, each with a pod of one PodDisruptionBudget that lets one go.
    fn guarded() -> (World, Plan) {
        let mut world = world()
            .pool(pool("default"))
            .pool(pool("other"))
            .node(node("a"))
            .node(node("b").of_pool("other"))
            .node(node("roomy"))
            .pod(pod("one").cpu("500m").on("a"))
            .pod(pod("two").cpu("500m").on("b"))
            .pod(pod("stays").cpu("500m").on("roomy"));
        world.snapshot.budgets = vec![DisruptionBudget {
            namespace: "default".into(),
            name: "web".into(),
            selector: Some(LabelSelector::default()),
            bound: Some(PodBound::MaxUnavailable(PodShare::Percent(1))),
            unhealthy: UnhealthyPods::IfHealthyBudget,
            counts: None,
        }];
        by_hand(world).keeping("roomy", &["one", "two"]).moving_off("a").moving_off("b").planned()
    }

    /// Puts everything into the first wave.
    fn at_once(case: &mut (World, Plan)) {
        let mut all = Wave::default();
        for (step, ids) in case.1.spec.waves.drain(..).flat_map(|wave| wave.steps) {
            let together = all.steps.entry(step).or_default();
            together.extend(ids);
            together.sort();
        }
        case.1.spec.waves = vec![all];
    }

    #[test]
    fn a_pod_disruption_budget_that_two_drains_of_a_wave_overrun_is_seen() {
        let mut case = guarded();
        assert_eq!(case.1.spec.waves.len(), 2);
        at_once(&mut case);
        objects_only(Rule::Budget, &case);
        let said = &findings(&case)[0];
        assert_eq!(
            said.to_string(),
            "budget: PodDisruptionBudget `default/web`: wave 1 evicts 2 of its pods from 2 nodes, it allows 1"
        );
        // As many as it allows, and pods that are not counted as healthy, may go together.
        case.0.snapshot.budgets[0].bound = Some(PodBound::MinAvailable(PodShare::Count(1)));
        assert_eq!(rules(&case), []);
        case.0.snapshot.budgets[0].bound = Some(PodBound::MinAvailable(PodShare::Percent(34)));
        objects_only(Rule::Budget, &case);
    }

    #[test]
    fn a_saved_plan_is_judged_by_its_pod_disruption_budgets_too() {
        let mut case = guarded();
        at_once(&mut case);
        let saved = nodeform::plan::read(&nodeform::plan::write(&case.1)).expect("the plan was just written");
        let found = check(&saved.snapshot(), &saved.policy(), &saved);
        assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), [Rule::Budget]);
    }

    #[test]
    fn a_pod_that_nobody_counted_and_that_may_never_go_is_seen() {
        let mut case = guarded();
        case.0.snapshot.budgets[0].bound = Some(PodBound::MinAvailable(PodShare::Percent(100)));
        objects_only(Rule::Removal, &case);
    }

    /// A node of three goes on request, and another is let go.
    fn asked_for() -> (World, Plan) {
        let world = world()
            .pool(pool("default"))
            .node(node("a"))
            .node(node("b"))
            .node(node("let-go"))
            .pod(pod("one").cpu("1").on("a"))
            .pod(pod("two").cpu("1").on("b"));
        let wishes =
            Wishes { replace: ["a".into()].into(), forget: ["let-go".into()].into(), ..Wishes::default() };
        let snapshot = nodeform::snapshot::wish(world.snapshot, &wishes).expect("the nodes are there");
        let world = World { snapshot, ..world };
        by_hand(world).keeping("b", &["one"]).moving_off_due("a", DisruptionReason::Drifted).planned()
    }

    #[test]
    fn what_nobody_asked_for_is_seen() {
        for wish in ["a", "let-go"] {
            let mut case = asked_for();
            for wishes in [&mut case.0.snapshot.supposed.wishes, &mut case.1.spec.wishes] {
                wishes.replace.remove(wish);
                wishes.forget.remove(wish);
            }
            objects(Rule::Supposed, &case);
        }
        let mut case = asked_for();
        case.1.spec.wishes = Wishes::default();
        objects(Rule::Supposed, &case);
        let mut case = asked_for();
        let reasons = case.1.evidence.reasons.values_mut();
        reasons.for_each(|reason| *reason = Reason::Drifted { what: "it did not".into() });
        objects_only(Rule::Content, &case);
    }

    #[test]
    fn a_node_that_is_let_go_by_another_name_or_on_hold_is_seen() {
        let mut case = asked_for();
        holds_mut(&mut case).classes = [ChangeClass::Forget].into();
        objects_only(Rule::Hold, &case);
        let mut case = asked_for();
        let is_forget = |change: &Change| matches!(change, Change::Forget(_));
        let planned = case.1.spec.changes.values_mut().find(|planned| is_forget(&planned.change));
        planned.expect("one is let go").preconditions.clear();
        objects_only(Rule::Order, &case);
    }

    fn holds_mut(case: &mut (World, Plan)) -> &mut Holds {
        &mut case.0.policy.fleet.holds
    }

    fn freeze(reasons: Option<DisruptionReason>, window: Option<(&str, i64)>) -> Freeze {
        let window = window.map(|(schedule, hours)| FreezeWindow {
            schedule: schedule.into(),
            duration: nodeform_hours(hours),
            time_zone: Some("Europe/Berlin".into()),
        });
        let reasons = reasons.map(|reason| [reason].into());
        Freeze { name: "peak".into(), window, pools: None, reasons }
    }

    #[test]
    fn a_change_that_is_carried_out_in_a_freeze_is_seen() {
        let under = |mut case: (World, Plan), freeze: Freeze, at: Option<&str>| {
            case.0.snapshot.at = at.map(|time| time.parse().expect("is a time"));
            case.1.evidence.seen_at = case.0.snapshot.at;
            holds_mut(&mut case).freezes = vec![freeze];
            rules(&case)
        };
        for case in [aging, sharing, drifting] {
            assert_eq!(under(case(), freeze(None, None), None), [Rule::Hold]);
        }
        let noon = Some("2026-11-20T12:00:00Z");
        let (morning, evening) = (Some(("0 9 * * *", 8)), Some(("0 18 * * *", 8)));
        assert_eq!(under(sharing(), freeze(None, morning), noon), [Rule::Hold]);
        assert_eq!(under(sharing(), freeze(None, evening), noon), []);
        assert_eq!(under(sharing(), freeze(None, evening), None), [Rule::Hold], "without a time it is open");
        let late = Some("2026-11-20T16:30:00Z");
        assert_eq!(under(sharing(), freeze(None, morning), late), [], "in Berlin it is half past five");
        assert_eq!(under(sharing(), freeze(Some(DisruptionReason::Empty), None), noon), []);
        assert_eq!(under(aging(), freeze(Some(DisruptionReason::Empty), None), None), [Rule::Hold]);
        let elsewhere = Freeze { pools: Some(["other".into()].into()), ..freeze(None, None) };
        assert_eq!(under(sharing(), elsewhere, noon), []);
    }

    #[test]
    fn a_change_of_a_class_on_hold_that_is_carried_out_is_seen() {
        let under = |mut case: (World, Plan), class: ChangeClass| {
            holds_mut(&mut case).classes = [class].into();
            rules(&case)
        };
        assert_eq!(under(aging(), ChangeClass::RemoveEmpty), [Rule::Hold]);
        assert_eq!(under(aging(), ChangeClass::MovePods), []);
        assert_eq!(under(sharing(), ChangeClass::MovePods), [Rule::Hold]);
        for reason in [DisruptionReason::Expired, DisruptionReason::Unhealthy] {
            assert_eq!(under(failing(reason), ChangeClass::Replace), [Rule::Hold]);
        }
        let mut case = sharing();
        holds_mut(&mut case).classes = [ChangeClass::MovePods].into();
        holds_mut(&mut case).lifted = [("default".into(), [ChangeClass::MovePods].into())].into();
        assert_eq!(rules(&case), [], "what is said of the pool counts before");
        let mut case = sharing();
        holds_mut(&mut case).pools = [("default".into(), [ChangeClass::MovePods].into())].into();
        objects_only(Rule::Hold, &case);
    }

    #[test]
    fn a_node_that_goes_and_is_listed_as_held_is_seen() {
        let mut case = sharing();
        case.1.evidence.held.push(HeldChange {
            node: "a".into(),
            pool: Some("default".into()),
            class: ChangeClass::MovePods,
            reason: Some(DisruptionReason::Underutilized),
            because: "a freeze".to_owned(),
            until: None,
        });
        objects_only(Rule::Hold, &case);
    }

    #[test]
    fn a_budget_for_the_reason_and_one_with_a_window_count() {
        let with = |budget| {
            let mut case = aging();
            pool_mut(&mut case.0, "default").disruption.budgets.push(budget);
            rules(&case)
        };
        let none = |reasons, window| Budget { reasons, nodes: BudgetNodes::Count(0), window };
        let window = |cron: &str| Some((Arc::from(cron), nodeform_hours(8)));
        assert_eq!(with(none(Some([DisruptionReason::Empty].into()), None)), [Rule::Budget]);
        assert_eq!(with(none(Some([DisruptionReason::Drifted].into()), None)), []);
        assert_eq!(with(none(None, window("0 9 * * 1-5"))), [Rule::Budget], "no time: the window holds");
        assert_eq!(with(none(Some([].into()), window("never"))), [Rule::Budget], "unreadable: nothing goes");
    }

    fn nodeform_hours(hours: i64) -> jiff::SignedDuration {
        jiff::SignedDuration::from_hours(hours)
    }

    #[test]
    fn a_percentage_is_rounded_up_and_nodes_that_go_already_are_taken_off() {
        let with = |percent, is_deleting| {
            let mut case = aging();
            let budgets = &mut pool_mut(&mut case.0, "default").disruption.budgets;
            *budgets = vec![Budget { reasons: None, nodes: BudgetNodes::Percent(percent), window: None }];
            node_mut(&mut case, "shy").is_deleting = is_deleting;
            rules(&case)
        };
        // A fifth of five nodes, and one per cent of them, are one node.
        assert_eq!(with(20, false), []);
        assert_eq!(with(1, false), []);
        assert_eq!(with(0, false), [Rule::Budget]);
        // What a node that is going costs is no longer in the sum, so that the plan's own is wrong too.
        assert_eq!(with(20, true), [Rule::Price, Rule::Budget]);
    }

    #[test]
    fn only_a_plan_without_findings_becomes_a_checked_one() {
        let (world, plan) = aging();
        let checked =
            CheckedPlan::judged(&world.snapshot, &world.policy, plan.clone()).expect("nothing was found");
        assert_eq!(checked.plan(), &plan);
        let mut case = (world, plan);
        node_mut(&mut case, "empty-1").is_do_not_disrupt = true;
        let refused =
            CheckedPlan::judged(&case.0.snapshot, &case.0.policy, case.1).expect_err("it was refused");
        assert!(
            refused.findings.iter().all(|finding| finding.rule == Rule::Removal),
            "{:?}",
            refused.findings
        );
    }
}

mod files {
    use super::*;

    #[test]
    fn a_name_that_is_given_twice_is_seen() {
        let mut case = shop();
        let first = create(&mut case.1, "web-1").claim.clone();
        create(&mut case.1, "arm").claim = first;
        objects(Rule::Names, &case);
    }

    #[test]
    fn a_name_that_a_node_has_already_is_seen() {
        let mut case = shop();
        let claim = create(&mut case.1, "web-1").claim.clone();
        let mut old = node("old").of_pool("general").build();
        old.claim = Some(claim);
        case.0.snapshot.nodes.push(old);
        objects(Rule::Names, &case);
    }

    #[test]
    fn a_name_that_is_not_valid_or_not_derived_is_seen() {
        let mut case = shop();
        create(&mut case.1, "web-1").claim = "General_1".into();
        objects(Rule::Names, &case);
        let mut case = shop();
        create(&mut case.1, "web-1").vm = Arc::from("aks-mine");
        objects(Rule::Names, &case);
    }

    #[test]
    fn an_item_that_follows_from_nothing_is_seen() {
        let mut case = shop();
        case.1.spec.parent = Some(nodeform::model::Digest::of_bytes(b"another history"));
        objects_only(Rule::Names, &case);
    }

    #[test]
    fn a_delete_before_a_create_is_seen() {
        let world =
            world().pool(pool("default")).node(node("empty").zone("2")).pod(pod("db").cpu("3").zone("1"));
        let (world, mut plan) = by_hand(world)
            .making("default", ("Standard_D4s_v5", "1", ON_DEMAND), &["db"])
            .removing("empty")
            .planned();
        let mut wave = plan.spec.waves.remove(0);
        let creates = wave.steps.remove(&Step::Create).expect("a node is made");
        let later = Wave { steps: [(Step::Create, creates)].into() };
        plan.spec.waves = vec![wave, later];
        objects_only(Rule::Order, &(world, plan));
    }

    #[test]
    fn a_delete_before_its_drain_is_seen() {
        let mut case = aging();
        let (first, second) = case.1.spec.waves.split_at_mut(1);
        let drains = first[0].steps.remove(&Step::Drain).expect("a node is drained");
        let all = second[0].steps.entry(Step::Drain).or_default();
        all.extend(drains);
        all.sort();
        objects_only(Rule::Order, &case);
    }

    #[test]
    fn a_change_in_no_wave_or_an_unknown_one_in_a_wave_is_seen() {
        let mut case = shop();
        case.1.spec.waves.clear();
        objects_only(Rule::Order, &case);
        let mut case = shop();
        case.1
            .spec
            .waves
            .push(Wave { steps: [(Step::Delete, vec![ChangeId(Arc::from("aaaaaaaaaa"))])].into() });
        objects_only(Rule::Order, &case);
    }

    #[test]
    fn a_change_without_its_conditions_is_seen() {
        for case in [shop(), aging()] {
            let (world, mut plan) = case;
            for planned in plan.spec.changes.values_mut() {
                planned.preconditions.clear();
            }
            objects_only(Rule::Order, &(world, plan));
        }
    }

    #[test]
    fn a_reason_that_is_not_the_change_s_is_seen() {
        let mut case = shop();
        let (arm, opened_for) = (id_with(&case.1, "arm"), PodKey::new("default", "arm"));
        let wrong = [
            Reason::PodsWait { pods: 2, moved: 0, opened_for: opened_for.clone() },
            Reason::PodsWait { pods: 1, moved: 1, opened_for: opened_for.clone() },
            Reason::PodsWait { pods: 1, moved: 0, opened_for: PodKey::new("default", "web-1") },
            Reason::Empty,
        ];
        for reason in wrong {
            case.1.evidence.reasons.insert(arm.clone(), reason);
            objects_only(Rule::Content, &case);
        }
        let mut case = aging();
        case.1.evidence.reasons.values_mut().for_each(|reason| *reason = Reason::Underutilized);
        objects_only(Rule::Content, &case);
        let mut case = shop();
        case.1.evidence.reasons.insert(ChangeId("c-ghost".into()), Reason::Empty);
        objects_only(Rule::Content, &case);
    }

    #[test]
    fn nodes_that_stay_and_are_counted_wrongly_are_seen() {
        let mut case = aging();
        case.1.evidence.unchanged[0].nodes += 1;
        objects_only(Rule::Content, &case);
        let mut case = aging();
        case.1.evidence.unchanged.pop();
        objects_only(Rule::Content, &case);
    }

    #[test]
    fn a_claim_that_was_changed_after_it_was_named_is_seen() {
        let mut case = shop();
        claim(&mut case.1, "web-1").price_max = None;
        objects_only(Rule::Content, &case);
    }

    #[test]
    fn a_claim_that_differs_from_its_pool_is_seen() {
        let mut case = shop();
        pool_mut(&mut case.0, "general").labels.insert(LabelKey::new("team"), Arc::from("blue"));
        objects(Rule::Content, &case);
    }

    #[test]
    fn promises_that_the_size_does_not_keep_are_seen() {
        let mut case = shop();
        case.1.evidence.shapes[0].allocatable.set(ResourceName::Cpu, 64_000);
        objects_only(Rule::Content, &case);
        let mut case = shop();
        create(&mut case.1, "web-1").requests.set(ResourceName::Cpu, 1);
        objects_only(Rule::Content, &case);
    }

    #[test]
    fn a_change_without_reason_or_expectation_is_seen() {
        let mut case = shop();
        case.1.evidence.reasons.clear();
        objects_only(Rule::Content, &case);
        let mut case = shop();
        case.1.evidence.placements.clear();
        objects(Rule::Content, &case);
    }

    #[test]
    fn a_digest_of_an_input_that_is_another_is_seen() {
        let mut case = shop();
        let other = nodeform::model::Digest::of_bytes(b"another pool");
        for digest in case.1.spec.inputs.pools.values_mut() {
            *digest = other;
        }
        let found = check(&case.0.snapshot, &case.0.policy, &case.1);
        assert!(found.len() == 1 && found[0].rule == Rule::Content, "{found:#?}");
    }

    #[test]
    fn a_plan_for_another_cluster_or_time_is_seen() {
        let mut case = shop();
        case.0.snapshot.cluster = Some(Arc::from("other"));
        objects_only(Rule::Content, &case);
        let mut case = shop();
        case.0 = case.0.at("2026-11-21T08:00:00Z");
        objects_only(Rule::Content, &case);
    }
}

#[test]
fn a_saved_plan_shows_by_itself_that_its_claims_list_enough_values() {
    let varied = pool("default").min_values(label::INSTANCE_TYPE, 3).min_values(label::SKU_FAMILY, 2);
    let plan = crate::support::judged::planned(&world().pool(varied).pod(pod("web").cpu("1")));
    let saved = nodeform::plan::read(&nodeform::plan::write(&plan)).expect("a plan file can be read");
    assert_eq!(saved.spec.creates().count(), 1);
    assert_eq!(check(&saved.snapshot(), &saved.policy(), &saved), []);
    let mut poorer = saved;
    for sizes in poorer.evidence.world.sizes.values_mut() {
        sizes.truncate(1);
    }
    let found = check(&poorer.snapshot(), &poorer.policy(), &poorer);
    assert!(!found.is_empty(), "a file that holds less shows less");
}

#[test]
fn nothing_is_said_against_a_plan_that_does_nothing() {
    let world = world().pool(pool("default")).pod(pod("huge").cpu("999")).pod(pod("gated").gate("wait"));
    by_hand(world).leaving(&["huge"]).holding(&["gated"]).planned();
}

#[test]
fn findings_are_sorted_and_readable() {
    let mut case = shop();
    placement(&mut case.1, "arm").pods = keys(&["arm", "ghost", "web-1"]);
    let found = findings(&case);
    assert!(found.is_sorted());
    assert!(found[0].to_string().starts_with("pods: pod `default/ghost`: is placed on new node of"));
}
