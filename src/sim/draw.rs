//! Seeded randomness: each draw has a name, so one more request elsewhere does not change other draws.

use jiff::SignedDuration;

use super::settings::Seconds;

/// Named draws from one seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    seed: u64,
}

impl Draw {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the number drawn for a name.
    pub(crate) fn number(self, about: &str) -> u64 {
        // FNV-1a spreads the name over 64 bits, SplitMix64 mixes in the seed.
        let name = about.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        mixed(self.seed.wrapping_add(mixed(name)))
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub(crate) fn below(self, about: &str, end: u64) -> u64 {
        if end == 0 { 0 } else { self.number(about) % end }
    }

    /// Returns a duration within the range, in whole milliseconds.
    pub(crate) fn within(self, about: &str, range: Seconds) -> SignedDuration {
        let from = u64::from(range.from) * 1000;
        let to = u64::from(range.to.max(range.from)) * 1000;
        millis(from + self.below(about, to - from + 1))
    }

    /// Returns a duration within the range, skewed towards short ones; one in twenty takes up to three times the
    /// range's end, as allocations do.
    pub(crate) fn with_tail(self, about: &str, range: Seconds) -> SignedDuration {
        let from = u64::from(range.from) * 1000;
        let span = u64::from(range.to.max(range.from)) * 1000 - from;
        let part = self.below(about, 1001);
        let usual = from + span * part * part / 1_000_000;
        let tail = if self.below(&format!("{about} tail"), 20) == 0 {
            self.below(&format!("{about} tail length"), u64::from(range.to) * 2000 + 1)
        } else {
            0
        };
        millis(usual + tail)
    }

    /// Returns a version 4 GUID.
    pub(crate) fn guid(self, about: &str) -> String {
        let high = self.number(&format!("{about} high"));
        let low = self.number(&format!("{about} low"));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            ((low >> 48) & 0x3fff) | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }

    /// Returns lower-case letters and digits, as Kubernetes appends them to generated names: no vowels and no
    /// characters that look alike.
    pub(crate) fn suffix(self, about: &str, length: usize) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut rest = self.number(about);
        let count = LETTERS.len() as u64;
        (0..length)
            .map(|_| {
                let at = usize::try_from(rest % count).unwrap_or(0);
                rest /= count;
                char::from(LETTERS[at])
            })
            .collect()
    }
}

fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn millis(count: u64) -> SignedDuration {
    SignedDuration::from_millis(i64::try_from(count).unwrap_or(i64::MAX))
}
