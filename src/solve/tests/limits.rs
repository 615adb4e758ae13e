//! Limits of pools and of the fleet, weights, and the order of pods when capacity is scarce.

use super::world::{PodWith, World, node, on, pod, pool, resources};
use crate::model::{CapacityType, ChangeClass, MicroUsd, Node, Pool, PoolName, Requirement, label};
use crate::solve::Solution;

fn limited(amounts: &[(&str, &str)]) -> Pool {
    Pool { limits: resources(amounts), ..pool("default") }
}

#[test]
fn a_pool_with_its_number_of_nodes_does_not_grow() {
    let full = Pool { nodes_max: Some(1), ..pool("default") };
    let world = World::of(vec![full])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([on("n1", pod("old").cpu("3500m")), pod("new").cpu("1")]);
    assert_eq!(world.text(), "? new: limits: NodePool default is at its node limit (1 of 1)\n");
}

#[test]
fn a_limit_counts_what_is_there_and_never_gives_way() {
    let world = World::of(vec![limited(&[("cpu", "10")])])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([on("n1", pod("old").cpu("3900m"))])
        .pods((0..4).map(|number| pod(&format!("web-{number}")).cpu("1800m")));
    assert_eq!(
        world.text(),
        "+ default Standard_D2s_v5 eastus-2 on-demand 96000: web-0\n\
         + default Standard_F4s_v2 eastus-3 on-demand 169000: web-1 web-2\n\
         ? web-3: limits: NodePool default is at its CPU limit (10 of 10)\n"
    );
}

#[test]
fn the_size_that_comes_closest_to_a_limit_is_named_with_every_limit_that_stops_it() {
    let small = Pool { nodes_max: Some(0), ..limited(&[("memory", "1Gi")]) };
    let unplaced = &World::of(vec![small]).pods([pod("a").cpu("3")]).solve().report.unplaced[0];
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `default`, size `Standard_F4s_v2`"));
    assert_eq!(
        unplaced.because,
        "NodePool default uses 0 of its memory limit 1Gi, a node takes 8Gi; NodePool default is at its node limit (0 of 0)"
    );
    // The cheapest size that fits uses more of the limited memory.
    let small = limited(&[("memory", "1Gi")]);
    let cheap = World::of(vec![small]).pods([pod("a").cpu("3")]).types(|types| {
        types.retain(|kind| ["Standard_D4s_v5", "Standard_F4s_v2"].contains(&kind.name.as_str()));
        for kind in types.iter_mut().filter(|kind| kind.name.as_str() == "Standard_D4s_v5") {
            kind.offerings = vec![super::world::offering("eastus-1", CapacityType::OnDemand, 1)];
        }
    });
    let unplaced = &cheap.solve().report.unplaced[0];
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `default`, size `Standard_F4s_v2`"));
}

#[test]
fn the_higher_priority_gets_what_a_limit_leaves() {
    let pods = [pod("big").cpu("3800m"), pod("small").cpu("1").priority(10)];
    let world = World::of(vec![limited(&[("cpu", "4")])]).pods(pods);
    let text = world.text();
    assert!(
        text.starts_with("+ default Standard_D2s_v5 eastus-1 on-demand 96000: small\n? big: limits"),
        "{text}"
    );
}

#[test]
fn a_limit_of_the_fleet_counts_nodes_of_no_pool_and_says_so() {
    let agents = ["a1", "a2"].map(|name| Node { pool: None, claim: None, ..node(name, "Standard_D2s_v5") });
    let told = |count: usize| {
        let agents = agents.iter().take(count).cloned();
        let mut world = World::of(vec![pool("default")]).nodes(agents).pods([pod("a").cpu("3")]);
        world.policy.fleet.limits.nodes = u64::try_from(count).ok();
        world.solve().report.unplaced.remove(0).because
    };
    let full = |nodes: usize| format!("the NodeFleet is at its node limit ({nodes} of {nodes})");
    assert_eq!(told(0), full(0));
    assert_eq!(told(1), full(1) + " (1 node of no NodePool counts too)");
    assert_eq!(told(2), full(2) + " (2 nodes of no NodePool count too)");
}

