//! Reports on unplaced pods and on oddities.

use std::collections::BTreeSet;

use super::topology::near;
use super::world::{PodWith, World, any_pool, daemon, node, on, pod, pool, toleration};
use crate::model::{
    Commitment, Discount, Effect, LabelKey, MicroUsdPerHour, Operator, Pool, Requirement, Taint, label,
};

fn warnings(world: &World) -> String {
    let report = world.solve().report;
    let line = |warning: &crate::solve::Warning| {
        let hint = warning.hint.as_deref().unwrap_or("-");
        format!("{}: {} | {hint}\n", warning.object, warning.what)
    };
    report.warnings.iter().map(line).collect()
}

#[test]
fn the_nearest_miss_is_named_with_what_there_was() {
    let solution = World::of(vec![pool("default")]).pods([pod("a").cpu("20"), pod("b").cpu("20")]).solve();
    let unplaced = &solution.report.unplaced[0];
    assert_eq!(unplaced.pods.len(), 2);
    assert_eq!(unplaced.rule, "cpu");
    assert_eq!(unplaced.because, "`cpu` 20 requested, 15900m left");
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `default`, size `Standard_D16s_v5`"));
}

#[test]
fn a_pool_that_has_what_is_asked_for_and_a_taint_is_nearer_than_one_that_has_nothing_of_it() {
    let plain = pool("plain").requires(label::SKU_FAMILY, Requirement::one("D"));
    let gpu = Pool { taints: vec![Taint::new("sku", "gpu", Effect::NoSchedule)], ..pool("gpu") };
    let solution =
        World::of(vec![plain, gpu]).pods([pod("model").cpu("1").asks("nvidia.com/gpu", "1")]).solve();
    let unplaced = &solution.report.unplaced[0];
    assert_eq!(unplaced.rule, "taints");
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `gpu`"));
}

#[test]
fn a_pod_for_windows_that_is_planned_onto_linux_is_told_of() {
    let windows = |name: &str| pod(name).cpu("1").spec(|spec| spec.os = Some("windows".into()));
    let world = World::of(vec![pool("default")]).pods([windows("a"), windows("b"), pod("c")]);
    assert_eq!(
        warnings(&world),
        "pod `default/a` and 1 more: say that they are for windows (`spec.os.name`), which Kubernetes' scheduler does not \
         ask: it binds them to a node of linux, and the kubelet there refuses them | select such nodes: `nodeSelector` \
         `kubernetes.io/os: windows`; Karpenter makes none on AKS, agent pools have them\n"
    );
    let linux = pod("a").spec(|spec| spec.os = Some("linux".into()));
    assert_eq!(warnings(&World::of(vec![pool("default")]).pods([linux])), "");
    let choosy = windows("a").selects(label::OS, "windows");
    assert!(!warnings(&World::of(vec![pool("default")]).pods([choosy])).contains("spec.os.name"));
}

#[test]
fn pods_that_nothing_could_hold_change_nothing_for_the_others_and_are_told_once() {
    let world = || {
        World::of(vec![pool("default")]).nodes([node("n1", "Standard_D4s_v5")]).pods([
            on("n1", pod("old").cpu("1")),
            pod("a").cpu("3"),
            pod("b").cpu("2"),
        ])
    };
    let nowhere = |name: &str, cpu: &str| pod(name).cpu(cpu).selects("disk", "ssd");
    let impossible = [nowhere("x", "1"), nowhere("y", "2"), pod("z").cpu("900")];
    let (without, with) = (world().solve(), world().pods(impossible).solve());
    assert_eq!(with.target, without.target);
    let told: Vec<(usize, &str)> =
        with.report.unplaced.iter().map(|group| (group.pods.len(), &*group.because)).collect();
    let label = (2, "`disk` In [ssd] is required, the node has no such label");
    assert_eq!(told, [label, (1, "`cpu` 900 requested, 15900m left")]);
}

#[test]
fn a_pod_that_a_node_could_hold_if_it_were_empty_is_not_taken_for_impossible() {
    let mut labelled = node("n1", "Standard_D4s_v5");
    labelled.labels.insert(LabelKey::new("disk"), "ssd".into());
    let wants = pod("a").cpu("3").selects("disk", "ssd");
    let world = |cpu| {
        World::of(vec![pool("default")])
            .nodes([labelled.clone()])
            .pods([on("n1", pod("old").cpu(cpu)), wants.clone()])
    };
    assert_eq!(world("500m").text(), "= n1: a\n");
    let unplaced = world("2").solve().report.unplaced;
    assert_eq!(unplaced[0].because, "`cpu` 3 requested, 1900m left");
}

