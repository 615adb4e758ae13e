//! A VM as returned by Azure.
//!
//! Must never contain or expect customData, which Azure does not return.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::reading::{Answer, Rest};
use crate::arm::{Image, ResourceId, Tags};

/// A VM.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its id.
    pub id: ResourceId,
    /// Its name.
    pub name: String,
    /// The Azure region.
    pub location: String,
    /// Azure's unique id, which changes when a VM of the same name is deleted and created again.
    pub vm_id: Option<String>,
    /// Its tags.
    pub tags: Tags,
    /// The zone within the region; `None`: regional.
    pub zone: Option<String>,
    /// The VM size.
    pub size: Option<String>,
    /// `Regular`, `Spot` or `Low`; absent means `Regular`.
    pub priority: Option<String>,
    /// `Creating`, `Updating`, `Deleting`, `Succeeded`, `Failed`, or an unknown value.
    pub provisioning_state: Option<String>,
    /// The source image of its OS disk, if it is from a gallery.
    pub image: Option<Image>,
    /// Creation time.
    pub time_created: Option<Timestamp>,
    /// Its NICs, primary first.
    pub network_interfaces: Vec<ResourceId>,
    /// Its OS disk.
    pub os_disk: Option<OsDisk>,
    /// Its user-assigned identities.
    pub identities: Vec<ResourceId>,
    /// All other properties.
    pub rest: BTreeMap<String, Value>,
}

/// The OS disk of a VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsDisk {
    /// Its name.
    pub name: Option<String>,
    /// The managed disk's id; `None` if the disk is on the host.
    pub id: Option<ResourceId>,
    /// Its size in GB.
    pub size_gb: Option<i64>,
    /// `CacheDisk`, `ResourceDisk` or `NvmeDisk`; `None` for a managed disk.
    pub placement: Option<String>,
}

#[derive(Deserialize)]
pub struct Wire {
    id: String,
    #[serde(default)]
    name: Option<String>,
    location: String,
    #[serde(default)]
    tags: Option<BTreeMap<String, String>>,
    #[serde(default)]
    zones: Option<Vec<String>>,
    #[serde(default)]
    identity: Option<WireIdentity>,
    #[serde(default)]
    properties: WireProperties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireIdentity {
    #[serde(default)]
    user_assigned_identities: Option<BTreeMap<String, Value>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireProperties {
    vm_id: Option<String>,
    priority: Option<String>,
    provisioning_state: Option<String>,
    time_created: Option<String>,
    hardware_profile: Option<WireHardware>,
    storage_profile: Option<WireStorage>,
    network_profile: Option<WireNetwork>,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireHardware {
    #[serde(default)]
    vm_size: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireStorage {
    #[serde(default)]
    image_reference: Option<WireImage>,
    #[serde(default)]
    os_disk: Option<WireDisk>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireImage {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    community_gallery_image_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDisk {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, rename = "diskSizeGB")]
    disk_size_gb: Option<i64>,
    #[serde(default)]
    managed_disk: Option<WireId>,
    #[serde(default)]
    diff_disk_settings: Option<WirePlacement>,
}

#[derive(Deserialize)]
struct WireId {
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
struct WirePlacement {
    #[serde(default)]
    placement: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireNetwork {
    #[serde(default)]
    network_interfaces: Vec<WireInterface>,
}

#[derive(Deserialize)]
struct WireInterface {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    properties: Option<WireInterfaceProperties>,
}

#[derive(Deserialize)]
struct WireInterfaceProperties {
    #[serde(default)]
    primary: Option<bool>,
}

impl Answer for Machine {
    const WHAT: &'static str = "virtual machine";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        let Wire { id, name, location, tags, zones, identity, properties } = wire;
        let WireProperties {
            vm_id,
            priority,
            provisioning_state,
            time_created,
            hardware_profile,
            storage_profile,
            network_profile,
            rest,
        } = properties;
        let (image, os_disk) = storage_profile.map_or((None, None), |s| (s.image_reference, s.os_disk));
        let identities = identity.and_then(|identity| identity.user_assigned_identities).unwrap_or_default();
        let id: ResourceId = id.parse().map_err(|fault: crate::arm::ResourceIdFault| fault.to_string())?;
        Ok(Self {
            name: name.unwrap_or_else(|| id.name().to_owned()),
            id,
            location,
            vm_id,
            tags: Tags::of_answer(tags.unwrap_or_default()),
            zone: zones.and_then(|zones| zones.into_iter().next()),
            size: hardware_profile.and_then(|profile| profile.vm_size),
            priority,
            provisioning_state,
            image: image.and_then(self::image),
            time_created: time_created.and_then(|text| text.parse().ok()),
            network_interfaces: network_profile.map(interfaces).unwrap_or_default(),
            os_disk: os_disk.map(self::os_disk),
            identities: identities.keys().filter_map(|id| id.parse().ok()).collect(),
            rest,
        })
    }
}

fn image(wire: WireImage) -> Option<Image> {
    match (wire.community_gallery_image_id, wire.id) {
        (Some(id), _) => Some(Image::Community(id)),
        (None, Some(id)) => id.parse().ok().map(Image::Resource),
        (None, None) => None,
    }
}

fn os_disk(wire: WireDisk) -> OsDisk {
    let WireDisk { name, disk_size_gb, managed_disk, diff_disk_settings } = wire;
    OsDisk {
        name,
        id: managed_disk.and_then(|disk| disk.id).and_then(|id| id.parse().ok()),
        size_gb: disk_size_gb,
        placement: diff_disk_settings.and_then(|settings| settings.placement),
    }
}

fn interfaces(wire: WireNetwork) -> Vec<ResourceId> {
    let mut interfaces = wire.network_interfaces;
    interfaces.sort_by_key(|interface| interface.properties.as_ref().is_none_or(|p| p.primary != Some(true)));
    interfaces.into_iter().filter_map(|interface| interface.id?.parse().ok()).collect()
}
