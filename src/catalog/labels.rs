//! Labels of a size's nodes, as requirements.
//!
//! A label that nodes of the size never have is marked absent, so that pods requiring it do not count on the size.
//! Labels that do not depend on the size are left out: they depend on the pool, or on the cluster, as with Cilium.

use super::size::Size;
use crate::model::fleet::CILIUM;
use crate::model::{
    ImageFamily, LabelKey, NetworkSetup, NodeClass, Operator, Region, Requirement, Requirements, label,
};

/// Returns the labels that all sizes of a region share for one class.
pub(super) fn shared(region: &Region, class: &NodeClass, network: NetworkSetup) -> Requirements {
    let os_sku = match class.image_family {
        ImageFamily::Ubuntu | ImageFamily::Ubuntu2204 | ImageFamily::Ubuntu2404 => "Ubuntu",
        ImageFamily::AzureLinux => "AzureLinux",
    };
    let is_cilium = network.is_cilium();
    let shared = Requirements::of_labels([
        (label::OS, "linux"),
        (label::REGION, region.as_str()),
        (label::OS_SKU, os_sku),
    ])
    .with(label::AKS_MODE, Requirement::new(Operator::In, ["system", "user"]))
    .with(label::AKS_FIPS_ENABLED, only_if(class.is_fips, "true"))
    .with(label::AKS_KATA, only_if(class.is_kata, "true"))
    .with(label::AKS_KATA_MSHV, only_if(class.is_kata, "true"));
    if is_cilium { shared.with(label::AKS_EBPF_DATAPLANE, Requirement::one(CILIUM)) } else { shared }
}

/// Adds a size's own labels to the shared ones.
pub(super) fn with_own(mut labels: Requirements, size: &Size) -> Requirements {
    let vcpus = size.vcpus.to_string();
    let memory = size.memory_mib().to_string();
    let version = size.parts.as_ref().map(|parts| parts.version_or_one().to_string());
    for (key, value) in [
        (label::INSTANCE_TYPE, size.name.as_str()),
        (label::ARCH, &size.arch),
        (label::SKU_NAME, size.name.as_str()),
        (label::SKU_FAMILY, size.family()),
        (label::SKU_SERIES, size.series()),
        (label::SKU_VERSION, version.as_deref().unwrap_or("1")),
        (label::SKU_CPU, &vcpus),
        (label::AKS_SKU_CPU, &vcpus),
        (label::SKU_MEMORY, &memory),
        (label::AKS_SKU_MEMORY, &memory),
    ] {
        labels.set(LabelKey::new(key), Requirement::one(value));
    }
    add_capabilities(&mut labels, size);
    add_gpu(&mut labels, size);
    labels
}

fn add_capabilities(labels: &mut Requirements, size: &Size) {
    let capabilities = &size.capabilities;
    // A node has one of the two values. If it is unknown which, no pod may rely on either.
    let word = |is_so: Option<bool>| one_or_none(is_so.map(|is_so| if is_so { "true" } else { "false" }));
    let ephemeral = capabilities.ephemeral.filter(|room| room.size_gb > 0);
    let ephemeral_gb = ephemeral.map(|room| room.size_gb.to_string());
    let generations = [("1", capabilities.generations.first), ("2", capabilities.generations.second)];
    let generations = generations.into_iter().filter(|(_, runs)| *runs).map(|(name, _)| name);
    for (key, requirement) in [
        ("karpenter.azure.com/sku-networking-accelerated", word(capabilities.accelerated_networking)),
        ("karpenter.azure.com/sku-storage-premium-capable", word(capabilities.premium_storage)),
        ("karpenter.azure.com/sku-storage-ephemeralos-maxsize", one_or_none(ephemeral_gb.as_deref())),
        ("karpenter.azure.com/sku-hyperv-generation", Requirement::new(Operator::In, generations)),
    ] {
        labels.set(LabelKey::new(key), requirement);
    }
}

fn add_gpu(labels: &mut Requirements, size: &Size) {
    let gpu = size.gpu.as_ref().filter(|_| size.gpus > 0);
    let count = gpu.map_or(0, |_| size.gpus).to_string();
    let name = gpu.and_then(|_| size.gpu_name());
    for (key, requirement) in [
        (label::SKU_GPU_COUNT, Requirement::one(&count)),
        (label::SKU_GPU_NAME, one_or_none(name)),
        (label::SKU_GPU_MANUFACTURER, one_or_none(gpu.map(|gpu| gpu.maker.as_str()))),
    ] {
        labels.set(LabelKey::new(key), requirement);
    }
}

fn one_or_none(value: Option<&str>) -> Requirement {
    value.map_or_else(Requirement::none, Requirement::one)
}

fn only_if(is_so: bool, value: &str) -> Requirement {
    one_or_none(is_so.then_some(value))
}
