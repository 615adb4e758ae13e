//! Azure's checks before it accepts a VM.

use serde_json::Value;

use super::KIND;
use crate::sim::azure::gate::may_use;
use crate::sim::azure::{ArmError, Azure, Call, Sku, Stage, image, nic, route, usage};
use crate::sim::faults::Occasion;
use crate::sim::json::{is_true, list, members, number, text, text_or_empty};

/// Maximum length of a Linux VM's name.
const NAME_MAX: usize = 64;

/// A requested VM that passed the checks.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) sku: Sku,
    pub(crate) zone: Option<String>,
    pub(crate) is_spot: bool,
    pub(crate) is_ephemeral: bool,
    pub(crate) nics: Vec<(String, bool)>,
}

/// Checks a new VM.
pub(crate) fn order(
    azure: &Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    body: &Value,
) -> Result<Order, ArmError> {
    let name = call.segment(7);
    place(azure, name, body)?;
    let size = text_or_empty(body, "/properties/hardwareProfile/vmSize");
    let sku = azure.sku(size).cloned().ok_or_else(|| {
        let message = format!(
            "The value {size} provided for the VM size is not valid. The size is not known in {}.",
            azure.settings.location
        );
        ArmError::invalid("vmSize", message)
    })?;
    let zone = zone(azure, &sku, body)?;
    let is_spot = priority(&sku, body)?;
    profile(body)?;
    image::check(azure, body.pointer("/properties/storageProfile/imageReference").unwrap_or(&Value::Null))?;
    let is_ephemeral = disk(&sku, body)?;
    let nics = nics(azure, stage, name, body)?;
    identities(azure, body)?;
    if stage.faults.exceeds_quota(&Occasion::of(call), stage.now) {
        let limit = if is_spot { "lowPriorityCores" } else { sku.family.as_str() };
        return Err(usage::exceeded(azure, limit, (0, 0, sku.vcpus)));
    }
    usage::check(azure, &sku, is_spot)?;
    Ok(Order { sku, zone, is_spot, is_ephemeral, nics })
}

fn place(azure: &Azure, name: &str, body: &Value) -> Result<(), ArmError> {
    route::tags_of(body)?;
    let is_named = name.len() <= NAME_MAX
        && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'));
    if !is_named {
        return Err(ArmError::new(400, "InvalidResourceName", format!("Resource name {name} is invalid.")));
    }
    let location = text_or_empty(body, "/location");
    if location.is_empty() {
        return Err(ArmError::new(
            400,
            "LocationRequired",
            "The location property is required for this definition.",
        ));
    }
    if !location.replace(' ', "").eq_ignore_ascii_case(&azure.settings.location) {
        let message = format!(
            "The provided location '{location}' is not available for resource type '{KIND}'. List of available regions for the resource type is '{}'.",
            azure.settings.location
        );
        return Err(ArmError::new(400, "LocationNotAvailableForResourceType", message));
    }
    Ok(())
}

fn zone(azure: &Azure, sku: &Sku, body: &Value) -> Result<Option<String>, ArmError> {
    let asked: Vec<&str> = list(body, "/zones").iter().filter_map(Value::as_str).collect();
    let restricted = |place: &str| {
        let message = format!(
            "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {}' is currently not available in {place}. Please try another size or deploy to a different location or different zone.",
            sku.name
        );
        Err(ArmError::new(409, "SkuNotAvailable", message))
    };
    if sku.is_restricted {
        return restricted(&format!("location '{}'", azure.settings.location));
    }
    match asked.as_slice() {
        [] => Ok(None),
        [zone] if !azure.settings.zones.iter().any(|known| known == zone) => {
            let message = format!(
                "The zone(s) '{zone}' for resource '{KIND}' is not supported. The supported zones for location '{}' are '{}'.",
                azure.settings.location,
                azure.settings.zones.join(",")
            );
            Err(ArmError::new(400, "InvalidAvailabilityZone", message))
        }
        [zone]
            if !sku.zones.iter().any(|known| known == zone)
                || sku.restricted_zones.iter().any(|known| known == zone) =>
        {
            restricted(&format!("zones '{zone}' of location '{}'", azure.settings.location))
        }
        [zone] => Ok(Some((*zone).to_owned())),
        _ => Err(ArmError::invalid(
            "zones",
            "The value of parameter zones is invalid: a virtual machine has one zone.",
        )),
    }
}

fn priority(sku: &Sku, body: &Value) -> Result<bool, ArmError> {
    let spot_only = ["evictionPolicy", "billingProfile"];
    match text(body, "/properties/priority").unwrap_or("Regular") {
        "Regular" => {
            match spot_only.iter().find(|name| body.pointer(&format!("/properties/{name}")).is_some()) {
                Some(name) => Err(ArmError::invalid(
                    name,
                    format!("Property '{name}' can be set only for virtual machines of priority Spot."),
                )),
                None => Ok(false),
            }
        }
        "Spot" if sku.can_be_spot => Ok(true),
        "Spot" => Err(ArmError::invalid(
            "priority",
            format!("The VM size {} cannot be used with priority Spot.", sku.name),
        )),
        other => Err(ArmError::invalid(
            "priority",
            format!("The value '{other}' of parameter 'priority' is invalid."),
        )),
    }
}

