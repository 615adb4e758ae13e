//! DNS on each node, in an AKSNodeClass.
//!
//! Must never resolve or order zones: the list is kept as it was written.

use serde::{Deserialize, Serialize};

use crate::api::text::DurationText;

/// DNS on each node: when it is used, and how zones are answered.
// Fields that the schema requires are optional here: hashes of incomplete objects must be computable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["kubeDNSOverrides", "mode", "vnetDNSOverrides"])))]
#[serde(rename_all = "camelCase")]
pub struct LocalDns {
    /// Whether nodes answer DNS themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<LocalDnsMode>,
    /// How zones are answered for pods that use the network's DNS. Must hold `.` and `cluster.local`.
    #[serde(skip_serializing_if = "Option::is_none", rename = "vnetDNSOverrides")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "maxItems" = 100,
            "x-kubernetes-list-map-keys" = ["zone"],
            "x-kubernetes-list-type" = "map",
            "x-kubernetes-validations" = [
                {"message": "must contain required zones '.' and 'cluster.local'", "rule": "['.', 'cluster.local'].all(z, self.exists(x, x.zone == z))"},
                {"message": "root zone '.' cannot be forwarded to ClusterCoreDNS from vnetDNSOverrides", "rule": "!self.exists(x, x.zone == '.' && x.forwardDestination == 'ClusterCoreDNS')"},
                {"message": "external domains cannot be forwarded to ClusterCoreDNS from vnetDNSOverrides", "rule": "!self.exists(x, x.zone != '.' && !x.zone.endsWith('cluster.local') && x.forwardDestination == 'ClusterCoreDNS')"},
            ]
        ))
    )]
    pub vnet_dns_overrides: Option<Vec<ZoneOverride>>,
    /// How zones are answered for pods that use the cluster's DNS. Must hold `.` and `cluster.local`.
    #[serde(skip_serializing_if = "Option::is_none", rename = "kubeDNSOverrides")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "maxItems" = 100,
            "x-kubernetes-list-map-keys" = ["zone"],
            "x-kubernetes-list-type" = "map",
            "x-kubernetes-validations" = [
                {"message": "must contain required zones '.' and 'cluster.local'", "rule": "['.', 'cluster.local'].all(z, self.exists(x, x.zone == z))"},
            ]
        ))
    )]
    pub kube_dns_overrides: Option<Vec<ZoneOverride>>,
}

/// Whether nodes answer DNS themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LocalDnsMode {
    /// They do where the cluster allows it.
    Preferred,
    /// They do; a cluster that does not allow it makes the class not ready.
    Required,
    /// They do not.
    Disabled,
}

/// How one zone is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend(
        "required" = [
            "cacheDuration", "forwardDestination", "forwardPolicy", "maxConcurrent", "protocol", "queryLogging",
            "serveStale", "serveStaleDuration", "zone"
        ],
        "x-kubernetes-validations" = [
            {"message": "'cluster.local' cannot be forwarded to VnetDNS", "rule": "!(self.zone.endsWith('cluster.local') && self.forwardDestination == 'VnetDNS')"},
            {"message": "serveStale Verify cannot be used with protocol ForceTCP", "rule": "!(self.serveStale == 'Verify' && self.protocol == 'ForceTCP')"},
        ]
    ))
)]
#[serde(rename_all = "camelCase")]
pub struct ZoneOverride {
    /// The zone, or `.` for all names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minLength" = 1, "maxLength" = 254, "pattern" = crate::api::pattern::DNS_ZONE))
    )]
    pub zone: Option<String>,
    /// What is written to the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_logging: Option<QueryLogging>,
    /// How the next server is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Who is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_destination: Option<ForwardDestination>,
    /// In which order servers are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_policy: Option<ForwardPolicy>,
    /// How many questions may be open at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub max_concurrent: Option<i32>,
    /// How long an answer is kept at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::DURATION)))]
    pub cache_duration: Option<DurationText>,
    /// How long an answer that is out of date may still be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::DURATION)))]
    pub serve_stale_duration: Option<DurationText>,
    /// Whether answers that are out of date are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serve_stale: Option<ServeStale>,
}

/// What is written to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QueryLogging {
    /// Errors.
    Error,
    /// Every question.
    Log,
}

/// How the next server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Protocol {
    /// By UDP where possible.
    PreferUDP,
    /// By TCP only.
    ForceTCP,
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ForwardDestination {
    /// The cluster's DNS.
    ClusterCoreDNS,
    /// The network's DNS.
    VnetDNS,
}

/// In which order servers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ForwardPolicy {
    /// In the order of the list.
    Sequential,
    /// In turns.
    RoundRobin,
    /// By chance.
    Random,
}

/// Whether answers that are out of date are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ServeStale {
    /// Only when the server does not answer. Not with `ForceTCP`.
    Verify,
    /// At once, while a fresh one is fetched.
    Immediate,
    /// Never.
    Disable,
}