#[test]
fn the_fleet_has_limits_of_its_own() {
    let pods = || (0..3).map(|number| pod(&format!("web-{number}")).cpu("3500m"));
    let mut world = World::of(vec![pool("default")]).pods(pods());
    world.policy.fleet.limits.cpu_milli = Some(8_000);
    assert_eq!(world.solve().target.new.iter().map(|node| node.pods.len()).sum::<usize>(), 2);
    let mut world = World::of(vec![pool("default")]).pods(pods());
    world.policy.fleet.limits.nodes = Some(1);
    assert_eq!(world.solve().target.new.len(), 1);
    let mut world = World::of(vec![pool("default")]).pods(pods());
    // Enough for one F4s_v2 at 123.37 dollars a month.
    world.policy.fleet.limits.cost_per_month = Some(MicroUsd(200_000_000));
    let solution = world.solve();
    assert_eq!(solution.target.new.len(), 1);
    assert_eq!(
        solution.report.unplaced[0].because,
        "the NodeFleet uses $123.37/month of its `costPerMonth` limit $199.99/month, a node takes $123.37/month"
    );
}

#[test]
fn what_a_limit_counts_until_it_is_gone_leaves_room_for_the_next_plan_and_that_is_said() {
    let elsewhere = |name: &str| pod(name).cpu("3500m").selects(label::ZONE, "eastus-2");
    // The running pod is on an unmanaged node: without running pods, no node is known to be empty.
    let runs = on("other", pod("runs"));
    let world = |limit: &str, empty: &[&str]| {
        let other = Node { pool: None, class: None, ..node("other", "Standard_D2s_v5") };
        World::of(vec![limited(&[("cpu", limit)])])
            .nodes(empty.iter().map(|name| node(name, "Standard_D4s_v5")).chain([other]))
            .pods([runs.clone(), elsewhere("a"), elsewhere("b")])
    };
    let full = "limits: NodePool default is at its CPU limit (4 of 4)";
    assert_eq!(
        world("4", &["n1"]).text(),
        format!("- n1: Empty\n? a: {full}; once node `n1` is gone, the next plan has room\n? b: {full}\n")
    );
    let full = "limits: NodePool default is at its CPU limit (8 of 8)";
    assert_eq!(
        world("8", &["n1", "n2"]).text(),
        format!(
            "- n1: Empty\n- n2: Empty\n? a b: {full}; once the 2 nodes are gone that leave, the next plan has room\n"
        )
    );
    let short = "limits: NodePool default uses 0 of its CPU limit 3, a node takes 4";
    assert_eq!(world("3", &[]).text(), format!("? a b: {short}\n"));
}

#[test]
fn the_heavier_pool_comes_first_however_dear() {
    let dear = Pool { weight: 10, ..pool("dear").requires(label::SKU_FAMILY, Requirement::one("E")) };
    let world = World::of(vec![dear, pool("cheap")]).pods([pod("a")]);
    assert_eq!(world.text(), "+ dear Standard_E4s_v5 eastus-1 on-demand 252000: a\n");
}

#[test]
fn what_a_heavier_pool_cannot_take_goes_to_the_next_and_others_may_join() {
    let dear = Pool { weight: 10, ..pool("dear").requires(label::SKU_FAMILY, Requirement::one("E")) };
    let pinned = pod("pinned").selects(label::NODE_POOL, "cheap");
    let world = World::of(vec![dear, pool("cheap")]).pods([pod("a"), pinned]);
    let solution = world.solve();
    assert_eq!(super::world::text(&solution), "+ cheap Standard_D2s_v5 eastus-1 on-demand 96000: a pinned\n");
    assert_eq!(solution.target.new[0].opened_for.as_ref().map(|pod| &*pod.name), Some("pinned"));
}

