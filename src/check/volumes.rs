//! Volumes: what a placed pod mounts exists, or can be created, where its node is, and the node can attach that many.
//!
//! A claim that would be bound at an unknown time does not count: Kubernetes does not bind its pod before. A claim from
//! a manifest, or one created with its pod, is bound before the pod is scheduled if its class binds immediately.

use std::collections::BTreeMap;

use super::attached;
use super::case::Case;
use super::finding::{Finding, Rule};
use super::labels::{Domain, Labels};
use super::taken;
use crate::model::available_volume::{VolumeOffer, VolumeWish};
use crate::model::storage::{
    AskedClass, BindingMode, ClaimPhase, PodVolume, Storage, StorageClass, Volume, VolumeClaimKey,
};
use crate::model::{LabelKey, Operator, Pod, PodPlace, Requirement, Requirements, label};

/// Provisioner of classes whose volumes are created by hand.
const NOBODY: &str = "kubernetes.io/no-provisioner";

/// Provisioners of Azure disks, each of which is in one zone or in none.
const OF_DISKS: [&str; 2] = ["disk.csi.azure.com", "kubernetes.io/azure-disk"];

/// Drivers whose volumes can be mounted in every zone: file shares and blobs.
const ZONELESS: [&str; 4] =
    ["file.csi.azure.com", "kubernetes.io/azure-file", "blob.csi.azure.com", "nfs.csi.k8s.io"];

/// Kind of a pod's volume, if it can be mounted at all.
pub(super) enum Mount<'a> {
    /// A volume that exists.
    Bound(&'a Volume),
    /// A claim whose volume is created where its first pod runs, or before its pods are scheduled.
    ToMake(VolumeClaimKey, &'a StorageClass),
    /// A claim that takes one of these available volumes, depending on its pod's node.
    ToTake(VolumeClaimKey, Vec<&'a Volume>),
    /// An Azure disk by its name. Its location is unknown, and Kubernetes does not check it.
    Disk(&'a str),
}

/// Returns the pods that are placed where their volumes are not accessible.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let storage = &case.snapshot.storage;
    let mut found = Vec::new();
    for site in &case.sites {
        for pod in site.pods.iter().filter(|pod| !pod.spec.volumes.is_empty()) {
            for why in faults(storage, pod, &site.labels) {
                let why = format!("is placed on {}: {why}", site.title);
                found.push(Finding::new(Rule::Volumes, format!("pod `{}`", pod.key), why));
            }
        }
        found.extend(attached::too_many(case, site));
    }
    found.extend(torn(case));
    found.extend(taken::findings(case));
    found.extend(crowded(case));
    found
}

/// Returns why a pod cannot mount its volumes on a node with these labels.
pub(super) fn faults(storage: &Storage, pod: &Pod, labels: &Labels) -> Vec<String> {
    let fault = |volume: &PodVolume| match mount(storage, pod, volume) {
        Ok(mount) => refused(&mount, labels),
        Err(why) => Some(why),
    };
    pod.spec.volumes.iter().filter_map(fault).collect()
}

/// Returns the kind of a pod's volume.
///
/// # Errors
/// Why it cannot be mounted anywhere.
pub(super) fn mount<'a>(storage: &'a Storage, pod: &Pod, volume: &'a PodVolume) -> Result<Mount<'a>, String> {
    let (is_made_for_it, own_class) = match volume {
        PodVolume::Disk(name) => return Ok(Mount::Disk(name)),
        PodVolume::Claim(_) => (false, &AskedClass::Default),
        PodVolume::Ephemeral(own) | PodVolume::Template(own) => (true, &own.class),
    };
    let name = volume.claim_of(&pod.key.name).unwrap_or_default();
    let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name };
    let claim = match storage.claim(&key) {
        Some(claim) => claim,
        None if is_made_for_it => return to_make(storage, key, (own_class, ClaimPhase::Unseen, None)),
        None => return Err(format!("there is no claim `{key}`")),
    };
    if claim.is_deleting {
        return Err(format!("claim `{key}` is being deleted"));
    }
    match (&claim.volume, claim.phase) {
        (_, ClaimPhase::Lost) => Err(format!("claim `{key}` has lost its volume")),
        (Some(name), ClaimPhase::Bound | ClaimPhase::Pending | ClaimPhase::Unseen) => {
            match storage.volume(name) {
                None => Err(format!("claim `{key}` is bound to volume `{name}`, which is not known")),
                Some(volume) if volume.is_deleting => {
                    Err(format!("claim `{key}` is bound to volume `{name}`, which is being deleted"))
                }
                Some(volume) => Ok(Mount::Bound(volume)),
            }
        }
        (None, ClaimPhase::Bound) => Err(format!("claim `{key}` is bound, and nobody says to which volume")),
        (None, ClaimPhase::Pending | ClaimPhase::Unseen) => {
            to_make(storage, key, (&claim.class, claim.phase, claim.wish.as_ref()))
        }
    }
}

fn to_make<'a>(
    storage: &'a Storage,
    key: VolumeClaimKey,
    (asked, phase, wish): (&AskedClass, ClaimPhase, Option<&VolumeWish>),
) -> Result<Mount<'a>, String> {
    let Some(class) = storage.class(asked) else {
        return Err(match asked {
            AskedClass::Default => format!("claim `{key}` is not bound, and there is no default class"),
            AskedClass::None => format!("claim `{key}` is not bound, and asks for no class"),
            AskedClass::Named(name) => {
                format!("claim `{key}` is not bound, and its class `{name}` is not known")
            }
        });
    };
    let name = &class.name;
    if &*class.provisioner == NOBODY {
        let there = there_for(storage, name, wish);
        return match there.is_empty() || class.binding == BindingMode::Immediate {
            true => Err(format!("claim `{key}` is not bound, and nobody makes volumes of class `{name}`")),
            false => Ok(Mount::ToTake(key, there)),
        };
    }
    match (class.binding, phase) {
        (BindingMode::WaitForFirstConsumer, _) => Ok(Mount::ToMake(key, class)),
        (BindingMode::Immediate, ClaimPhase::Unseen)
            if OF_DISKS.contains(&&*class.provisioner) && !is_of_one_zone(class) =>
        {
            Err(format!(
                "claim `{key}` is not bound, and class `{name}` makes its disk at once, in a zone that nobody knows"
            ))
        }
        (BindingMode::Immediate, ClaimPhase::Unseen) => Ok(Mount::ToMake(key, class)),
        (BindingMode::Immediate, ClaimPhase::Pending | ClaimPhase::Bound | ClaimPhase::Lost) => Err(format!(
            "claim `{key}` is not bound, and class `{name}` does not wait for its pod (`Immediate`)"
        )),
    }
}

