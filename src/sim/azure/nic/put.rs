//! PUT and PATCH of a NIC: addresses of the subnet, members of backend pools.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{KIND, Nic};
use crate::sim::azure::gate::may_use;
use crate::sim::azure::operation::{self, Task};
use crate::sim::azure::{ArmError, Azure, Call, Stage, address, network, route};
use crate::sim::faults::Ending;
use crate::sim::http::Answer;
use crate::sim::json::{list, set, text, text_or_empty};

pub(crate) fn put(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    name: &str,
) -> Result<Answer, ArmError> {
    let body = call.body()?;
    check(azure, &body)?;
    let wanted = list(&body, "/properties/ipConfigurations").len();
    let before = azure.nics.get(name).cloned();
    if before.as_ref().is_some_and(|nic| nic.is_deleting) {
        let message = format!(
            "Another operation on this or dependent resource is in progress: {}.",
            azure.id(KIND, name)
        );
        return Err(ArmError::new(429, "RetryableErrorDueToAnotherOperation", message)
            .with_header("Retry-After", "10"));
    }
    // A write that keeps the number of IP configurations keeps the addresses.
    let addresses = match &before {
        Some(nic) if nic.addresses.len() == wanted => nic.addresses.clone(),
        _ => new_addresses(azure, name, wanted)?,
    };
    let status = if before.is_some() { 200 } else { 201 };
    let nic = match before {
        Some(nic) => Nic { body, addresses, is_ready: false, writes: nic.writes + 1, ..nic },
        None => Nic {
            name: call.segment(7).to_owned(),
            body,
            addresses,
            is_ready: false,
            is_deleting: false,
            machine: None,
            reserved: None,
            guid: stage.draw.guid(&format!("nic {name} {}", stage.now)),
            writes: 1,
        },
    };
    azure.nics.insert(name.to_owned(), nic);
    let wait = stage.draw.within(&format!("nic {name} {}", stage.now), azure.settings.durations.nic);
    let id = operation::begin(azure, call, stage, Task::MakeNic(name.to_owned()), (wait, Ending::AsAsked));
    let shown = azure.nics.get(name).map(|nic| nic.shown(azure)).unwrap_or_default();
    Ok(operation::announced(azure, call, &id, Answer::json(status, &shown)))
}

pub(crate) fn patch(azure: &mut Azure, call: &Call<'_>, name: &str) -> Result<Answer, ArmError> {
    let body = call.body()?;
    route::tags_of(&body)?;
    let Some(nic) = azure.nics.get_mut(name) else {
        return Err(ArmError::not_found(KIND, call.segment(7), call.segment(3)));
    };
    set(&mut nic.body, &["tags"], body.get("tags").cloned().unwrap_or_else(|| json!({})));
    nic.writes += 1;
    let shown = azure.nics.get(name).map(|nic| nic.shown(azure)).unwrap_or_default();
    Ok(Answer::json(200, &shown))
}

fn check(azure: &Azure, body: &Value) -> Result<(), ArmError> {
    route::tags_of(body)?;
    let location = text_or_empty(body, "/location");
    if !location.replace(' ', "").eq_ignore_ascii_case(&azure.settings.location) {
        let message = format!(
            "The provided location '{location}' is not available for resource type '{KIND}'. List of available regions for the resource type is '{}'.",
            azure.settings.location
        );
        return Err(ArmError::new(400, "LocationNotAvailableForResourceType", message));
    }
    let configurations = list(body, "/properties/ipConfigurations");
    if configurations.is_empty() {
        let message = "Network interface must have at least one IP configuration.";
        return Err(ArmError::new(400, "NetworkInterfaceMustHaveAtLeastOneIpConfiguration", message));
    }
    let names: BTreeSet<&str> = configurations.iter().filter_map(|found| text(found, "/name")).collect();
    if names.len() != configurations.len() {
        return Err(ArmError::new(
            400,
            "InvalidRequestFormat",
            "Cannot parse the request: each IP configuration needs a name of its own.",
        ));
    }
    let primaries =
        configurations.iter().filter(|found| crate::sim::json::is_true(found, "/properties/primary")).count();
    if primaries > 1 || (primaries == 0 && configurations.len() > 1) {
        let message = "Network interface must have exactly one primary IP configuration.";
        return Err(ArmError::new(400, "MultiplePrimaryIpConfigurationsNotAllowed", message));
    }
    configurations.iter().try_for_each(|configuration| check_configuration(azure, configuration))?;
    match text(body, "/properties/networkSecurityGroup/id") {
        Some(id) => reference(
            azure,
            id,
            &network::security_group_id(azure),
            "Microsoft.Network/networkSecurityGroups/join/action",
        ),
        None => Ok(()),
    }
}

fn check_configuration(azure: &Azure, configuration: &Value) -> Result<(), ArmError> {
    let subnet = text_or_empty(configuration, "/properties/subnet/id");
    reference(
        azure,
        subnet,
        &azure.settings.subnet_id(),
        "Microsoft.Network/virtualNetworks/subnets/join/action",
    )?;
    for pool in list(configuration, "/properties/loadBalancerBackendAddressPools") {
        let id = text_or_empty(pool, "/id");
        let known = network::POOLS.map(|name| network::pool_id(azure, name));
        let found = known.iter().find(|known| known.eq_ignore_ascii_case(id)).unwrap_or(&known[0]);
        reference(azure, id, found, "Microsoft.Network/loadBalancers/backendAddressPools/join/action")?;
    }
    Ok(())
}

/// Checks that a resource referenced by a NIC exists and may be used.
fn reference(azure: &Azure, id: &str, known: &str, action: &str) -> Result<(), ArmError> {
    if !id.eq_ignore_ascii_case(known) {
        let message = format!(
            "Resource {id} referenced by the network interface was not found. Please make sure that the referenced resource exists, and that both resources are in the same region."
        );
        return Err(ArmError::new(400, "InvalidResourceReference", message));
    }
    may_use(azure, action, id)
}

fn new_addresses(azure: &Azure, name: &str, wanted: usize) -> Result<Vec<u32>, ArmError> {
    let network = &azure.settings.network;
    let taken: BTreeSet<u32> = azure
        .nics
        .iter()
        .filter(|(other, _)| other.as_str() != name)
        .flat_map(|(_, nic)| nic.addresses.iter().copied())
        .collect();
    address::free(&network.subnet_prefix, &taken, network.addresses_in_use, wanted).ok_or_else(|| {
        let subnet = azure.settings.subnet_id();
        let short = subnet.rsplit('/').next().unwrap_or_default();
        let message = format!(
            "Subnet {short} with address prefix {} does not have enough capacity for {wanted} IP addresses.",
            network.subnet_prefix
        );
        ArmError::new(400, "SubnetIsFull", message)
    })
}
