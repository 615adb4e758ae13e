//! PUT of a VM.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::check::{self, Order};
use super::{Machine, MachineState, show};
use crate::sim::azure::disk::Disk;
use crate::sim::azure::operation::{self, Task};
use crate::sim::azure::{ArmError, Azure, Call, Stage, route};
use crate::sim::faults::{Ending, Occasion};
use crate::sim::http::Answer;
use crate::sim::json::{number, set, text, text_or_empty, unset};
use crate::sim::sensitive::Sensitive;

/// The size of Ubuntu's image: the default OS disk size, in GB.
const IMAGE_GB: i64 = 30;

pub(crate) fn put(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    name: &str,
) -> Result<Answer, ArmError> {
    let body = call.body()?;
    let none_match = call.request.head("if-none-match");
    let if_match = call.request.head("if-match");
    if let Some(machine) = azure.machines.get(name) {
        if none_match == Some("*") {
            let message = format!(
                "The condition 'If-None-Match: *' does not hold: the resource {} exists.",
                call.path()
            );
            return Err(ArmError::new(412, "PreconditionFailed", message));
        }
        if if_match.is_some_and(|tag| tag != "*" && tag != format!("\"{}\"", machine.writes)) {
            return Err(ArmError::new(
                412,
                "PreconditionFailed",
                "The condition 'If-Match' does not hold: the resource has changed.",
            ));
        }
        return again(azure, name, &body);
    }
    if if_match.is_some() {
        let message =
            format!("The condition 'If-Match' does not hold: the resource {} does not exist.", call.path());
        return Err(ArmError::new(412, "PreconditionFailed", message));
    }
    let order = check::order(azure, call, stage, &body)?;
    let ending = ending(azure, call, stage, &order);
    let about = format!("vm {name} {}", stage.now);
    let machine = new_machine(call, stage, &body, &order);
    attach(azure, &machine, &order, &body);
    azure.machines.insert(name.to_owned(), machine);
    let wait = stage.draw.with_tail(&about, azure.settings.durations.vm_create);
    let id = operation::begin(azure, call, stage, Task::MakeVm(name.to_owned()), (wait, ending));
    let shown = azure.machines.get(name).map(|machine| show::machine(azure, machine, show::With::Nothing));
    Ok(operation::announced(azure, call, &id, Answer::json(201, &shown.unwrap_or_default())))
}

/// Updates an existing VM: changes that are possible in place are applied, others are refused.
fn again(azure: &mut Azure, name: &str, body: &Value) -> Result<Answer, ArmError> {
    route::tags_of(body)?;
    let Some(machine) = azure.machines.get_mut(name) else {
        return Err(ArmError::conflict("The VM is gone."));
    };
    if machine.state == MachineState::Deleting {
        return Err(ArmError::conflict(format!("The VM '{}' is being deleted.", machine.name)));
    }
    let zones = body.get("zones").cloned().unwrap_or_else(|| json!([]));
    let before = machine.body.get("zones").cloned().unwrap_or_else(|| json!([]));
    let changed = if zones != before {
        Some("zones")
    } else if !text_or_empty(body, "/properties/hardwareProfile/vmSize").eq_ignore_ascii_case(&machine.size) {
        // Changing the size of a running VM needs a restart, which nodes must not have.
        Some("hardwareProfile.vmSize")
    } else if text(body, "/properties/osProfile/customData")
        .is_some_and(|data| data != machine.custom_data.reveal())
    {
        Some("osProfile.customData")
    } else if text(body, "/properties/priority") != text(&machine.body, "/properties/priority") {
        Some("priority")
    } else {
        None
    };
    if let Some(property) = changed {
        let message = format!("Changing property '{property}' is not allowed.");
        return Err(ArmError::new(409, "PropertyChangeNotAllowed", message));
    }
    for member in ["tags", "identity"] {
        if let Some(value) = body.get(member) {
            set(&mut machine.body, &[member], value.clone());
        }
    }
    machine.writes += 1;
    let shown = azure.machines.get(name).map(|machine| show::machine(azure, machine, show::With::Nothing));
    Ok(Answer::json(200, &shown.unwrap_or_default()))
}