#[test]
fn a_node_that_exists_can_be_the_nearest_miss() {
    let full = Pool { is_deleting: true, ..pool("default") };
    let world = World::of(vec![full])
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([on("n1", pod("old").cpu("3")), pod("a").cpu("1")]);
    let solution = world.solve();
    assert_eq!(solution.report.unplaced[0].nearest.as_deref(), Some("node `n1`"));
    assert_eq!(
        solution.report.unplaced[0].because,
        "`cpu` 1 requested, 900m left; no NodePool of the input can create nodes, see the warnings"
    );
}

#[test]
fn a_pod_that_has_to_share_a_full_node_is_told_which_and_what_it_lacks() {
    let of =
        |name: &str, app: &str| pod(name).spec(|spec| drop(spec.labels.insert("app".into(), app.into())));
    let led = |name: &str| of(name, "b").cpu("1").spec(|spec| spec.affinity.push(near(label::HOSTNAME, "a")));
    let full = |name: &str| on(name, of(&format!("on-{name}"), "a").cpu("1800m"));
    let small = |name: &str| node(name, "Standard_D2s_v5");
    let mut world = World::of(vec![pool("default")])
        .nodes([small("n1"), node("n2", "Standard_D4s_v5")])
        .pods([full("n1"), on("n2", pod("other")), led("w")]);
    let unplaced = world.solve().report.unplaced.remove(0);
    assert_eq!(unplaced.rule, "podAffinity");
    assert_eq!(
        unplaced.because,
        "it has to share a node with pods that only node `n1` has, and that has no place for it: `cpu` 1 \
         requested, 100m left"
    );
    assert_eq!(unplaced.nearest.as_deref(), Some("node `n1`"));
    let others = "node `n2`: podAffinity: none of the pods that it has to share a node with is there";
    assert!(unplaced.details.iter().any(|detail| detail == others), "{:#?}", unplaced.details);
    world = world.nodes([small("n3")]).pods([full("n3")]);
    assert_eq!(
        world.solve().report.unplaced[0].because,
        "it has to share a node with pods that only 2 nodes have, and the nearest, node `n1`, has no place for it: \
         `cpu` 1 requested, 100m left"
    );
}

#[test]
fn a_pod_that_means_itself_is_not_told_of_limits_where_there_are_none() {
    let own = |name: &str| {
        pod(name).cpu("1800m").spec(|spec| {
            spec.labels.insert("app".into(), "a".into());
            spec.affinity.push(near(label::HOSTNAME, "a"));
        })
    };
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D2s_v5")])
        .pods([on("n1", own("one")), own("two")]);
    let text = world.text();
    assert!(
        text.starts_with("? two: podAffinity: it has to share a node with pods that only node `n1`"),
        "{text}"
    );
}

#[test]
fn a_pod_that_daemonsets_refuse_on_every_node_is_told_so() {
    let mut agent = daemon("agent");
    agent = agent.spec(|spec| drop(spec.labels.insert("app".into(), "agent".into())));
    agent.namespace = "default".into();
    let shy = pod("shy").spec(|spec| spec.anti_affinity.push(near(label::HOSTNAME, "agent")));
    let mut world = World::of(vec![pool("default")]).pods([shy]);
    world = world.daemons([agent]);
    assert_eq!(
        world.text(),
        "? shy: podAntiAffinity: 1 of the pods that it may not stand beside are on the node; pods of daemonsets come \
         with a new node\n"
    );
}

#[test]
fn a_zone_by_its_number_is_a_slip() {
    let numbered = pool("default").requires(label::ZONE, Requirement::one("1"));
    assert_eq!(
        warnings(&World::of(vec![numbered])),
        "pool `default`: `topology.kubernetes.io/zone` In [1]: nothing in the region has such a value | \
         did you mean `eastus-1`?\n"
    );
}

#[test]
fn a_pool_that_its_own_requirements_empty_names_the_one_and_the_nearest_value() {
    let family = Requirement::one("D");
    let huge = Requirement::new(Operator::Gt, ["500"]);
    let empty = pool("default").requires(label::SKU_FAMILY, family).requires(label::SKU_CPU, huge);
    let world = World::of(vec![empty]).pods([pod("a")]);
    let report = world.solve().report;
    assert_eq!(report.unplaced[0].rule, "the pool's own requirements");
    let because = "no size has more than 500 vCPU; there are 2, 4, 8, 16";
    assert_eq!(report.unplaced[0].because, because);
    assert!(warnings(&world).contains("the largest value is 16"), "{}", warnings(&world));
}

