//! Managed disks: created with their VM, deleted with it or on their own.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::operation::{self, Task};
use super::{ArmError, Azure, Call, Stage, page};
use crate::sim::agenda::azure_time;
use crate::sim::faults::Ending;
use crate::sim::http::Answer;

const KIND: &str = "Microsoft.Compute/disks";

/// A managed disk.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    pub(crate) name: String,
    pub(crate) size_gb: i64,
    pub(crate) account_type: String,
    pub(crate) zone: Option<String>,
    pub(crate) created: Timestamp,
    /// The lower-case name of the VM that it is attached to.
    pub(crate) machine: Option<String>,
    pub(crate) image: Value,
    pub(crate) tags: Value,
}

pub(crate) fn answer(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    rest: &[&str],
) -> Result<Answer, ArmError> {
    let name = match rest {
        [] if call.method == "GET" => {
            let azure = &*azure;
            let all = azure.disks.iter().map(|(name, disk)| (name, move || shown(azure, disk)));
            return Ok(page::answer(azure, call, stage, all));
        }
        [name] => (*name).to_owned(),
        _ => return Err(super::route::unknown(call)),
    };
    match call.method {
        "GET" => azure
            .disks
            .get(&name)
            .map(|disk| Answer::json(200, &shown(azure, disk)))
            .ok_or_else(|| ArmError::not_found(KIND, call.segment(7), call.segment(3))),
        "DELETE" => delete(azure, call, stage, &name),
        // Disks of nodes are created with their VMs.
        method => Err(ArmError::method_not_allowed(method)),
    }
}

fn delete(azure: &mut Azure, call: &Call<'_>, stage: &mut Stage<'_>, name: &str) -> Result<Answer, ArmError> {
    let Some(disk) = azure.disks.get(name) else { return Ok(Answer::empty(204)) };
    if let Some(machine) = disk.machine.as_ref().and_then(|machine| azure.machines.get(machine)) {
        let message = format!(
            "Disk {} is attached to VM {}.",
            azure.id(KIND, &disk.name),
            azure.id("Microsoft.Compute/virtualMachines", &machine.name)
        );
        return Err(ArmError::new(409, "OperationNotAllowed", message));
    }
    let wait = stage.draw.within(&format!("disk {name} {}", stage.now), azure.settings.durations.nic);
    let id = operation::begin(azure, call, stage, Task::DeleteDisk(name.to_owned()), (wait, Ending::AsAsked));
    Ok(operation::announced(azure, call, &id, Answer::empty(202)))
}

fn shown(azure: &Azure, disk: &Disk) -> Value {
    let mut body = json!({
        "name": disk.name, "id": azure.id(KIND, &disk.name), "type": KIND,
        "location": azure.settings.location, "tags": disk.tags,
        "sku": {"name": disk.account_type, "tier": disk.account_type.split('_').next()},
        "properties": {
            "osType": "Linux", "hyperVGeneration": "V2",
            "creationData": {"createOption": "FromImage", "imageReference": disk.image},
            "diskSizeGB": disk.size_gb, "timeCreated": azure_time(disk.created),
            "provisioningState": "Succeeded",
            "diskState": if disk.machine.is_some() { "Attached" } else { "Unattached" },
        },
    });
    if let Some(zone) = &disk.zone {
        body["zones"] = json!([zone]);
    }
    if let Some(machine) = disk.machine.as_ref().and_then(|machine| azure.machines.get(machine)) {
        body["managedBy"] = json!(azure.id("Microsoft.Compute/virtualMachines", &machine.name));
    }
    body
}
