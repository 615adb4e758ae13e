//! Role of a process: writing to Azure and the cluster can be separated from writing to Git.
//!
//! Must never be derived from a token's permissions: users set it.

/// The part of the work that a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// All of it, in one process.
    #[default]
    All,
    /// Automatic and merged changes: writes to Azure and the cluster, and only reads Git and the forge.
    Controller,
    /// Proposals for review: writes to Git and the forge, and only reads Azure and the cluster, except for its own
    /// Lease.
    Proposer,
}

impl Role {
    /// Returns whether it applies plans.
    #[must_use]
    pub const fn applies(self) -> bool {
        match self {
            Self::All | Self::Controller => true,
            Self::Proposer => false,
        }
    }

    /// Returns whether it writes to Git and the forge.
    #[must_use]
    pub const fn proposes(self) -> bool {
        match self {
            Self::All | Self::Proposer => true,
            Self::Controller => false,
        }
    }
}
