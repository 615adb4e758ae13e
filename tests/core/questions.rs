//! Questions to a world: what if its nodes were not there, what if a zone failed, and what of one target.
//! Every plan is judged, read back from its file, and settled.

use std::collections::BTreeSet;

use crate::support::build::World;
use crate::support::{daemon, node, pod, pool, world};
use nodeform::check::{Rule, check};
use nodeform::model::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use nodeform::model::{
    ChangeClass, ConsolidationPolicy, LabelSelector, NodeName, NodeSelector, PoolName, Target, Wishes, label,
};
use nodeform::plan::wish::unfulfilled;
use nodeform::plan::{Plan, file};
use nodeform::render::{Detail, PlanView, plain_text, plan_text};
use nodeform::sim;
use nodeform::snapshot::{Question, suppose, wish};

/// Two nodes of an agent pool of users, one of a system agent pool, one that Karpenter made; in two zones.
fn mixed() -> World {
    let agent = daemon("agent");
    let nodes = ["system", "user-1", "user-2", "claimed"];
    world()
        .pool(pool("general"))
        .daemon(agent.clone())
        .node(node("system").foreign().zone("3").labelled(label::AKS_MODE, "system"))
        .node(node("user-1").foreign().labelled("agentpool", "user").zone("1"))
        .node(node("user-2").foreign().labelled("agentpool", "user").zone("2"))
        .node(node("claimed").zone("1"))
        .pods(nodes.iter().map(|node| agent.on(node)))
        .pod(pod("dns").cpu("1").on("system"))
        .pod(pod("web-1").cpu("1").on("user-1"))
        .pod(pod("web-2").cpu("1").on("user-2"))
        .pod(pod("going").cpu("1").on("user-2").terminating())
        .pod(pod("job").cpu("500m").on("claimed"))
}

fn from_scratch(selector: &str) -> Question {
    Question {
        from_scratch: Some(NodeSelector::parse(selector).expect("a selector")),
        without_zones: Vec::new(),
    }
}

fn asked(world: World, question: &Question) -> World {
    let World { snapshot, policy } = world;
    World { snapshot: suppose(snapshot, question).expect("the question can be asked"), policy }
}

fn planned(world: &World, targets: &[Target]) -> Plan {
    let plan = crate::support::judged::planned_for(world, targets);
    let read = file::read(&file::write(&plan)).expect("a plan file can be read");
    assert_eq!(check(&read.snapshot(), &read.policy(), &read), [], "the file alone is enough for the judge");
    assert_eq!(text(&read), text(&plan));
    if targets.is_empty() {
        let after = World { snapshot: sim::after(&world.snapshot, &plan), policy: world.policy.clone() };
        let again = crate::support::judged::planned(&after);
        assert!(again.spec.waves.is_empty(), "not settled:\n{}", text(&again));
    }
    plan
}

fn text(plan: &Plan) -> String {
    plain_text(&plan_text(&PlanView::new(plan, None), Detail::All))
}

fn absent(world: &World) -> Vec<&str> {
    world.snapshot.supposed.absent.iter().map(|absent| absent.node.name.as_str()).collect()
}

#[test]
fn from_scratch_leaves_out_all_nodes_but_those_of_system_agent_pools() {
    let world = asked(mixed(), &from_scratch(""));
    assert_eq!(absent(&world), ["claimed", "user-1", "user-2"]);
    let plan = planned(&world, &[]);
    let text = text(&plan);
    assert!(text.starts_with("What if: "), "{text}");
    assert!(
        text.contains("Hypothetical: ignores 3 of 4 existing nodes (`--from-scratch`). Not for applying."),
        "{text}"
    );
    assert!(text.contains("Monthly cost would"), "{text}");
    assert!(text.contains("of a system agent pool is kept"), "{text}");
    let pods: Vec<&str> = world.snapshot.pods.iter().map(|pod| &*pod.key.name).collect();
    assert!(!pods.contains(&"going"), "what was being deleted is gone with its node: {pods:?}");
}

#[test]
fn todays_bill_counts_every_node_of_today() {
    let today = planned(&mixed(), &[]).evidence.report.cost_before;
    let asked = planned(&asked(mixed(), &from_scratch("")), &[]).evidence.report;
    assert_eq!(asked.cost_before, today);
    assert_ne!(asked.cost_after, today);
}

