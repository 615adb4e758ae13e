//! One budget a bucket, kept here so that Azure never has to throttle: shared by all calls of a client.
//!
//! Each bucket is a leaky bucket in whole nanoseconds (the generic cell rate algorithm): it holds one number, the time at
//! which it is full again. A bucket that Azure closed (`Retry-After`) lets nothing through before that time. Must never
//! be made twice for one subscription in one process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::Clock;
use super::limits::BUDGET_ENTRIES_MAX;
use crate::arm::BucketKey;

/// The budgets of one client.
#[derive(Debug)]
pub(super) struct Budget {
    clock: Clock,
    buckets: Mutex<Buckets>,
}

impl Budget {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, buckets: Mutex::new(Buckets::default()) }
    }

    /// Takes one from each bucket, and waits until that is due and none is closed.
    pub(super) async fn take(&self, keys: &[BucketKey]) {
        let mut due = self.buckets().take(keys, self.clock.now());
        loop {
            let now = self.clock.now();
            // Others may have been told to wait while this one waited.
            due = due.max(self.buckets().closed_until(keys));
            if due <= now {
                return;
            }
            self.clock.sleep(due - now).await;
        }
    }

    /// Lets nothing through these buckets for this time.
    pub(super) fn close(&self, keys: &[BucketKey], time: Duration) {
        let until = self.clock.now() + time;
        let mut buckets = self.buckets();
        for key in keys {
            let state = buckets.states.entry(key.clone()).or_default();
            state.closed_until = state.closed_until.max(until);
        }
    }

    fn buckets(&self) -> MutexGuard<'_, Buckets> {
        // Each change is one assignment: a poisoned lock is whole.
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Buckets {
    states: BTreeMap<BucketKey, State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    full_at: Duration,
    closed_until: Duration,
}

impl Buckets {
    /// Takes one from each and returns when the last of them is due.
    fn take(&mut self, keys: &[BucketKey], now: Duration) -> Duration {
        if self.states.len() > BUDGET_ENTRIES_MAX {
            self.states.retain(|_, state| state.full_at > now || state.closed_until > now);
        }
        keys.iter().map(|key| self.take_one(key, now)).max().unwrap_or(now)
    }

    fn take_one(&mut self, key: &BucketKey, now: Duration) -> Duration {
        let allowance = key.allowance();
        let each = Duration::from_secs(60) / allowance.refill_per_minute.max(1);
        let state = self.states.entry(key.clone()).or_default();
        state.full_at = state.full_at.max(now) + each;
        // What is missing to a full bucket must not be more than it holds.
        state.full_at.saturating_sub(each.saturating_mul(allowance.capacity))
    }

    fn closed_until(&self, keys: &[BucketKey]) -> Duration {
        let states = keys.iter().filter_map(|key| self.states.get(key));
        states.map(|state| state.closed_until).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Bucket;

    /// Milliseconds after `now` until it is due; negative: it was due before.
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
        // 10 a second come back.
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

    #[tokio::test]
    async fn what_one_call_closes_is_closed_for_all_and_only_that() {
        // 30 s are 30 ms here.
        let clock = Clock::new(1000);
        let budget = Budget::new(clock);
        let reads = [BucketKey::whole(Bucket::ArmReads), BucketKey::whole(Bucket::NetworkReads)];
        budget.close(&reads[1..], Duration::from_secs(30));
        let begun = clock.now();
        let waiting = (0..3).map(|_| budget.take(&reads));
        futures_util::future::join_all(waiting).await;
        assert!(clock.now() - begun >= Duration::from_secs(30));
        assert!(budget.buckets().closed_until(&reads[..1]).is_zero());
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
