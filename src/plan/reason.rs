//! Reasons of changes, for people.
//!
//! A reason is shown and never matched after planning; machines read preconditions.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::amount::grouped;
use crate::model::{PodKey, PoolName};

/// Why a change is made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reason {
    /// Pods wait for it, or move there from nodes that go.
    PodsWait {
        /// How many, those included that move, without the room that CapacityBuffers keep.
        pods: usize,
        /// How many of them run on nodes that the plan removes.
        #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
        moved: usize,
        /// The pod, or the placeholder of a CapacityBuffer, for which it was opened.
        opened_for: PodKey,
    },
    /// CapacityBuffers keep room there, and no pod is placed there.
    KeepsRoom {
        /// For how many pods.
        pods: usize,
        /// The placeholder for which it was opened.
        opened_for: PodKey,
    },
    /// Its pool asks for so many nodes whatever pods need.
    Replicas {
        /// The pool.
        pool: PoolName,
        /// How many.
        nodes: u64,
    },
    /// It carries no pods but those of DaemonSets.
    Empty,
    /// It differs from what its pool asks for.
    Drifted {
        /// In what.
        what: Arc<str>,
    },
    /// It is too old.
    Expired {
        /// How old it may become.
        what: Arc<str>,
    },
    /// It has been unhealthy for too long.
    Unhealthy {
        /// What is wrong, since when.
        what: Arc<str>,
    },
    /// Its pool asks for fewer nodes.
    Excess {
        /// For how many, and how many it has.
        what: Arc<str>,
    },
    /// Its pods fit elsewhere or on something cheaper.
    Underutilized,
    /// It says that it belongs to a pool and has no NodeClaim.
    WithoutClaim {
        /// The pool.
        pool: PoolName,
    },
    /// Its VM is gone, and what is left of it goes too.
    VmGone,
    /// Somebody asked for it.
    Asked {
        /// Who or what.
        by: Arc<str>,
    },
}

/// Says what a node is made for: `2 Pending pods`, `1 moving pod`, `1 Pending and 2 moving pods`, `2 Pending and 1 moving pod`.
#[derive(Clone, Copy, Debug)]
pub struct PodsFor {
    /// How many pods in all.
    pub pods: usize,
    /// How many of them move there from nodes that go.
    pub moved: usize,
}

impl fmt::Display for PodsFor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pods, moved } = *self;
        let waiting = pods.saturating_sub(moved);
        let of = |count: usize| if count == 1 { "pod" } else { "pods" };
        let number = |count: usize| grouped(u64::try_from(count).unwrap_or(u64::MAX));
        match (waiting, moved) {
            (_, 0) => write!(formatter, "{} Pending {}", number(waiting), of(waiting)),
            (0, _) => write!(formatter, "{} moving {}", number(moved), of(moved)),
            (_, _) => {
                write!(formatter, "{} Pending and {} moving {}", number(waiting), number(moved), of(moved))
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodsWait { pods, moved, opened_for } => {
                write!(formatter, "{}", PodsFor { pods: *pods, moved: *moved })?;
                let opened = if *pods == 1 { ":" } else { ", created for" };
                write!(formatter, "{opened} `{opened_for}`")
            }
            Self::KeepsRoom { pods, opened_for } => {
                let pods = if *pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") };
                write!(formatter, "headroom for {pods} (CapacityBuffers), created for `{opened_for}`")
            }
            Self::Empty => formatter.write_str("empty: only pods of DaemonSets"),
            Self::Drifted { what } => write!(formatter, "drifted: {what}"),
            Self::Expired { what } => write!(formatter, "expired: {what}"),
            Self::Unhealthy { what } => write!(formatter, "unhealthy: {what}"),
            Self::Replicas { pool, nodes } => {
                let of = if *nodes == 1 { "node" } else { "nodes" };
                write!(formatter, "pool `{pool}` asks for {} {of} (`replicas`)", grouped(*nodes))
            }
            Self::Excess { what } => write!(formatter, "one too many: {what}"),
            Self::Underutilized => formatter.write_str("underutilized: its pods fit elsewhere for less"),
            Self::WithoutClaim { pool } => {
                write!(formatter, "it has the label of pool `{pool}` and no NodeClaim")
            }
            Self::VmGone => formatter.write_str("its VM is gone"),
            Self::Asked { by } => write!(formatter, "requested by {by}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PodsFor;

    #[test]
    fn pods_agree_with_the_number_before_them() {
        let said = |pods, moved| PodsFor { pods, moved }.to_string();
        assert_eq!(said(3, 1), "2 Pending and 1 moving pod");
        assert_eq!(said(3, 2), "1 Pending and 2 moving pods");
        assert_eq!((said(1, 1), said(2, 0)), ("1 moving pod".to_owned(), "2 Pending pods".to_owned()));
    }
}
