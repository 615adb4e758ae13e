//! Faults of the ledger: the object, the reason, and what to do next.

use crate::model::Digest;

/// A fault of an entry of the ledger, or of one that was to be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerFault {
    /// An object that cannot be parsed as a plan.
    #[error("NodePlan `{name}` cannot be read: {why}")]
    Unreadable {
        /// The object.
        name: String,
        /// The fault.
        why: String,
    },
    /// A name that does not match the digest.
    #[error("NodePlan `{name}` has digest {digest}, which does not match its name")]
    OtherName {
        /// The object.
        name: String,
        /// The digest in the object.
        digest: Digest,
    },
    /// Missing chunks.
    #[error("NodePlan `{name}` has {there} of its {of} chunks")]
    Incomplete {
        /// The plan.
        name: String,
        /// Number of chunks found.
        there: usize,
        /// Number of chunks required.
        of: usize,
    },
    /// A text that does not match the digest.
    #[error("NodePlan `{name}` was modified: its digest differs")]
    OtherText {
        /// The plan.
        name: String,
    },
    /// A text that is too long.
    #[error("plan `{name}` has {bytes} bytes, and NodePlans hold 33554432")]
    TooLong {
        /// The plan.
        name: String,
        /// Length of its text in bytes.
        bytes: usize,
    },
}

impl LedgerFault {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { name, .. } | Self::OtherName { name, .. } => {
                format!(
                    "see `kubectl get nodeplan {name} -o yaml`; `kubectl delete nodeplan {name}` forgets it"
                )
            }
            Self::Incomplete { .. } | Self::OtherText { .. } => {
                "apply it from its file: `nodeform apply PLAN`".to_owned()
            }
            Self::TooLong { .. } => {
                "plan fewer pools at a time: `nodeform plan --live --target nodepool/NAME`".to_owned()
            }
        }
    }
}
