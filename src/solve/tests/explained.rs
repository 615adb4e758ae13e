//! `explain`: rule by rule, for pods, nodes and sizes.

use super::world::{PodWith, World, any_pool, node, on, pod, pool};
use crate::model::{
    Disruption, MicroUsdPerHour, Operator, Pod, PodKey, Pool, Price, Requirement, Requirements,
    SchedulingRule, Strength, label,
};
use crate::solve::explain::node::NodeFate;
use crate::solve::explain::{Meant, NodeExplanation, NotChosen, PodOutcome, PoolUse, pods_meant};
use crate::solve::shrink::alone::Alone;
use crate::solve::{NodeRef, explain_node, explain_pod, explain_pool, explain_size};

fn steps(world: &World, name: &str) -> (PodOutcome, String) {
    let explained =
        explain_pod(&world.snapshot, &world.policy, &world.solve(), &PodKey::new("default", name));
    let step = |step: &crate::solve::report::chain::Step| {
        format!(
            "{}: {}{}\n",
            step.rule,
            step.sizes_left,
            step.because.as_ref().map_or(String::new(), |b| format!(" {b}"))
        )
    };
    let pools = explained.pools.iter().map(|chain| chain.steps.iter().map(step).collect::<String>());
    (explained.outcome, pools.collect())
}

#[test]
fn a_pod_that_fits_nowhere_is_followed_to_the_rule_that_stops_it() {
    let world =
        World::of(vec![pool("default")]).pods([pod("a").memory("60Gi").selects(label::SKU_FAMILY, "E")]);
    let (outcome, steps) = steps(&world, "a");
    assert!(matches!(outcome, PodOutcome::Placed(NodeRef::New(0))));
    assert!(steps.starts_with("taints: 10\nnode affinity: 2\nzone: 2\n"), "{steps}");
    let world =
        World::of(vec![pool("default")]).pods([pod("a").memory("64Gi").selects(label::SKU_FAMILY, "E")]);
    let (outcome, steps) = self::steps(&world, "a");
    assert!(matches!(outcome, PodOutcome::Unplaced { .. }));
    assert!(steps.ends_with("memory: 0 `memory` 64Gi requested, 63Gi left\n"), "{steps}");
}

#[test]
fn sizes_left_never_grow_and_no_rule_stands_twice() {
    let limited = Pool { limits: super::world::resources(&[("cpu", "100")]), ..any_pool("default") };
    let pods = [pod("a"), pod("b").selects(label::SKU_CPU, "3"), pod("c").selects(label::ZONE, "eastus-9")];
    let world = World::of(vec![limited]).pods(pods);
    let solution = world.solve();
    for name in ["a", "b", "c"] {
        let key = PodKey::new("default", name);
        let explained = explain_pod(&world.snapshot, &world.policy, &solution, &key);
        let steps = &explained.pools[0].steps;
        assert!(steps.is_sorted_by(|first, then| first.sizes_left >= then.sizes_left), "{steps:?}");
        let rules: std::collections::BTreeSet<_> = steps.iter().map(|step| &step.rule).collect();
        assert_eq!(rules.len(), steps.len(), "{steps:?}");
    }
}

#[test]
fn a_held_pod_is_followed_by_what_is_left_of_its_rules_and_says_what_was_left_out() {
    let above = |cpu: &str| {
        let requirement = Requirement::new(Operator::Gt, [cpu]);
        Requirements::none().with(label::SKU_CPU, requirement)
    };
    let by_device = |spec: &mut crate::model::PodSpec| {
        spec.other_rules.insert(SchedulingRule::ResourceClaims, Strength::Required);
    };
    let held = |terms| pod("a").terms(terms).spec(by_device);
    let explained = |pod: Pod| {
        let world = World::of(vec![pool("default")]).pods([pod]);
        explain_pod(&world.snapshot, &world.policy, &world.solve(), &PodKey::new("default", "a"))
    };
    let some = explained(held(vec![above("4")]));
    assert!(matches!(some.outcome, PodOutcome::Held { .. }));
    assert_eq!(some.without.as_deref(), Some("resourceClaims"));
    assert_eq!(some.pools[0].nearest.as_ref().map(|size| size.as_str()), Some("Standard_F8s_v2"));
    let none = explained(held(vec![above("400")]));
    assert!(none.pools[0].miss.is_some());
    let gated = explained(pod("a").spec(|spec| {
        spec.gates.insert("wait".into());
    }));
    assert_eq!(gated.without, None);
}

#[test]
fn a_pod_that_nobody_knows_is_unknown() {
    assert_eq!(steps(&World::of(vec![pool("default")]), "a"), (PodOutcome::Unknown, String::new()));
}