/// Returns whether all topologies in which a class may create volumes have the same single zone.
fn is_of_one_zone(class: &StorageClass) -> bool {
    let Some((first, rest)) = class.topologies.as_deref().and_then(<[Requirements]>::split_first) else {
        return false;
    };
    let zone = |term: &Requirements| term.get(label::ZONE)?.single().map(ToString::to_string);
    zone(first).is_some() && rest.iter().all(|term| zone(term) == zone(first))
}

/// Returns the available volumes of a class that are large enough and have the requested modes and labels.
fn there_for<'a>(storage: &'a Storage, class: &str, wish: Option<&VolumeWish>) -> Vec<&'a Volume> {
    let serves = |offer: &VolumeOffer| {
        wish.is_none_or(|VolumeWish { bytes, modes, is_block, selector }| {
            *bytes <= offer.bytes
                && *is_block == offer.is_block
                && modes.iter().all(|mode| offer.modes.contains(mode))
                && selector.selects(&offer.labels)
        })
    };
    let is_of_class =
        |volume: &&Volume| volume.claim.is_none() && volume.class.as_ref().is_some_and(|own| **own == *class);
    let volumes = storage.volumes.iter().filter(is_of_class);
    volumes.filter(|volume| volume.offer.as_ref().is_some_and(serves)).collect()
}

/// Returns whether a volume is accessible from a node with these labels.
pub(super) fn is_there(volume: &Volume, labels: &Labels) -> bool {
    let terms = volume.node_affinity.as_ref();
    terms
        .is_none_or(|terms| terms.iter().any(|term| !term.is_empty() && labels.meet(&of_nodes(term)).is_ok()))
}

/// Returns why a volume is not accessible from a node with these labels.
fn refused(mount: &Mount<'_>, labels: &Labels) -> Option<String> {
    let (terms, title) = match mount {
        Mount::Disk(_) => return None,
        Mount::ToTake(key, volumes) => {
            let is_any = volumes.iter().any(|volume| is_there(volume, labels));
            return (!is_any).then(|| format!("none of the volumes that claim `{key}` may take is there"));
        }
        Mount::Bound(volume) => (volume.node_affinity.as_ref()?, format!("volume `{}`", volume.name)),
        // As in Kubernetes, a class without a term requires nothing, but a volume without one is accessible nowhere.
        Mount::ToMake(key, class) => {
            let terms = class.topologies.as_ref().filter(|terms| !terms.is_empty())?;
            (terms, format!("a volume of class `{}` for claim `{key}`", class.name))
        }
    };
    let mut nearest = format!("{title} can be mounted nowhere");
    for term in terms.iter().filter(|term| !term.is_empty()) {
        match labels.meet(&of_nodes(term)) {
            Ok(()) => return None,
            Err(why) => nearest = format!("{title} is not there: {why}"),
        }
    }
    Some(nearest)
}

