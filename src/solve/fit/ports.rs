//! Host ports: each port of a node can be used once, by address and protocol.

use std::collections::BTreeSet;

use crate::model::HostPort;

use super::{Miss, Rule};

/// Checks whether these ports are free if others are in use.
///
/// # Errors
/// The first port that is in use.
pub fn why(wanted: &BTreeSet<HostPort>, taken: &BTreeSet<HostPort>) -> Result<(), Miss> {
    match wanted.iter().find(|port| taken.iter().any(|there| port.conflicts_with(there))) {
        None => Ok(()),
        Some(port) => Err(Miss::new(Rule::HostPorts, format!("host port `{port}` is taken"))),
    }
}
