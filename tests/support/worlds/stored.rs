//! Worlds of pods with disks: of their own, shared, for one pod at a time, and more than nodes attach.

use std::collections::BTreeMap;
use std::sync::Arc;

use nodeform::model::storage::{
    AskedClass, BindingMode, ClaimPhase, CsiDriver, DISKS, PodVolume, StorageClass, Volume, VolumeClaim,
    VolumeClaimKey,
};
use nodeform::model::{Pod, SchedulingRule, Strength};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};

use super::build::World;
use super::random::worlds;

/// What a pod mounts.
#[derive(Clone, Copy, Debug)]
enum Mounts {
    Nothing,
    /// Disks of its own.
    Own(usize),
    /// One that other pods of its namespace mount too.
    Shared,
    /// The same, for one pod at a time.
    OneByOne,
}

/// A world of pods with disks, and nodes of which some say how many they attach.
pub(crate) fn stored_worlds() -> impl Strategy<Value = World> {
    let mounts = prop_oneof![
        3 => Just(Mounts::Nothing),
        4 => (1..3_usize).prop_map(Mounts::Own),
        2 => Just(Mounts::Shared),
        1 => Just(Mounts::OneByOne),
    ];
    let limits = prop_oneof![1 => Just(None), 4 => (1..5_u32).prop_map(Some)];
    (worlds(), vec(mounts, 1..9), vec(limits, 1..4)).prop_map(|(mut world, mounts, limits)| {
        let mut storage = std::mem::take(&mut world.snapshot.storage);
        storage.classes = vec![StorageClass {
            name: Arc::from("disk"),
            provisioner: Arc::from(DISKS),
            binding: BindingMode::WaitForFirstConsumer,
            topologies: None,
            is_default: true,
        }];
        let mut claims: BTreeMap<VolumeClaimKey, bool> = BTreeMap::new();
        for (pod, mounts) in world.snapshot.pods.iter_mut().zip(mounts.iter().cycle()) {
            let names: Vec<String> = match mounts {
                Mounts::Nothing => Vec::new(),
                Mounts::Own(count) => {
                    (0..*count).map(|number| format!("{}-{number}", pod.key.name)).collect()
                }
                Mounts::Shared => vec!["shared".to_owned()],
                Mounts::OneByOne => vec!["one-by-one".to_owned()],
            };
            for name in names {
                let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name: Arc::from(name) };
                mount(pod, Arc::clone(&key.name));
                claims.insert(key, matches!(mounts, Mounts::OneByOne));
            }
        }
        for (key, is_for_one_pod) in claims {
            let volume: Arc<str> = Arc::from(format!("pv-{key}"));
            storage.volumes.push(anywhere(&volume));
            storage.claims.push(VolumeClaim {
                key,
                volume: Some(volume),
                class: AskedClass::Default,
                phase: ClaimPhase::Bound,
                is_deleting: false,
                is_for_one_pod,
                is_for_one_node: false,
                wish: None,
            });
        }
        storage.volumes.sort();
        for (node, volumes_max) in world.snapshot.nodes.iter().zip(limits.into_iter().cycle()) {
            let driver = CsiDriver { volumes_max, topology_keys: Vec::new() };
            storage.drivers.insert(node.name.clone(), [(Arc::from(DISKS), driver)].into());
        }
        world.snapshot.storage = storage;
        world
    })
}

fn mount(pod: &mut Pod, claim: Arc<str>) {
    let spec = Arc::make_mut(&mut pod.spec);
    spec.volumes.push(PodVolume::Claim(claim));
    spec.volumes.sort();
    spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
}

/// A disk that can be attached in every zone.
fn anywhere(name: &Arc<str>) -> Volume {
    Volume {
        name: Arc::clone(name),
        driver: Some(Arc::from(DISKS)),
        node_affinity: None,
        claim: None,
        class: None,
        is_local: false,
        is_deleting: false,
        offer: None,
    }
}
