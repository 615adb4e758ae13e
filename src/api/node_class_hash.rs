//! The static hash of an AKSNodeClass, which Karpenter writes onto classes and claims to detect drift.
//!
//! It equals the hash that Go's `hashstructure` (format 2, slices as sets, zero values ignored, nil as zero) computes
//! of the same spec: 64-bit FNV-1 over the Go names of types and fields. All fields except `tags` count. It is computed
//! from the spec as it is; an API server has filled in the schema's defaults before. Must never be used as a digest of
//! our own: equal pairs in a list cancel each other out.

use super::aks_node_class::{
    AksNodeClassSpec, ArtifactStreaming, CpuManagerPolicy, FipsMode, ForwardDestination, ForwardPolicy, Gpu,
    GpuMode, ImageFamily, Kubelet, LinuxOsConfig, LocalDns, LocalDnsMode, Protocol, QueryLogging, Security,
    ServeStale, Sysctls, TopologyManagerPolicy, TransparentHugePageDefrag, TransparentHugePageEnabled,
    TrustedLaunch, ZoneOverride,
};
use super::text::DurationText;

/// The version beside the hash in annotations; hashes of different versions are never compared.
pub const HASH_VERSION: &str = "v3";

/// Returns the hash of a spec, as the decimal number in the annotation.
pub fn static_hash(spec: &AksNodeClassSpec) -> String {
    spec.go_hash().to_string()
}

/// A value that is part of the hash.
trait GoHash {
    fn go_hash(&self) -> u64;
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte))
}

/// Hash of a struct, to which fields are added in the order of their declaration in Go.
struct StructHash(u64);

impl StructHash {
    fn new(type_name: &str) -> Self {
        Self(fnv(type_name.as_bytes()))
    }

    fn field<T: GoHash>(self, name: &str, value: Option<&T>) -> Self {
        let Some(value) = value else {
            return self;
        };
        let mut pair = [0; 16];
        pair[..8].copy_from_slice(&fnv(name.as_bytes()).to_le_bytes());
        pair[8..].copy_from_slice(&value.go_hash().to_le_bytes());
        Self(fnv(&(self.0 ^ fnv(&pair)).to_le_bytes()))
    }
}

impl GoHash for str {
    fn go_hash(&self) -> u64 {
        fnv(self.as_bytes())
    }
}

impl GoHash for String {
    fn go_hash(&self) -> u64 {
        self.as_str().go_hash()
    }
}

impl GoHash for bool {
    fn go_hash(&self) -> u64 {
        fnv(&[u8::from(*self)])
    }
}

impl GoHash for i32 {
    fn go_hash(&self) -> u64 {
        fnv(&self.to_le_bytes())
    }
}

impl GoHash for i64 {
    fn go_hash(&self) -> u64 {
        fnv(&self.to_le_bytes())
    }
}

impl<T: GoHash> GoHash for Vec<T> {
    fn go_hash(&self) -> u64 {
        self.iter().fold(0, |hash, item| hash ^ item.go_hash())
    }
}

/// A duration inside a Go struct whose only field is `Duration`.
struct Wrapped<'a>(&'a str, &'a DurationText);

impl GoHash for Wrapped<'_> {
    fn go_hash(&self) -> u64 {
        let nanoseconds =
            self.1.nanoseconds().filter(|nanoseconds| *nanoseconds != 0 || self.0 != "Duration");
        StructHash::new(self.0).field("Duration", nanoseconds.as_ref()).0
    }
}

/// Hashes an enum by its word in the API.
macro_rules! by_word {
    ($($name:ident { $($variant:ident => $word:literal),+ $(,)? })+) => {
        $(impl GoHash for $name {
            fn go_hash(&self) -> u64 {
                match self {
                    $(Self::$variant => $word.go_hash(),)+
                }
            }
        })+
    };
}

by_word! {
    ImageFamily {
        Ubuntu => "Ubuntu", Ubuntu2204 => "Ubuntu2204", Ubuntu2404 => "Ubuntu2404", AzureLinux => "AzureLinux",
    }
    FipsMode { FIPS => "FIPS", Disabled => "Disabled" }
    GpuMode { Driver => "Driver", None => "None" }
    CpuManagerPolicy { None => "none", Static => "static" }
    TopologyManagerPolicy {
        Restricted => "restricted", BestEffort => "best-effort", None => "none", SingleNumaNode => "single-numa-node",
    }
    LocalDnsMode { Preferred => "Preferred", Required => "Required", Disabled => "Disabled" }
    QueryLogging { Error => "Error", Log => "Log" }
    Protocol { PreferUDP => "PreferUDP", ForceTCP => "ForceTCP" }
    ForwardDestination { ClusterCoreDNS => "ClusterCoreDNS", VnetDNS => "VnetDNS" }
    ForwardPolicy { Sequential => "Sequential", RoundRobin => "RoundRobin", Random => "Random" }
    ServeStale { Verify => "Verify", Immediate => "Immediate", Disable => "Disable" }
    TransparentHugePageDefrag {
        Always => "always", Defer => "defer", DeferMadvise => "defer+madvise", Madvise => "madvise", Never => "never",
    }
    TransparentHugePageEnabled { Always => "always", Madvise => "madvise", Never => "never" }
}

