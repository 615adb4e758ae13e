//! Host ports: each port of a node is taken once, by address and protocol.

use std::collections::BTreeSet;

use crate::model::HostPort;

use super::{Miss, Rule};

/// Says whether these ports are free where others are taken.
///
/// # Errors
/// The first port that is taken.
pub fn why(wanted: &BTreeSet<HostPort>, taken: &BTreeSet<HostPort>) -> Result<(), Miss> {
    match wanted.iter().find(|port| taken.iter().any(|there| port.conflicts_with(there))) {
        None => Ok(()),
        Some(port) => Err(Miss::new(Rule::HostPorts, format!("host port `{port}` is taken"))),
    }
}
