//! What of the work one process does: who may write to Azure and the cluster need not be who may write to Git.
//!
//! Must never be guessed of what a token may do: people say it.

/// What of the work a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// All of it, in one process.
    #[default]
    All,
    /// The automatic work and what is merged: writes to Azure and the cluster, and only reads Git and the forge.
    Controller,
    /// What people review: writes to Git and the forge, and only reads Azure and the cluster, but for its own Lease.
    Proposer,
}

impl Role {
    /// Whether it carries plans out.
    #[must_use]
    pub const fn applies(self) -> bool {
        match self {
            Self::All | Self::Controller => true,
            Self::Proposer => false,
        }
    }

    /// Whether it writes to Git and the forge.
    #[must_use]
    pub const fn proposes(self) -> bool {
        match self {
            Self::All | Self::Proposer => true,
            Self::Controller => false,
        }
    }
}