impl GoHash for AksNodeClassSpec {
    fn go_hash(&self) -> u64 {
        let Self {
            vnet_subnet_id,
            os_disk_size_gb,
            image_family,
            fips_mode,
            // Tags are updated in place on Azure, so they cause no drift.
            tags: _,
            kubelet,
            max_pods,
            security,
            local_dns,
            gpu,
            artifact_streaming,
            linux_os_config,
            // Hashes of this version are older than this field.
            workload_runtime: _,
        } = self;
        StructHash::new("AKSNodeClassSpec")
            .field("VNETSubnetID", vnet_subnet_id.as_ref())
            .field("OSDiskSizeGB", os_disk_size_gb.as_ref())
            .field("ImageFamily", image_family.as_ref())
            .field("FIPSMode", fips_mode.as_ref())
            .field("Kubelet", kubelet.as_ref())
            .field("MaxPods", max_pods.as_ref())
            .field("Security", security.as_ref())
            .field("LocalDNS", local_dns.as_ref())
            .field("GPU", gpu.as_ref())
            .field("ArtifactStreaming", artifact_streaming.as_ref())
            .field("LinuxOSConfig", linux_os_config.as_ref())
            .0
    }
}

impl GoHash for Kubelet {
    fn go_hash(&self) -> u64 {
        let Self {
            cpu_manager_policy,
            cpu_cfs_quota,
            cpu_cfs_quota_period,
            image_gc_high_threshold_percent,
            image_gc_low_threshold_percent,
            topology_manager_policy,
            allowed_unsafe_sysctls,
            container_log_max_size,
            container_log_max_files,
            pod_pids_limit,
            fail_swap_on,
        } = self;
        StructHash::new("KubeletConfiguration")
            .field("CPUManagerPolicy", cpu_manager_policy.as_ref())
            .field("CPUCFSQuota", cpu_cfs_quota.as_ref())
            .field(
                "CPUCFSQuotaPeriod",
                cpu_cfs_quota_period.as_ref().map(|text| Wrapped("Duration", text)).as_ref(),
            )
            .field("ImageGCHighThresholdPercent", image_gc_high_threshold_percent.as_ref())
            .field("ImageGCLowThresholdPercent", image_gc_low_threshold_percent.as_ref())
            .field("TopologyManagerPolicy", topology_manager_policy.as_ref())
            .field("AllowedUnsafeSysctls", allowed_unsafe_sysctls.as_ref())
            .field("ContainerLogMaxSize", container_log_max_size.as_ref())
            .field("ContainerLogMaxFiles", container_log_max_files.as_ref())
            .field("PodPidsLimit", pod_pids_limit.as_ref())
            .field("FailSwapOn", fail_swap_on.as_ref())
            .0
    }
}

impl GoHash for LocalDns {
    fn go_hash(&self) -> u64 {
        let Self { mode, vnet_dns_overrides, kube_dns_overrides } = self;
        StructHash::new("LocalDNS")
            .field("Mode", mode.as_ref())
            .field("VnetDNSOverrides", vnet_dns_overrides.as_ref())
            .field("KubeDNSOverrides", kube_dns_overrides.as_ref())
            .0
    }
}

impl GoHash for ZoneOverride {
    fn go_hash(&self) -> u64 {
        let Self {
            zone,
            query_logging,
            protocol,
            forward_destination,
            forward_policy,
            max_concurrent,
            cache_duration,
            serve_stale_duration,
            serve_stale,
        } = self;
        StructHash::new("LocalDNSZoneOverride")
            .field("Zone", zone.as_ref())
            .field("QueryLogging", query_logging.as_ref())
            .field("Protocol", protocol.as_ref())
            .field("ForwardDestination", forward_destination.as_ref())
            .field("ForwardPolicy", forward_policy.as_ref())
            .field("MaxConcurrent", max_concurrent.as_ref())
            .field(
                "CacheDuration",
                cache_duration.as_ref().map(|text| Wrapped("NillableDuration", text)).as_ref(),
            )
            .field(
                "ServeStaleDuration",
                serve_stale_duration.as_ref().map(|text| Wrapped("NillableDuration", text)).as_ref(),
            )
            .field("ServeStale", serve_stale.as_ref())
            .0
    }
}

impl GoHash for Security {
    fn go_hash(&self) -> u64 {
        let Self { encryption_at_host, trusted_launch } = self;
        StructHash::new("Security")
            .field("EncryptionAtHost", encryption_at_host.as_ref())
            .field("TrustedLaunch", trusted_launch.as_ref())
            .0
    }
}

impl GoHash for TrustedLaunch {
    fn go_hash(&self) -> u64 {
        let Self { vtpm, secure_boot } = self;
        StructHash::new("TrustedLaunch")
            .field("VTPM", vtpm.as_ref())
            .field("SecureBoot", secure_boot.as_ref())
            .0
    }
}

