//! The Lease of leader election: while it is held, neither another nodeform nor Karpenter changes nodes.
//!
//! ```text
//!  Lease ─▶ record ─▶ decide (read · create · replace · wait · lost) ◀─▶ hold (sends, waits) ─▶ gate ─▶ every write
//! ```

mod decide;
mod gate;
mod hold;
mod locate;
mod record;
mod replicas;

pub use decide::{Candidate, Lost, Now, Other, Step, Terms};
pub use gate::{GateClosed, WriteGate};
pub use hold::{Asking, Attempt, Held, Settings, acquire, acquire_named, attempt};
pub use locate::{holder, namespace, reports};
pub use record::{Record, micro_time};
pub use replicas::are_replicas;

/// Karpenter's Lease: nodeform and Karpenter are never active at the same time.
pub const NAME: &str = "karpenter-leader-election";

/// The Lease of read-only processes: it blocks no other process.
pub const OBSERVE: &str = "nodeform-observe";

/// The Lease of the proposer, which proposes plans for review, if that is a separate process.
pub const PROPOSER: &str = "nodeform-proposer";

/// The namespace in which a missing Lease is created.
pub const NAMESPACE: &str = "kube-system";

/// Returns the path of a Lease.
#[must_use]
pub fn path((namespace, name): (&str, &str)) -> String {
    format!("{}/{name}", list(namespace))
}

/// Returns the path of the Leases of a namespace.
fn list(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
}