#[test]
fn a_selector_is_taken_at_its_word() {
    let world = asked(mixed(), &from_scratch("agentpool=user"));
    assert_eq!(absent(&world), ["user-1", "user-2"]);
    planned(&world, &[]);
    let world = asked(mixed(), &from_scratch("kubernetes.azure.com/mode in (system)"));
    assert_eq!(absent(&world), ["system"]);
    assert!(
        text(&planned(&world, &[]))
            .contains("Assumed: the system pool is lost too (its pods are planned onto NodePools)")
    );
}

#[test]
fn what_the_input_does_not_have_is_refused() {
    let refused = |question: &Question| suppose(mixed().snapshot, question).expect_err("refused");
    assert!(refused(&from_scratch("agentpool=other"))[0].0.contains("selects none of the 4 nodes"));
    let zones = Question { from_scratch: None, without_zones: vec!["9".into(), "mars-1".into()] };
    let faults = refused(&zones);
    assert_eq!(faults.len(), 2);
    assert!(faults[0].1.contains("`westeurope-1`"), "{faults:?}");
}

#[test]
fn a_failed_zone_loses_its_nodes_and_sells_nothing() {
    let question = Question { from_scratch: None, without_zones: vec!["1".into()] };
    let world = mixed().pods(pod("more").cpu("3").times(4));
    let world = asked(world, &question);
    assert_eq!(absent(&world), ["claimed", "user-1"]);
    let plan = planned(&world, &[]);
    assert!(plan.spec.creates().count() > 0, "{}", text(&plan));
    for (_, _, claim) in plan.spec.creates() {
        let zones = claim.requirements.get(label::ZONE).expect("a claim lists zones");
        assert!(!zones.accepts("westeurope-1"), "{zones}");
    }
    assert!(text(&plan).contains("(`--without-zone westeurope-1`)"), "{}", text(&plan));
}

#[test]
fn labels_that_only_agent_pools_have_are_named_once_with_the_workloads() {
    let world = mixed().pods(pod("batch").cpu("1").selecting("agentpool", "user").times(3));
    let plan = planned(&asked(world, &from_scratch("")), &[]);
    let warnings = &plan.evidence.report.warnings;
    let of_label: Vec<_> = warnings.iter().filter(|warning| warning.object == "label `agentpool`").collect();
    assert_eq!(of_label.len(), 1, "{warnings:#?}");
    assert!(of_label[0].what.contains("3 pods ask for In [user]"), "{}", of_label[0].what);
    assert!(of_label[0].hint.as_ref().is_some_and(|hint| hint.contains("AKS alone sets it")));
}

/// Two pools whose pods wait, and an empty node. What carries pods stays.
fn two_pools() -> World {
    let mut world = two_pools_that_consolidate();
    for pool in world.policy.pools.values_mut() {
        pool.disruption.policy = ConsolidationPolicy::WhenEmpty;
    }
    world
}

fn two_pools_that_consolidate() -> World {
    let agent = daemon("agent");
    world()
        .pool(pool("left").label("side", "left").nodes_max(9))
        .pool(pool("right").label("side", "right").weight(5))
        .daemon(agent.clone())
        .node(node("empty").of_pool("left").labelled("side", "left"))
        .node(node("busy").of_pool("left").labelled("side", "left"))
        .pods([agent.on("empty"), agent.on("busy")])
        .pod(pod("runs").cpu("1").on("busy"))
        .pods(pod("l").cpu("3500m").selecting("side", "left").times(3))
        .pods(pod("r").cpu("3500m").selecting("side", "right").times(3))
}

#[test]
fn a_target_narrows_the_plan_to_its_changes_and_says_what_is_left_out() {
    let world = two_pools();
    let whole = planned(&world, &[]);
    let left = planned(&world, &[Target::NodePool(PoolName::new("left"))]);
    let right = planned(&world, &[Target::NodePool(PoolName::new("right"))]);
    assert_eq!(left.spec.changes.len() + right.spec.changes.len(), whole.spec.changes.len());
    assert!(text(&right).contains("Partial: only changes of `nodepool/right`"), "{}", text(&right));
    let held: usize = left.evidence.report.held.iter().map(|held| held.pods.len()).sum();
    assert_eq!(held, 3, "{}", text(&left));
    let costs = |plan: &Plan| {
        (plan.evidence.report.cost_after.effective - plan.evidence.report.cost_before.effective).0
    };
    assert_eq!(costs(&left) + costs(&right), costs(&whole));
}

