//! The Lease of leader election: while it is held, nobody else changes nodes, neither another nodeform nor Karpenter.
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

/// Karpenter's Lease: both are never active at once.
pub const NAME: &str = "karpenter-leader-election";

/// The Lease of who only looks: it stands in nobody's way.
pub const OBSERVE: &str = "nodeform-observe";

/// The Lease of who proposes what people review, where that is a process of its own.
pub const PROPOSER: &str = "nodeform-proposer";

/// Where it is made where there is none.
pub const NAMESPACE: &str = "kube-system";

/// The path of a Lease.
#[must_use]
pub fn path((namespace, name): (&str, &str)) -> String {
    format!("{}/{name}", list(namespace))
}

/// The path of the Leases of a namespace.
fn list(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
}
