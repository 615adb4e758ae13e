//! Volumes: a pod is placed where its volumes are, and waits while their location is unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::preempt::{low, told};
use super::topology::{over, pods};
use super::world::{PodWith, World, node, on, pod, pool};
use crate::catalog::Catalog;
use crate::model::available_volume::{VolumeOffer, VolumeWish};
use crate::model::storage::{
    AskedClass, BindingMode, ClaimPhase, CsiDriver, DISKS, NO_PROVISIONER, OwnClaim, PodVolume, Storage,
    StorageClass, Volume, VolumeAttachment, VolumeClaim, VolumeClaimKey,
};
use crate::model::{
    ConsolidationPolicy, LabelKey, MicroUsdPerHour, NodeName, Operator, Pod, PodKey, Pool, Price, Region,
    Requirement, Requirements, SchedulingRule, Strength, label,
};
use crate::solve::explain_pod;
use crate::solve::fit::claims;

fn key(name: &str) -> VolumeClaimKey {
    VolumeClaimKey { namespace: "default".into(), name: Arc::from(name) }
}

fn claim(name: &str, volume: Option<&str>, class: &str) -> VolumeClaim {
    VolumeClaim {
        key: key(name),
        volume: volume.map(Arc::from),
        class: AskedClass::Named(Arc::from(class)),
        phase: if volume.is_some() { ClaimPhase::Bound } else { ClaimPhase::Pending },
        is_deleting: false,
        is_for_one_pod: false,
        is_for_one_node: false,
        wish: None,
    }
}

fn term(zone: &&str) -> Requirements {
    Requirements::none().with(label::ZONE, Requirement::one(zone))
}

fn volume(name: &str, zones: &[&str]) -> Volume {
    Volume {
        name: Arc::from(name),
        driver: Some(Arc::from("disk.csi.azure.com")),
        node_affinity: Some(zones.iter().map(term).collect()),
        claim: None,
        class: None,
        is_local: false,
        is_deleting: false,
        offer: None,
    }
}

fn class(name: &str, provisioner: &str, binding: BindingMode) -> StorageClass {
    let (name, provisioner) = (Arc::from(name), Arc::from(provisioner));
    StorageClass { name, provisioner, binding, topologies: None, is_default: false }
}

/// Returns classes for disks bound on first use, disks bound immediately, and shares bound immediately.
fn classes() -> Vec<StorageClass> {
    vec![
        class("disk", "disk.csi.azure.com", BindingMode::WaitForFirstConsumer),
        class("now", "disk.csi.azure.com", BindingMode::Immediate),
        class("share", "file.csi.azure.com", BindingMode::Immediate),
    ]
}

fn using(name: &str, volumes: &[PodVolume]) -> Pod {
    pod(name).spec(|spec| {
        spec.volumes = volumes.to_vec();
        spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    })
}

fn of_claim(name: &str) -> PodVolume {
    PodVolume::Claim(Arc::from(name))
}

/// Returns the drivers of nodes that take this many disks each.
fn disks_on<const N: usize>(nodes: [(&str, u32); N]) -> BTreeMap<NodeName, BTreeMap<Arc<str>, CsiDriver>> {
    let driver = |most| CsiDriver { volumes_max: Some(most), topology_keys: Vec::new() };
    let of_node = |(node, most)| (NodeName::new(node), BTreeMap::from([(Arc::from(DISKS), driver(most))]));
    nodes.map(of_node).into()
}

fn world(storage: Storage) -> World {
    let mut world = World::of(vec![pool("default")]);
    world.snapshot.storage = Storage { classes: classes(), ..storage };
    world
}