#[test]
fn a_target_takes_the_other_side_of_a_move_along() {
    let world = two_pools_that_consolidate();
    let whole = planned(&world, &[]);
    let busy = planned(&world, &["node/busy".parse().expect("a target")]);
    let deleted = |plan: &Plan| plan.spec.deletes().any(|(_, delete)| delete.target.node.as_str() == "busy");
    assert!(deleted(&whole), "{}", text(&whole));
    assert!(deleted(&busy) && busy.spec.creates().count() == 1, "{}", text(&busy));
    for (_, create, _) in whole.spec.creates() {
        planned(&world, &[format!("node/{}", create.vm).parse().expect("a target")]);
    }
}

#[test]
fn one_new_node_can_be_a_target() {
    let world = two_pools();
    let whole = planned(&world, &[]);
    for (id, create, _) in whole.spec.creates() {
        let plan = planned(&world, &[format!("node/{}", create.vm).parse().expect("a target")]);
        assert_eq!(plan.spec.changes.keys().collect::<Vec<_>>(), [id]);
    }
}

#[test]
fn the_judge_refuses_what_a_question_does_not_allow() {
    let by_rule = |world: &World, plan: &Plan| -> BTreeSet<Rule> {
        check(&world.snapshot, &world.policy, plan).into_iter().map(|finding| finding.rule).collect()
    };
    let world = asked(mixed(), &from_scratch("agentpool=user"));
    let plan = planned(&world, &[]);
    let mut silent = plan.clone();
    silent.spec.what_if = Default::default();
    assert!(by_rule(&world, &silent).contains(&Rule::Supposed), "a question that does not say so");
    let mut more = world.clone();
    let system = more.snapshot.nodes.iter().position(|node| node.name.as_str() == "system").expect("there");
    let node = more.snapshot.nodes.remove(system);
    let requested = nodeform::model::Resources::none();
    more.snapshot.supposed.absent.push(nodeform::model::AbsentNode { node, requested });
    assert!(by_rule(&more, &plan).contains(&Rule::Supposed), "a node that the selector does not mean");
    let mut zone = mixed().pod(pod("pinned").cpu("3").zone("2"));
    let there = planned(&zone, &[]);
    zone.snapshot.supposed.what_if.without_zones = ["westeurope-2".into()].into();
    let mut there = there;
    there.spec.what_if = zone.snapshot.supposed.what_if.clone();
    assert!(by_rule(&zone, &there).contains(&Rule::Supposed), "a node in a zone that failed");
    let world = two_pools();
    let mut beside = planned(&world, &[]);
    beside.spec.targets = vec![Target::NodePool(PoolName::new("left"))];
    assert!(by_rule(&world, &beside).contains(&Rule::Supposed), "a change of no target");
}

/// The world with what is asked of single nodes.
fn wished(world: World, replace: &[&str], forget: &[&str]) -> World {
    let names = |names: &[&str]| names.iter().map(|name| NodeName::new(*name)).collect();
    let wishes = Wishes { replace: names(replace), forget: names(forget), ..Wishes::default() };
    let World { snapshot, policy } = world;
    World { snapshot: wish(snapshot, &wishes).expect("the nodes are there"), policy }
}

/// Two nodes of a pool that consolidates nothing, each with a pod.
fn pair() -> World {
    world()
        .pool(pool("default").never_consolidating())
        .node(node("a"))
        .node(node("b"))
        .pod(pod("one").cpu("3").on("a"))
        .pod(pod("two").cpu("3").on("b"))
}

#[test]
fn a_node_is_replaced_because_the_user_asks_for_it() {
    let plan = planned(&wished(pair(), &["a"], &[]), &[]);
    let shown = text(&plan);
    assert!(shown.contains("Plan: 1 to add, 0 to change, 1 to destroy."), "{shown}");
    assert!(shown.contains("because requested by `--replace`"), "{shown}");
    assert_eq!(unfulfilled(&plan), [""; 0]);
    assert!(planned(&pair(), &[]).spec.waves.is_empty(), "nothing else asks for it");
}

