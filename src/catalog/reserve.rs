//! Capacity and allocatable of a node of a size.
//!
//! The rules are those of the Azure provider (v1beta1, August 2026), in integers. AKS itself reserves by the number of
//! pods since 1.29; neither the provider nor this module does. The provider offers the whole OS disk as ephemeral
//! storage; here, pods only get what the kubelet leaves of it.

use super::gpu::GpuMaker;
use super::size::Size;
use crate::model::{NetworkSetup, NodeClass, ResourceName, Resources};

/// Bytes in a GiB.
const GIB: i64 = 1 << 30;
/// Bytes in a GB.
const GB: i64 = 1_000_000_000;
/// Memory overhead of the VM, in thousandths: the provider's default `vm-memory-overhead-percent`.
const VM_OVERHEAD_THOUSANDTHS: i64 = 75;
/// Free memory below which the kubelet evicts pods: `memory.available<750Mi`.
pub const EVICTION_BYTES: i64 = 750 << 20;

/// File system size relative to the OS disk, in ten-thousandths: AKS nodes with 128 GiB report 129886128Ki.
const FILE_SYSTEM_TEN_THOUSANDTHS: i64 = 9677;
/// Share of the file system that pods may use, in tenths: AKS evicts at `nodefs.available<10%`.
const NODEFS_LEFT_TENTHS: i64 = 9;

/// Returns the capacity of a node of this size.
#[must_use]
pub fn capacity(size: &Size, class: &NodeClass, network: NetworkSetup) -> Resources {
    let pods = class.pods_max.unwrap_or_else(|| network.pods_per_node());
    let gpus = |maker| if size.gpu.as_ref().is_some_and(|gpu| gpu.maker == maker) { size.gpus } else { 0 };
    [
        (ResourceName::Cpu, i64::from(size.vcpus) * 1000),
        (ResourceName::Memory, memory(size.memory_bytes)),
        (ResourceName::EphemeralStorage, i64::from(class.os_disk_gb) * GB),
        (ResourceName::Pods, i64::from(pods)),
        (ResourceName::parse("nvidia.com/gpu"), i64::from(gpus(GpuMaker::Nvidia))),
        (ResourceName::parse("amd.com/gpu"), i64::from(gpus(GpuMaker::Amd))),
    ]
    .into_iter()
    .collect()
}

/// Returns the allocatable part of a size's capacity.
#[must_use]
pub fn allocatable(size: &Size, capacity: &Resources) -> Resources {
    let kept = kube_reserved(size).plus(&Resources::none().with(ResourceName::Memory, EVICTION_BYTES));
    let disk_gb = capacity.get(&ResourceName::EphemeralStorage) / GB;
    capacity
        .minus(&kept)
        .at_least_zero()
        .with(ResourceName::EphemeralStorage, ephemeral_storage_left(disk_gb))
}

/// Returns the ephemeral storage for pods on an OS disk with this size in GB; Azure creates it with as many GiB.
const fn ephemeral_storage_left(disk_gb: i64) -> i64 {
    let file_system = disk_gb.saturating_mul(GIB) / 10_000 * FILE_SYSTEM_TEN_THOUSANDTHS;
    file_system / 10 * NODEFS_LEFT_TENTHS
}

/// Returns the resources reserved for the kubelet.
#[must_use]
pub fn kube_reserved(size: &Size) -> Resources {
    Resources::none()
        .with(ResourceName::Cpu, kube_reserved_cpu_milli(i64::from(size.vcpus)))
        .with(ResourceName::Memory, kube_reserved_memory_mib(size.memory_bytes) << 20)
}

/// Returns the memory capacity: whole GiB (fractions are dropped) minus the VM's overhead, rounded up.
const fn memory(bytes: i64) -> i64 {
    let whole = (bytes / GIB).saturating_mul(GIB);
    let overhead = (whole.saturating_mul(VM_OVERHEAD_THOUSANDTHS).saturating_add(999)) / 1000;
    whole - overhead
}

/// Returns 6 % of the first core, 4 % of the second, 2 % of the next two and 1 % of the rest.
fn kube_reserved_cpu_milli(vcpus: i64) -> i64 {
    bands(vcpus, &[(1, 60), (2, 40), (4, 20), (i64::MAX, 10)])
}

/// Returns 25 % of the first 4 GiB, 20 % of the next 4, 10 % of the next 8, 6 % up to 128 and 2 % above, in whole MiB.
fn kube_reserved_memory_mib(bytes: i64) -> i64 {
    let percent =
        bands(bytes, &[(4 * GIB, 25), (8 * GIB, 20), (16 * GIB, 10), (128 * GIB, 6), (i64::MAX, 2)]);
    (percent / 100) >> 20
}

/// Sums the parts of an amount, each multiplied by its rate. The first number of a band is its end.
fn bands(amount: i64, bands: &[(i64, i64)]) -> i64 {
    let mut start = 0;
    let mut sum = 0_i64;
    for (end, rate) in bands {
        let part = (amount.min(*end) - start).max(0);
        sum = sum.saturating_add(part.saturating_mul(*rate));
        start = *end;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{GIB, ephemeral_storage_left, kube_reserved_cpu_milli, kube_reserved_memory_mib, memory};

    #[test]
    fn reservations_follow_the_bands() {
        let reserved =
            |vcpus, gib: i64| (kube_reserved_cpu_milli(vcpus), kube_reserved_memory_mib(gib * GIB));
        assert_eq!(reserved(4, 7), (140, 1638));
        assert_eq!(reserved(2, 8), (100, 1843));
        assert_eq!(reserved(3, 64), (120, 5611));
    }

    #[test]
    fn pods_get_what_kubelet_leaves_of_the_os_disk() {
        // An AKS node with 128 GiB reports 119703055367 as allocatable; the computed value must not exceed it.
        assert_eq!(ephemeral_storage_left(128), 119_699_704_719);
        assert_eq!(ephemeral_storage_left(30) * 10 / GIB, 261);
        assert_eq!(ephemeral_storage_left(0), 0);
    }

    #[test]
    fn the_overhead_is_rounded_up_and_a_fraction_of_a_gib_dropped() {
        assert_eq!(memory(8 * GIB), 7_945_689_497);
        assert_eq!(memory(8 * GIB + GIB / 2), 7_945_689_497);
    }
}
