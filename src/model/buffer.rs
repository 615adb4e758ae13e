//! CapacityBuffers: capacity kept free for future pods.

use std::sync::Arc;

use super::{BufferName, Namespace, Resources, Workload};

/// The strategy that reserves capacity with placeholder pods; the default.
pub const ACTIVE_CAPACITY: &str = "buffer.x-k8s.io/active-capacity";

/// A CapacityBuffer: the kind and number of pods for which capacity is kept free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: BufferName,
    /// Provisioning strategy, such as [`ACTIVE_CAPACITY`].
    pub strategy: Arc<str>,
    /// The pods that the capacity is for.
    pub pods: BufferPods,
    /// Number of pods.
    pub replicas: Option<u32>,
    /// Number of pods as a percentage of the workload's replicas.
    pub percent: Option<u32>,
    /// Upper limits of the reserved capacity; a resource that is not named is unlimited. `None` if the buffer sets no
    /// limits.
    pub limits: Option<Resources>,
}

/// The pods for which a buffer keeps capacity free.
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