#[test]
fn what_keeps_a_drifted_node_keeps_one_that_is_to_be_replaced_and_is_said() {
    let why = |change: fn(&mut World)| {
        let mut world = wished(pair(), &["a"], &[]);
        change(&mut world);
        unfulfilled(&planned(&world, &[])).concat()
    };
    let node = "node `a` cannot be replaced: ";
    assert_eq!(
        why(|world| world.snapshot.nodes[0].is_do_not_disrupt = true),
        format!("{node}it has `karpenter.sh/do-not-disrupt`")
    );
    assert_eq!(
        why(|world| world.snapshot.pods.iter_mut().for_each(|pod| pod.is_do_not_disrupt = true)),
        format!("{node}its pod `default/one` has `karpenter.sh/do-not-disrupt`")
    );
    assert_eq!(
        why(|world| {
            world.snapshot.budgets.push(DisruptionBudget {
                namespace: "default".into(),
                name: "all".into(),
                selector: Some(LabelSelector::default()),
                bound: Some(PodBound::MinAvailable(PodShare::Percent(100))),
                unhealthy: UnhealthyPods::IfHealthyBudget,
                counts: None,
            });
        }),
        format!("{node}PodDisruptionBudget `default/all` does not let its pod `default/one` go")
    );
    assert_eq!(
        why(|world| world.policy.fleet.holds.classes = [ChangeClass::Replace].into()),
        format!("{node}`approve` of the NodeFleet has `replace: hold`")
    );
}

#[test]
fn a_node_that_is_forgotten_runs_on_though_it_is_empty_or_has_drifted() {
    let mut world = pair();
    world = world.node(node("empty"));
    world.policy.pools.values_mut().for_each(|pool| {
        pool.disruption.consolidate_after = Some(jiff::SignedDuration::ZERO);
        pool.disruption.policy = ConsolidationPolicy::WhenEmpty;
    });
    world.snapshot.nodes[0].claimed.drift =
        Some(nodeform::model::Drift { reason: "Old".into(), since: None });
    let world = wished(world, &[], &["a", "empty"]);
    let plan = planned(&world, &[]);
    let shown = text(&plan);
    assert!(shown.contains("Plan: 0 to add, 0 to change, 0 to destroy, 2 to forget."), "{shown}");
    assert!(shown.contains("because requested by `--forget`"), "{shown}");
    assert_eq!(unfulfilled(&plan), [""; 0]);
    let after = sim::after(&world.snapshot, &plan);
    let managed: Vec<&str> =
        after.nodes.iter().filter(|node| node.pool.is_some()).map(|node| node.name.as_str()).collect();
    assert_eq!((after.nodes.len(), managed), (3, vec!["b"]));
}

#[test]
fn a_wish_for_a_node_that_cannot_be_meant_is_refused() {
    let refused = |replace: &[&str], forget: &[&str]| {
        let names = |names: &[&str]| names.iter().map(|name| NodeName::new(*name)).collect();
        let wishes = Wishes { replace: names(replace), forget: names(forget), ..Wishes::default() };
        let world = pair().node(node("alien").foreign());
        wish(world.snapshot, &wishes).expect_err("it cannot be meant").remove(0).0
    };
    assert_eq!(refused(&["aa"], &[]), "`--replace`: there is no node `aa`");
    assert_eq!(refused(&[], &["alien"]), "`--forget`: node `alien` belongs to no NodePool");
    assert_eq!(refused(&["a"], &["a"]), "node `a` cannot be both replaced and forgotten");
}

#[test]
fn a_wish_for_a_node_that_is_supposed_not_to_be_there_contradicts_the_question() {
    let refused = |from_scratch: Option<&str>, zones: &[&str]| {
        let question = Question {
            from_scratch: from_scratch.map(|text| NodeSelector::parse(text).expect("is a selector")),
            without_zones: zones.iter().map(ToString::to_string).collect(),
        };
        let wishes = Wishes { replace: [NodeName::new("a")].into(), ..Wishes::default() };
        let supposed = suppose(pair().snapshot, &question).expect("the question has an answer");
        wish(supposed, &wishes).expect_err("it cannot be meant").remove(0)
    };
    let (what, hint) = refused(Some(""), &[]);
    assert_eq!(what, "`--replace`: node `a` is planned as if it were not there (`--from-scratch`)");
    assert_eq!(hint, "the two contradict each other: leave out `--replace` for it, or `--from-scratch`");
    assert!(refused(None, &["1"]).0.ends_with("(`--without-zone`)"));
}
