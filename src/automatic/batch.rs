//! Pods that begin to wait together are planned together: as Karpenter batches them.

use jiff::{SignedDuration, Timestamp};

/// How long no new pod may come until a batch closes (Karpenter's `--batch-idle-duration`).
pub(super) const IDLE: SignedDuration = SignedDuration::from_secs(1);

/// How long a batch is open at most (Karpenter's `--batch-max-duration`).
pub(super) const MAX: SignedDuration = SignedDuration::from_secs(10);

/// Pods that have begun to wait since the last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// When the first of them was seen.
    pub first: Timestamp,
    /// When the last of them was seen.
    pub last: Timestamp,
}

impl Batch {
    /// Returns when it closes, if no other pod comes.
    #[must_use]
    pub fn closes(&self) -> Timestamp {
        let after = |time: Timestamp, wait| time.saturating_add(wait).unwrap_or(Timestamp::MAX);
        after(self.last, IDLE).min(after(self.first, MAX))
    }
}
