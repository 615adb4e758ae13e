//! Table of the API version for each kind of request to Azure.
//!
//! Must never be overridden elsewhere: answers are parsed according to these versions.

/// An Azure API with its own version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// VMs, their extensions, and Compute usages. The latest version of Azure's Rust models.
    Compute,
    /// The SKU list.
    Skus,
    /// Images in community galleries.
    Galleries,
    /// NICs, subnets, load balancers, security groups.
    Network,
    /// Managed clusters.
    ContainerService,
    /// The caller's permissions.
    Permissions,
    /// Resource groups.
    Resources,
    /// Tags of a resource, accessed without the resource itself.
    Tags,
}

impl Api {
    /// Returns the value of the query parameter `api-version`.
    #[must_use]
    pub const fn version(self) -> &'static str {
        match self {
            Self::Compute => "2024-07-01",
            Self::Skus => "2021-07-01",
            Self::Galleries => "2023-07-03",
            Self::Network => "2024-03-01",
            Self::ContainerService => "2026-05-01",
            Self::Permissions => "2022-04-01",
            Self::Resources | Self::Tags => "2024-07-01",
        }
    }
}