#[test]
fn a_new_node_shows_what_else_it_could_be() {
    let world = World::of(vec![pool("default")]).pods([pod("a").cpu("3").memory("10Gi")]);
    let solution = world.solve();
    let NodeExplanation::New { dearer_by, .. } =
        explain_node((&world.snapshot, &world.policy), &solution, &NodeRef::New(0))
    else {
        panic!("is a new node");
    };
    let e4s = dearer_by.iter().find(|(other, _)| other.size.as_str() == "Standard_E4s_v5").expect("would do");
    assert_eq!(e4s.1, Price::Listed(crate::model::MicroUsdPerHour(60_000)));
}

#[test]
fn an_existing_node_says_why_it_stays_or_goes() {
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D4s_v5"), node("n2", "Standard_D4s_v5")])
        .pods([on("n2", pod("old"))]);
    let solution = world.solve();
    let fate = |name: &str| match explain_node(
        (&world.snapshot, &world.policy),
        &solution,
        &NodeRef::Existing(name.into()),
    ) {
        NodeExplanation::Existing { fate, .. } => Some(fate),
        NodeExplanation::New { .. } | NodeExplanation::Unknown => None,
    };
    assert_eq!(fate("n1"), Some(NodeFate::Removed(crate::model::DisruptionReason::Empty)));
    let because = "its pool `default` lets nodes go that are empty, and no others (`consolidationPolicy`)";
    assert_eq!(fate("n2"), Some(NodeFate::StaysInUse(Alone::Kept(because.to_owned()))));
    assert_eq!(fate("n3"), None);
}

/// Returns what keeps the only node, which carries these pods, in a pool that allows underutilized nodes to be removed.
fn keeps(size: &str, pods: Vec<Pod>, change: impl Fn(World) -> World) -> Option<Alone> {
    let pool = Pool { disruption: Disruption::default(), ..pool("default") };
    let world = change(World::of(vec![pool]).nodes([node("n1", size)]).pods(pods));
    match explain_node((&world.snapshot, &world.policy), &world.solve(), &NodeRef::Existing("n1".into())) {
        NodeExplanation::Existing { fate: NodeFate::StaysInUse(alone), .. } => Some(alone),
        NodeExplanation::Existing { .. } | NodeExplanation::New { .. } | NodeExplanation::Unknown => None,
    }
}

#[test]
fn a_node_in_use_says_what_the_fleet_would_cost_without_it() {
    let small = || vec![on("n1", pod("old").cpu("1"))];
    let as_it_is = |world: World| world;
    assert_eq!(keeps("Standard_D2s_v5", small(), as_it_is), Some(Alone::Dearer(MicroUsdPerHour(0))));
    let beside = |world: World| {
        let more = [on("n2", pod("other").cpu("3")), on("n2", pod("last").cpu("800m"))];
        world.nodes([node("n2", "Standard_D4s_v5")]).pods(more)
    };
    assert_eq!(keeps("Standard_D2s_v5", small(), beside), Some(Alone::Dearer(MicroUsdPerHour(0))));
    let protected = vec![Pod { is_do_not_disrupt: true, ..on("n1", pod("old")) }];
    let because = "its pod `default/old` has `karpenter.sh/do-not-disrupt`".to_owned();
    assert_eq!(keeps("Standard_D8s_v5", protected, as_it_is), Some(Alone::Kept(because)));
}

#[test]
fn what_an_existing_node_has_left_counts_the_waiting_pods_that_it_receives() {
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([on("n1", pod("old").cpu("1")), pod("new").cpu("2")]);
    let solution = world.solve();
    let NodeExplanation::Existing { placed, room, .. } =
        explain_node((&world.snapshot, &world.policy), &solution, &NodeRef::Existing("n1".into()))
    else {
        panic!("is an existing node");
    };
    assert_eq!(placed, [PodKey::new("default", "new")]);
    assert_eq!(room.get(&crate::model::ResourceName::Cpu), 900);
}

