//! The bootstrap view of a new node: labels, taints, and kubelet reservations. Never computes capacity: that is the
//! catalogue's job.

use std::collections::BTreeMap;

use super::ground::Made;
use super::image::Wanted;
use crate::bootstrap::{Arch, Gpu, KubernetesVersion, Node};
use crate::catalog::gpu::GpuMaker;
use crate::catalog::reserve;
use crate::catalog::size::Size;
use crate::model::{Effect, ResourceName, Resources, Taint, label};
use crate::plan::{Choice, ClaimSpec};

/// Keeps pods off until the node is registered; registration removes it.
const UNREGISTERED: &str = "karpenter.sh/unregistered";
/// Alias of [`label::AKS_SCALE_SET_PRIORITY`].
const PRIORITY: &str = "kubernetes.azure.com/priority";
/// Labels that depend on zone and capacity type: they differ between choices of one machine.
const OF_CHOICE: [&str; 6] = [
    label::ZONE,
    label::CAPACITY_TYPE,
    label::PLACEMENT_SCOPE,
    label::AKS_SCALE_SET_PRIORITY,
    PRIORITY,
    label::ULTRA_SSD,
];

/// Returns the node of a machine; given a choice, also with the labels of its zone and capacity type.
pub(super) fn node(made: &Made<'_>, version: &KubernetesVersion, choice: Option<&Choice>) -> Node {
    let Made { size, kind, class, whole, claim, facts } = made;
    let amounts = |resources: &Resources| {
        resources.iter().map(|(name, amount)| (name.to_string(), shown(name, amount))).collect()
    };
    let pods = kind.capacity.get(&ResourceName::Pods);
    Node {
        size: kind.name.to_string(),
        arch: if &*size.arch == "arm64" { Arch::Arm64 } else { Arch::Amd64 },
        labels: labels(made, choice),
        taints: taints(claim),
        max_pods: u32::try_from(pods).unwrap_or_default(),
        kube_reserved: amounts(&reserve::kube_reserved(size)),
        system_reserved: BTreeMap::new(),
        eviction_hard: BTreeMap::from([(
            "memory.available".to_owned(),
            shown(&ResourceName::Memory, reserve::EVICTION_BYTES),
        )]),
        gpu: gpu(size),
        image_family: Wanted::of(&whole.spec).effective(version).to_owned(),
        has_local_dns: class.local_dns,
        admin_user: facts.cluster.admin_user.to_string(),
    }
}

/// Formats an amount for the kubelet: CPU in millicores, memory in MiB.
fn shown(name: &ResourceName, amount: i64) -> String {
    match name {
        ResourceName::Cpu => format!("{amount}m"),
        ResourceName::Memory | ResourceName::EphemeralStorage => format!("{}Mi", amount >> 20),
        ResourceName::Pods | ResourceName::Other(_) => amount.to_string(),
    }
}

fn gpu(size: &Size) -> Gpu {
    match size.gpu.as_ref().filter(|_| size.gpus > 0).map(|gpu| gpu.maker) {
        Some(GpuMaker::Nvidia) => Gpu::Nvidia,
        Some(GpuMaker::Amd) => Gpu::Amd,
        None => Gpu::None,
    }
}

/// Returns the pool's taints, its startup taints, and the taint of unregistered nodes.
fn taints(claim: &ClaimSpec) -> Vec<Taint> {
    let own = claim.taints.iter().chain(&claim.startup_taints).cloned();
    let mut taints: Vec<Taint> = own.chain([Taint::new(UNREGISTERED, "", Effect::NoExecute)]).collect();
    taints.sort();
    taints.dedup();
    taints
}

/// Returns the claim's labels, overridden by its single-value requirements, then by the size's.
fn labels(made: &Made<'_>, choice: Option<&Choice>) -> BTreeMap<String, String> {
    let Made { kind, claim, .. } = made;
    let mut labels = BTreeMap::from([(label::AKS_MODE.to_owned(), "user".to_owned())]);
    labels.extend(claim.labels.iter().map(|(key, value)| (key.to_string(), value.to_string())));
    let sources = [&claim.requirements, &kind.requirements];
    let singles = sources.into_iter().flat_map(|source| source.iter());
    labels.extend(singles.filter_map(|(key, values)| Some((key.to_string(), values.single()?.to_string()))));
    OF_CHOICE.iter().for_each(|key| drop(labels.remove(*key)));
    if let Some(choice) = choice {
        labels.extend(labels_of_choice(made, choice));
    }
    labels
}

fn labels_of_choice(made: &Made<'_>, choice: &Choice) -> BTreeMap<String, String> {
    let Choice { zone, capacity_type, .. } = choice;
    let same = |offering: &&crate::model::Offering| {
        offering.zone == *zone && offering.capacity_type == *capacity_type
    };
    let offering = made.kind.offerings.iter().find(same);
    let singles = offering.into_iter().flat_map(|offering| offering.requirements.iter());
    let mut labels: BTreeMap<String, String> =
        singles.filter_map(|(key, values)| Some((key.to_string(), values.single()?.to_string()))).collect();
    labels.insert(label::ZONE.to_owned(), zone.to_string());
    labels.insert(label::CAPACITY_TYPE.to_owned(), capacity_type.as_str().to_owned());
    if made.ultra_ssd() == Some(true) {
        labels.insert(label::ULTRA_SSD.to_owned(), "true".to_owned());
    }
    labels
}