#[test]
fn a_series_in_the_place_of_a_family_is_a_slip() {
    let series = pool("default").requires(label::SKU_FAMILY, Requirement::one("Dsv5"));
    let world = World::of(vec![series]).types(|types| {
        for kind in types {
            let series = if kind.name.as_str().contains("_D") { "Ds_v5" } else { "Es_v5" };
            kind.requirements.add(LabelKey::new(label::SKU_SERIES), Requirement::one(series));
        }
    });
    let text = warnings(&world);
    let expected = "`Ds_v5` is a value of `karpenter.azure.com/sku-series`: ask for it with that label\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_number_that_nothing_has_is_told_those_of_what_else_the_pool_asks_for() {
    let cores = |number: &str| Requirement::one(number);
    let small =
        pool("small").requires(label::SKU_CPU, cores("7")).requires(label::SKU_FAMILY, Requirement::one("E"));
    let world = World::of(vec![small]).types(|types| {
        for kind in types {
            let number = if kind.name.as_str().contains("_E") { "4" } else { "8" };
            kind.requirements.add(LabelKey::new(label::SKU_CPU), cores(number));
        }
    });
    assert!(warnings(&world).ends_with("the nearest value is `4`\n"), "{}", warnings(&world));
}

#[test]
fn a_pool_with_a_fault_of_its_own_is_nearer_than_one_that_the_pod_may_not_join() {
    let taint = crate::model::Taint::new("team", "a", crate::model::Effect::NoSchedule);
    let mut heavy = pool("heavy").requires(label::ZONE, Requirement::one("1"));
    heavy.weight = 10;
    heavy.taints.push(taint);
    heavy.labels.insert(LabelKey::new("team"), "a".into());
    let wants = pod("a").selects("team", "a").tolerates(toleration("team", Some("a"), None));
    let unplaced = &World::of(vec![heavy, pool("light")]).pods([wants]).solve().report.unplaced[0];
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `heavy`"));
    let because = "no size is offered in zone `1`; available: `eastus-1`, `eastus-2`, `eastus-3`";
    assert_eq!(unplaced.because, because);
}

#[test]
fn a_pool_that_the_pod_may_join_is_nearer_than_a_heavier_one_that_it_may_not() {
    let mut first = pool("first");
    first.weight = 10;
    let mut own = pool("own");
    own.labels.insert(LabelKey::new("team"), "a".into());
    let wants = pod("a").selects("team", "a").selects(label::SKU_CPU, "3");
    let unplaced = &World::of(vec![first, own]).pods([wants]).solve().report.unplaced[0];
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `own`"));
}

