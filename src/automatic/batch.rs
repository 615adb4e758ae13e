//! Pods that become Pending together are planned together, like Karpenter's batches.

use jiff::{SignedDuration, Timestamp};

/// Time without a new pod after which a batch closes (Karpenter's `--batch-idle-duration`).
pub(super) const IDLE: SignedDuration = SignedDuration::from_secs(1);

/// Maximum time that a batch is open (Karpenter's `--batch-max-duration`).
pub(super) const MAX: SignedDuration = SignedDuration::from_secs(10);

/// Pods that became Pending since the last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Time when the first of them was seen.
    pub first: Timestamp,
    /// Time when the last of them was seen.
    pub last: Timestamp,
}

impl Batch {
    /// Returns when it closes if no other pod arrives.
    #[must_use]
    pub fn closes(&self) -> Timestamp {
        let after = |time: Timestamp, wait| time.saturating_add(wait).unwrap_or(Timestamp::MAX);
        after(self.last, IDLE).min(after(self.first, MAX))
    }
}
