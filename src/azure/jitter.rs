//! Deterministic jitter: waits that differ from process to process.
//!
//! Must never use randomness: the same operation of the same holder waits the same.

use std::time::Duration;

/// Inputs from which a wait is derived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jitter<'a> {
    /// Name of the process, unique to it.
    pub(super) holder: &'a str,
    /// The call that is retried.
    pub(super) operation: &'a str,
    /// Number of the attempt, from 1.
    pub(super) attempt: u32,
}

impl Jitter<'_> {
    /// Returns half of the time plus a fraction of the other half.
    pub(super) fn within(&self, time: Duration) -> Duration {
        let half = time / 2;
        half + half.saturating_mul(self.per_mille()) / 1000
    }

    /// Returns the time plus up to a tenth, but at least up to a second, so that retries come after a deadline and
    /// spread out.
    pub(super) fn after(&self, time: Duration) -> Duration {
        let more = (time / 10).max(Duration::from_secs(1));
        time + more.saturating_mul(self.per_mille()) / 1000
    }

    /// Returns 0 to 999: FNV-1a (64 bit) of all three fields.
    fn per_mille(&self) -> u32 {
        let bytes =
            self.holder.bytes().chain([0]).chain(self.operation.bytes()).chain(self.attempt.to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The low bits of FNV are its weakest.
        u32::try_from((hash >> 32) % 1000).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_differ_and_the_same_holder_does_not() {
        let jitter = |holder, attempt| Jitter { holder, operation: "GET /x", attempt };
        let second = Duration::from_secs(1);
        let waits: std::collections::BTreeSet<Duration> = (0..50)
            .map(|n| Jitter { holder: &format!("h{n}"), operation: "GET /x", attempt: 1 }.within(second))
            .collect();
        assert!(waits.len() > 40, "{waits:?}");
        assert!(waits.iter().all(|wait| *wait >= second / 2 && *wait < second));
        assert_eq!(jitter("a", 2).after(second), jitter("a", 2).after(second));
        assert!(jitter("a", 2).after(second) >= second);
    }
}
