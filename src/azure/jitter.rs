//! Waits that differ from process to process without chance.
//! Must never use randomness: the same operation of the same holder waits the same.

use std::time::Duration;

/// What a wait is derived from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jitter<'a> {
    /// Who waits: another process has another name.
    pub(super) holder: &'a str,
    /// What is waited for.
    pub(super) operation: &'a str,
    /// For which time, from 1.
    pub(super) attempt: u32,
}

impl Jitter<'_> {
    /// Half of the time, and a part of the other half.
    pub(super) fn within(&self, time: Duration) -> Duration {
        let half = time / 2;
        half + half.saturating_mul(self.per_mille()) / 1000
    }

    /// The time and up to a tenth more, but at least up to a second: nobody comes before a deadline, and not all at it.
    pub(super) fn after(&self, time: Duration) -> Duration {
        let more = (time / 10).max(Duration::from_secs(1));
        time + more.saturating_mul(self.per_mille()) / 1000
    }

    /// 0 to 999: FNV-1a (64 bit) of all three.
    fn per_mille(&self) -> u32 {
        let bytes =
            self.holder.bytes().chain([0]).chain(self.operation.bytes()).chain(self.attempt.to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The low bits of FNV are its worst.
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
