//! Estimates the capabilities of a size from its name, for use without data from Azure.
//!
//! Every rule errs on the conservative side (higher cost or fewer capabilities): an uncertain ephemeral disk counts as
//! a managed one. `docs/reference/estimates.md` lists the rules for users; a test compares them with the real
//! capabilities of all sizes for which they are known.

use super::size::{Capabilities, EphemeralRoom, Generations, Placement};
use super::size_name::SizeName;

/// Estimated spot price in percent of the on-demand price. The usual discount is 60 to 90 %, so a plan does not promise
/// larger savings than spot mostly gives.
pub const SPOT_PERCENT: i64 = 35;

const GIB: u64 = 1 << 30;

/// Estimates the capabilities of a size from its name's parts, its vCPUs and its architecture.
#[must_use]
pub fn capabilities(parts: &SizeName, vcpus: u32, arch: &str) -> Capabilities {
    Capabilities {
        premium_storage: Some(premium_storage(parts)),
        accelerated_networking: Some(accelerated_networking(parts, vcpus)),
        ephemeral: ephemeral(parts, vcpus),
        encryption_at_host: encryption_at_host(parts),
        generations: generations(parts, arch),
        trusted_launch_disabled: arch == "arm64" || (&*parts.family == "M" && parts.version.is_none()),
        spot: spot(parts),
        // Comes from the published table, or is unknown.
        data_disks_max: None,
        // Ultra disks need per-zone data from Azure; without it they count as unavailable.
        ultra_ssd_regional: false,
        ultra_ssd_zones: Vec::new(),
    }
}

/// Returns the architecture: `p` means Arm.
#[must_use]
pub fn arch(parts: &SizeName) -> &'static str {
    if parts.has('p') { "arm64" } else { "amd64" }
}

/// Estimates the memory in MiB of a size that no list describes: a fixed number of GiB per vCPU in the general series
/// from version 6 on. The largest E sizes have less than the others.
#[must_use]
pub fn memory_mib(parts: &SizeName, vcpus: u32) -> Option<i64> {
    let is_plain = parts.subfamily.is_empty() && parts.constrained_cpus.is_none();
    let gib_per_vcpu = match &*parts.family {
        _ if !is_plain || parts.version_or_one() < 6 => return None,
        "D" if parts.has('l') => 2,
        "D" => 4,
        "E" if vcpus < 96 => 8,
        "E" => 7,
        _ => return None,
    };
    Some(i64::from(vcpus) * gib_per_vcpu * 1024)
}

/// Estimates support for premium disks: the feature `s`, or the `S` of the oldest series (`DS`, `GS`).
fn premium_storage(parts: &SizeName) -> bool {
    parts.has('s') || parts.subfamily.contains('S')
}

/// Estimates support for accelerated networking: two vCPUs or more, except for the series without it (A, G, the first
/// D) and the first burstable sizes with fewer than 12 vCPUs.
fn accelerated_networking(parts: &SizeName, vcpus: u32) -> bool {
    let is_first = parts.version.is_none();
    match &*parts.family {
        "A" | "G" => false,
        "D" if is_first => false,
        "B" if is_first => vcpus >= 12,
        _ => vcpus >= 2,
    }
}

/// Estimates support for encryption at host: every size with premium disks, and all from version 4 on.
fn encryption_at_host(parts: &SizeName) -> bool {
    premium_storage(parts) || parts.version.is_some_and(|version| version >= 4)
}

/// Estimates the VM generations. Generation 1 ended with version 6, arm64, confidential sizes and GPU sizes from A100
/// on. Generation 2 came with premium disks, and for all other sizes with version 4.
fn generations(parts: &SizeName, arch: &str) -> Generations {
    let version = parts.version_or_one();
    let is_confidential = parts.subfamily.contains('C') && matches!(&*parts.family, "D" | "E");
    let is_late_gpu = &*parts.family == "N" && version >= 4;
    let only_second = arch == "arm64" || version >= 6 || is_confidential || is_late_gpu;
    Generations { first: !only_second, second: only_second || premium_storage(parts) || version >= 4 }
}

/// Estimates spot availability: all sizes except burstable ones, the oldest A series and promotions.
fn spot(parts: &SizeName) -> bool {
    let is_first_a = &*parts.family == "A" && parts.version.is_none();
    &*parts.family != "B" && !is_first_a && !parts.is_promo
}

/// Estimates the space for an ephemeral OS disk: a known number of GiB per vCPU for some series, none for the others.
fn ephemeral(parts: &SizeName, vcpus: u32) -> Option<EphemeralRoom> {
    let (placement, gib_per_vcpu) = ephemeral_per_vcpu(parts)?;
    let bytes = u64::from(vcpus).saturating_mul(gib_per_vcpu).saturating_mul(GIB);
    let size_gb = u32::try_from(bytes / 1_000_000_000).unwrap_or(u32::MAX);
    Some(EphemeralRoom { placement, size_gb })
}

fn ephemeral_per_vcpu(parts: &SizeName) -> Option<(Placement, u64)> {
    let version = parts.version_or_one();
    let is_general = matches!(&*parts.family, "D" | "E");
    let has_disk = parts.has('d');
    let room = match (&*parts.family, &*parts.series) {
        // `DS4_v2` has 43 GiB of cache per vCPU, `DS14_v2` 36.
        (_, "DS_v2") => (Placement::CacheDisk, 36),
        (_, "Fs_v2") => (Placement::CacheDisk, 16),
        (_, "NCs_v3") => (Placement::CacheDisk, 53),
        (_, "NCas_v3") => (Placement::CacheDisk, 9),
        (_, "NCads_v4") if parts.accelerator.as_deref() == Some("A100") => (Placement::CacheDisk, 10),
        _ if !parts.subfamily.is_empty() => return None,
        ("D" | "E" | "F", _) if version >= 6 && has_disk => (Placement::NvmeDisk, 55),
        _ if !is_general => return None,
        (_, "Ds_v3" | "Es_v3" | "Das_v4" | "Eas_v4") => (Placement::CacheDisk, 25),
        _ if !has_disk || !(4..=5).contains(&version) => return None,
        _ if parts.has('s') => (Placement::CacheDisk, 25),
        // Without premium disks there is no cache, but a temporary disk of 37.5 GiB per vCPU.
        _ => (Placement::ResourceDisk, 37),
    };
    Some(room)
}
