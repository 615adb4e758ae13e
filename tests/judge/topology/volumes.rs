//! Volumes, claims and how many of them a node takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use nodeform::check::{Rule, check};
use nodeform::model::available_volume::{VolumeOffer, VolumeWish};
use nodeform::model::storage::{
    AskedClass, BindingMode, ClaimPhase, CsiDriver, OwnClaim, PodVolume, Storage, StorageClass, Volume,
    VolumeAttachment, VolumeClaim, VolumeClaimKey,
};
use nodeform::model::{
    CapacityType, LabelKey, Namespace, Operator, Requirement, Requirements, SchedulingRule, Strength, label,
};

use super::{findings, told_apart};
use crate::support::build::{PodBuilder, World};
use crate::support::by_hand::by_hand;
use crate::support::{node, pod, pool, world};

const DISKS: &str = "disk.csi.azure.com";

/// Nodes `n1` and `n2` in zones of their number.
fn nodes() -> World {
    world().pool(pool("default")).node(node("n1").zone("1")).node(node("n2").zone("2"))
}

fn stored(mut world: World, change: impl FnOnce(&mut Storage)) -> World {
    change(&mut world.snapshot.storage);
    world
}

fn key(name: &str) -> VolumeClaimKey {
    VolumeClaimKey { namespace: Namespace::new("default"), name: Arc::from(name) }
}

/// A disk in these zones.
fn disk(name: &str, zones: &[&str]) -> Volume {
    let zones = Requirement::new(Operator::In, zones);
    Volume {
        name: Arc::from(name),
        driver: Some(Arc::from(DISKS)),
        node_affinity: Some(vec![Requirements::none().with(label::ZONE, zones)]),
        claim: None,
        class: None,
        is_local: false,
        is_deleting: false,
        offer: None,
    }
}

fn waiting(name: &str, class: AskedClass) -> VolumeClaim {
    VolumeClaim {
        key: key(name),
        volume: None,
        class,
        phase: ClaimPhase::Pending,
        is_deleting: false,
        is_for_one_pod: false,
        is_for_one_node: false,
        wish: None,
    }
}

fn bound(name: &str, volume: &str) -> VolumeClaim {
    let claim = waiting(name, AskedClass::Default);
    VolumeClaim { volume: Some(Arc::from(volume)), phase: ClaimPhase::Bound, ..claim }
}

fn class(name: &str, zones: Option<&[&str]>) -> StorageClass {
    let topology =
        |zones: &[&str]| vec![Requirements::none().with(label::ZONE, Requirement::new(Operator::In, zones))];
    StorageClass {
        name: Arc::from(name),
        provisioner: Arc::from(DISKS),
        binding: BindingMode::WaitForFirstConsumer,
        topologies: zones.map(topology),
        is_default: false,
    }
}

fn named(class: &str) -> AskedClass {
    AskedClass::Named(Arc::from(class))
}

fn mounting(name: &str, volumes: Vec<PodVolume>) -> PodBuilder {
    pod(name).cpu("100m").memory("64Mi").specified(|spec| {
        spec.volumes = volumes;
        spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    })
}

/// A pod that mounts the claim of its own name.
fn db() -> PodBuilder {
    mounting("db", vec![PodVolume::Claim(Arc::from("db"))])
}

/// What is wrong with `db` on `n1` with this in storage; nothing where it may be there.
fn wrong_on_n1(change: impl FnOnce(&mut Storage)) -> Vec<String> {
    let found = findings(by_hand(stored(nodes().pod(db()), change)).keeping("n1", &["db"]));
    assert!(found.iter().all(|it| it.rule == Rule::Volumes && it.object == "pod `default/db`"), "{found:#?}");
    found.into_iter().map(|it| it.message.replace("is placed on node `n1`: ", "")).collect()
}

#[test]
fn a_disk_in_another_zone() {
    let world = stored(nodes().pod(db()), |storage| {
        storage.claims = vec![bound("db", "pv")];
        storage.volumes = vec![disk("pv", &["westeurope-1"])];
    });
    told_apart(&world, Rule::Volumes, |plan| plan.keeping("n1", &["db"]), |plan| plan.keeping("n2", &["db"]));
    told_apart(
        &world,
        Rule::Volumes,
        |plan| plan.making("default", ("Standard_D2s_v5", "1", CapacityType::OnDemand), &["db"]),
        |plan| plan.making("default", ("Standard_D2s_v5", "2", CapacityType::OnDemand), &["db"]),
    );
}