#[test]
fn a_size_says_pool_by_pool_why_it_is_used_or_not() {
    let world = World::of(vec![pool("default")]).pods([pod("a")]);
    let solution = world.solve();
    let use_of = |size: &str| {
        let mut pools = explain_size(&world.snapshot, &world.policy, &solution, &size.into()).pools;
        pools.remove(0).1
    };
    assert_eq!(use_of("Standard_D2s_v5"), PoolUse::Used(1));
    let PoolUse::NotCheapest { because, needs_name: false, .. } = use_of("Standard_D4s_v5") else {
        panic!("is allowed without a name");
    };
    let by = Price::Listed(crate::model::MicroUsdPerHour(96_000));
    assert_eq!(because, NotChosen::Dearer { nodes: 1, chosen: "Standard_D2s_v5".into(), by });
    assert!(matches!(use_of("Standard_B4ms"), PoolUse::NotCheapest { needs_name: true, .. }));
    let PoolUse::Refused { rule, because } = use_of("Standard_D2ps_v5") else { panic!("is arm64") };
    assert_eq!(rule, "node affinity");
    assert!(because.contains("kubernetes.io/arch"), "{because}");
    assert_eq!(use_of("Standard_X1"), PoolUse::NotThere);
    let idle = World::of(vec![pool("default")]);
    let mut pools =
        explain_size(&idle.snapshot, &idle.policy, &idle.solve(), &"Standard_D4s_v5".into()).pools;
    let PoolUse::NotCheapest { because, .. } = pools.remove(0).1 else { panic!("is allowed") };
    assert_eq!(because, NotChosen::NothingWaits);
}

#[test]
fn a_pool_is_narrowed_requirement_by_requirement_to_what_it_can_buy() {
    let limited = Pool {
        nodes_max: Some(9),
        requirements: Requirements::none().with(label::SKU_FAMILY, Requirement::new(Operator::In, ["E"])),
        ..any_pool("default")
    };
    let world = World::of(vec![limited]).pods([pod("a")]);
    let explain = |name: &str| explain_pool(&world.snapshot, &world.policy, &world.solve(), &name.into());
    let explained = explain("default").expect("the pool is there");
    assert!(explained.steps.is_sorted_by(|(_, before), (_, after)| before >= after), "{:?}", explained.steps);
    assert_eq!(explained.steps.last().map(|(_, left)| *left), Some(explained.ways.len()));
    let known: Vec<_> = explained.ways.iter().filter_map(|way| way.price.known()).collect();
    assert!(!known.is_empty() && known.is_sorted(), "{known:?}");
    let nodes = &explained.limits[0];
    assert_eq!((nodes.now, nodes.planned, nodes.most), (0, 1, 9));
    assert_eq!(explain("other"), None);
}

#[test]
fn pods_are_meant_by_name_by_the_beginning_of_a_name_or_by_workload() {
    let workload = |kind: &str| crate::model::Workload {
        kind: kind.into(),
        namespace: crate::model::Namespace::new("default"),
        name: "web".into(),
    };
    let of = |pod: Pod, kind: &str| Pod { workload: Some(workload(kind)), ..pod };
    let elsewhere = Pod { key: PodKey::new("other", "lone"), ..pod("lone") };
    let twice = ["left", "right"].map(|space| Pod { key: PodKey::new(space, "twin"), ..pod("twin") });
    let pods =
        [of(pod("web-1"), "Deployment"), of(pod("web-2"), "Deployment"), of(pod("web"), "Job"), elsewhere];
    let world = World::of(vec![]).pods(pods).pods(twice);
    let meant = |kind: &str, name: &str, space: Option<&str>| match pods_meant(
        &world.snapshot,
        (kind, name),
        space,
    ) {
        Meant::Pods(pods) => pods.iter().map(|pod| pod.key.to_string()).collect::<Vec<_>>().join(" "),
        Meant::InSeveral(spaces) => format!("in {}", spaces.len()),
        Meant::Nothing => String::new(),
    };
    assert_eq!(meant("pod", "web", None), "default/web");
    assert_eq!(meant("po", "web-", None), "default/web-1 default/web-2");
    assert_eq!(meant("deploy", "web", None), "default/web-1 default/web-2");
    assert_eq!(meant("Jobs", "web", None), "default/web");
    assert_eq!(meant("pod", "lone", None), "other/lone");
    assert_eq!(meant("pod", "lone", Some("default")), "");
    assert_eq!(meant("pod", "twin", None), "in 2");
    assert_eq!(meant("deployment", "nix", None), "");
}

#[test]
fn what_has_room_and_goes_is_not_said_to_have_no_room() {
    let open = Pool { disruption: Disruption::default(), ..pool("default") };
    let nodes = [node("n1", "Standard_D8s_v5"), node("n2", "Standard_D2s_v5")];
    let world = World::of(vec![open]).nodes(nodes).pods([on("n2", pod("old").cpu("1800m")), pod("new")]);
    let explained =
        explain_pod(&world.snapshot, &world.policy, &world.solve(), &PodKey::new("default", "new"));
    assert!(matches!(explained.outcome, PodOutcome::Placed(NodeRef::New(0))), "{:?}", explained.outcome);
    let says: Vec<&str> = explained.nodes.iter().filter_map(|(_, because)| because.as_deref()).collect();
    assert_eq!(says, ["has room, but goes: it is empty", "cpu: `cpu` 500m requested, 100m left"]);
}
