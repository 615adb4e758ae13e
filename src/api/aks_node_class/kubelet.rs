//! Settings of the kubelet in an AKSNodeClass.
//!
//! Must never hold a default in code: an absent setting is absent, the schema says what the API server fills in.

use serde::{Deserialize, Serialize};

use crate::api::text::DurationText;

/// Settings of the kubelet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [{
        "message": "imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent",
        "rule": "has(self.imageGCHighThresholdPercent) && has(self.imageGCLowThresholdPercent) ?  self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent  : true",
    }]))
)]
#[serde(rename_all = "camelCase")]
pub struct Kubelet {
    /// Whether containers may get whole CPUs for themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "none")))]
    pub cpu_manager_policy: Option<CpuManagerPolicy>,
    /// Whether CPU limits of containers are enforced.
    #[serde(skip_serializing_if = "Option::is_none", rename = "cpuCFSQuota")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = true)))]
    pub cpu_cfs_quota: Option<bool>,
    /// The period over which CPU limits are enforced, between `1ms` and `1s`.
    #[serde(skip_serializing_if = "Option::is_none", rename = "cpuCFSQuotaPeriod")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "100ms")))]
    pub cpu_cfs_quota_period: Option<DurationText>,
    /// Percentage of the disk above which unused images are removed. Must be above `imageGCLowThresholdPercent`.
    #[serde(skip_serializing_if = "Option::is_none", rename = "imageGCHighThresholdPercent")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = 100))
    )]
    pub image_gc_high_threshold_percent: Option<i32>,
    /// Percentage of the disk at which removing unused images stops.
    #[serde(skip_serializing_if = "Option::is_none", rename = "imageGCLowThresholdPercent")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 0, "maximum" = 100))
    )]
    pub image_gc_low_threshold_percent: Option<i32>,
    /// How closely the CPUs and devices of a pod are placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "none")))]
    pub topology_manager_policy: Option<TopologyManagerPolicy>,
    /// Unsafe kernel settings that pods may use; a trailing `*` stands for any rest, as in `kernel.msg*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_unsafe_sysctls: Option<Vec<String>>,
    /// Size at which a container's log file is rotated, for example `50Mi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "50Mi", "pattern" = crate::api::pattern::FILE_SIZE)))]
    pub container_log_max_size: Option<String>,
    /// How many log files a container may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5, "minimum" = 2)))]
    pub container_log_max_files: Option<i32>,
    /// How many processes a pod may have; -1 for no limit of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_pids_limit: Option<i64>,
    /// Whether the kubelet refuses to start on a node with swap. Must be false for `linuxOSConfig.swapFileSize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_swap_on: Option<bool>,
}

/// Whether containers may get whole CPUs for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CpuManagerPolicy {
    /// They share them.
    None,
    /// Pods with guaranteed whole CPUs get them for themselves.
    Static,
}

/// How closely the CPUs and devices of a pod are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TopologyManagerPolicy {
    /// Pods that cannot be placed closely are refused.
    Restricted,
    /// Close placement is tried.
    BestEffort,
    /// Nothing is tried.
    None,
    /// Pods that do not fit one NUMA node are refused.
    SingleNumaNode,
}
