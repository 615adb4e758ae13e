//! Decides which sizes are not offered, with reasons for people.
//!
//! The rules and their order are those of the Azure provider. Nodeform's own rules (burstable and HPC sizes) are not
//! here, because they depend on a pool's requirements.

use super::gpu::GpuMaker;
use super::size::Size;
use crate::model::{GpuMode, ImageFamily, NodeClass};

/// Sizes that AKS does not accept as nodes: too small, or retired.
const RESTRICTED: [&str; 14] = [
    "Standard_A0",
    "Standard_A1",
    "Standard_A1_v2",
    "Standard_B1s",
    "Standard_B1ms",
    "Standard_F1",
    "Standard_F1s",
    "Basic_A0",
    "Basic_A1",
    "Basic_A2",
    "Basic_A3",
    "Basic_A4",
    "Standard_E64i_v3",
    "Standard_E64is_v3",
];

/// Minimum memory of a node: 3.5 GiB.
const MEMORY_BYTES_MIN: i64 = 7 << 29;
/// Minimum memory of a node with local DNS: 244 MiB.
const LOCAL_DNS_MEMORY_BYTES_MIN: i64 = 244 << 20;

/// Returns why a size is not offered in its region at all, or else why not to this class.
#[must_use]
pub fn refusal(size: &Size, class: &NodeClass) -> Option<String> {
    everywhere(size).or_else(|| for_class(size, class))
}

/// Returns why a size is not offered to any class of its region.
pub(super) fn everywhere(size: &Size) -> Option<String> {
    if RESTRICTED.contains(&size.name.as_str()) {
        return Some("AKS does not take this size as a node".into());
    }
    let Some(parts) = &size.parts else {
        return Some("its name does not follow Azure's scheme".into());
    };
    if let Some(restriction) = &size.restriction {
        return Some(format!("Azure does not sell it here: {restriction}"));
    }
    if size.is_shape_estimate && size.memory_bytes == 0 {
        return Some("how much memory it has is not in the default catalogue".into());
    }
    if size.vcpus < 2 {
        return Some(format!("it has {} vCPU, a node needs 2", size.vcpus));
    }
    if size.memory_bytes < MEMORY_BYTES_MIN {
        return Some(format!("it has {} MiB of memory, a node needs 3584 MiB", size.memory_mib()));
    }
    if size.gpus > 0 && size.gpu.is_none() {
        return Some("its GPU is not one that AKS supports".into());
    }
    if is_gpu_count_missing(size) {
        return Some("how many GPUs it has is not known".into());
    }
    if parts.constrained_cpus.is_some() {
        return Some("it is sold with constrained vCPUs".into());
    }
    if matches!((&*parts.family, parts.subfamily.starts_with('C')), ("D" | "E", true)) {
        return Some("it is a confidential size".into());
    }
    None
}

/// Returns whether a GPU size has an unknown number of GPUs; it would be mistaken for a size without GPUs.
fn is_gpu_count_missing(size: &Size) -> bool {
    size.gpus == 0 && (size.gpu.is_some() || size.family() == "N")
}

fn for_class(size: &Size, class: &NodeClass) -> Option<String> {
    if let Some(because) = gpu_refusal(size, class) {
        return Some(because);
    }
    if class.encryption_at_host && !size.capabilities.encryption_at_host {
        return Some("it has no encryption at host, which the class asks for".into());
    }
    let is_small = size.vcpus < 4 || size.memory_bytes < LOCAL_DNS_MEMORY_BYTES_MIN;
    if class.local_dns && is_small {
        return Some(format!("local DNS needs 4 vCPUs, it has {}", size.vcpus));
    }
    if class.artifact_streaming && &*size.arch == "arm64" {
        return Some("artifact streaming does not work on arm64".into());
    }
    if class.trusted_launch && !size.capabilities.trusted_launch() {
        return Some("it has no trusted launch, which the class asks for".into());
    }
    if class.is_kata && !runs_machines(size) {
        return Some("it runs no virtual machines of its own, which Kata needs".into());
    }
    None
}

/// Returns whether a size is assumed to support nested virtualization: generation 2, Intel from v3 on (F and L from v2,
/// M from the first) and AMD from v5 on. An estimate, because Azure's SKU list does not include it.
fn runs_machines(size: &Size) -> bool {
    let Some(parts) = size.parts.as_ref().filter(|_| &*size.arch == "amd64") else { return false };
    let version = parts.version_or_one();
    let least = match (&*parts.family, parts.has('a')) {
        ("D" | "E" | "F" | "L" | "M", true) => 5,
        ("D" | "E", false) => 3,
        ("F" | "L", false) => 2,
        ("M", false) => 1,
        _ => return false,
    };
    size.capabilities.generations.second && version >= least
}

fn gpu_refusal(size: &Size, class: &NodeClass) -> Option<String> {
    let gpu = size.gpu.as_ref().filter(|_| size.gpus > 0)?;
    let (family, systems): (&str, &[&str]) = match class.image_family {
        ImageFamily::Ubuntu | ImageFamily::Ubuntu2204 | ImageFamily::Ubuntu2404 => ("Ubuntu", &["ubuntu"]),
        ImageFamily::AzureLinux => ("Azure Linux", &["azurelinux", "azurelinux3"]),
    };
    if !gpu.systems.iter().any(|system| systems.contains(&&**system)) {
        return Some(format!("its GPU has no driver for {family}"));
    }
    match (class.gpu_mode, gpu.maker) {
        (GpuMode::Driver, GpuMaker::Amd) => {
            Some("AKS installs drivers for NVIDIA alone, and its GPU is AMD's".into())
        }
        (GpuMode::Driver, GpuMaker::Nvidia) | (GpuMode::None, GpuMaker::Nvidia | GpuMaker::Amd) => None,
    }
}