#[test]
fn a_pod_goes_to_the_zone_of_its_disk() {
    let storage = Storage {
        claims: vec![claim("data", Some("pv"), "disk")],
        volumes: vec![volume("pv", &["eastus-2"])],
        ..Storage::default()
    };
    let world = world(storage).nodes([node("n1", "Standard_D4s_v5")]);
    let world = world.pods([on("n1", pod("other")), using("db", &[of_claim("data")])]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: db\n");
}

#[test]
fn disks_in_two_zones_leave_no_place_and_the_pod_says_why() {
    let storage = Storage {
        claims: vec![claim("one", Some("pv1"), "disk"), claim("two", Some("pv2"), "disk")],
        volumes: vec![volume("pv1", &["eastus-1"]), volume("pv2", &["eastus-2", "eastus-3"])],
        ..Storage::default()
    };
    let world = world(storage).pods([using("db", &[of_claim("one"), of_claim("two")])]);
    let text = world.text();
    assert!(text.starts_with("? db: volumes: its volumes are not where it may run"), "{text}");
    assert!(text.contains("topology.kubernetes.io/zone"), "{text}");
}

#[test]
fn claims_that_nobody_can_place_hold_their_pods_back_and_others_do_not() {
    let storage = Storage {
        claims: vec![
            claim("at-once", None, "now"),
            claim("lost", Some("gone"), "disk"),
            VolumeClaim { phase: ClaimPhase::Unseen, ..claim("shared", None, "share") },
            claim("tried", None, "share"),
            claim("waits", None, "disk"),
        ],
        ..Storage::default()
    };
    let own = |name: &str, class: &str| {
        PodVolume::Template(OwnClaim { name: name.into(), class: AskedClass::Named(Arc::from(class)) })
    };
    let pods = [
        using("a-waits", &[of_claim("waits"), own("logs", "disk"), of_claim("shared")]),
        using("b-missing", &[of_claim("nothing")]),
        using("c-at-once", &[of_claim("at-once")]),
        using("d-lost", &[of_claim("lost")]),
        using("e-unknown", &[own("data", "nobody-knows")]),
        using("f-tried", &[of_claim("tried")]),
        using("g-at-once", &[own("data", "now")]),
        using("h-shares", &[own("data", "share"), own("other", "nfs")]),
    ];
    let mut world = world(storage).pods(pods);
    world.snapshot.storage.classes.push(class("nfs", "example.com/nfs", BindingMode::Immediate));
    world.snapshot.storage.classes.sort();
    let text = world.text();
    assert!(text.contains(": a-waits h-shares\n"), "{text}");
    for held in ["b-missing", "c-at-once", "d-lost", "e-unknown", "f-tried", "g-at-once"] {
        assert!(text.contains(&format!("! {held}: volumes\n")), "{held}: {text}");
    }
}

#[test]
fn a_disk_that_is_made_at_once_in_the_one_zone_that_its_class_allows_is_there() {
    let in_zones = |name: &str, zones: &[&str]| StorageClass {
        topologies: Some(zones.iter().map(term).collect()),
        ..class(name, "disk.csi.azure.com", BindingMode::Immediate)
    };
    let own = |class: &str| {
        PodVolume::Template(OwnClaim { name: "data".into(), class: AskedClass::Named(Arc::from(class)) })
    };
    let mut world =
        world(Storage::default()).pods([using("one", &[own("one")]), using("two", &[own("two")])]);
    world.snapshot.storage.classes =
        vec![in_zones("one", &["eastus-2", "eastus-2"]), in_zones("two", &["eastus-1", "eastus-2"])];
    let text = world.text();
    assert_eq!(text, "+ default Standard_D2s_v5 eastus-2 on-demand 96000: one\n! two: volumes\n");
}

#[test]
fn what_a_claim_without_a_volume_waits_for_is_named() {
    let free = |name: &str, gib: i64| Volume {
        class: Some(Arc::from("by-hand")),
        offer: Some(VolumeOffer { bytes: gib << 30, ..VolumeOffer::default() }),
        ..volume(name, &["eastus-1"])
    };
    let asking = |name: &str, gib: i64| VolumeClaim {
        wish: Some(VolumeWish { bytes: gib << 30, ..VolumeWish::default() }),
        ..claim(name, None, "by-hand")
    };
    let storage = Storage {
        claims: vec![
            asking("large", 20),
            VolumeClaim { class: AskedClass::None, ..claim("none", None, "") },
            VolumeClaim { class: AskedClass::Default, ..claim("of-default", None, "") },
            claim("of-unknown", None, "gold"),
        ],
        volumes: vec![free("pv-1", 5), free("pv-2", 10)],
        classes: vec![class("by-hand", "kubernetes.io/no-provisioner", BindingMode::WaitForFirstConsumer)],
        ..Storage::default()
    };
    let said = |name: &str| claims::said_of(&using("db", &[of_claim(name)]), &storage);
    assert_eq!(
        said("large"),
        "claim `large` is not bound, and no PersistentVolume of class `by-hand` is available for it: the largest, `pv-2`, \
         has 10Gi, and the claim asks for 20Gi"
    );
    assert!(
        said("of-unknown").ends_with("its StorageClass `gold` is not in the input"),
        "{}",
        said("of-unknown")
    );
    assert!(said("of-default").contains("none in the input is the default"), "{}", said("of-default"));
    assert!(said("none").contains("asks for no StorageClass"), "{}", said("none"));
}

#[test]
fn pods_that_share_a_claim_without_a_volume_go_to_one_zone() {
    let storage = Storage { claims: vec![claim("waits", None, "disk")], ..Storage::default() };
    let pods = (0..40).map(|number| using(&format!("web-{number}"), &[of_claim("waits")]));
    let solution = world(storage).pods(pods).solve();
    let zones: std::collections::BTreeSet<_> = solution.target.new.iter().map(|node| &node.zone).collect();
    assert_eq!((zones.len(), solution.report.unplaced.len()), (1, 0));
}

#[test]
fn a_node_takes_no_more_volumes_than_its_driver_says() {
    let storage = Storage {
        claims: vec![claim("new", None, "disk"), claim("old", Some("pv"), "disk")],
        volumes: vec![volume("pv", &["eastus-1"])],
        drivers: disks_on([("n1", 1)]),
        ..Storage::default()
    };
    let world = world(storage).nodes([node("n1", "Standard_D4s_v5")]).pods([
        on("n1", using("old", &[of_claim("old")])),
        using("disk", &[of_claim("new")]),
        pod("plain"),
    ]);
    assert_eq!(world.text(), "= n1: plain\n+ default Standard_D2s_v5 eastus-1 on-demand 96000: disk\n");
}

#[test]
fn what_is_attached_without_a_pod_takes_room_for_volumes() {
    let attachment = VolumeAttachment {
        node: "n1".into(),
        volume: Some("gone".into()),
        driver: "disk.csi.azure.com".into(),
        is_attached: true,
        name: "csi-1".into(),
    };
    let storage = Storage {
        claims: vec![claim("new", None, "disk")],
        drivers: disks_on([("n1", 1)]),
        attachments: vec![attachment],
        ..Storage::default()
    };
    let world = world(storage)
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([using("disk", &[of_claim("new")]), pod("plain")]);
    assert_eq!(world.text(), "= n1: plain\n+ default Standard_D2s_v5 eastus-2 on-demand 96000: disk\n");
}

#[test]
fn volumes_of_a_provisioner_of_kubernetes_own_are_attached_by_the_driver_that_took_its_place() {
    let storage = Storage {
        claims: vec![claim("new", None, "in-tree"), claim("old", Some("pv"), "in-tree")],
        volumes: vec![volume("pv", &["eastus-1"])],
        drivers: disks_on([("n1", 1)]),
        ..Storage::default()
    };
    let mut world = world(storage)
        .nodes([node("n1", "Standard_D4s_v5")])
        .pods([on("n1", using("old", &[of_claim("old")])), using("disk", &[of_claim("new")])]);
    let in_tree = class("in-tree", "kubernetes.io/azure-disk", BindingMode::WaitForFirstConsumer);
    world.snapshot.storage.classes.push(in_tree);
    world.snapshot.storage.classes.sort();
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: disk\n");
}

#[test]
fn a_volume_whose_affinity_has_no_terms_can_be_mounted_nowhere() {
    let storage = Storage {
        claims: vec![claim("data", Some("pv"), "disk")],
        volumes: vec![Volume { node_affinity: Some(Vec::new()), ..volume("pv", &[]) }],
        ..Storage::default()
    };
    let text = world(storage).pods([using("db", &[of_claim("data")])]).text();
    assert_eq!(text, "? db: volumes: its volume can be mounted nowhere\n");
}

/// Returns two nodes of one size with five disks each: one alone could hold everything but the disks.
fn ten_disks(drivers: [(&str, u32); 2]) -> World {
    let names: Vec<String> = (0..10).map(|number| format!("db-{number}")).collect();
    let storage = Storage {
        claims: names.iter().map(|name| claim(name, Some(&format!("pv-{name}")), "disk")).collect(),
        volumes: names.iter().map(|name| volume(&format!("pv-{name}"), &["eastus-1"])).collect(),
        drivers: disks_on(drivers),
        ..Storage::default()
    };
    let mut pool = pool("default");
    pool.disruption.policy = ConsolidationPolicy::WhenEmptyOrUnderutilized;
    let mut world = World::of(vec![pool]);
    world.snapshot.storage = Storage { classes: classes(), ..storage };
    let db = |(number, name): (usize, &String)| {
        on(["n1", "n2"][number / 5], using(name, &[of_claim(name)]).cpu("200m"))
    };
    world
        .nodes([node("n1", "Standard_D4s_v5"), node("n2", "Standard_D4s_v5")])
        .pods(names.iter().enumerate().map(db))
}

/// Restricts a world's pools to these sizes.
fn of_sizes(sizes: &[&str], mut world: World) -> World {
    let sizes = Requirement::new(Operator::In, sizes.iter().copied());
    for pool in world.policy.pools.values_mut() {
        pool.requirements.add(LabelKey::new(label::INSTANCE_TYPE), sizes.clone());
    }
    world
}

#[test]
fn nodes_whose_volumes_no_new_node_of_the_size_takes_together_stay() {
    let text = of_sizes(&["Standard_D4s_v5"], ten_disks([("n1", 8), ("n2", 8)])).text();
    assert_eq!(text, "");
    let text = of_sizes(&["Standard_D4s_v5"], ten_disks([("n1", 10), ("n2", 10)])).text();
    assert!(text.contains("- n"), "{text}");
}

#[test]
fn a_new_node_takes_as_many_volumes_as_the_least_node_of_its_size() {
    let names: Vec<String> = (0..4).map(|number| format!("db-{number}")).collect();
    let storage = Storage {
        claims: names.iter().map(|name| claim(name, None, "disk")).collect(),
        drivers: disks_on([("n1", 2), ("n2", 1), ("n3", 3)]),
        ..Storage::default()
    };
    let sizes = ["Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5"];
    let mut world = of_sizes(&sizes, world(storage))
        .nodes([node("n1", "Standard_D2s_v5"), node("n2", "Standard_D4s_v5"), node("n3", "Standard_D2s_v5")])
        .pods(names.iter().map(|name| using(name, &[of_claim(name)]).cpu("100m")));
    world.snapshot.nodes.iter_mut().for_each(|node| node.is_deleting = true);
    let solution = world.solve();
    let counts: Vec<_> =
        solution.target.new.iter().map(|node| (node.size.to_string(), node.pods.len())).collect();
    let two = ("Standard_D2s_v5".to_owned(), 2);
    assert_eq!(counts, [two.clone(), two]);
    let others: Vec<_> = solution.target.new.iter().flat_map(|node| &node.substitutes).collect();
    assert!(others.iter().any(|other| other.size.as_str() == "Standard_D8s_v5"), "nobody knows a limit");
    assert!(others.iter().all(|other| other.size.as_str() != "Standard_D4s_v5"), "it takes one disk");
}

#[test]
fn a_size_of_which_no_node_is_left_takes_as_many_disks_as_azure_attaches() {
    let names: Vec<String> = (0..6).map(|number| format!("db-{number}")).collect();
    let disks = |node: &str, most| Storage {
        claims: names.iter().map(|name| claim(name, Some(&format!("pv-{name}")), "disk")).collect(),
        volumes: names.iter().map(|name| volume(&format!("pv-{name}"), &["eastus-1"])).collect(),
        drivers: disks_on([(node, most)]),
        ..Storage::default()
    };
    let of_node = |size: &str, most: u32, there: usize| {
        let mut world = of_sizes(&["Standard_D2s_v5", "Standard_D4s_v5"], world(disks("n1", most)));
        world.snapshot.catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
        for pool in world.policy.pools.values_mut() {
            pool.disruption.policy = ConsolidationPolicy::WhenEmptyOrUnderutilized;
        }
        let db = |(number, name): (usize, &String)| {
            let pod = using(name, &[of_claim(name)]).cpu("100m");
            if number < there { on("n1", pod) } else { pod }
        };
        world.nodes([node("n1", size)]).pods(names.iter().enumerate().map(db))
    };
    // The node's driver reports a limit of four, so the others are placed elsewhere.
    let text = of_node("Standard_D2s_v5", 4, 4).text();
    assert!(text.contains("db-4 db-5") && !text.contains('?'), "{text}");
    // The limit of a smaller node is unknown.
    assert_eq!(of_node("Standard_D4s_v5", 8, 6).text(), "");
    // The driver takes precedence over the list.
    assert!(of_node("Standard_D2s_v5", 6, 4).text().starts_with("= n1: db-4 db-5"));
}

#[test]
fn pods_with_a_disk_in_common_fill_a_node_that_takes_more_disks_than_another() {
    let names = ["a", "b", "c"];
    let own = names.iter().flat_map(|name| [format!("{name}-1"), format!("{name}-2")]);
    let storage = Storage {
        claims: own.chain(["shared".to_owned()]).map(|name| claim(&name, None, "disk")).collect(),
        drivers: disks_on([("n1", 4), ("n2", 8)]),
        ..Storage::default()
    };
    let using_three = |name: &&str| {
        let own = [of_claim(&format!("{name}-1")), of_claim(&format!("{name}-2"))];
        using(name, &[&own[..], &[of_claim("shared")]].concat()).cpu("100m")
    };
    let mut world = of_sizes(&["Standard_D2s_v5", "Standard_D4s_v5"], world(storage))
        .nodes([node("n1", "Standard_D2s_v5"), node("n2", "Standard_D4s_v5")])
        .pods(names.iter().map(using_three));
    world.snapshot.nodes.iter_mut().for_each(|node| node.is_deleting = true);
    assert_eq!(world.text(), "+ default Standard_D4s_v5 eastus-1 on-demand 192000: a b c\n");
}

/// Returns pods that all use one disk, which is created where the first of them runs.
fn sharing(names: &[&str]) -> Vec<Pod> {
    names.iter().map(|name| using(name, &[of_claim("shared")]).cpu("100m")).collect()
}

#[test]
fn a_volume_that_several_pods_use_is_attached_once() {
    let storage = Storage {
        claims: vec![claim("shared", Some("pv"), "disk")],
        volumes: vec![volume("pv", &["eastus-1"])],
        drivers: disks_on([("n1", 1)]),
        ..Storage::default()
    };
    let there = |name: &str| on("n1", using(name, &[of_claim("shared")]));
    let beside = |pods: Vec<Pod>| world(storage.clone()).nodes([node("n1", "Standard_D2s_v5")]).pods(pods);
    let mut pods = sharing(&["b", "c"]);
    assert_eq!(beside(pods.clone()).text(), "= n1: b c\n");
    pods.push(there("a"));
    assert_eq!(beside(pods).text(), "= n1: b c\n");

    let storage = Storage { claims: vec![claim("shared", None, "disk")], volumes: Vec::new(), ..storage };
    let mut new = of_sizes(&["Standard_D2s_v5"], world(storage)).nodes([node("n1", "Standard_D2s_v5")]);
    new.snapshot.nodes.iter_mut().for_each(|node| node.is_deleting = true);
    let text = new.pods(sharing(&["a", "b", "c"])).text();
    assert_eq!(text, "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a b c\n");
}

#[test]
fn a_volume_that_is_attached_without_its_pod_is_the_pods_own() {
    let attachment = VolumeAttachment {
        node: "n1".into(),
        volume: Some("pv".into()),
        driver: DISKS.into(),
        is_attached: true,
        name: "csi-1".into(),
    };
    let storage = Storage {
        claims: vec![claim("data", Some("pv"), "disk")],
        volumes: vec![volume("pv", &["eastus-1"])],
        drivers: disks_on([("n1", 1)]),
        attachments: vec![attachment],
        ..Storage::default()
    };
    let world = world(storage).nodes([node("n1", "Standard_D4s_v5")]);
    assert_eq!(world.pods([using("db", &[of_claim("data")])]).text(), "= n1: db\n");
}

#[test]
fn a_claim_for_one_pod_at_a_time_holds_back_the_others() {
    let one = VolumeClaim { is_for_one_pod: true, ..claim("shared", Some("pv"), "disk") };
    let storage =
        Storage { claims: vec![one], volumes: vec![volume("pv", &["eastus-1"])], ..Storage::default() };
    let world = |pods: Vec<Pod>| world(storage.clone()).nodes([node("n1", "Standard_D4s_v5")]).pods(pods);
    let mut pods = sharing(&["a", "b"]);
    pods[1] = pods[1].clone().priority(1);
    let solution = world(pods.clone()).solve();
    let held = &solution.report.held;
    assert_eq!(super::world::text(&solution), "= n1: b\n! a: volumes\n");
    assert!(
        held[0].because.starts_with(
            "only one pod at a time may use claim `shared` (`ReadWriteOncePod`): `default/b` does; claim `shared` is bound"
        ),
        "{held:?}"
    );
    let runs = on("n1", using("runs", &[of_claim("shared")]));
    pods.push(runs.clone());
    assert_eq!(world(pods.clone()).text(), "! a b: volumes\n");
    pods[2].is_terminating = true;
    assert_eq!(world(pods).text(), "= n1: b\n! a: volumes\n");
}

#[test]
fn a_zone_that_a_volume_asks_for_is_told_with_its_claim() {
    let storage = |zone: &str| Storage {
        claims: vec![claim("data", Some("pv"), "disk")],
        volumes: vec![volume("pv", &[zone])],
        ..Storage::default()
    };
    let narrow = pool("default").requires(label::ZONE, Requirement::one("eastus-1"));
    let mut world = World::of(vec![narrow]).pods([using("db", &[of_claim("data")])]);
    world.snapshot.storage = Storage { classes: classes(), ..storage("eastus-2") };
    assert_eq!(
        world.text(),
        "? db: zone: `topology.kubernetes.io/zone` In [eastus-2] required, found In [eastus-1]; so volumes ask: \
         claim `data` is bound in eastus-2\n"
    );
    world.snapshot.pods[0] = using("db", &[of_claim("data")]).selects(label::ZONE, "eastus-1");
    let text = world.text();
    assert!(text.starts_with("? db: volumes: its volumes are not where it may run"), "{text}");
    assert!(text.ends_with("; so volumes ask: claim `data` is bound in eastus-2\n"), "{text}");
}

#[test]
fn a_disk_for_one_node_whose_pods_come_to_several_is_warned_of() {
    let once = VolumeClaim { is_for_one_node: true, ..claim("shared", Some("pv"), "disk") };
    let storage =
        Storage { claims: vec![once], volumes: vec![volume("pv", &["eastus-1"])], ..Storage::default() };
    let full = on("n1", using("runs", &[of_claim("shared")]).cpu("1500m"));
    let comes = using("comes", &[of_claim("shared")]).cpu("1500m");
    let of = |size: &str, storage: &Storage, pods: Vec<Pod>| {
        let warnings = world(storage.clone()).nodes([node("n1", size)]).pods(pods).solve().report.warnings;
        let said = warnings.into_iter().map(|warning| format!("{}: {}", warning.object, warning.what));
        said.collect::<Vec<_>>()
    };
    let said = |first: &str| {
        let there = "and `default/comes` would go to a new node of pool `default`; Kubernetes binds it there all the \
                     same, and it waits for the disk (Multi-Attach)";
        vec![format!(
            "claim `default/shared`: one node at a time may have its disk (`ReadWriteOnce`): {first}, {there}"
        )]
    };
    let both = vec![full.clone(), comes.clone()];
    assert_eq!(of("Standard_D2s_v5", &storage, both.clone()), said("`default/runs` has it on node `n1`"));
    assert_eq!(of("Standard_D4s_v5", &storage, both.clone()), [""; 0], "both are on one node");
    let going = vec![Pod { is_terminating: true, ..full }, comes];
    assert_eq!(of("Standard_D2s_v5", &storage, going), [""; 0], "the disk is free when the other is gone");
    let mut share = storage;
    share.volumes[0].driver = Some("file.csi.azure.com".into());
    assert_eq!(of("Standard_D2s_v5", &share, both), [""; 0], "every node reaches a share");
}

#[test]
fn explain_says_of_nodes_that_volumes_keep_a_pod_off() {
    let storage = Storage {
        claims: vec![claim("data", Some("pv"), "disk"), claim("old", Some("pv-old"), "disk")],
        volumes: vec![volume("pv", &["eastus-1"]), volume("pv-old", &["eastus-1"])],
        drivers: disks_on([("full", 1), ("n1", 9)]),
        ..Storage::default()
    };
    let mut elsewhere = node("n2", "Standard_D4s_v5");
    elsewhere.labels.insert(LabelKey::new(label::ZONE), "eastus-2".into());
    let world = world(storage)
        .nodes([node("full", "Standard_D4s_v5"), node("n1", "Standard_D4s_v5"), elsewhere])
        .pods([on("full", using("old", &[of_claim("old")])), using("db", &[of_claim("data")])]);
    let key = PodKey::new("default", "db");
    let explained = explain_pod(&world.snapshot, &world.policy, &world.solve(), &key);
    let nodes: BTreeMap<&str, Option<&str>> =
        explained.nodes.iter().map(|(node, why)| (node.as_str(), why.as_deref())).collect();
    let full = "volumes: the node takes 0 more volumes of `disk.csi.azure.com`, 1 are requested";
    assert_eq!((nodes["full"], nodes["n1"]), (Some(full), None));
    assert!(nodes["n2"].is_some_and(|why| why.contains("eastus-2")), "{nodes:?}");
}

#[test]
fn a_pool_of_fixed_size_has_its_nodes_where_volumes_of_waiting_pods_are() {
    let storage = Storage {
        claims: vec![claim("data", Some("pv"), "disk")],
        volumes: vec![volume("pv", &["eastus-3"])],
        ..Storage::default()
    };
    let fixed = Pool { replicas: Some(1), ..pool("fixed") };
    let mut world = World::of(vec![fixed]).pods([using("db", &[of_claim("data")]), pod("web")]);
    world.snapshot.storage = Storage { classes: classes(), ..storage };
    assert_eq!(world.text(), "+ fixed Standard_D2s_v5 eastus-3 on-demand 96000: db web\n");
}

/// Returns local volumes with these numbers of bytes on nodes, each named after its node and its size.
fn local<const N: usize>(volumes: [(&str, i64); N]) -> Vec<Volume> {
    let on_node = |(node, bytes): (&str, i64)| Volume {
        driver: None,
        node_affinity: Some(vec![Requirements::none().with(label::HOSTNAME, Requirement::one(node))]),
        class: Some(Arc::from("local")),
        is_local: true,
        offer: Some(VolumeOffer { bytes, ..VolumeOffer::default() }),
        ..volume(&format!("{node}-{bytes}"), &[])
    };
    volumes.map(on_node).into()
}

/// Returns pods with claims on such volumes, with the requested number of bytes.
fn taking<const N: usize>(volumes: Vec<Volume>, pods: [(&str, i64); N]) -> World {
    let wish = |bytes| Some(VolumeWish { bytes, ..VolumeWish::default() });
    let of_pod = |(name, bytes)| VolumeClaim { wish: wish(bytes), ..claim(name, None, "local") };
    let storage = Storage { claims: pods.map(of_pod).into(), volumes, ..Storage::default() };
    let mut world = world(storage);
    let by_hand = class("local", NO_PROVISIONER, BindingMode::WaitForFirstConsumer);
    world.snapshot.storage.classes.push(by_hand);
    world.snapshot.storage.classes.sort();
    for pool in world.policy.pools.values_mut() {
        pool.disruption.policy = ConsolidationPolicy::WhenEmptyOrUnderutilized;
    }
    world
        .nodes(["n1", "n2"].map(|name| {
            let mut node = node(name, "Standard_D4s_v5");
            node.labels.insert(LabelKey::new(label::HOSTNAME), Arc::from(name));
            node
        }))
        .pods(pods.map(|(name, _)| using(name, &[of_claim(name)]).cpu("100m")))
}

#[test]
fn a_claim_takes_a_volume_that_is_there_for_it_and_its_node_stays() {
    let text = taking(local([("n2", 10)]), [("db", 10)]).text();
    assert!(text.contains("= n2: db\n") && !text.contains("- n2"), "{text}");
}

#[test]
fn each_volume_is_for_one_claim() {
    let text = taking(local([("n1", 10), ("n2", 10)]), [("a", 10), ("b", 10), ("c", 10)]).text();
    assert_eq!(text.matches("= n").count(), 2, "{text}");
    assert!(text.contains("? c: volumes"), "{text}");
}

#[test]
fn a_claim_takes_no_volume_that_is_too_small_and_leaves_larger_ones_to_others() {
    let volumes = || local([("n1", 10), ("n1", 90), ("n2", 10)]);
    let text = taking(volumes(), [("large", 50), ("larger", 80), ("small", 5)]).text();
    assert!(text.contains("? larger: volumes") || text.contains("? large: volumes"), "{text}");
    let text = taking(volumes(), [("large", 50), ("one", 5), ("two", 5)]).text();
    assert!(!text.contains('?'), "{text}");
    let text = taking(volumes(), [("huge", 100)]).text();
    assert!(text.contains("! huge: volumes\n"), "{text}");
}

#[test]
fn pods_that_share_a_claim_and_are_spread_over_zones_stay_with_its_volume() {
    let storage = Storage { claims: vec![claim("shared", None, "disk")], ..Storage::default() };
    let spread = pods("web", 3, |spec| {
        spec.spread.push(over(label::ZONE, "web"));
        spec.volumes = vec![of_claim("shared")];
        spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    });
    let solution = world(storage).pods(spread).solve();
    assert_eq!(solution.target.new.len(), 1);
    assert_ne!(solution.target.new[0].zone.as_str(), "0");
    let left: usize = solution.report.unplaced.iter().map(|unplaced| unplaced.pods.len()).sum();
    assert_eq!(left, 2);
}

#[test]
fn who_has_volumes_preempts_where_they_are_and_beside_as_many_as_the_node_takes() {
    let stored = |zone: &str| Storage {
        claims: ["data", "old"].map(|name| claim(name, Some(name), "disk")).to_vec(),
        volumes: vec![volume("data", &[zone]), volume("old", &["eastus-1"])],
        drivers: disks_on([("n1", 1)]),
        ..Storage::default()
    };
    let tried = |zone: &str, cpu: &str, room: Pod| {
        let world = world(stored(zone)).nodes([node("n1", "Standard_D4s_v5")]);
        let web = using("web", &[of_claim("data")]).cpu(cpu);
        told(world.pods([on("n1", room), on("n1", low("small", "100m")), web]))
    };
    assert_eq!(tried("eastus-1", "1500m", low("room", "3")), "web on n1: room\n");
    assert_eq!(tried("eastus-2", "1500m", low("room", "3")), "", "its disk is elsewhere");
    let old = || using("old", &[of_claim("old")]).priority(-10);
    assert_eq!(tried("eastus-1", "100m", old()), "web on n1: old\n", "the node takes one disk");
    assert_eq!(tried("eastus-1", "100m", old().priority(0)), "");
}

/// Returns pods with a disk of their own each, which is created for them.
fn with_own_disks(count: usize) -> Vec<Pod> {
    let own = || OwnClaim { name: "data".into(), class: AskedClass::Named(Arc::from("disk")) };
    (0..count)
        .map(|number| using(&format!("db-{number:02}"), &[PodVolume::Template(own())]).cpu("10m"))
        .collect()
}

/// Twelve small pods with a disk each, on sizes with 2 vCPUs: one that takes 4 disks, and a cheaper one.
#[test]
fn a_size_of_which_nobody_says_how_many_disks_it_takes_is_not_better_than_those_that_are_known() {
    let sizes = |unknown: &str| {
        let allowed = ["Standard_D2s_v5", unknown];
        let world = of_sizes(&allowed, world(Storage::default())).pods(with_own_disks(12));
        let world = world.types(|types| {
            let mut other = types.first().expect("there are sizes").clone();
            other.name = unknown.into();
            other.requirements.set(label::INSTANCE_TYPE.into(), Requirement::one(unknown));
            for offering in &mut other.offerings {
                offering.price = Price::Listed(MicroUsdPerHour(95_000));
            }
            types.push(other);
        });
        let new = world.solve().target.new;
        new.iter().map(|node| (node.size.to_string(), node.pods.len())).collect::<Vec<_>>()
    };
    let known = ("Standard_D2s_v5".to_owned(), 4);
    assert_eq!(sizes("Standard_X2s_v99"), vec![known; 3]);
    let cheaper = ("Standard_D2_v4".to_owned(), 4);
    assert_eq!(sizes("Standard_D2_v4"), vec![cheaper; 3]);
}

#[test]
fn an_estimated_number_of_disks_is_marked_where_a_pod_waits_for_it() {
    let own =
        |number| OwnClaim { name: format!("d{number}").into(), class: AskedClass::Named("disk".into()) };
    let volumes: Vec<PodVolume> = (0..5).map(|number| PodVolume::Template(own(number))).collect();
    let on_node = |size: &str| {
        let mut there = node("n1", "Standard_D2s_v5");
        there.labels.insert(LabelKey::new(label::INSTANCE_TYPE), size.into());
        let world = world(Storage::default()).nodes([there]).pods([using("db", &volumes)]);
        let key = PodKey::new("default", "db");
        let explained = explain_pod(&world.snapshot, &world.policy, &world.solve(), &key);
        explained.nodes.first().and_then(|(_, why)| why.as_deref().map(str::to_owned)).unwrap_or_default()
    };
    let known = on_node("Standard_D2s_v5");
    assert!(known.contains("takes 4 more volumes of `disk.csi.azure.com`, 5 are requested"), "{known}");
    let unknown = on_node("Standard_X2s_v99");
    assert!(unknown.contains("takes ~") && unknown.contains("5 are requested"), "{unknown}");
}