#[test]
fn what_a_limit_of_the_heavier_pool_keeps_out_goes_to_the_lighter() {
    let heavy = Pool {
        weight: 10,
        nodes_max: Some(1),
        ..pool("heavy").requires(label::SKU_CPU, Requirement::one("2"))
    };
    let world = World::of(vec![heavy, pool("light")]).pods([pod("a").cpu("1500m"), pod("b").cpu("1500m")]);
    assert_eq!(
        world.text(),
        "+ heavy Standard_D2s_v5 eastus-1 on-demand 96000: a\n\
         + light Standard_D2s_v5 eastus-1 on-demand 96000: b\n"
    );
}

#[test]
fn a_limit_that_does_not_bind_makes_nothing_dearer() {
    let pods = || (0..7).map(|number| pod(&format!("web-{number}")).cpu(["900m", "1700m"][number % 2]));
    let free = World::of(vec![pool("default")]).pods(pods());
    let mut limited = World::of(vec![limited(&[("cpu", "100")])]).pods(pods());
    limited.policy.fleet.limits.nodes = Some(10);
    limited.policy.fleet.limits.cost_per_month = Some(MicroUsd(9_000_000_000));
    assert_eq!(limited.text(), free.text());
}

#[test]
fn whoever_lighter_pools_take_leaves_a_limited_one_to_those_who_have_no_other() {
    let two = |name: &str| Pool {
        nodes_max: Some(2),
        ..pool(name).requires(label::SKU_CPU, Requirement::one("4"))
    };
    let one_each = |name: &str| pod(name).cpu("3");
    let bound = |name: &str| one_each(name).selects(label::NODE_POOL, "b");
    for weight in [0, 10] {
        let pools = vec![Pool { nodes_max: None, ..two("a") }, Pool { weight, ..two("b") }];
        // The names decide the order of otherwise equal pods.
        let world = World::of(pools).pods([one_each("any-1"), bound("w-1"), bound("w-2"), one_each("any-2")]);
        let text = world.text();
        assert!(!text.contains('?'), "weight {weight}: {text}");
        let (of_a, of_b): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("+ a "));
        assert!(of_a.len() == 2 && of_a.iter().all(|line| line.contains(": any-")), "{text}");
        assert!(of_b.len() == 2 && of_b.iter().all(|line| line.contains(": w-")), "{text}");
    }
}

#[test]
fn of_those_who_all_have_another_pool_those_with_more_of_them_leave_the_limited_one() {
    let of = |name: &str, weight: u32, nodes: u64, teams: &[&str]| {
        let mut made = Pool { weight, nodes_max: Some(nodes), ..pool(name) };
        made = made.requires(label::SKU_CPU, Requirement::one("4"));
        teams.iter().fold(made, |pool, team| pool.requires(team, Requirement::one("yes")))
    };
    let pools = vec![of("p0", 20, 3, &["x", "y"]), of("p1", 10, 1, &["x", "y", "z"]), of("p2", 1, 1, &["x"])];
    let of_team = |name: &str, team: &str| pod(name).cpu("3").selects(team, "yes");
    let pods = [
        of_team("a-x", "x"),
        of_team("b-y", "y"),
        of_team("c-y", "y"),
        of_team("d-y", "y"),
        of_team("e-z", "z"),
    ];
    let world = World::of(pools).pods(pods);
    let text = world.text();
    assert!(
        !text.contains('?') && text.contains("+ p2 Standard_F4s_v2 eastus-1 on-demand 169000: a-x\n"),
        "{text}"
    );
}

#[test]
fn who_could_go_to_a_zone_that_a_limit_leaves_no_node_in_is_told_of_the_limit() {
    let full = Pool { nodes_max: Some(2), ..pool("default").requires(label::SKU_CPU, Requirement::one("2")) };
    let spread = |name: &str| {
        pod(name).cpu("1500m").spec(|spec| {
            spec.labels.insert("app".into(), "web".into());
            spec.spread.push(super::topology::over(label::ZONE, "web"));
        })
    };
    let first = pod("first").cpu("1500m").priority(10);
    let solution = World::of(vec![full]).pods([first, spread("web-1"), spread("web-2")]).solve();
    let unplaced = &solution.report.unplaced[0];
    assert_eq!(unplaced.because, "NodePool default is at its node limit (2 of 2)");
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `default`, size `Standard_D2s_v5`"));
}

