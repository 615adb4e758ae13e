//! Swap, huge pages and sysctls of the class, in the format of AKS's node controller.
//!
//! Must never ignore a setting: a name that is not in the table is refused.

use serde_json::{Map, Value, json};

use super::refusal::Refusal;
use crate::api::aks_node_class::{AksNodeClassSpec, LinuxOsConfig, Sysctls};
use crate::model::Quantity;

/// Bytes per MiB.
const MIB: i64 = 1 << 20;

/// Each sysctl's name in the class and in the node controller.
pub(super) const SYSCTLS: &[(&str, &str)] = &[
    ("fsAioMaxNr", "fsAioMaxNr"),
    ("fsFileMax", "fsFileMax"),
    ("fsInotifyMaxUserWatches", "fsInotifyMaxUserWatches"),
    ("fsNrOpen", "fsNrOpen"),
    ("kernelThreadsMax", "kernelThreadsMax"),
    ("netCoreNetdevMaxBacklog", "netCoreNetdevMaxBacklog"),
    ("netCoreOptmemMax", "netCoreOptmemMax"),
    ("netCoreRmemDefault", "netCoreRmemDefault"),
    ("netCoreRmemMax", "netCoreRmemMax"),
    ("netCoreSomaxconn", "netCoreSomaxconn"),
    ("netCoreWmemDefault", "netCoreWmemDefault"),
    ("netCoreWmemMax", "netCoreWmemMax"),
    ("netIPv4IPLocalPortRange", "netIpv4IpLocalPortRange"),
    ("netIPv4NeighDefaultGcThresh1", "netIpv4NeighDefaultGcThresh1"),
    ("netIPv4NeighDefaultGcThresh2", "netIpv4NeighDefaultGcThresh2"),
    ("netIPv4NeighDefaultGcThresh3", "netIpv4NeighDefaultGcThresh3"),
    ("netIPv4TCPFinTimeout", "netIpv4TcpFinTimeout"),
    // The controller's spelling.
    ("netIPv4TCPKeepaliveIntvl", "netIpv4TcpkeepaliveIntvl"),
    ("netIPv4TCPKeepaliveProbes", "netIpv4TcpKeepaliveProbes"),
    ("netIPv4TCPKeepaliveTime", "netIpv4TcpKeepaliveTime"),
    ("netIPv4TCPMaxSynBacklog", "netIpv4TcpMaxSynBacklog"),
    ("netIPv4TCPMaxTwBuckets", "netIpv4TcpMaxTwBuckets"),
    ("netIPv4TCPTwReuse", "netIpv4TcpTwReuse"),
    ("netNetfilterNfConntrackBuckets", "netNetfilterNfConntrackBuckets"),
    ("netNetfilterNfConntrackMax", "netNetfilterNfConntrackMax"),
    ("vmMaxMapCount", "vmMaxMapCount"),
    ("vmSwappiness", "vmSwappiness"),
    ("vmVfsCachePressure", "vmVfsCachePressure"),
];

/// Returns `customLinuxOsConfig`; null if the class sets nothing.
pub(super) fn config(class: &AksNodeClassSpec, refusals: &mut Vec<Refusal>) -> Value {
    let Some(LinuxOsConfig {
        swap_file_size,
        sysctls,
        transparent_huge_page_defrag,
        transparent_huge_page_enabled,
    }) = &class.linux_os_config
    else {
        return Value::Null;
    };
    let swap = swap_file_size.as_deref().and_then(|size| swap_mib(size, refusals));
    json!({
        "enableSwapConfig": swap.map(|_| true),
        "swapFileSize": swap,
        "transparentDefrag": transparent_huge_page_defrag,
        "transparentHugepageSupport": transparent_huge_page_enabled,
        "sysctlConfig": sysctls.as_ref().map(|sysctls| self::sysctls(sysctls, refusals)),
    })
}

/// Returns the size of the swap file in whole MiB.
fn swap_mib(size: &str, refusals: &mut Vec<Refusal>) -> Option<i32> {
    const FIELD: &str = "spec.linuxOSConfig.swapFileSize";
    let Some(quantity) = Quantity::parse(size) else {
        refusals.push(Refusal::new(FIELD, format!("`{}` is no size (as `1500Mi`)", size.escape_default())));
        return None;
    };
    let mib = i32::try_from(quantity.units_down() / MIB).ok().filter(|mib| *mib > 0);
    if mib.is_none() {
        refusals.push(Refusal::new(
            FIELD,
            format!("`{}` must be at least 1Mi and below 2Pi", size.escape_default()),
        ));
    }
    mib
}

fn sysctls(sysctls: &Sysctls, refusals: &mut Vec<Refusal>) -> Value {
    let Ok(Value::Object(set)) = serde_json::to_value(sysctls) else { return Value::Null };
    let mut config = Map::new();
    for (name, value) in set {
        match SYSCTLS.iter().find(|(of_class, _)| *of_class == name) {
            Some((_, of_controller)) => {
                config.insert((*of_controller).to_owned(), value);
            }
            None => refusals.push(Refusal::new(
                format!("spec.linuxOSConfig.sysctls.{name}"),
                "the node controller of AKS has no such setting",
            )),
        }
    }
    Value::Object(config)
}
