//! Rate-limit budgets, one for each bucket, kept here so that Azure never has to throttle: shared by all calls of a
//! client.
//!
//! [`Buckets`] computes when a request may pass; this module waits. Must never be created twice for one subscription in
//! one process.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::Clock;
use crate::arm::{BucketKey, Buckets};

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

    /// Takes one request from each bucket, and waits until it is due and no bucket is closed.
    pub(super) async fn take(&self, keys: &[BucketKey]) {
        let mut due = self.buckets().take(keys, self.clock.now());
        loop {
            let now = self.clock.now();
            // A concurrent call may have closed a bucket meanwhile.
            due = due.max(self.buckets().closed_until(keys));
            if due <= now {
                return;
            }
            self.clock.sleep(due - now).await;
        }
    }

    /// Closes these buckets for this time.
    pub(super) fn close(&self, keys: &[BucketKey], time: Duration) {
        let until = self.clock.now() + time;
        self.buckets().close(keys, until);
    }

    fn buckets(&self) -> MutexGuard<'_, Buckets> {
        // Each change is one assignment, so a poisoned lock is safe to reuse.
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Bucket;

    #[tokio::test]
    async fn what_one_call_closes_is_closed_for_all_and_only_that() {
        // 30 s take 30 ms on this clock.
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
}