#[test]
fn a_disk_outside_of_zones_in_a_zone() {
    told_apart(
        &stored(nodes().node(node("n0").zone("0")).pod(db()), |storage| {
            storage.claims = vec![bound("db", "pv")];
            storage.volumes = vec![disk("pv", &[""])];
        }),
        Rule::Volumes,
        |plan| plan.keeping("n0", &["db"]),
        |plan| plan.keeping("n1", &["db"]),
    );
    let everywhere = ["", "westeurope-1", "westeurope-2"];
    let world = stored(nodes().pod(db()), |storage| {
        storage.claims = vec![bound("db", "pv")];
        storage.volumes = vec![disk("pv", &everywhere)];
    });
    by_hand(world).keeping("n2", &["db"]).planned();
}

#[test]
fn a_volume_that_lies_on_another_node() {
    let on_n1 = Requirements::none().with(label::HOSTNAME, Requirement::one("n1"));
    let local =
        Volume { driver: None, node_affinity: Some(vec![on_n1]), is_local: true, ..disk("pv", &["x"]) };
    told_apart(
        &stored(nodes().pod(db()), |storage| {
            storage.claims = vec![bound("db", "pv")];
            storage.volumes = vec![local];
        }),
        Rule::Volumes,
        |plan| plan.keeping("n1", &["db"]),
        |plan| plan.making("default", ("Standard_D2s_v5", "1", CapacityType::OnDemand), &["db"]),
    );
}

#[test]
fn a_volume_of_which_no_term_holds() {
    let terms = |terms| {
        wrong_on_n1(|storage| {
            storage.claims = vec![bound("db", "pv")];
            storage.volumes = vec![Volume { node_affinity: terms, ..disk("pv", &[]) }];
        })
    };
    let zone = |zone| Requirements::none().with(label::ZONE, Requirement::one(zone));
    assert_eq!(terms(None), [""; 0]);
    assert_eq!(terms(Some(vec![zone("westeurope-2"), zone("westeurope-1")])), [""; 0]);
    assert_eq!(terms(Some(Vec::new())), ["volume `pv` can be mounted nowhere"]);
    assert_eq!(terms(Some(vec![Requirements::none()])), ["volume `pv` can be mounted nowhere"]);
}

#[test]
fn a_claim_that_is_not_there_or_going() {
    assert_eq!(wrong_on_n1(|_| {}), ["there is no claim `default/db`"]);
    let with = |claim| wrong_on_n1(|storage| storage.claims = vec![claim]);
    assert_eq!(
        with(VolumeClaim { is_deleting: true, ..bound("db", "pv") }),
        ["claim `default/db` is being deleted"]
    );
    assert_eq!(
        with(VolumeClaim { phase: ClaimPhase::Lost, ..bound("db", "pv") }),
        ["claim `default/db` has lost its volume"]
    );
    assert_eq!(with(bound("db", "pv")), ["claim `default/db` is bound to volume `pv`, which is not known"]);
    let going = wrong_on_n1(|storage| {
        storage.claims = vec![bound("db", "pv")];
        storage.volumes = vec![Volume { is_deleting: true, ..disk("pv", &["westeurope-1"]) }];
    });
    assert_eq!(going, ["claim `default/db` is bound to volume `pv`, which is being deleted"]);
}

