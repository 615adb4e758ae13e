//! A VM as ARM shows it. Never includes secrets.

use serde_json::{Value, json};

use super::{KIND, Machine, MachineState, extension};
use crate::sim::agenda::azure_time;
use crate::sim::azure::Azure;
use crate::sim::json::{members, set, text};

/// Additional content returned with the VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    Nothing,
    Extensions,
    ExtensionsAndView,
}

pub(crate) fn machine(azure: &Azure, machine: &Machine, with: With) -> Value {
    let mut body = machine.body.clone();
    let Machine { name, vm_id, created, state, writes, .. } = machine;
    for (path, value) in [
        (&["name"][..], json!(name)),
        (&["id"], json!(azure.id(KIND, name))),
        (&["type"], json!(KIND)),
        (&["etag"], json!(format!("\"{writes}\""))),
        (&["properties", "provisioningState"], json!(state.text())),
        (&["properties", "vmId"], json!(vm_id)),
        (&["properties", "timeCreated"], json!(azure_time(*created))),
        (&["properties", "storageProfile", "osDisk", "osType"], json!("Linux")),
        (&["properties", "osProfile", "secrets"], json!([])),
        (&["properties", "osProfile", "allowExtensionOperations"], json!(true)),
    ] {
        set(&mut body, path, value);
    }
    if let Some((disk, _)) = &machine.disk {
        let id = azure.id("Microsoft.Compute/disks", disk);
        set(&mut body, &["properties", "storageProfile", "osDisk", "managedDisk", "id"], json!(id));
        set(&mut body, &["properties", "storageProfile", "osDisk", "name"], json!(disk));
        if let Some(found) = azure.disks.get(&disk.to_lowercase()) {
            let path = ["properties", "storageProfile", "osDisk", "managedDisk", "storageAccountType"];
            set(&mut body, &path, json!(found.account_type));
            set(&mut body, &["properties", "storageProfile", "osDisk", "diskSizeGB"], json!(found.size_gb));
        }
    }
    identities(azure, machine, &mut body);
    if with != With::Nothing && !machine.extensions.is_empty() {
        let all: Vec<Value> =
            machine.extensions.values().map(|found| extension::shown(azure, machine, found)).collect();
        set(&mut body, &["resources"], all.into());
    }
    if with == With::ExtensionsAndView {
        set(&mut body, &["properties", "instanceView"], instance_view(machine));
    }
    body
}

/// Adds the client and principal ids to each identity, as Azure does.
fn identities(azure: &Azure, machine: &Machine, body: &mut Value) {
    let draw = crate::sim::draw::Draw::new(0);
    let of_cluster = super::super::managed_cluster::kubelet_identity(&azure.settings);
    let given: Vec<String> =
        members(&machine.body, "/identity/userAssignedIdentities").map(|(id, _)| id.clone()).collect();
    for id in given {
        let is_kubelet =
            text(&of_cluster, "/resourceId").is_some_and(|known| known.eq_ignore_ascii_case(&id));
        let (client, principal) = if is_kubelet {
            (of_cluster["clientId"].clone(), of_cluster["objectId"].clone())
        } else {
            let lower = id.to_lowercase();
            (json!(draw.guid(&format!("client {lower}"))), json!(draw.guid(&format!("principal {lower}"))))
        };
        set(
            body,
            &["identity", "userAssignedIdentities", &id],
            json!({"clientId": client, "principalId": principal}),
        );
    }
}

pub(crate) fn instance_view(machine: &Machine) -> Value {
    let time = azure_time(machine.created);
    let (code, shown) = match machine.state {
        MachineState::Creating => ("ProvisioningState/creating", "Creating"),
        MachineState::Succeeded => ("ProvisioningState/succeeded", "Provisioning succeeded"),
        MachineState::Failed => ("ProvisioningState/failed", "Provisioning failed"),
        MachineState::Deleting => ("ProvisioningState/deleting", "Deleting"),
    };
    let mut statuses = vec![json!({"code": code, "level": "Info", "displayStatus": shown, "time": time})];
    if machine.state == MachineState::Succeeded {
        statuses.push(json!({"code": "PowerState/running", "level": "Info", "displayStatus": "VM running"}));
    }
    let disks: Vec<Value> = machine
        .disk
        .iter()
        .map(|(name, _)| {
            json!({
                "name": name,
                "statuses": [{"code": code, "level": "Info", "displayStatus": shown, "time": time}],
            })
        })
        .collect();
    json!({"statuses": statuses, "disks": disks, "hyperVGeneration": "V2"})
}
