//! A VM as it is sent: every property that nodeform sets, and no other.
//! Must never default: what a VM is made of was decided by the plan.

use super::{ResourceId, Tags};
use crate::model::Secret;

/// A VM that is to be a node, with its OS disk; its NIC exists already.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Name of the VM, its computer and its OS disk: `aks-` and the NodeClaim's name.
    pub name: String,
    /// Azure's region, as `westeurope`.
    pub location: String,
    /// The zone within the region, `1` to `3`; none: Azure chooses (regional).
    pub zone: Option<String>,
    /// Tags of the VM.
    pub tags: Tags,
    /// User-assigned identities, the kubelet's among them; none: no identity.
    pub identities: Vec<ResourceId>,
    /// The size, as `Standard_D4s_v5`.
    pub size: String,
    /// How it is bought.
    pub buy_as: BuyAs,
    /// The image of the OS disk.
    pub image: Image,
    /// The OS disk.
    pub os_disk: OsDisk,
    /// The NIC, the only one and primary. It is deleted with the VM.
    pub network_interface: ResourceId,
    /// Who may log in.
    pub login: OsLogin,
    /// What the VM does at its first start, base64; holds the bootstrap token.
    pub custom_data: Secret,
    /// Encryption at the host and Trusted Launch.
    pub security: SecurityProfile,
    /// Whether disks of type UltraSSD may be attached; absent: not said.
    pub ultra_ssd: Option<bool>,
}

/// How a VM is bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuyAs {
    /// At the list price, until it is deleted.
    OnDemand,
    /// Spot: deleted (never deallocated, which keeps quota and disk) when Azure needs the room, at most at the
    /// on-demand price.
    Spot,
}

/// What an OS disk is made from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Image {
    /// A version of a community gallery: `/CommunityGalleries/G/images/D/versions/V`.
    Community(String),
    /// A version of a gallery that the caller may read.
    Resource(ResourceId),
}

/// The OS disk of a VM. It is deleted with the VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsDisk {
    /// Its size in GB, as Azure counts them.
    pub size_gb: i32,
    /// Where it lies.
    pub placement: Placement,
    /// The disk encryption set; none: a key of the platform.
    pub encryption_set: Option<ResourceId>,
}

/// Where an OS disk lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// In Azure Storage, of the type that Azure chooses for the size.
    Managed,
    /// On the host, in the cache: lost with the VM, and free.
    CacheDisk,
    /// On the host, on the temporary disk.
    ResourceDisk,
    /// On the host, on an NVMe disk.
    NvmeDisk,
}

/// Who may log in to a VM: one user, by one SSH key, never by password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsLogin {
    /// The user's name.
    pub user: String,
    /// The public key, as a line of `authorized_keys`.
    pub ssh_public_key: String,
}

/// The security of a VM's hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecurityProfile {
    /// Whether disks are encrypted on the host; absent: not said.
    pub encryption_at_host: Option<bool>,
    /// Trusted Launch; none: off.
    pub trusted_launch: Option<TrustedLaunch>,
}

/// Trusted Launch, where it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedLaunch {
    /// Whether only signed code starts.
    pub secure_boot: bool,
    /// Whether there is a virtual trusted platform module.
    pub vtpm: bool,
}
