//! A VM to be created: every property that nodeform sets, and no other.
//!
//! Must never apply defaults: the plan has decided all properties.

use super::{ResourceId, Tags};
use crate::model::Secret;

/// A VM for a node, with its OS disk; its NIC already exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Name of the VM, its computer and its OS disk: `aks-` plus the NodeClaim's name.
    pub name: String,
    /// The Azure region, such as `westeurope`.
    pub location: String,
    /// The zone within the region, `1` to `3`; if `None`, Azure chooses (regional).
    pub zone: Option<String>,
    /// Tags of the VM.
    pub tags: Tags,
    /// User-assigned identities, including the kubelet's; if empty, the VM has no identity.
    pub identities: Vec<ResourceId>,
    /// The VM size, such as `Standard_D4s_v5`.
    pub size: String,
    /// The capacity type.
    pub buy_as: BuyAs,
    /// The image of the OS disk.
    pub image: Image,
    /// The OS disk.
    pub os_disk: OsDisk,
    /// The only NIC, which is primary. It is deleted with the VM.
    pub network_interface: ResourceId,
    /// The login.
    pub login: OsLogin,
    /// The first-boot configuration, in base64; contains the bootstrap token.
    pub custom_data: Secret,
    /// Encryption at the host and Trusted Launch.
    pub security: SecurityProfile,
    /// Whether UltraSSD disks may be attached; `None`: not specified.
    pub ultra_ssd: Option<bool>,
}

/// The capacity type of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuyAs {
    /// On-demand: list price, until it is deleted.
    OnDemand,
    /// Spot: deleted (never deallocated, which keeps quota and disk) when Azure needs the capacity, at most at the
    /// on-demand price.
    Spot,
}

/// The source image of an OS disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Image {
    /// A version in a community gallery: `/CommunityGalleries/G/images/D/versions/V`.
    Community(String),
    /// A version in a gallery that the caller may read.
    Resource(ResourceId),
}

/// The OS disk of a VM. It is deleted with the VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsDisk {
    /// Its size in GB, as Azure counts.
    pub size_gb: i32,
    /// Its placement.
    pub placement: Placement,
    /// The disk encryption set; if `None`, platform-managed keys.
    pub encryption_set: Option<ResourceId>,
}

/// Placement of an OS disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// In Azure Storage, with the disk type that Azure chooses for the size.
    Managed,
    /// On the host's cache disk: lost with the VM, and free of charge.
    CacheDisk,
    /// On the host's temporary disk.
    ResourceDisk,
    /// On an NVMe disk of the host.
    NvmeDisk,
}

/// Login to a VM: one user with one SSH key, never a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsLogin {
    /// The user's name.
    pub user: String,
    /// The public key, as a line of `authorized_keys`.
    pub ssh_public_key: String,
}

/// Hardware security settings of a VM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecurityProfile {
    /// Whether disks are encrypted on the host; `None`: not specified.
    pub encryption_at_host: Option<bool>,
    /// Trusted Launch; `None`: off.
    pub trusted_launch: Option<TrustedLaunch>,
}

/// Trusted Launch settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedLaunch {
    /// Whether only signed code may boot.
    pub secure_boot: bool,
    /// Whether the VM has a virtual TPM.
    pub vtpm: bool,
}
