//! Builds the PUT body of a VM with Azure's models.
//!
//! Must never set a property that [`Machine`] does not have.

use azure_mgmt_compute::models as wire;

use super::machine::{BuyAs, Image, Machine, OsDisk, Placement, SecurityProfile};
use super::{Body, complete};

/// JSON pointer to the customData in a VM's body.
const CUSTOM_DATA: &str = "/properties/osProfile/customData";

/// Builds the body that creates this VM.
#[must_use]
pub fn build(machine: &Machine) -> Body {
    let Machine {
        name,
        location,
        zone,
        tags,
        identities,
        size,
        buy_as,
        image,
        os_disk,
        network_interface,
        login,
        custom_data,
        security,
        ultra_ssd,
    } = machine;
    let mut model = wire::VirtualMachine::new(wire::Resource::new(location.clone()));
    model.resource.tags = Some(complete::tags(tags));
    model.zones = zone.iter().cloned().collect();
    let mut properties = wire::VirtualMachineProperties::new();
    properties.hardware_profile = Some(hardware(size));
    properties.storage_profile = Some(storage(name, image, os_disk));
    properties.os_profile = Some(system(name, login));
    properties.network_profile = Some(network(network_interface.to_string()));
    properties.security_profile = security_profile(*security);
    properties.additional_capabilities = ultra_ssd.map(|enabled| wire::AdditionalCapabilities {
        ultra_ssd_enabled: Some(enabled),
        hibernation_enabled: None,
    });
    buy(&mut properties, *buy_as);
    model.properties = Some(properties);
    complete::machine(&model, identities).with_secret(CUSTOM_DATA, custom_data.clone())
}

fn hardware(size: &str) -> wire::HardwareProfile {
    use wire::hardware_profile::VmSize;
    let mut profile = wire::HardwareProfile::new();
    // Azure's enum ends in 2018; every size is sent by name.
    profile.vm_size = Some(VmSize::UnknownValue(size.to_owned()));
    profile
}

fn storage(name: &str, image: &Image, os_disk: &OsDisk) -> wire::StorageProfile {
    let OsDisk { size_gb, placement, encryption_set } = os_disk;
    let mut disk = wire::OsDisk::new(wire::CreateOption::FromImage);
    disk.name = Some(name.to_owned());
    disk.disk_size_gb = Some(*size_gb);
    disk.delete_option = Some(wire::DeleteOption::Delete);
    if let Some(placement) = ephemeral(*placement) {
        disk.diff_disk_settings = Some(wire::DiffDiskSettings {
            option: Some(wire::DiffDiskOption::Local),
            placement: Some(placement),
        });
        // Azure accepts no other caching for a disk on the host.
        disk.caching = Some(wire::Caching::ReadOnly);
    }
    disk.managed_disk = encryption_set.as_ref().map(|set| {
        let mut parameters = wire::ManagedDiskParameters::new();
        let mut reference = wire::DiskEncryptionSetParameters::new();
        reference.sub_resource.id = Some(set.to_string());
        parameters.disk_encryption_set = Some(reference);
        parameters
    });
    let mut profile = wire::StorageProfile::new();
    profile.image_reference = Some(image_reference(image));
    profile.os_disk = Some(disk);
    profile
}

const fn ephemeral(placement: Placement) -> Option<wire::DiffDiskPlacement> {
    match placement {
        Placement::Managed => None,
        Placement::CacheDisk => Some(wire::DiffDiskPlacement::CacheDisk),
        Placement::ResourceDisk => Some(wire::DiffDiskPlacement::ResourceDisk),
        Placement::NvmeDisk => Some(wire::DiffDiskPlacement::NvmeDisk),
    }
}

fn image_reference(image: &Image) -> wire::ImageReference {
    let mut reference = wire::ImageReference::new();
    match image {
        Image::Community(id) => reference.community_gallery_image_id = Some(id.clone()),
        Image::Resource(id) => reference.sub_resource.id = Some(id.to_string()),
    }
    reference
}

fn system(name: &str, login: &super::OsLogin) -> wire::OsProfile {
    let super::OsLogin { user, ssh_public_key } = login;
    let mut key = wire::SshPublicKey::new();
    key.path = Some(format!("/home/{user}/.ssh/authorized_keys"));
    key.key_data = Some(ssh_public_key.clone());
    let mut linux = wire::LinuxConfiguration::new();
    linux.disable_password_authentication = Some(true);
    linux.ssh = Some(wire::SshConfiguration { public_keys: vec![key] });
    let mut profile = wire::OsProfile::new();
    profile.computer_name = Some(name.to_owned());
    profile.admin_username = Some(user.clone());
    profile.linux_configuration = Some(linux);
    profile
}

fn network(nic: String) -> wire::NetworkProfile {
    use wire::network_interface_reference_properties::DeleteOption;
    let mut reference = wire::NetworkInterfaceReference::new();
    reference.sub_resource.id = Some(nic);
    reference.properties = Some(wire::NetworkInterfaceReferenceProperties {
        primary: Some(true),
        delete_option: Some(DeleteOption::Delete),
    });
    let mut profile = wire::NetworkProfile::new();
    profile.network_interfaces = vec![reference];
    profile
}

fn security_profile(security: SecurityProfile) -> Option<wire::SecurityProfile> {
    let SecurityProfile { encryption_at_host, trusted_launch } = security;
    if encryption_at_host.is_none() && trusted_launch.is_none() {
        return None;
    }
    let mut profile = wire::SecurityProfile::new();
    profile.encryption_at_host = encryption_at_host;
    if let Some(trusted) = trusted_launch {
        profile.security_type = Some(wire::security_profile::SecurityType::TrustedLaunch);
        profile.uefi_settings = Some(wire::UefiSettings {
            secure_boot_enabled: Some(trusted.secure_boot),
            v_tpm_enabled: Some(trusted.vtpm),
        });
    }
    Some(profile)
}

fn buy(properties: &mut wire::VirtualMachineProperties, buy_as: BuyAs) {
    match buy_as {
        BuyAs::OnDemand => properties.priority = Some(wire::Priority::Regular),
        BuyAs::Spot => {
            properties.priority = Some(wire::Priority::Spot);
            properties.eviction_policy = Some(wire::EvictionPolicy::Delete);
            // No price limit: such a VM is never evicted because of its price.
            properties.billing_profile = Some(wire::BillingProfile { max_price: Some(-1.0) });
        }
    }
}
