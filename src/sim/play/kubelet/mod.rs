//! Kubelets: a running VM boots, reads its customData, and joins, or reports why it never will.

mod custom_data;
mod fields;
mod life;
mod node;
mod pods;
mod token;

/// The kubelet of a VM.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kubelet {
    /// The VM's name.
    pub(crate) machine: String,
    /// The node that it registered, if any.
    pub(crate) node: Option<String>,
    /// Whether its VM is gone.
    pub(crate) is_stopped: bool,
    /// Why it has not joined.
    pub(crate) failure: Option<String>,
    /// Number of registration attempts.
    pub(crate) attempts: u32,
}
