//! NIC, VM and billing extension of an attempt.

use super::RequestFault;
use super::attempt::{Attempt, Made, group};
use crate::arm::machine::{SecurityProfile, TrustedLaunch};
use crate::arm::{
    BackendPool, BillingExtension, BuyAs, Image, Machine as Vm, NetworkInterface, OsDisk, OsLogin, Placement,
    Request, ResourceId, extension, machine_body, network_interface,
};
use crate::bootstrap::BootstrapToken;
use crate::launch::Ready;
use crate::model::secret::SENSITIVE;
use crate::model::{CapacityType, Secret};
use crate::plan::execution::{DiskPlacement, Machine, NetworkSpec, OsDiskSpec, SecuritySpec};

/// Start data of a VM that is not in its plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The public SSH key, as a line of `authorized_keys`.
    pub ssh_public_key: String,
    /// Its customData, which holds the bootstrap token.
    pub custom_data: Secret,
}

impl Start {
    /// Combines data that was verified against the plan with the rollout's token.
    #[must_use]
    pub fn of(ready: &Ready, token: &BootstrapToken) -> Self {
        Self { ssh_public_key: ready.ssh_public_key.clone(), custom_data: ready.template.custom_data(token) }
    }

    /// Returns a placeholder for requests that are only shown.
    fn shown(machine: &Machine) -> Self {
        Self {
            ssh_public_key: format!("(the cluster's own, {})", machine.ssh_key),
            custom_data: Secret::new(SENSITIVE.to_owned()),
        }
    }
}

/// Returns the id of the NIC.
///
/// # Errors
/// The plan creates no such node, or is not live.
pub fn nic_id(attempt: &Attempt<'_>) -> Result<ResourceId, RequestFault> {
    let made = attempt.made()?;
    Ok(group(made.execution)?.in_group("Microsoft.Network/networkInterfaces", &attempt.name()?)?)
}

/// Returns the id of the VM.
///
/// # Errors
/// The plan creates no such node, or is not live.
pub fn vm_id(attempt: &Attempt<'_>) -> Result<ResourceId, RequestFault> {
    let made = attempt.made()?;
    Ok(group(made.execution)?.in_group("Microsoft.Compute/virtualMachines", &attempt.name()?)?)
}

/// Returns the request that creates the NIC.
///
/// # Errors
/// The plan creates no such node, or is not live.
pub fn nic(attempt: &Attempt<'_>) -> Result<Request, RequestFault> {
    let made = attempt.made()?;
    let NetworkSpec { subnet, security_group, backend_pools, accelerated_networking, pod_addresses } =
        &made.machine.network;
    let pool = |id: &std::sync::Arc<str>| Ok::<_, RequestFault>(BackendPool(id.parse()?));
    let nic = NetworkInterface {
        name: attempt.name()?.to_string(),
        location: made.execution.cluster.location.to_string(),
        tags: attempt.tags(&made)?,
        subnet: subnet.parse()?,
        security_group: security_group.as_ref().map(|id| id.parse()).transpose()?,
        backend_pools: backend_pools.iter().map(pool).collect::<Result<_, _>>()?,
        accelerated_networking: *accelerated_networking,
        pod_addresses: *pod_addresses,
    };
    Ok(Request::put_network_interface(&nic_id(attempt)?, network_interface::build(&nic)))
}

/// Returns the request that creates the VM, unless one with its name exists.
///
/// # Errors
/// The plan creates no such node, or is not live.
pub fn vm(attempt: &Attempt<'_>, start: &Start) -> Result<Request, RequestFault> {
    let made = attempt.made()?;
    let Made { execution, machine, choice } = &made;
    let Machine { image, os_disk, identities, security, ultra_ssd, admin_user, .. } = machine;
    let identity = |id: &std::sync::Arc<str>| id.parse::<ResourceId>();
    let vm = Vm {
        name: attempt.name()?.to_string(),
        location: execution.cluster.location.to_string(),
        zone: zone(choice.choice.zone.as_str()),
        tags: attempt.tags(&made)?,
        identities: identities.iter().map(identity).collect::<Result<_, _>>()?,
        size: choice.choice.size.to_string(),
        buy_as: match choice.choice.capacity_type {
            CapacityType::Spot => BuyAs::Spot,
            CapacityType::OnDemand | CapacityType::Reserved => BuyAs::OnDemand,
        },
        image: match image.starts_with("/CommunityGalleries/") {
            true => Image::Community(image.to_string()),
            false => Image::Resource(image.parse()?),
        },
        os_disk: disk(os_disk),
        network_interface: nic_id(attempt)?,
        login: OsLogin { user: admin_user.to_string(), ssh_public_key: start.ssh_public_key.clone() },
        custom_data: start.custom_data.clone(),
        security: profile(security),
        ultra_ssd: *ultra_ssd,
    };
    Ok(Request::create_machine(&vm_id(attempt)?, machine_body::build(&vm)))
}

/// Returns the same request for display, without data that is not in the plan.
pub(super) fn vm_shown(attempt: &Attempt<'_>) -> Result<Request, RequestFault> {
    vm(attempt, &Start::shown(attempt.made()?.machine))
}

/// Returns the request that makes Azure bill the VM as an AKS node; only Azure's own clouds have that extension.
///
/// # Errors
/// The plan creates no such node, or is not live.
pub fn billing(attempt: &Attempt<'_>) -> Result<Request, RequestFault> {
    let made = attempt.made()?;
    let location = made.execution.cluster.location.to_string();
    let billing = BillingExtension { location, tags: attempt.tags(&made)? };
    let id = vm_id(attempt)?.child("extensions", extension::BILLING_EXTENSION)?;
    Ok(Request::put_extension(&id, extension::build(&billing)))
}

/// Returns Azure's name of a zone: `1` for `westeurope-1`; `None` if the node is in no zone.
fn zone(label: &str) -> Option<String> {
    let number = label.rsplit('-').next().unwrap_or(label);
    (label != crate::catalog::NO_ZONE).then(|| number.to_owned())
}

fn disk(OsDiskSpec { size_gb, placement }: &OsDiskSpec) -> OsDisk {
    OsDisk {
        size_gb: i32::try_from(*size_gb).unwrap_or(i32::MAX),
        placement: match placement {
            DiskPlacement::Managed => Placement::Managed,
            DiskPlacement::CacheDisk => Placement::CacheDisk,
            DiskPlacement::ResourceDisk => Placement::ResourceDisk,
            DiskPlacement::NvmeDisk => Placement::NvmeDisk,
        },
        encryption_set: None,
    }
}

/// Returns the security profile; secure boot or vTPM enables Trusted Launch.
fn profile(SecuritySpec { encryption_at_host, secure_boot, vtpm }: &SecuritySpec) -> SecurityProfile {
    let (secure_boot, vtpm) = (secure_boot.unwrap_or(false), vtpm.unwrap_or(false));
    let trusted_launch = (secure_boot || vtpm).then_some(TrustedLaunch { secure_boot, vtpm });
    SecurityProfile { encryption_at_host: *encryption_at_host, trusted_launch }
}
