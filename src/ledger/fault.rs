//! What is wrong with the ledger: which object, why, and what to do next.

use crate::model::Digest;

/// What is wrong with an entry of the ledger, or with what should become one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerFault {
    /// An object that cannot be read as a plan.
    #[error("NodePlan `{name}` cannot be read: {why}")]
    Unreadable {
        /// The object.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// A name that does not follow from the digest.
    #[error("NodePlan `{name}` has digest {digest}, which does not match its name")]
    OtherName {
        /// The object.
        name: String,
        /// What it says.
        digest: Digest,
    },
    /// Chunks that are not there.
    #[error("NodePlan `{name}` has {there} of its {of} chunks")]
    Incomplete {
        /// The plan.
        name: String,
        /// How many there are.
        there: usize,
        /// How many there must be.
        of: usize,
    },
    /// A text of another digest.
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
        /// How long its text is.
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
