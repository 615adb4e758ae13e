//! Kubelet flags: the base of all AKS nodes, then the node's values, then the class's overrides.
//!
//! AKS's node controller joins the flags with spaces into a file that a shell reads, so values with special characters
//! are refused. Must never trust a value of a class.

use std::collections::BTreeMap;

use super::cluster::Cluster;
use super::labels::{is_key, is_word};
use super::node::Node;
use super::refusal::Refusal;
use crate::api::aks_node_class::{AksNodeClassSpec, Kubelet};

/// Flags by name.
pub(super) type Flags = BTreeMap<String, String>;

/// The flags of every node, as in Karpenter's Azure provider.
const BASE: &[(&str, &str)] = &[
    ("--address", "0.0.0.0"),
    ("--anonymous-auth", "false"),
    ("--authentication-token-webhook", "true"),
    ("--authorization-mode", "Webhook"),
    ("--cgroups-per-qos", "true"),
    ("--client-ca-file", "/etc/kubernetes/certs/ca.crt"),
    ("--cloud-provider", "external"),
    ("--cluster-domain", "cluster.local"),
    ("--enforce-node-allocatable", "pods"),
    ("--event-qps", "0"),
    ("--image-gc-high-threshold", "85"),
    ("--image-gc-low-threshold", "80"),
    ("--kubeconfig", "/var/lib/kubelet/kubeconfig"),
    ("--node-status-update-frequency", "10s"),
    ("--pod-manifest-path", "/etc/kubernetes/manifests"),
    ("--pod-max-pids", "-1"),
    ("--protect-kernel-defaults", "true"),
    ("--read-only-port", "0"),
    ("--resolv-conf", "/run/systemd/resolve/resolv.conf"),
    ("--rotate-certificates", "true"),
    ("--streaming-connection-idle-timeout", "4h"),
    ("--tls-cert-file", "/etc/kubernetes/certs/kubeletserver.crt"),
    ("--tls-private-key-file", "/etc/kubernetes/certs/kubeletserver.key"),
    ("--tls-cipher-suites", CIPHERS),
];

/// The ciphers of AKS nodes: those with forward secrecy and authenticated encryption, and two RSA ones for old clients.
const CIPHERS: &str = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_RSA_WITH_AES_256_GCM_SHA384,TLS_RSA_WITH_AES_128_GCM_SHA256";

/// The flag with the taints, which are checked one by one.
const TAINTS: &str = "--register-with-taints";

/// Default eviction thresholds of the disk: the kubelet drops its own defaults if any threshold is given.
const DISK_LIMITS: &[(&str, &str)] = &[("nodefs.available", "10%"), ("nodefs.inodesFree", "5%")];

/// Returns the flags of a node.
pub(super) fn flags(cluster: &Cluster, node: &Node, class: &AksNodeClassSpec) -> Flags {
    let mut flags: Flags =
        BASE.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut set = |name: &str, value: String| flags.insert(name.to_owned(), value);
    let version = &cluster.kubernetes_version;
    if !version.is_at_least(31) {
        set("--keep-terminated-pod-volumes", "false".to_owned());
    }
    if !version.is_at_least(34) {
        set("--cloud-config", "/etc/kubernetes/azure.json".to_owned());
    }
    if !version.is_at_least(35) {
        set("--pod-infra-container-image", super::downloads::PAUSE_IMAGE.to_owned());
    }
    if version.is_at_least(30) {
        set("--image-credential-provider-bin-dir", "/var/lib/kubelet/credential-provider".to_owned());
        set(
            "--image-credential-provider-config",
            "/var/lib/kubelet/credential-provider-config.yaml".to_owned(),
        );
    } else {
        set("--azure-container-registry-config", "/etc/kubernetes/azure.json".to_owned());
    }
    set("--cluster-dns", cluster.dns_service_ip.clone());
    set("--max-pods", node.max_pods.to_string());
    set("--kube-reserved", joined(&node.kube_reserved, "="));
    if !node.system_reserved.is_empty() {
        set("--system-reserved", joined(&node.system_reserved, "="));
    }
    set("--eviction-hard", eviction(node));
    if !node.taints.is_empty() {
        set(TAINTS, taints(node));
    }
    if let Some(kubelet) = &class.kubelet {
        of_class(kubelet, &mut flags);
    }
    flags
}