/// Checks the login settings and the customData that configures the node.
fn profile(body: &Value) -> Result<(), ArmError> {
    let Some(profile) = body.pointer("/properties/osProfile") else {
        return Err(ArmError::invalid("osProfile", "Required parameter 'osProfile' is missing (null)."));
    };
    for name in ["computerName", "adminUsername"] {
        if text_or_empty(profile, &format!("/{name}")).is_empty() {
            return Err(ArmError::invalid(name, format!("Required parameter '{name}' is missing (null).")));
        }
    }
    if text_or_empty(profile, "/computerName").len() > NAME_MAX {
        return Err(ArmError::invalid(
            "computerName",
            "Linux host name cannot exceed 64 characters in length.",
        ));
    }
    let has_key = !list(profile, "/linuxConfiguration/ssh/publicKeys").is_empty();
    if !has_key && is_true(profile, "/linuxConfiguration/disablePasswordAuthentication") {
        return Err(ArmError::invalid(
            "linuxConfiguration.ssh.publicKeys.keyData",
            "At least one SSH key is needed where password authentication is disabled.",
        ));
    }
    if let Some(data) = text(profile, "/customData")
        && data_encoding::BASE64.decode(data.as_bytes()).is_err()
    {
        return Err(ArmError::invalid(
            "customData",
            "Custom data in OSProfile must be in Base64 encoding and with a maximum length of 87380 characters.",
        ));
    }
    // Azure's limit for customData: 64 KiB in base64.
    const CUSTOM_DATA_MAX: usize = 87_380;
    if text_or_empty(profile, "/customData").len() > CUSTOM_DATA_MAX {
        return Err(ArmError::invalid(
            "customData",
            "Custom data in OSProfile must be in Base64 encoding and with a maximum length of 87380 characters.",
        ));
    }
    Ok(())
}

/// Checks the OS disk and returns whether it is ephemeral; an ephemeral disk must fit the size.
fn disk(sku: &Sku, body: &Value) -> Result<bool, ArmError> {
    let disk = body.pointer("/properties/storageProfile/osDisk").unwrap_or(&Value::Null);
    if text(disk, "/createOption") != Some("FromImage") {
        return Err(ArmError::invalid(
            "osDisk.createOption",
            "An OS disk of an image is created with createOption FromImage.",
        ));
    }
    let size = number(disk, "/diskSizeGB").unwrap_or(30);
    if !(1..=4_095).contains(&size) {
        return Err(ArmError::invalid(
            "osDisk.diskSizeGB",
            format!("The value {size} of parameter diskSizeGB is out of range."),
        ));
    }
    if text(disk, "/diffDiskSettings/option").is_none() {
        return Ok(false);
    }
    const GB: u64 = 1_000_000_000;
    let wanted = u64::try_from(size).unwrap_or(0) * GB;
    if text(disk, "/caching") != Some("ReadOnly") || wanted > sku.ephemeral_bytes {
        let message = format!(
            "OS disk of Ephemeral VM with size greater than {} GB is not allowed for VM size {} when the DiffDiskPlacement is {}, and its caching must be ReadOnly.",
            sku.ephemeral_bytes / GB,
            sku.name,
            text(disk, "/diffDiskSettings/placement").unwrap_or("CacheDisk")
        );
        return Err(ArmError::new(400, "OperationNotAllowed", message));
    }
    Ok(true)
}

/// Returns the NICs of the VM after checking that they exist, are free, and may be used.
fn nics(azure: &Azure, stage: &Stage<'_>, name: &str, body: &Value) -> Result<Vec<(String, bool)>, ArmError> {
    let asked = list(body, "/properties/networkProfile/networkInterfaces");
    if asked.is_empty() {
        return Err(ArmError::invalid(
            "networkProfile",
            "Required parameter 'networkProfile' is missing (null).",
        ));
    }
    let mut nics = Vec::new();
    for reference in asked {
        let id = text_or_empty(reference, "/id");
        let short = id.rsplit('/').next().unwrap_or_default().to_lowercase();
        let known =
            azure.nics.get(&short).filter(|nic| azure.id(nic::KIND, &nic.name).eq_ignore_ascii_case(id));
        let Some(nic) = known.filter(|nic| !nic.is_deleting) else {
            let message = format!(
                "Resource {id} referenced by resource {} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.",
                azure.id(KIND, name)
            );
            return Err(ArmError::new(400, "InvalidResourceReference", message));
        };
        if let Some(other) = &nic.machine {
            let message =
                format!("Network interface {id} is in use by virtual machine {}.", azure.id(KIND, other));
            return Err(ArmError::new(400, "NicInUse", message));
        }
        let other = nic.reserved.as_ref().filter(|_| nic.is_reserved(stage.now));
        if other.is_some_and(|reserved| reserved.machine != name.to_lowercase()) {
            let message = format!(
                "Nic(s) in request is reserved for another Virtual Machine for {} seconds.",
                nic::RESERVED_SECONDS
            );
            return Err(ArmError::new(400, "NicReservedForAnotherVm", message));
        }
        may_use(azure, "Microsoft.Network/networkInterfaces/join/action", id)?;
        nics.push((short, text(reference, "/properties/deleteOption") == Some("Delete")));
    }
    Ok(nics)
}

fn identities(azure: &Azure, body: &Value) -> Result<(), ArmError> {
    let given: Vec<&String> = members(body, "/identity/userAssignedIdentities").map(|(id, _)| id).collect();
    if !given.is_empty() && !text_or_empty(body, "/identity/type").contains("UserAssigned") {
        return Err(ArmError::new(
            400,
            "InvalidIdentityType",
            "The identity type must be 'UserAssigned' where identities are listed.",
        ));
    }
    for id in given {
        let is_formed =
            id.to_lowercase().contains("/providers/microsoft.managedidentity/userassignedidentities/");
        if !is_formed || !id.starts_with("/subscriptions/") {
            let message =
                format!("The value '{id}' is not a valid resource identifier of a user-assigned identity.");
            return Err(ArmError::new(400, "LinkedInvalidPropertyId", message));
        }
        may_use(azure, "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action", id)?;
    }
    Ok(())
}