#[test]
fn misspelt_values_of_pods_are_found_with_the_nearest() {
    let pods = [
        pod("a").selects(label::ARCH, "x86_64"),
        pod("b").selects(label::ARCH, "x86_64"),
        pod("c").selects(label::CAPACITY_TYPE, "on-demnd"),
        pod("d").selects(label::INSTANCE_TYPE, "Standard_D4p_v5"),
        pod("e").selects(label::SKU_FAMILY, "Z"),
    ];
    let text = warnings(&World::of(vec![pool("default")]).pods(pods));
    for expected in [
        "pod `default/a` and 1 more: `kubernetes.io/arch` In [x86_64]: nothing in the region has such a value | did you mean `amd64`?",
        "| did you mean `on-demand`?",
        "| no size has this name; the nearest are `Standard_D4ps_v5`",
        "| there are `B`, `D`, `E`, `F`, `N`",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert_eq!(text.lines().count(), 4);
}

#[test]
fn what_some_size_meets_is_no_slip() {
    let fine = pool("default")
        .requires(label::SKU_FAMILY, Requirement::new(Operator::In, ["D", "Q"]))
        .requires("team", Requirement::one("blue"));
    assert_eq!(warnings(&World::of(vec![fine])), "");
}

#[test]
fn a_pool_that_is_open_to_arm64_warns_with_the_pods_that_never_said_so() {
    let pods = [pod("a"), pod("b"), pod("c").selects(label::ARCH, "amd64")];
    let text = warnings(&World::of(vec![any_pool("default")]).pods(pods));
    let expected = "pool `default`: allows arm64, but 2 pods do not declare arm64 support";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn pools_that_nothing_is_made_of_say_why() {
    let orphan = Pool { class: "absent".into(), ..pool("orphan") };
    let leaving = Pool { is_deleting: true, ..pool("leaving") };
    let world = World::of(vec![orphan, leaving]).pods([pod("a")]);
    let text = warnings(&world);
    assert!(text.contains("pool `orphan`: its AKSNodeClass `absent` is not in the input"), "{text}");
    assert!(text.contains("pool `leaving`: is being deleted"), "{text}");
    let solution = world.solve();
    assert!(solution.target.new.is_empty());
    assert_eq!(solution.report.unplaced[0].rule, "offerings");
}

#[test]
fn what_depends_on_time_is_named_where_there_is_none() {
    let mut aging = pool("default");
    aging.expire_after = crate::model::ExpireAfter::Age(jiff::SignedDuration::from_hours(720));
    let world = World::of(vec![aging]).nodes([node("n1", "Standard_D4s_v5")]).pods([on("n1", pod("a"))]);
    let undecided: Vec<String> = world.solve().report.undecided.into_iter().collect();
    assert_eq!(undecided, ["`expireAfter` of pool `default`"]);
}

#[test]
fn prices_of_what_nobody_sells_are_found_with_the_nearest() {
    let mut world = World::of(vec![pool("default")]);
    let commitment = |size: &str| Commitment { size: size.into(), count: 1, price: MicroUsdPerHour(1) };
    let discount = |family: &str| Discount { family: family.into(), percent: 10 };
    let prices = &mut world.policy.fleet.prices;
    prices.commitments = vec![commitment("Standard_D2_v5"), commitment("Standard_D4s_v5")];
    prices.discounts = vec![discount("d"), discount("Dxyz")];
    assert_eq!(
        warnings(&world),
        "commitment to `Standard_D2_v5`: no size of the region has the name `Standard_D2_v5`: it pays for no \
         node | did you mean `Standard_D2s_v5`?\n\
         discount on `Dxyz`: no series or family of the region has the name `Dxyz`: nothing is cheaper | -\n"
    );
}

#[test]
fn a_pool_that_contradicts_itself_is_named() {
    let mut odd = pool("odd").requires("team", Requirement::one("blue"));
    odd.labels.insert("team".into(), "red".into());
    assert_eq!(
        warnings(&World::of(vec![odd])),
        "pool `odd`: its label `team=red` contradicts its own requirement `team` In [blue] | make the label and \
         the requirement agree: nodes get the label\n"
    );
}

#[test]
fn reserved_capacity_that_nobody_sells_is_refused_with_what_to_do_instead() {
    let held = any_pool("held").requires(label::CAPACITY_TYPE, Requirement::one("reserved"));
    let world =
        World::of(vec![held, pool("plain")]).pods([pod("a").selects(label::CAPACITY_TYPE, "reserved")]);
    let text = warnings(&world);
    assert!(text.contains("pool `held`: `karpenter.sh/capacity-type` In [reserved]"), "{text}");
    assert!(text.contains("`spec.prices.commitments` of a NodeFleet"), "{text}");
    let unplaced = &world.solve().report.unplaced[0];
    assert_eq!(unplaced.nearest.as_deref(), Some("pool `held`"));
    assert_eq!(unplaced.because, "no size is offered as reserved; available: on-demand, spot");
}

#[test]
fn a_label_that_no_size_has_is_said_so_with_what_gives_it() {
    let fips = pool("default").requires(label::AKS_FIPS_ENABLED, Requirement::one("true"));
    let world = World::of(vec![fips]).pods([pod("a")]).types(|types| {
        for kind in types {
            kind.requirements.add(LabelKey::new(label::AKS_FIPS_ENABLED), Requirement::none());
        }
    });
    let because = &world.solve().report.unplaced[0].because;
    assert_eq!(
        because,
        "no size has `kubernetes.azure.com/fips_enabled` true; `spec.fipsMode: FIPS` of an AKSNodeClass gives it"
    );
    let warned = warnings(&world);
    assert!(warned.contains("no size has this label | `spec.fipsMode: FIPS`"), "{warned}");
}

#[test]
fn a_daemonset_without_room_on_a_node_that_it_selects_is_told() {
    let crowded = |daemons: Vec<crate::snapshot::Daemon>, used: &str| {
        let world = World::of(vec![pool("default")])
            .nodes([node("n1", "Standard_D2s_v5")])
            .pods([on("n1", pod("a").cpu(used))])
            .daemons(daemons);
        let warnings = crate::solve::report::crowded::warnings(&world.snapshot, &BTreeSet::new());
        warnings
            .into_iter()
            .map(|warning| format!("{}: {}", warning.object, warning.what))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        crowded(vec![daemon("new")], "1500m"),
        [
            "DaemonSet `kube-system/new`: has no room on node `n1`, which it selects: cpu 500m requested, 400m left"
        ]
    );
    assert_eq!(crowded(vec![daemon("new")], "1400m"), Vec::<String>::new());
    // The more important one gets the capacity.
    let told = crowded(vec![daemon("a"), daemon("b").priority(1)], "1400m");
    assert_eq!((told.len(), told[0].starts_with("DaemonSet `kube-system/a`")), (1, true), "{told:?}");
    assert_eq!(crowded(vec![daemon("else").selects("team", "red")], "1500m"), Vec::<String>::new());
}