fn of_class(kubelet: &Kubelet, flags: &mut Flags) {
    let Kubelet {
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
    } = kubelet;
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            flags.insert(name.to_owned(), value);
        }
    };
    set("--cpu-manager-policy", cpu_manager_policy.as_ref().and_then(word));
    set("--cpu-cfs-quota", cpu_cfs_quota.map(|on| on.to_string()));
    set("--cpu-cfs-quota-period", cpu_cfs_quota_period.as_ref().map(ToString::to_string));
    set("--image-gc-high-threshold", image_gc_high_threshold_percent.map(|percent| percent.to_string()));
    set("--image-gc-low-threshold", image_gc_low_threshold_percent.map(|percent| percent.to_string()));
    set("--topology-manager-policy", topology_manager_policy.as_ref().and_then(word));
    set(
        "--allowed-unsafe-sysctls",
        allowed_unsafe_sysctls.as_ref().filter(|list| !list.is_empty()).map(|list| list.join(",")),
    );
    set("--container-log-max-size", container_log_max_size.clone());
    set("--container-log-max-files", container_log_max_files.map(|files| files.to_string()));
    set("--pod-max-pids", pod_pids_limit.map(|limit| limit.to_string()));
    set("--fail-swap-on", fail_swap_on.map(|fail| fail.to_string()));
}

/// Returns the serialized name of an enum value of the class, which is also the kubelet's.
fn word(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn joined(amounts: &BTreeMap<String, String>, separator: &str) -> String {
    let pairs: Vec<String> =
        amounts.iter().map(|(name, amount)| format!("{name}{separator}{amount}")).collect();
    pairs.join(",")
}

fn eviction(node: &Node) -> String {
    let mut limits = node.eviction_hard.clone();
    for (signal, limit) in DISK_LIMITS {
        limits.entry((*signal).to_owned()).or_insert_with(|| (*limit).to_owned());
    }
    joined(&limits, "<")
}

fn taints(node: &Node) -> String {
    let taints = node.taints.iter().map(|taint| {
        let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
        format!("{}{value}:{}", taint.key, taint.effect.as_str())
    });
    taints.collect::<Vec<_>>().join(",")
}

/// The class field of each flag with a user-supplied string.
const OF_CLASS: &[(&str, &str)] = &[
    ("--allowed-unsafe-sysctls", "spec.kubelet.allowedUnsafeSysctls"),
    ("--container-log-max-size", "spec.kubelet.containerLogMaxSize"),
    ("--cpu-cfs-quota-period", "spec.kubelet.cpuCFSQuotaPeriod"),
];

/// Returns refusals for flags with characters that would break the kubelet's command line, and for invalid taints.
pub(super) fn faults(flags: &Flags, node: &Node) -> Vec<Refusal> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=%<*".contains(c);
    let values = flags.iter().filter(|(name, _)| *name != TAINTS);
    let broken = values.filter(|(_, value)| !value.chars().all(is_plain)).map(|(name, _)| {
        let known = OF_CLASS.iter().find(|(flag, _)| flag == name);
        let field = known.map_or_else(|| format!("kubelet flag {name}"), |(_, field)| (*field).to_owned());
        Refusal::new(field, "has a character that a flag of the kubelet cannot carry")
    });
    let taints = node
        .taints
        .iter()
        .filter(|taint| !is_key(&taint.key) || !(taint.value.is_empty() || is_word(&taint.value)));
    let taints = taints.map(|taint| {
        Refusal::new(format!("taints[{}]", taint.key.escape_default()), "is no taint of Kubernetes")
    });
    broken.chain(taints).collect()
}