fn new_machine(call: &Call<'_>, stage: &Stage<'_>, body: &Value, order: &Order) -> Machine {
    let mut body = body.clone();
    let custom_data = unset(&mut body, &["properties", "osProfile", "customData"]);
    for secret in [&["properties", "osProfile", "adminPassword"][..], &["properties", "userData"]] {
        unset(&mut body, secret);
    }
    let name = call.segment(7).to_owned();
    let disk = (!order.is_ephemeral).then(|| {
        let given = text(&body, "/properties/storageProfile/osDisk/name").map(str::to_owned);
        let is_deleted = text(&body, "/properties/storageProfile/osDisk/deleteOption") == Some("Delete");
        (given.unwrap_or_else(|| format!("{name}_OsDisk_1")), is_deleted)
    });
    Machine {
        vm_id: stage.draw.guid(&format!("vmId {name} {}", stage.now)),
        created: stage.now,
        custom_data: Sensitive::new(custom_data.as_ref().and_then(Value::as_str).unwrap_or_default()),
        state: MachineState::Creating,
        size: order.sku.name.clone(),
        family: order.sku.family.clone(),
        vcpus: order.sku.vcpus,
        zone: order.zone.clone(),
        is_spot: order.is_spot,
        nics: order.nics.clone(),
        disk,
        extensions: BTreeMap::new(),
        writes: 1,
        body,
        name,
    }
}

/// Attaches the NICs to the VM and creates its OS disk.
fn attach(azure: &mut Azure, machine: &Machine, order: &Order, body: &Value) {
    let lower = machine.name.to_lowercase();
    for (nic, _) in &machine.nics {
        if let Some(nic) = azure.nics.get_mut(nic) {
            nic.machine = Some(lower.clone());
            nic.reserved = None;
        }
    }
    let Some((disk, _)) = &machine.disk else { return };
    let given = text(body, "/properties/storageProfile/osDisk/managedDisk/storageAccountType");
    let made = Disk {
        name: disk.clone(),
        size_gb: number(body, "/properties/storageProfile/osDisk/diskSizeGB").unwrap_or(IMAGE_GB),
        account_type: given.unwrap_or("Premium_LRS").to_owned(),
        zone: order.zone.clone(),
        created: machine.created,
        machine: Some(lower),
        image: body.pointer("/properties/storageProfile/imageReference").cloned().unwrap_or_default(),
        tags: body.get("tags").cloned().unwrap_or_else(|| json!({})),
    };
    azure.disks.insert(disk.to_lowercase(), made);
}

/// Returns how the creation will end: decided by the active faults, otherwise by the available capacity.
fn ending(azure: &Azure, call: &Call<'_>, stage: &mut Stage<'_>, order: &Order) -> Ending {
    let by_fault = stage.faults.ending(&Occasion::of(call), stage.now);
    if by_fault != Ending::AsAsked {
        return by_fault;
    }
    let fits =
        |found: Option<&String>, value: Option<&str>| found.is_none_or(|found| Some(found.as_str()) == value);
    let priority = if order.is_spot { "Spot" } else { "Regular" };
    let rule = azure.settings.capacity.iter().find(|rule| {
        rule.size.as_ref().is_none_or(|size| size.eq_ignore_ascii_case(&order.sku.name))
            && fits(rule.zone.as_ref(), order.zone.as_deref())
            && fits(rule.priority.as_ref(), Some(priority))
    });
    let Some(rule) = rule else { return Ending::AsAsked };
    let running = azure.machines.values().filter(|machine| {
        machine.state != MachineState::Failed
            && rule.size.as_ref().is_none_or(|size| size.eq_ignore_ascii_case(&machine.size))
            && fits(rule.zone.as_ref(), machine.zone.as_deref())
            && fits(rule.priority.as_ref(), Some(if machine.is_spot { "Spot" } else { "Regular" }))
    });
    let count = u64::try_from(running.count()).unwrap_or(u64::MAX);
    if count < rule.vms { Ending::AsAsked } else { Ending::NoRoom }
}
