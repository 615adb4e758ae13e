//! DELETE of a VM and of the resources that are deleted with it.

use jiff::SignedDuration;

use super::MachineState;
use crate::sim::agenda::Event;
use crate::sim::azure::operation::{self, Task};
use crate::sim::azure::{ArmError, Azure, Call, Stage};
use crate::sim::faults::{Ending, Occasion};
use crate::sim::http::Answer;

/// Time from the end of a VM until its node becomes NotReady because the kubelet is silent, in seconds: the controller
/// manager's `node-monitor-grace-period` in AKS.
const SILENCE_SECONDS: i64 = 40;
/// Time from the end of a VM until the cloud node lifecycle controller removes the node, in seconds.
const REMOVAL_SECONDS: i64 = 60;

pub(crate) fn delete(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    name: &str,
) -> Result<Answer, ArmError> {
    let Some(machine) = azure.machines.get(name) else { return Ok(Answer::empty(204)) };
    if call.request.head("if-match").is_some_and(|tag| tag != "*" && tag != format!("\"{}\"", machine.writes))
    {
        return Err(ArmError::new(
            412,
            "PreconditionFailed",
            "The condition 'If-Match' does not hold: the resource has changed.",
        ));
    }
    let task = Task::DeleteVm(name.to_owned());
    if machine.state == MachineState::Deleting {
        let mut running = azure.operations.values().filter(|it| it.ended.is_none() && it.task == task);
        // An operation that never ends is superseded by a new one.
        if let Some(running) = running.find(|it| it.ending != Ending::Never).map(|it| it.id.clone()) {
            return Ok(operation::announced(azure, call, &running, Answer::empty(202)));
        }
    }
    let is_forced = call.request.query("forceDeletion").is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let occasion = Occasion::of_delete(call, machine);
    let about = format!("vm delete {name} {}", stage.now);
    let mut wait = stage.draw.within(&about, azure.settings.durations.vm_delete);
    // A forced deletion does not wait for the guest's shutdown.
    if is_forced {
        wait /= 2;
    }
    operation::preempt(azure, stage.now, |task| match task {
        Task::MakeVm(vm) | Task::MakeExtension { vm, .. } | Task::DeleteExtension { vm, .. } => vm == name,
        Task::DeleteVm(_) | Task::MakeNic(_) | Task::DeleteNic(_) | Task::DeleteDisk(_) => false,
    });
    if let Some(machine) = azure.machines.get_mut(name) {
        machine.state = MachineState::Deleting;
        machine.writes += 1;
    }
    let ending = if stage.faults.is_stuck(&occasion, stage.now) { Ending::Never } else { Ending::AsAsked };
    let id = operation::begin(azure, call, stage, task, (wait, ending));
    Ok(operation::announced(azure, call, &id, Answer::empty(202)))
}

/// Removes a VM: its cores are released, resources with `deleteOption: Delete` are deleted, and its kubelet is silent.
pub(crate) fn deleted(azure: &mut Azure, stage: &mut Stage<'_>, name: &str) -> Option<ArmError> {
    let machine = azure.machines.remove(name)?;
    azure.gone.push(machine.vm_id.clone());
    for (nic, goes) in &machine.nics {
        let Some(found) = azure.nics.get_mut(nic) else { continue };
        found.machine = None;
        // A NIC reserved for a failed VM outlives it; only an explicit deletion removes it.
        if *goes && !found.is_reserved(stage.now) {
            azure.nics.remove(nic);
        }
    }
    if let Some((disk, goes)) = &machine.disk {
        let lower = disk.to_lowercase();
        if *goes {
            azure.disks.remove(&lower);
        } else if let Some(disk) = azure.disks.get_mut(&lower) {
            disk.machine = None;
        }
    }
    for (seconds, event) in [
        (SILENCE_SECONDS, Event::NodeSilent(machine.vm_id.clone())),
        (REMOVAL_SECONDS, Event::NodeRemoved(machine.vm_id.clone())),
    ] {
        stage.agenda.after(stage.now, SignedDuration::from_secs(seconds), event);
    }
    None
}
