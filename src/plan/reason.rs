//! Why a change is made: for people.
//!
//! A reason is shown and never matched after planning; machines read preconditions.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{PodKey, PoolName};

/// Why a change is made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reason {
    /// Pods wait for it.
    PodsWait {
        /// How many.
        pods: usize,
        /// The pod for which it was opened.
        opened_for: PodKey,
    },
    /// It carries no pods but those of DaemonSets.
    Empty,
    /// It differs from what its pool asks for.
    Drifted {
        /// In what.
        what: Arc<str>,
    },
    /// Its pods fit elsewhere or on something cheaper.
    Underutilized,
    /// It says that it belongs to a pool and has no NodeClaim.
    WithoutClaim {
        /// The pool.
        pool: PoolName,
    },
    /// Somebody asked for it.
    Asked {
        /// Who or what.
        by: Arc<str>,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodsWait { pods: 1, opened_for } => write!(formatter, "1 pod waits: `{opened_for}`"),
            Self::PodsWait { pods, opened_for } => {
                write!(formatter, "{pods} pods wait, opened for `{opened_for}`")
            }
            Self::Empty => formatter.write_str("empty: it carries no pods but those of DaemonSets"),
            Self::Drifted { what } => write!(formatter, "drifted: {what}"),
            Self::Underutilized => formatter.write_str("underutilized: its pods fit elsewhere for less"),
            Self::WithoutClaim { pool } => {
                write!(formatter, "it has the label of pool `{pool}` and no NodeClaim")
            }
            Self::Asked { by } => write!(formatter, "asked for by {by}"),
        }
    }
}