/// Translates a volume's topology to node labels: a disk outside of zones has an empty zone, and the nodes that can
/// attach it are those of zone `0`.
fn of_nodes(term: &Requirements) -> Requirements {
    let listed = term.get(label::ZONE).and_then(Requirement::listed);
    let Some(zones) = listed.filter(|zones| zones.contains("")) else { return term.clone() };
    let zones = zones.iter().map(|zone| if zone.is_empty() { "0" } else { &**zone });
    let mut asked = term.clone();
    asked.set(LabelKey::new(label::ZONE), Requirement::new(Operator::In, zones));
    asked
}

/// Reports claims whose pods are placed in several zones although their volume is created in one, where the first pod
/// runs.
fn torn(case: &Case<'_>) -> Vec<Finding> {
    let zone = LabelKey::new(label::ZONE);
    let mut zones: BTreeMap<VolumeClaimKey, BTreeMap<Domain<'_>, &Pod>> = BTreeMap::new();
    for site in &case.sites {
        for (pod, volume) in
            site.pods.iter().flat_map(|pod| pod.spec.volumes.iter().map(move |it| (*pod, it)))
        {
            if let Ok(Mount::ToMake(key, class)) = mount(&case.snapshot.storage, pod, volume)
                && class.binding == BindingMode::WaitForFirstConsumer
                && !ZONELESS.contains(&&*class.provisioner)
            {
                zones.entry(key).or_default().entry(site.labels.domain(&zone)).or_insert(pod);
            }
        }
    }
    let mut found = Vec::new();
    for (key, pods) in zones {
        let mut pods = pods.into_iter();
        let Some((first, one)) = pods.next() else { continue };
        for (domain, other) in pods {
            let why = format!(
                "shares claim `{key}`, whose volume is still to be made, with pod `{}`: they are placed in {} and \
                 {}",
                one.key,
                said(domain),
                said(first),
            );
            found.push(Finding::new(Rule::Volumes, format!("pod `{}`", other.key), why));
        }
    }
    found
}

/// Reports placed pods with a single-pod claim that another running or placed pod uses too.
fn crowded(case: &Case<'_>) -> Vec<Finding> {
    let storage = &case.snapshot.storage;
    let claims = |pod: &Pod| -> Vec<VolumeClaimKey> {
        let names = pod.spec.volumes.iter().filter_map(|volume| volume.claim_of(&pod.key.name));
        let keys = names.map(|name| VolumeClaimKey { namespace: pod.key.namespace.clone(), name });
        keys.filter(|key| storage.claim(key).is_some_and(|claim| claim.is_for_one_pod)).collect()
    };
    if !storage.claims.iter().any(|claim| claim.is_for_one_pod) {
        return Vec::new();
    }
    let runs = |pod: &&Pod| !pod.is_terminating && matches!(pod.place, PodPlace::Bound(_));
    let mut users: BTreeMap<VolumeClaimKey, &Pod> = BTreeMap::new();
    for pod in case.snapshot.pods.iter().filter(runs) {
        for key in claims(pod) {
            users.entry(key).or_insert(pod);
        }
    }
    let placed: BTreeMap<_, _> = case.placed_pods().map(|pod| (&pod.key, pod)).collect();
    let mut found = Vec::new();
    for pod in placed.into_values().filter(|pod| !runs(pod)) {
        for key in claims(pod) {
            let user = *users.entry(key.clone()).or_insert(pod);
            if user.key != pod.key {
                let why = format!(
                    "is placed with claim `{key}`, which is for one pod at a time: pod `{}` uses it",
                    user.key
                );
                found.push(Finding::new(Rule::Volumes, format!("pod `{}`", pod.key), why));
            }
        }
    }
    found
}

fn said(zone: Domain<'_>) -> String {
    match zone {
        Domain::Value(zone) => format!("zone `{zone}`"),
        Domain::Own | Domain::Open | Domain::Absent => "no known zone".to_owned(),
    }
}
