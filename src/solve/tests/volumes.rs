//! Volumes: a pod goes where they are, and waits while nobody knows where that is.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::storage::{
    AskedClass, BindingMode, ClaimPhase, CsiDriver, DISKS, OwnClaim, PodVolume, Storage, StorageClass,
    Volume, VolumeAttachment, VolumeClaim, VolumeClaimKey,
};
use crate::model::{NodeName, Pod, Requirement, Requirements, SchedulingRule, Strength, label};

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
    }
}

fn volume(name: &str, zones: &[&str]) -> Volume {
    let term = |zone: &&str| Requirements::none().with(label::ZONE, Requirement::one(zone));
    Volume {
        name: Arc::from(name),
        driver: Some(Arc::from("disk.csi.azure.com")),
        node_affinity: Some(zones.iter().map(term).collect()),
        claim: None,
        class: None,
        is_local: false,
        is_deleting: false,
    }
}

fn class(name: &str, provisioner: &str, binding: BindingMode) -> StorageClass {
    let (name, provisioner) = (Arc::from(name), Arc::from(provisioner));
    StorageClass { name, provisioner, binding, topologies: None, is_default: false }
}

/// Disks where the first pod runs, disks at once, and shares at once.
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

/// A node that takes one disk.
fn one_disk_on(node: &str) -> BTreeMap<NodeName, BTreeMap<Arc<str>, CsiDriver>> {
    let driver = CsiDriver { volumes_max: Some(1), topology_keys: Vec::new() };
    BTreeMap::from([(NodeName::new(node), BTreeMap::from([(Arc::from(DISKS), driver)]))])
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
            claim("shared", None, "share"),
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
    ];
    let text = world(storage).pods(pods).text();
    assert!(text.starts_with("+ default Standard_D2s_v5 eastus-1 on-demand 96000: a-waits\n"), "{text}");
    for held in ["b-missing", "c-at-once", "d-lost", "e-unknown"] {
        assert!(text.contains(&format!("! {held}: volumes\n")), "{held}: {text}");
    }
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
        drivers: one_disk_on("n1"),
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
        drivers: one_disk_on("n1"),
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
        drivers: one_disk_on("n1"),
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