#[test]
fn a_claim_that_does_not_wait_for_its_pod() {
    let with = |asked, class: StorageClass| {
        wrong_on_n1(|storage| {
            storage.claims = vec![waiting("db", asked)];
            storage.classes = vec![class];
        })
    };
    let waits = || class("fast", None);
    assert_eq!(with(named("fast"), waits()), [""; 0]);
    assert_eq!(with(AskedClass::Default, StorageClass { is_default: true, ..waits() }), [""; 0]);
    assert_eq!(
        with(named("fast"), StorageClass { binding: BindingMode::Immediate, ..waits() }),
        ["claim `default/db` is not bound, and class `fast` does not wait for its pod (`Immediate`)"]
    );
    assert_eq!(
        with(named("slow"), waits()),
        ["claim `default/db` is not bound, and its class `slow` is not known"]
    );
    assert_eq!(
        with(AskedClass::Default, waits()),
        ["claim `default/db` is not bound, and there is no default class"]
    );
    assert_eq!(with(AskedClass::None, waits()), ["claim `default/db` is not bound, and asks for no class"]);
    let unseen = |provisioner: &str, binding| {
        wrong_on_n1(|storage| {
            storage.claims = vec![VolumeClaim { phase: ClaimPhase::Unseen, ..waiting("db", named("fast")) }];
            storage.classes = vec![StorageClass { provisioner: Arc::from(provisioner), binding, ..waits() }];
        })
    };
    assert_eq!(unseen("file.csi.azure.com", BindingMode::Immediate), [""; 0]);
    assert_eq!(unseen("example.com/nfs", BindingMode::Immediate), [""; 0]);
    assert_eq!(unseen(DISKS, BindingMode::WaitForFirstConsumer), [""; 0]);
    for disks in [DISKS, "kubernetes.io/azure-disk"] {
        assert_eq!(
            unseen(disks, BindingMode::Immediate),
            [
                "claim `default/db` is not bound, and class `fast` makes its disk at once, in a zone that nobody knows"
            ]
        );
    }
    let by_hand = StorageClass { provisioner: Arc::from("kubernetes.io/no-provisioner"), ..waits() };
    assert_eq!(
        with(named("fast"), by_hand),
        ["claim `default/db` is not bound, and nobody makes volumes of class `fast`"]
    );
}

#[test]
fn a_class_that_makes_no_volumes_there() {
    told_apart(
        &stored(nodes().pod(db()), |storage| {
            storage.claims = vec![waiting("db", named("fast"))];
            storage.classes = vec![class("fast", Some(&["westeurope-2"]))];
        }),
        Rule::Volumes,
        |plan| plan.keeping("n2", &["db"]),
        |plan| plan.keeping("n1", &["db"]),
    );
}

#[test]
fn a_claim_that_is_made_for_the_pod_is_of_its_class() {
    let own = |name: &str| OwnClaim { name: Arc::from(name), class: named("fast") };
    for volume in [PodVolume::Ephemeral(own("scratch")), PodVolume::Template(own("data"))] {
        let world = |zones| {
            stored(nodes().pod(mounting("db", vec![volume.clone()])), |storage| {
                storage.classes = vec![class("fast", zones)];
            })
        };
        by_hand(world(None)).keeping("n1", &["db"]).planned();
        told_apart(
            &world(Some(&["westeurope-2"])),
            Rule::Volumes,
            |plan| plan.keeping("n2", &["db"]),
            |plan| plan.keeping("n1", &["db"]),
        );
        // It is there already, in another zone.
        let name = volume.claim_of("db").expect("it has a claim");
        let kept = stored(world(None), |storage| {
            storage.claims = vec![bound(&name, "pv")];
            storage.volumes = vec![disk("pv", &["westeurope-2"])];
        });
        told_apart(
            &kept,
            Rule::Volumes,
            |plan| plan.keeping("n2", &["db"]),
            |plan| plan.keeping("n1", &["db"]),
        );
    }
}

#[test]
fn a_claim_to_be_made_that_pods_in_two_zones_share() {
    let shared = |provisioner: &str| {
        let claim = vec![PodVolume::Claim(Arc::from("shared"))];
        stored(
            nodes().node(node("n3").zone("1")).pod(mounting("a", claim.clone())).pod(mounting("b", claim)),
            |storage| {
                storage.claims = vec![waiting("shared", named("fast"))];
                storage.classes =
                    vec![StorageClass { provisioner: Arc::from(provisioner), ..class("fast", None) }];
            },
        )
    };
    told_apart(
        &shared(DISKS),
        Rule::Volumes,
        |plan| plan.keeping("n1", &["a"]).keeping("n3", &["b"]),
        |plan| plan.keeping("n1", &["a"]).keeping("n2", &["b"]),
    );
    by_hand(shared("file.csi.azure.com")).keeping("n1", &["a"]).keeping("n2", &["b"]).planned();
}

