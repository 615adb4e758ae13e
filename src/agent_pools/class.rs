//! VM settings of an agent pool, as fields of an AKSNodeClass.

use serde_json::{Map, Value, json};

use super::profile::AgentPool;
use super::read::Fields;
use crate::api::aks_node_class::Sysctls;

/// Names of the same kubelet setting: in AKS, and in an AKSNodeClass.
const KUBELET: [(&str, &str); 9] = [
    ("cpuManagerPolicy", "cpuManagerPolicy"),
    ("cpuCfsQuota", "cpuCFSQuota"),
    ("cpuCfsQuotaPeriod", "cpuCFSQuotaPeriod"),
    ("imageGcHighThreshold", "imageGCHighThresholdPercent"),
    ("imageGcLowThreshold", "imageGCLowThresholdPercent"),
    ("topologyManagerPolicy", "topologyManagerPolicy"),
    ("containerLogMaxFiles", "containerLogMaxFiles"),
    ("podMaxPids", "podPidsLimit"),
    ("failSwapOn", "failSwapOn"),
];

/// OS disk sizes that an AKSNodeClass accepts, in GB.
const OS_DISK_GB: std::ops::RangeInclusive<u64> = 30..=2048;
/// `maxPods` values that an AKSNodeClass accepts.
const PODS: std::ops::RangeInclusive<u64> = 10..=250;

/// Reads the VM settings into the pool.
pub(super) fn read(fields: &Fields<'_>, pool: &mut AgentPool) {
    let mut set = |key: &str, value: Value| {
        pool.class.insert(key.to_owned(), value);
    };
    set("imageFamily", json!(image_family(fields.text("osSKU"))));
    if let Some(subnet) = fields.text("vnetSubnetID") {
        set("vnetSubnetID", json!(subnet));
    }
    let disk = fields.number("osDiskSizeGB").filter(|size| OS_DISK_GB.contains(size));
    if let Some(size) = disk {
        set("osDiskSizeGB", json!(size));
    }
    if let Some(pods) = fields.number("maxPods").filter(|pods| PODS.contains(pods)) {
        set("maxPods", json!(pods));
    }
    if fields.is_true("enableFIPS") {
        set("fipsMode", json!("FIPS"));
    }
    let tags = fields.map("tags");
    if !tags.is_empty() {
        set("tags", json!(tags));
    }
    if let Some(security) = security(fields) {
        set("security", security);
    }
    if fields.get("gpuProfile").map(Fields::of).and_then(|gpu| gpu.text("driver")) == Some("None") {
        set("gpu", json!({"mode": "None"}));
    }
    let kubelet = kubelet(fields, &mut pool.left_out);
    let linux = linux(fields, &mut pool.left_out);
    for (key, value) in [("kubelet", kubelet), ("linuxOSConfig", linux)] {
        if !value.is_empty() {
            pool.class.insert(key.to_owned(), Value::Object(value));
        }
    }
    match fields.text("osDiskType") {
        Some("Ephemeral") => pool.ephemeral_disk_gb = Some(disk.unwrap_or(128)),
        Some("Managed") => pool.left_out.push(
            "osDiskType Managed is not carried over: AKSNodeClass uses ephemeral OS disks where the size allows"
                .to_owned(),
        ),
        Some(_) | None => {}
    }
}

fn image_family(sku: Option<&str>) -> &'static str {
    match sku.unwrap_or_default().to_ascii_lowercase().as_str() {
        "azurelinux" | "azurelinux3" | "cblmariner" | "mariner" => "AzureLinux",
        "ubuntu2204" => "Ubuntu2204",
        "ubuntu2404" => "Ubuntu2404",
        _ => "Ubuntu",
    }
}

fn security(fields: &Fields<'_>) -> Option<Value> {
    let mut security = Map::new();
    if fields.is_true("enableEncryptionAtHost") {
        security.insert("encryptionAtHost".to_owned(), json!(true));
    }
    let profile = fields.get("securityProfile").map(Fields::of);
    let is_on = |key: &str| profile.as_ref().is_some_and(|profile| profile.is_true(key));
    let (vtpm, boot) = (is_on("enableVTPM"), is_on("enableSecureBoot"));
    if vtpm || boot {
        security.insert("trustedLaunch".to_owned(), json!({"secureBoot": boot, "vtpm": vtpm}));
    }
    (!security.is_empty()).then_some(Value::Object(security))
}

fn kubelet(fields: &Fields<'_>, left_out: &mut Vec<String>) -> Map<String, Value> {
    let mut kubelet = Map::new();
    let Some(config) = fields.get("kubeletConfig").map(Fields::of) else { return kubelet };
    for (theirs, ours) in KUBELET {
        if let Some(value) = config.get(theirs) {
            kubelet.insert(ours.to_owned(), value.clone());
        }
    }
    if let Some(size) = config.number("containerLogMaxSizeMB") {
        kubelet.insert("containerLogMaxSize".to_owned(), json!(format!("{size}Mi")));
    }
    let unsafe_sysctls = config.texts("allowedUnsafeSysctls");
    if !unsafe_sysctls.is_empty() {
        kubelet.insert("allowedUnsafeSysctls".to_owned(), json!(unsafe_sysctls));
    }
    if config.get("seccompDefault").is_some() {
        left_out.push("`kubeletConfig.seccompDefault`: an AKSNodeClass has no such field".to_owned());
    }
    kubelet
}

fn linux(fields: &Fields<'_>, left_out: &mut Vec<String>) -> Map<String, Value> {
    let mut linux = Map::new();
    let Some(config) = fields.get("linuxOSConfig").map(Fields::of) else { return linux };
    for key in ["transparentHugePageEnabled", "transparentHugePageDefrag"] {
        if let Some(text) = config.text(key) {
            linux.insert(key.to_owned(), json!(text));
        }
    }
    if let Some(size) = config.number("swapFileSizeMB").filter(|size| *size > 0) {
        linux.insert("swapFileSize".to_owned(), json!(format!("{size}Mi")));
    }
    let mut sysctls = Map::new();
    for (key, value) in config.get("sysctls").and_then(Value::as_object).into_iter().flatten() {
        if value.is_null() {
            continue;
        }
        match sysctl(key, value) {
            Some(name) => drop(sysctls.insert(name, value.clone())),
            None => {
                left_out.push(format!("`linuxOSConfig.sysctls.{key}`: an AKSNodeClass has no such field"));
            }
        }
    }
    if !sysctls.is_empty() {
        linux.insert("sysctls".to_owned(), Value::Object(sysctls));
    }
    linux
}

/// Returns the AKSNodeClass name of a sysctl. It differs from the AKS name only in case.
fn sysctl(key: &str, value: &Value) -> Option<String> {
    let upper = key.replace("Ipv4", "IPv4").replace("IPv4Tcp", "IPv4TCP").replace("IPv4Ip", "IPv4IP");
    let name = upper.replace("TCPkeepalive", "TCPKeepalive");
    let known: Sysctls = serde_json::from_value(json!({ name.as_str(): value })).ok()?;
    (known != Sysctls::default()).then_some(name)
}
