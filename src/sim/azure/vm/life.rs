//! The life cycle of a VM after it is requested.

use jiff::SignedDuration;

use super::{Machine, MachineState};
use crate::sim::agenda::Event;
use crate::sim::azure::nic::{RESERVED_SECONDS, Reservation};
use crate::sim::azure::{ArmError, Azure, Stage};
use crate::sim::faults::{Ending, Occasion};

/// Ends the creation of a VM.
pub(crate) fn made(
    azure: &mut Azure,
    stage: &mut Stage<'_>,
    name: &str,
    ending: &Ending,
) -> Option<ArmError> {
    let machine = azure.machines.get(name)?.clone();
    if machine.state != MachineState::Creating {
        return None;
    }
    match ending {
        Ending::AsAsked | Ending::Never => {
            start(azure, stage, name);
            None
        }
        Ending::NoRoom => {
            fail(azure, stage, &machine);
            Some(no_room(&machine))
        }
        Ending::LateSuccess { seconds } => {
            // Azure reports a failure, but the VM appears later all the same.
            if let Some(machine) = azure.machines.get_mut(name) {
                machine.state = MachineState::Failed;
            }
            stage.agenda.after(
                stage.now,
                SignedDuration::from_secs(*seconds),
                Event::LateVm(name.to_owned()),
            );
            let message = "Allocation failed. The operation timed out; the resource may still be created.";
            Some(ArmError::new(409, "AllocationFailed", message))
        }
    }
}

/// Starts a VM whose creation was reported as failed, unless it was deleted in the meantime.
pub(crate) fn appears_late(azure: &mut Azure, stage: &mut Stage<'_>, name: &str) {
    if azure.machines.get(name).is_some_and(|machine| machine.state == MachineState::Failed) {
        start(azure, stage, name);
    }
}

fn start(azure: &mut Azure, stage: &mut Stage<'_>, name: &str) {
    let durations = azure.settings.durations;
    let Some(machine) = azure.machines.get_mut(name) else { return };
    machine.state = MachineState::Succeeded;
    machine.writes += 1;
    let boot = stage.draw.within(&format!("boot {}", machine.vm_id), durations.boot);
    stage.agenda.after(stage.now, boot, Event::Boots(machine.vm_id.clone()));
    let occasion = Occasion::of_machine(machine);
    if machine.is_spot
        && let Some(seconds) = stage.faults.evicts(&occasion, stage.now)
    {
        stage.agenda.after(
            stage.now,
            SignedDuration::from_secs(seconds),
            Event::SpotEviction(machine.vm_id.clone()),
        );
    }
}

fn no_room(machine: &Machine) -> ArmError {
    let (code, message) = if machine.zone.is_some() {
        (
            "ZonalAllocationFailed",
            "Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance",
        )
    } else {
        (
            "AllocationFailed",
            "Allocation failed. We do not have sufficient capacity for the requested VM size in this region. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance",
        )
    };
    ArmError::new(409, code, message)
}

fn fail(azure: &mut Azure, stage: &mut Stage<'_>, machine: &Machine) {
    let lower = machine.name.to_lowercase();
    let held = stage.faults.holds_nic(&Occasion::of_machine(machine), stage.now);
    let until =
        stage.agenda.time_after(stage.now, SignedDuration::from_secs(held.unwrap_or(RESERVED_SECONDS)));
    if let Some(machine) = azure.machines.get_mut(&lower) {
        machine.state = MachineState::Failed;
        machine.writes += 1;
    }
    for (nic, _) in &machine.nics {
        if let Some(nic) = azure.nics.get_mut(nic) {
            nic.reserved = Some(Reservation { machine: lower.clone(), until });
        }
    }
}

/// Evicts a spot VM: it is deleted, as its policy says, together with its dependent resources.
pub(crate) fn reclaimed(azure: &mut Azure, stage: &mut Stage<'_>, vm_id: &str) {
    let found = azure.machine_by_id(vm_id).filter(|machine| machine.state == MachineState::Succeeded);
    let Some(name) = found.map(|machine| machine.name.to_lowercase()) else { return };
    super::delete::deleted(azure, stage, &name);
}
