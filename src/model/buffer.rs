//! CapacityBuffers: room that is kept free for pods to come.

use std::sync::Arc;

use super::{BufferName, Namespace, Resources, Workload};

/// The strategy that keeps room by placeholders for pods, and the one that is meant where none is named.
pub const ACTIVE_CAPACITY: &str = "buffer.x-k8s.io/active-capacity";

/// A CapacityBuffer: which pods room is kept for, and for how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: BufferName,
    /// How the room is kept, such as [`ACTIVE_CAPACITY`].
    pub strategy: Arc<str>,
    /// What the pods are.
    pub pods: BufferPods,
    /// For how many pods.
    pub replicas: Option<u32>,
    /// For how many pods, as a percentage of the workload's.
    pub percent: Option<u32>,
    /// The most that the room may come to; a resource that is not named is not limited. `None` where the buffer
    /// says nothing of limits.
    pub limits: Option<Resources>,
}

/// Which pods a buffer keeps room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferPods {
    /// Pods of the PodTemplate of this name, in the buffer's namespace.
    Template(Arc<str>),
    /// Pods of a workload.
    Workload {
        /// Its API group; empty for the core group.
        group: Arc<str>,
        /// The workload.
        workload: Workload,
    },
}