#[test]
fn the_only_node_that_a_limit_leaves_holds_as_many_pods_as_one_can() {
    let small = |name: &str| pod(name).cpu("900m");
    // The first pod would fill a node alone.
    let pods = || [pod("a-large").cpu("3"), small("b"), small("c"), small("d")];
    let four =
        |pool: Pool| pool.requires(label::SKU_CPU, Requirement::new(crate::model::Operator::In, ["2", "4"]));
    for limited in [Pool { nodes_max: Some(1), ..pool("default") }, limited(&[("cpu", "4")])] {
        let world = World::of(vec![four(limited)]).pods(pods());
        let solution = world.solve();
        assert_eq!(solution.target.new.len(), 1, "{}", world.text());
        assert_eq!(solution.target.new[0].pods.len(), 3, "{}", world.text());
    }
    // The pod with the higher priority comes first, and pods that fit beside it share a node that is large enough for
    // all.
    let one = four(Pool { nodes_max: Some(1), ..pool("default") });
    let first = small("first").priority(10);
    let world = World::of(vec![one]).pods(pods().into_iter().chain([first]));
    let new = &world.solve().target.new;
    let names: Vec<&str> = new[0].pods.iter().map(|pod| &*pod.name).collect();
    assert!(names.len() == 4 && names.contains(&"first"), "{}", world.text());
}

#[test]
fn a_pod_bound_to_a_zone_is_not_kept_out_by_what_fits_beside_it() {
    let only = |name: &str| pool(name).requires(label::SKU_FAMILY, Requirement::one("D"));
    let of_zone =
        Pool { nodes_max: Some(1), ..only("a").requires(label::ZONE, Requirement::one("eastus-1")) };
    let wide = Pool { limits: resources(&[("cpu", "8")]), ..only("b") };
    let spread = |number: usize| {
        pod(&format!("web-{number}")).cpu("3500m").spec(|spec| {
            spec.labels.insert("app".into(), "web".into());
            spec.spread.push(super::topology::over(label::ZONE, "web"));
        })
    };
    let small = (0..2).map(|number| pod(&format!("small-{number}")).cpu("500m"));
    let world = World::of(vec![of_zone, wide]).pods((0..3).map(spread)).pods(small);
    assert!(!world.text().contains('?'), "{}", world.text());
}

/// Returns pods of nine tenths of a core, spread over zones.
fn spread_web(pods: usize) -> impl Iterator<Item = crate::model::Pod> {
    let spread = |number: usize| {
        pod(&format!("web-{number:03}")).cpu("900m").spec(|spec| {
            spec.labels.insert("app".into(), "web".into());
            spec.spread.push(super::topology::over(label::ZONE, "web"));
        })
    };
    (0..pods).map(spread)
}

#[test]
fn pods_that_have_no_place_take_no_zone_from_others_of_their_spread() {
    let solved = |pods: usize| World::of(vec![limited(&[("cpu", "24")])]).pods(spread_web(pods)).solve();
    let placed = [6, 12, 24, 25, 40, 90, 900]
        .map(|pods| solved(pods).target.new.iter().map(|node| node.pods.len()).sum::<usize>());
    assert_eq!(placed, [6, 12, 24, 24, 24, 24, 24]);
    let unplaced = solved(900).report.unplaced;
    let because: Vec<&str> = unplaced.iter().map(|group| &*group.because).collect();
    assert_eq!(because, ["NodePool default is at its CPU limit (24 of 24)"]);
}

