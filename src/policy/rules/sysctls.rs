//! Rules between the sysctls of an AKSNodeClass. Must only hold relations; the range of each sysctl is in the schema.

use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Pairs of sysctls of which the first must not exceed the second.
const ORDERED: &[(&str, &str)] = &[
    ("netCoreRmemDefault", "netCoreRmemMax"),
    ("netCoreWmemDefault", "netCoreWmemMax"),
    ("netIPv4NeighDefaultGcThresh1", "netIPv4NeighDefaultGcThresh2"),
    ("netIPv4NeighDefaultGcThresh2", "netIPv4NeighDefaultGcThresh3"),
];

/// Returns the faults between the sysctls of a node class.
pub(super) fn faults(spec: &Place<'_>) -> Vec<Fault> {
    let Some(sysctls) = spec.at("linuxOSConfig.sysctls") else {
        return Vec::new();
    };
    let mut faults = port_faults(&sysctls);
    for (lower, upper) in ORDERED {
        let Some((low, high)) = sysctls.integer(lower).zip(sysctls.integer(upper)) else { continue };
        if low > high {
            faults
                .push(sysctls.fault_at(lower, format!("{low} must not be above `{upper}`, which is {high}")));
        }
    }
    faults
}

fn port_faults(sysctls: &Place<'_>) -> Vec<Fault> {
    const FIELD: &str = "netIPv4IPLocalPortRange";
    let Some((first, last)) = sysctls.text(FIELD).and_then(|range| range.split_once(' ')) else {
        return Vec::new();
    };
    let say = |message: String| sysctls.fault_at(FIELD, message).hint("the widest range is `1024 65535`");
    // A port that cannot be parsed is outside every range.
    let (first_port, last_port) = (first.parse::<i64>().unwrap_or(-1), last.parse::<i64>().unwrap_or(-1));
    let mut faults = Vec::new();
    if !(1024..=60999).contains(&first_port) {
        faults.push(say(format!("the first port {first} must be from 1024 to 60999")));
    }
    if !(32768..=65535).contains(&last_port) {
        faults.push(say(format!("the last port {last} must be from 32768 to 65535")));
    }
    if first_port > last_port {
        faults.push(say(format!("the first port {first} must not be above the last port {last}")));
    }
    faults
}
