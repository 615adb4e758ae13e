//! Which version of Azure's API each kind of request speaks: one table.
//! Must never be overridden elsewhere: answers are read by what these versions say.

/// A kind of Azure's API that has a version of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// VMs, their extensions, and usages of Compute. Azure's models in Rust end here.
    Compute,
    /// The list of sizes.
    Skus,
    /// Images of community galleries.
    Galleries,
    /// NICs, subnets, load balancers, security groups.
    Network,
    /// Managed clusters.
    ContainerService,
    /// What the caller may do.
    Permissions,
    /// Resource groups.
    Resources,
    /// Tags of a resource, without the resource.
    Tags,
}

impl Api {
    /// The value of the query parameter `api-version`.
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