#[test]
fn however_many_wait_beyond_what_limits_hold_as_many_have_a_place_and_all_others_say_why() {
    let pods = |count: usize| (0..count).map(|number| pod(&format!("{number:05}")).cpu("900m"));
    let empty = || World::of(vec![limited(&[("cpu", "4")])]);
    let fleet = || {
        let mut world = World::of(vec![pool("default")]);
        world.policy.fleet.limits.cpu_milli = Some(4000);
        world
    };
    let there = || empty().nodes([node("a", "Standard_D4s_v5")]);
    for world in [empty(), fleet(), there()] {
        let solved = |count: usize| world.clone().pods(pods(count)).solve();
        let placed = |solution: &Solution| {
            let kept = solution.target.kept.iter().map(|kept| kept.pods.len());
            kept.chain(solution.target.new.iter().map(|node| node.pods.len())).sum::<usize>()
        };
        let (few, many) = (solved(10), solved(30_000));
        assert_eq!([placed(&few), placed(&many)], [4, 4]);
        let because = |solution: &Solution| -> Vec<String> {
            solution.report.unplaced.iter().map(|group| group.because.clone()).collect()
        };
        assert_eq!(because(&few), because(&many));
        assert_eq!([few.report.left_over(), many.report.left_over()], [6, 29_996]);
        assert!(many.report.unplaced.iter().all(|group| group.pods.is_sorted()));
    }
}

#[test]
fn zones_that_no_node_is_left_for_keep_no_pod_from_the_others() {
    for nodes in [1, 2] {
        let world = |pods: usize| {
            World::of(vec![Pool { nodes_max: Some(nodes), ..pool("default") }]).pods(spread_web(pods))
        };
        for pods in [1, 2, 3, 6] {
            let solution = world(pods).solve();
            let placed: usize = solution.target.new.iter().map(|node| node.pods.len()).sum();
            assert_eq!(placed, pods, "kube-scheduler counts zones that have nodes: {}", world(pods).text());
        }
    }
}

#[test]
fn whoever_waits_beside_a_spread_under_a_limit_keeps_the_place_of_its_priority() {
    let placed = |replicas: usize| {
        let first = (0..4).map(|number| pod(&format!("first-{number}")).cpu("900m").priority(10));
        let last = (0..4).map(|number| pod(&format!("last-{number}")).cpu("900m").priority(-10));
        let solution = World::of(vec![limited(&[("cpu", "16")])])
            .pods(first.chain(last).chain(spread_web(replicas)))
            .solve();
        let pods = solution.target.new.iter().flat_map(|node| &node.pods);
        let names: Vec<&str> = pods.map(|pod| &*pod.name).collect();
        ["first", "web", "last"].map(|app| names.iter().filter(|name| name.starts_with(app)).count())
    };
    let [few, enough, many] = [4, 12, 400].map(placed);
    assert_eq!(few, [4, 4, 4]);
    assert_eq!((enough[0], many[0]), (4, 4));
    assert!(enough[1] >= 10 && many[1] >= enough[1], "{enough:?}, then {many:?}");
}

#[test]
fn no_node_is_made_of_a_pool_whose_new_nodes_are_on_hold() {
    let mut world = World::of(vec![pool("default"), pool("other")]).pods([pod("web").cpu("1")]);
    let holds = &mut world.policy.fleet.holds;
    holds.pools.insert(PoolName::new("other"), [ChangeClass::Create].into());
    assert!(world.text().starts_with("+ default "), "{}", world.text());
    world.policy.fleet.holds.classes.insert(ChangeClass::Create);
    assert_eq!(world.solve().target.new.len(), 0);
    assert_eq!(
        world.warnings(),
        [
            "pool `default`: `approve` of the NodeFleet has `create: hold`: it creates no nodes",
            "pool `other`: `approve` of the NodeFleet has `create: hold`: it creates no nodes",
        ]
    );
    world.policy.fleet.holds.lifted.insert(PoolName::new("default"), [ChangeClass::Create].into());
    assert!(world.text().starts_with("+ default "), "its own word counts first: {}", world.text());
}
