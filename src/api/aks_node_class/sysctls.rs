//! Kernel settings of a node, in an AKSNodeClass.
//!
//! Must contain only what AKS lets users set, with AKS's ranges.

use serde::{Deserialize, Serialize};

/// Kernel settings. An absent one keeps the value of the image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {"message": "netCoreRmemDefault must be <= netCoreRmemMax", "rule": "has(self.netCoreRmemDefault) && has(self.netCoreRmemMax) ? self.netCoreRmemDefault <= self.netCoreRmemMax : true"},
        {"message": "netCoreWmemDefault must be <= netCoreWmemMax", "rule": "has(self.netCoreWmemDefault) && has(self.netCoreWmemMax) ? self.netCoreWmemDefault <= self.netCoreWmemMax : true"},
        {"message": "netIPv4NeighDefaultGcThresh1 must be <= netIPv4NeighDefaultGcThresh2", "rule": "has(self.netIPv4NeighDefaultGcThresh1) && has(self.netIPv4NeighDefaultGcThresh2) ? self.netIPv4NeighDefaultGcThresh1 <= self.netIPv4NeighDefaultGcThresh2 : true"},
        {"message": "netIPv4NeighDefaultGcThresh2 must be <= netIPv4NeighDefaultGcThresh3", "rule": "has(self.netIPv4NeighDefaultGcThresh2) && has(self.netIPv4NeighDefaultGcThresh3) ? self.netIPv4NeighDefaultGcThresh2 <= self.netIPv4NeighDefaultGcThresh3 : true"},
        {"message": "netIPv4IPLocalPortRange first port must be in [1024, 60999]", "rule": "!has(self.netIPv4IPLocalPortRange) || (int(self.netIPv4IPLocalPortRange.split(' ')[0]) >= 1024 && int(self.netIPv4IPLocalPortRange.split(' ')[0]) <= 60999)"},
        {"message": "netIPv4IPLocalPortRange last port must be in [32768, 65535]", "rule": "!has(self.netIPv4IPLocalPortRange) || (int(self.netIPv4IPLocalPortRange.split(' ')[1]) >= 32768 && int(self.netIPv4IPLocalPortRange.split(' ')[1]) <= 65535)"},
        {"message": "netIPv4IPLocalPortRange first port must be <= last port", "rule": "!has(self.netIPv4IPLocalPortRange) || int(self.netIPv4IPLocalPortRange.split(' ')[0]) <= int(self.netIPv4IPLocalPortRange.split(' ')[1])"},
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct Sysctls {
    /// Requests of asynchronous input and output that may be open (`fs.aio-max-nr`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 65536, "maximum" = 6553500)))]
    pub fs_aio_max_nr: Option<i32>,
    /// File handles of the whole node (`fs.file-max`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 8192, "maximum" = 12000500)))]
    pub fs_file_max: Option<i32>,
    /// Files that one user may watch (`fs.inotify.max_user_watches`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 781250, "maximum" = 2097152)))]
    pub fs_inotify_max_user_watches: Option<i32>,
    /// File handles of one process (`fs.nr_open`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 8192, "maximum" = 20000500)))]
    pub fs_nr_open: Option<i32>,
    /// Threads of the whole node (`kernel.threads-max`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 20, "maximum" = 513785)))]
    pub kernel_threads_max: Option<i32>,
    /// Received packets that may wait (`net.core.netdev_max_backlog`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1000, "maximum" = 3240000)))]
    pub net_core_netdev_max_backlog: Option<i32>,
    /// Bytes of option memory per socket (`net.core.optmem_max`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 20480, "maximum" = 4194304)))]
    pub net_core_optmem_max: Option<i32>,
    /// Bytes of a socket's receive buffer unless it asks; not above `netCoreRmemMax` (`net.core.rmem_default`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 212992, "maximum" = 134217728)))]
    pub net_core_rmem_default: Option<i32>,
    /// Bytes of a socket's receive buffer at most (`net.core.rmem_max`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 212992, "maximum" = 134217728)))]
    pub net_core_rmem_max: Option<i32>,
    /// Connections that may wait on a listening socket (`net.core.somaxconn`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 4096, "maximum" = 3240000)))]
    pub net_core_somaxconn: Option<i32>,
    /// Bytes of a socket's send buffer unless it asks; not above `netCoreWmemMax` (`net.core.wmem_default`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 212992, "maximum" = 134217728)))]
    pub net_core_wmem_default: Option<i32>,
    /// Bytes of a socket's send buffer at most (`net.core.wmem_max`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 212992, "maximum" = 134217728)))]
    pub net_core_wmem_max: Option<i32>,
    /// First and last port of outgoing connections: two numbers with one space between them, first in 1024–60999, last in 32768–65535 (`net.ipv4.ip_local_port_range`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4IPLocalPortRange")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::PORT_RANGE)))]
    pub net_ipv4_ip_local_port_range: Option<String>,
    /// Neighbours that are always kept (`net.ipv4.neigh.default.gc_thresh1`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4NeighDefaultGcThresh1")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 128, "maximum" = 80000)))]
    pub net_ipv4_neigh_default_gc_thresh1: Option<i32>,
    /// Neighbours above which old ones go after five seconds; not below the first threshold (`net.ipv4.neigh.default.gc_thresh2`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4NeighDefaultGcThresh2")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 512, "maximum" = 90000)))]
    pub net_ipv4_neigh_default_gc_thresh2: Option<i32>,
    /// Neighbours at most; not below the second threshold (`net.ipv4.neigh.default.gc_thresh3`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4NeighDefaultGcThresh3")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1024, "maximum" = 100000)))]
    pub net_ipv4_neigh_default_gc_thresh3: Option<i32>,
    /// Seconds that a closed connection waits for the other side (`net.ipv4.tcp_fin_timeout`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4TCPFinTimeout")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 5, "maximum" = 120)))]
    pub net_ipv4_tcp_fin_timeout: Option<i32>,
    /// Probes without an answer after which a connection is closed (`net.ipv4.tcp_keepalive_probes`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4TCPKeepaliveProbes")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 15)))]
    pub net_ipv4_tcp_keepalive_probes: Option<i32>,
    /// Seconds of silence before the first probe (`net.ipv4.tcp_keepalive_time`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4TCPKeepaliveTime")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 30, "maximum" = 432000)))]
    pub net_ipv4_tcp_keepalive_time: Option<i32>,
    /// Connections that may wait for the last step of their opening (`net.ipv4.tcp_max_syn_backlog`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4TCPMaxSynBacklog")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 128, "maximum" = 3240000)))]
    pub net_ipv4_tcp_max_syn_backlog: Option<i32>,
    /// Connections that may wait after closing (`net.ipv4.tcp_max_tw_buckets`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4TCPMaxTwBuckets")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 8000, "maximum" = 1440000)))]
    pub net_ipv4_tcp_max_tw_buckets: Option<i32>,
    /// Whether ports of connections that wait after closing are used again (`net.ipv4.tcp_tw_reuse`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4TCPTwReuse")]
    pub net_ipv4_tcp_tw_reuse: Option<bool>,
    /// Seconds between probes of a silent connection (`net.ipv4.tcp_keepalive_intvl`).
    #[serde(skip_serializing_if = "Option::is_none", rename = "netIPv4TCPKeepaliveIntvl")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 10, "maximum" = 90)))]
    pub net_ipv4_tcp_keepalive_intvl: Option<i32>,
    /// Slots of the table of tracked connections (`net.netfilter.nf_conntrack_buckets`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 65536, "maximum" = 524288)))]
    pub net_netfilter_nf_conntrack_buckets: Option<i32>,
    /// Connections that are tracked at most (`net.netfilter.nf_conntrack_max`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 131072, "maximum" = 2097152)))]
    pub net_netfilter_nf_conntrack_max: Option<i32>,
    /// Areas of memory that one process may map (`vm.max_map_count`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 65530, "maximum" = 262144)))]
    pub vm_max_map_count: Option<i32>,
    /// How willingly memory is moved to swap (`vm.swappiness`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 100)))]
    pub vm_swappiness: Option<i32>,
    /// How willingly memory for directory entries is taken back (`vm.vfs_cache_pressure`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 100)))]
    pub vm_vfs_cache_pressure: Option<i32>,
}