impl GoHash for Gpu {
    fn go_hash(&self) -> u64 {
        let Self { mode } = self;
        StructHash::new("GPU").field("Mode", mode.as_ref()).0
    }
}

impl GoHash for ArtifactStreaming {
    fn go_hash(&self) -> u64 {
        let Self { enabled } = self;
        StructHash::new("ArtifactStreaming").field("Enabled", enabled.as_ref()).0
    }
}

impl GoHash for LinuxOsConfig {
    fn go_hash(&self) -> u64 {
        let Self { swap_file_size, sysctls, transparent_huge_page_defrag, transparent_huge_page_enabled } =
            self;
        StructHash::new("LinuxOSConfiguration")
            .field("SwapFileSize", swap_file_size.as_ref())
            .field("Sysctls", sysctls.as_ref())
            .field("TransparentHugePageDefrag", transparent_huge_page_defrag.as_ref())
            .field("TransparentHugePageEnabled", transparent_huge_page_enabled.as_ref())
            .0
    }
}

impl GoHash for Sysctls {
    fn go_hash(&self) -> u64 {
        let Self {
            fs_aio_max_nr,
            fs_file_max,
            fs_inotify_max_user_watches,
            fs_nr_open,
            kernel_threads_max,
            net_core_netdev_max_backlog,
            net_core_optmem_max,
            net_core_rmem_default,
            net_core_rmem_max,
            net_core_somaxconn,
            net_core_wmem_default,
            net_core_wmem_max,
            net_ipv4_ip_local_port_range,
            net_ipv4_neigh_default_gc_thresh1,
            net_ipv4_neigh_default_gc_thresh2,
            net_ipv4_neigh_default_gc_thresh3,
            net_ipv4_tcp_fin_timeout,
            net_ipv4_tcp_keepalive_probes,
            net_ipv4_tcp_keepalive_time,
            net_ipv4_tcp_max_syn_backlog,
            net_ipv4_tcp_max_tw_buckets,
            net_ipv4_tcp_tw_reuse,
            net_ipv4_tcp_keepalive_intvl,
            net_netfilter_nf_conntrack_buckets,
            net_netfilter_nf_conntrack_max,
            vm_max_map_count,
            vm_swappiness,
            vm_vfs_cache_pressure,
        } = self;
        StructHash::new("SysctlConfiguration")
            .field("FsAioMaxNr", fs_aio_max_nr.as_ref())
            .field("FsFileMax", fs_file_max.as_ref())
            .field("FsInotifyMaxUserWatches", fs_inotify_max_user_watches.as_ref())
            .field("FsNrOpen", fs_nr_open.as_ref())
            .field("KernelThreadsMax", kernel_threads_max.as_ref())
            .field("NetCoreNetdevMaxBacklog", net_core_netdev_max_backlog.as_ref())
            .field("NetCoreOptmemMax", net_core_optmem_max.as_ref())
            .field("NetCoreRmemDefault", net_core_rmem_default.as_ref())
            .field("NetCoreRmemMax", net_core_rmem_max.as_ref())
            .field("NetCoreSomaxconn", net_core_somaxconn.as_ref())
            .field("NetCoreWmemDefault", net_core_wmem_default.as_ref())
            .field("NetCoreWmemMax", net_core_wmem_max.as_ref())
            .field("NetIPv4IPLocalPortRange", net_ipv4_ip_local_port_range.as_ref())
            .field("NetIPv4NeighDefaultGcThresh1", net_ipv4_neigh_default_gc_thresh1.as_ref())
            .field("NetIPv4NeighDefaultGcThresh2", net_ipv4_neigh_default_gc_thresh2.as_ref())
            .field("NetIPv4NeighDefaultGcThresh3", net_ipv4_neigh_default_gc_thresh3.as_ref())
            .field("NetIPv4TCPFinTimeout", net_ipv4_tcp_fin_timeout.as_ref())
            .field("NetIPv4TCPKeepaliveProbes", net_ipv4_tcp_keepalive_probes.as_ref())
            .field("NetIPv4TCPKeepaliveTime", net_ipv4_tcp_keepalive_time.as_ref())
            .field("NetIPv4TCPMaxSynBacklog", net_ipv4_tcp_max_syn_backlog.as_ref())
            .field("NetIPv4TCPMaxTwBuckets", net_ipv4_tcp_max_tw_buckets.as_ref())
            .field("NetIPv4TCPTwReuse", net_ipv4_tcp_tw_reuse.as_ref())
            .field("NetIPv4TCPKeepaliveIntvl", net_ipv4_tcp_keepalive_intvl.as_ref())
            .field("NetNetfilterNfConntrackBuckets", net_netfilter_nf_conntrack_buckets.as_ref())
            .field("NetNetfilterNfConntrackMax", net_netfilter_nf_conntrack_max.as_ref())
            .field("VMMaxMapCount", vm_max_map_count.as_ref())
            .field("VMSwappiness", vm_swappiness.as_ref())
            .field("VMVfsCachePressure", vm_vfs_cache_pressure.as_ref())
            .0
    }
}