/// Node `n1` takes this many disks, and pod `old` mounts the disk `pv-old` there.
fn limited(most: u32) -> World {
    let old = mounting("old", vec![PodVolume::Claim(Arc::from("old"))]).on("n1");
    stored(nodes().pod(old), |storage| {
        let driver = CsiDriver { volumes_max: Some(most), topology_keys: Vec::new() };
        storage.drivers = [("n1".into(), BTreeMap::from([(Arc::from(DISKS), driver)]))].into();
        storage.claims = ["db", "new", "old", "third"].map(|name| bound(name, &format!("pv-{name}"))).into();
        storage.volumes =
            ["db", "new", "old", "third"].map(|name| disk(&format!("pv-{name}"), &["westeurope-1"])).into();
        storage.classes = vec![class("fast", None)];
    })
}

fn new() -> PodBuilder {
    mounting("new", vec![PodVolume::Claim(Arc::from("new"))])
}

fn attached(name: &str, volume: Option<&str>) -> VolumeAttachment {
    VolumeAttachment {
        node: "n1".into(),
        volume: volume.map(Arc::from),
        driver: Arc::from(DISKS),
        is_attached: true,
        name: Arc::from(name),
    }
}

/// What is said of `n1` where these pods are placed there.
fn said_of_n1(world: World, pods: &[&str]) -> Vec<String> {
    let found = findings(by_hand(world).keeping("n1", pods));
    assert!(found.iter().all(|it| it.rule == Rule::Volumes && it.object == "node `n1`"), "{found:#?}");
    found.into_iter().map(|it| it.message).collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn one_volume_too_many() {
    assert_eq!(said_of_n1(limited(2).pod(db()), &["db"]), NOTHING);
    assert_eq!(
        said_of_n1(limited(1).pod(db()), &["db"]),
        ["driver `disk.csi.azure.com` would have 2 volumes there, 1 of them of placed pods; it takes 1"]
    );
    let disk = mounting("disk", vec![PodVolume::Disk(Arc::from("by-name"))]);
    assert_eq!(said_of_n1(limited(2).pod(db()).pod(disk), &["db", "disk"]).len(), 1);
    let own = OwnClaim { name: Arc::from("scratch"), class: named("fast") };
    let made = mounting("made", vec![PodVolume::Ephemeral(own)]);
    assert_eq!(said_of_n1(limited(2).pod(db()).pod(made), &["db", "made"]).len(), 1);
}

#[test]
fn a_volume_that_two_pods_mount_counts_once() {
    let same = |name| mounting(name, vec![PodVolume::Claim(Arc::from("old"))]);
    assert_eq!(said_of_n1(limited(1).pod(same("one")).pod(same("two")), &["one", "two"]), NOTHING);
}

#[test]
fn what_is_attached_counts() {
    let with = |attachment| {
        let world = stored(limited(2).pod(db()), |storage| storage.attachments = vec![attachment]);
        said_of_n1(world, &["db"]).len()
    };
    assert_eq!(with(attached("a", Some("pv-third"))), 1);
    assert_eq!(with(attached("a", None)), 1);
    assert_eq!(with(attached("a", Some("pv-old"))), 0, "a pod there mounts it");
    assert_eq!(with(attached("a", Some("pv-db"))), 0, "it is the placed pod's own");
    assert_eq!(with(VolumeAttachment { node: "n2".into(), ..attached("a", Some("pv-third")) }), 0);
    assert_eq!(with(VolumeAttachment { driver: Arc::from("other"), ..attached("a", Some("pv-third")) }), 0);
}

#[test]
fn a_node_that_has_too_many_already_takes_pods_without_any() {
    assert_eq!(said_of_n1(limited(0).pod(pod("plain").cpu("100m")), &["plain"]), NOTHING);
}

#[test]
fn a_pod_that_does_not_say_which_volumes_it_has_waits() {
    let world = nodes().pod(pod("db").using(SchedulingRule::Volumes));
    let found = findings(by_hand(world).keeping("n1", &["db"]));
    assert!(found.len() == 1 && found[0].rule == Rule::HeldBack, "{found:#?}");
}

#[test]
fn zones_that_are_named_in_the_drivers_words_are_read_as_zones() {
    assert_eq!(LabelKey::new(label::normalized("topology.disk.csi.azure.com/zone")).as_str(), label::ZONE);
}

#[test]
fn a_new_node_takes_what_nodes_of_its_size_take() {
    let size = ("Standard_D4s_v5", "1", CapacityType::OnDemand);
    let said = |most, pods: &[&str]| {
        let world = stored(limited(9).pod(db()).pod(new()), |storage| {
            let driver = CsiDriver { volumes_max: Some(most), topology_keys: Vec::new() };
            storage.drivers.insert("n2".into(), BTreeMap::from([(Arc::from(DISKS), driver)]));
        });
        let found = findings(by_hand(world).making("default", size, pods));
        assert!(found.iter().all(|it| it.rule == Rule::Volumes), "{found:#?}");
        found.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(said(2, &["db", "new"]), NOTHING);
    assert_eq!(
        said(1, &["db", "new"]),
        ["driver `disk.csi.azure.com` would have 2 volumes there, 2 of them of placed pods; it takes 1"]
    );
}

#[test]
fn a_node_that_no_driver_has_spoken_of_takes_what_others_of_its_size_take() {
    let said = |driver: Option<CsiDriver>| {
        let world = stored(limited(1).node(node("n3").zone("1")).pod(db()).pod(new()), |storage| {
            let of_n3 = driver.map(|driver| (Arc::from(DISKS), driver));
            storage.drivers.insert("n3".into(), of_n3.into_iter().collect());
        });
        findings(by_hand(world).keeping("n3", &["db", "new"])).len()
    };
    assert_eq!(said(None), 1);
    assert_eq!(said(Some(CsiDriver::default())), 0, "it has, and knows no limit");
}

/// A world of so many pods, each with a disk that is made for it.
fn with_disks(count: usize) -> (World, Vec<String>) {
    let own = || OwnClaim { name: Arc::from("data"), class: named("fast") };
    let names: Vec<String> = (0..count).map(|number| format!("db-{number}")).collect();
    let pods = names.iter().map(|name| mounting(name, vec![PodVolume::Template(own())]));
    let world = pods.fold(nodes(), World::pod);
    (stored(world, |storage| storage.classes = vec![class("fast", None)]), names)
}

#[test]
fn more_disks_than_azure_attaches_to_a_new_node() {
    let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
    let said = |count| {
        let (world, names) = with_disks(count);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = findings(by_hand(world).making("default", size, &names));
        assert!(found.iter().all(|it| it.rule == Rule::Volumes), "{found:#?}");
        found.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(said(4), NOTHING);
    assert_eq!(
        said(5),
        ["driver `disk.csi.azure.com` would have 5 volumes there, 5 of them of placed pods; it takes 4"]
    );
}

#[test]
fn more_disks_than_any_node_with_as_many_vcpus_surely_takes() {
    let said = |count, size: Option<&str>| {
        let (mut world, names) = with_disks(count);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for node in world.snapshot.nodes.iter_mut().filter(|node| node.name.as_str() == "n1") {
            let key = LabelKey::new(label::INSTANCE_TYPE);
            match size {
                Some(size) => drop(node.labels.insert(key, Arc::from(size))),
                None => drop(node.labels.remove(&key)),
            }
        }
        let of_volumes = findings(by_hand(world).keeping("n1", &names)).into_iter();
        of_volumes.filter(|it| it.rule == Rule::Volumes).count()
    };
    // Of the sizes with 4 vCPUs, one takes 2 disks alone; a size of the table that is not sold here takes its 8.
    for (size, most) in [(Some("Standard_X4_v99"), 2), (None, 2), (Some("Standard_D4_v4"), 8)] {
        assert_eq!((said(most, size), said(most + 1, size)), (0, 1), "{size:?}");
    }
}

#[test]
fn what_a_claim_lists_takes_the_volumes_of_the_pods() {
    let small = node("n4").size("Standard_D2s_v5").zone("1");
    let said = |most| {
        let world = stored(limited(9).node(small.clone()).pod(db()).pod(new()), |storage| {
            let driver = CsiDriver { volumes_max: Some(most), topology_keys: Vec::new() };
            storage.drivers.insert("n4".into(), BTreeMap::from([(Arc::from(DISKS), driver)]));
        });
        let size = ("Standard_D4s_v5", "1", CapacityType::OnDemand);
        let (world, mut plan) = by_hand(world).making("default", size, &["db", "new"]).planned();
        for claim in plan.spec.claims.values_mut() {
            let sizes = Requirement::new(Operator::In, ["Standard_D2s_v5", "Standard_D4s_v5"]);
            claim.requirements.set(LabelKey::new(label::INSTANCE_TYPE), sizes);
        }
        let found = check(&world.snapshot, &world.policy, &plan).into_iter();
        found.filter(|it| it.rule == Rule::Offering).map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(said(2), NOTHING);
    assert_eq!(
        said(1),
        ["lists `Standard_D2s_v5` in zone `westeurope-1` as on-demand, which takes fewer volumes of \
          `disk.csi.azure.com` than its pods have"]
    );
}

#[test]
fn a_claim_for_one_pod_that_a_second_one_is_placed_with() {
    let same = |name| mounting(name, vec![PodVolume::Claim(Arc::from("db"))]);
    let world = |is_for_one_pod| {
        stored(nodes().pod(same("a")).pod(same("b")).pod(same("c").on("n1")), |storage| {
            storage.claims = vec![VolumeClaim { is_for_one_pod, ..bound("db", "pv") }];
            storage.volumes = vec![disk("pv", &["westeurope-1"])];
        })
    };
    assert!(findings(by_hand(world(false)).keeping("n1", &["a", "b"])).is_empty());
    let found = findings(by_hand(world(true)).keeping("n1", &["a", "b"]));
    let said: Vec<_> = found.iter().map(|it| (it.rule, &*it.object)).collect();
    assert_eq!(said, [(Rule::Volumes, "pod `default/a`"), (Rule::Volumes, "pod `default/b`")], "{found:#?}");
    let mut world = world(true);
    world.snapshot.pods.iter_mut().for_each(|pod| pod.is_terminating = &*pod.key.name == "c");
    let found = findings(by_hand(world).keeping("n1", &["a", "b"]));
    let said: Vec<_> = found.iter().map(|it| &*it.message).collect();
    assert_eq!(
        said,
        ["is placed with claim `default/db`, which is for one pod at a time: pod `default/a` uses it"]
    );
}

/// Two volumes of 10 and 90 bytes that lie on `n1`, and claims of `db` and `other`, which ask for so much.
fn on_n1(own: i64, other: i64) -> World {
    let volume = |bytes: i64| Volume {
        driver: None,
        node_affinity: Some(vec![Requirements::none().with(label::HOSTNAME, Requirement::one("n1"))]),
        class: Some(Arc::from("local")),
        is_local: true,
        offer: Some(VolumeOffer { bytes, ..VolumeOffer::default() }),
        ..disk(&format!("pv-{bytes}"), &[])
    };
    let claim = |name, bytes| VolumeClaim {
        wish: Some(VolumeWish { bytes, ..VolumeWish::default() }),
        ..waiting(name, named("local"))
    };
    let other_pod = mounting("other", vec![PodVolume::Claim(Arc::from("other"))]);
    stored(nodes().node(node("n3").zone("1")).pod(db()).pod(other_pod), |storage| {
        storage.volumes = vec![volume(10), volume(90)];
        storage.claims = vec![claim("db", own), claim("other", other)];
        storage.classes = vec![StorageClass {
            provisioner: Arc::from("kubernetes.io/no-provisioner"),
            ..class("local", None)
        }];
    })
}

#[test]
fn a_claim_that_takes_an_available_volume_where_none_is() {
    told_apart(
        &on_n1(10, 10),
        Rule::Volumes,
        |plan| plan.keeping("n1", &["db", "other"]),
        |plan| plan.keeping("n1", &["other"]).keeping("n3", &["db"]),
    );
    told_apart(
        &on_n1(10, 10),
        Rule::Volumes,
        |plan| plan.keeping("n1", &["db", "other"]),
        |plan| {
            let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
            plan.keeping("n1", &["other"]).making("default", size, &["db"])
        },
    );
}

#[test]
fn claims_for_which_there_is_one_volume_between_them() {
    let said = |db, other| {
        let found = findings(by_hand(on_n1(db, other)).keeping("n1", &["db", "other"]));
        found.into_iter().map(|it| (it.rule, it.message)).collect::<Vec<_>>()
    };
    assert_eq!(said(10, 10), []);
    assert_eq!(said(10, 90), []);
    assert_eq!(said(90, 10), []);
    let left = "no available volume is left for its claim `default/other` on its node";
    assert_eq!(said(20, 90), [(Rule::Volumes, left.to_owned())]);
    assert_eq!(said(10, 91).len(), 1, "no volume is so large");
}
