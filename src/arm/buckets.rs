//! Client-side rate limiting: tracks the remaining requests of Azure's throttling buckets, so that Azure never has to
//! throttle.
//!
//! Each bucket is a leaky bucket in whole nanoseconds (generic cell rate algorithm): it stores one number, the time at
//! which it is full again. A bucket that Azure closed (`Retry-After`) admits nothing before that time. Times are
//! relative to an arbitrary origin. Must never wait: that is up to the sender.

use std::collections::BTreeMap;
use std::time::Duration;

use super::bucket::BucketKey;

/// Maximum number of entries before full buckets are dropped.
const BUDGET_ENTRIES_MAX: usize = 4096;

/// State of the buckets.
#[derive(Debug, Default)]
pub struct Buckets {
    states: BTreeMap<BucketKey, State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    full_at: Duration,
    closed_until: Duration,
}

impl Buckets {
    /// Takes one request from each bucket and returns the time at which it may be sent.
    pub fn take(&mut self, keys: &[BucketKey], now: Duration) -> Duration {
        if self.states.len() > BUDGET_ENTRIES_MAX {
            self.states.retain(|_, state| state.full_at > now || state.closed_until > now);
        }
        keys.iter().map(|key| self.take_one(key, now)).max().unwrap_or(now)
    }

    fn take_one(&mut self, key: &BucketKey, now: Duration) -> Duration {
        let (each, allowance) = (each(key), key.allowance());
        let state = self.states.entry(key.clone()).or_default();
        state.full_at = state.full_at.max(now) + each;
        // The deficit of a bucket must not exceed its capacity.
        state.full_at.saturating_sub(each.saturating_mul(allowance.capacity))
    }

    /// Closes these buckets until a time.
    pub fn close(&mut self, keys: &[BucketKey], until: Duration) {
        for key in keys {
            let state = self.states.entry(key.clone()).or_default();
            state.closed_until = state.closed_until.max(until);
        }
    }

    /// Returns the time until which at least one of these buckets is closed.
    #[must_use]
    pub fn closed_until(&self, keys: &[BucketKey]) -> Duration {
        let states = keys.iter().filter_map(|key| self.states.get(key));
        states.map(|state| state.closed_until).max().unwrap_or_default()
    }
}

/// Returns the time in which one request is refilled.
fn each(key: &BucketKey) -> Duration {
    Duration::from_secs(60) / key.allowance().refill_per_minute.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Bucket;

    /// Returns the milliseconds from `now` until the request may be sent; negative if that time has passed.
    fn due(buckets: &mut Buckets, keys: &[BucketKey], now: u64) -> i128 {
        let due = buckets.take(keys, Duration::from_secs(now)).as_millis();
        i128::try_from(due).unwrap() - i128::from(now) * 1000
    }

    #[test]
    fn a_bucket_lets_its_capacity_through_and_then_its_refill() {
        let mut buckets = Buckets::default();
        let keys = [BucketKey::whole(Bucket::ArmWrites)];
        for _ in 0..200 {
            assert!(due(&mut buckets, &keys, 1000) <= 0);
        }
        // 10 requests are refilled per second.
        let waits: Vec<i128> = (0..3).map(|_| due(&mut buckets, &keys, 1000)).collect();
        assert_eq!(waits, [100, 200, 300]);
        assert!(due(&mut buckets, &keys, 1100) <= 0);
    }

    #[test]
    fn one_resource_waits_without_the_others() {
        let mut buckets = Buckets::default();
        let of = |resource: &str| {
            [
                BucketKey::whole(Bucket::ComputeLowCostGet),
                BucketKey { bucket: Bucket::ComputeLowCostGet, resource: Some(resource.to_owned()) },
            ]
        };
        for _ in 0..36 {
            assert!(due(&mut buckets, &of("/a"), 1000) <= 0);
        }
        assert_eq!(due(&mut buckets, &of("/a"), 1000), 5000);
        assert!(due(&mut buckets, &of("/b"), 1000) <= 0);
    }

    #[test]
    fn full_buckets_of_resources_are_forgotten() {
        let mut buckets = Buckets::default();
        for n in 0..=u64::try_from(BUDGET_ENTRIES_MAX).unwrap() {
            let key = BucketKey { bucket: Bucket::ComputePutVm, resource: Some(n.to_string()) };
            due(&mut buckets, &[key], 0);
        }
        due(&mut buckets, &[BucketKey::whole(Bucket::ArmReads)], 3600);
        assert_eq!(buckets.states.len(), 1);
    }
}
