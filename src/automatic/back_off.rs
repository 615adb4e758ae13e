//! Pools whose new nodes failed: each is tried again later and later, so that a permission that is missing does not fill
//! the ledger.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::model::PoolName;

/// The wait after the first failure, of the cloud's clock.
const FIRST: SignedDuration = SignedDuration::from_secs(20);

/// The longest wait.
const LONGEST: SignedDuration = SignedDuration::from_mins(10);

/// How often the wait is doubled at most.
const DOUBLINGS_MAX: u32 = 5;

/// Pools whose new nodes failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackOff {
    failed: BTreeMap<PoolName, (u32, Timestamp)>,
    clock_speed: i32,
}

impl BackOff {
    /// Nothing has failed.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        Self { failed: BTreeMap::new(), clock_speed: i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX) }
    }

    /// Notes that a node of a pool came.
    pub fn came(&mut self, pool: &PoolName) {
        self.failed.remove(pool);
    }

    /// Notes that a node of a pool failed; those that fail within the wait of one before count once.
    pub fn failed(&mut self, pool: &PoolName, at: Timestamp) {
        if self.until(pool, at).is_some() {
            return;
        }
        let times = self.failed.get(pool).map_or(0, |(times, _)| *times);
        let wait = (FIRST * 2_i32.pow(times.min(DOUBLINGS_MAX))).min(LONGEST) / self.clock_speed.max(1);
        let until = at.saturating_add(wait).unwrap_or(Timestamp::MAX);
        self.failed.insert(pool.clone(), (times.saturating_add(1), until));
    }

    /// Returns until when no node of a pool is made.
    #[must_use]
    pub fn until(&self, pool: &PoolName, at: Timestamp) -> Option<Timestamp> {
        self.failed.get(pool).map(|(_, until)| *until).filter(|until| *until > at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn each_failure_waits_twice_as_long_up_to_ten_minutes_and_success_forgets() {
        let (mut back_off, pool) = (BackOff::new(1), PoolName::new("web"));
        let mut now = 0;
        let mut waits = Vec::new();
        for _ in 0..7 {
            back_off.failed(&pool, at(now));
            back_off.failed(&pool, at(now));
            let until = back_off.until(&pool, at(now)).unwrap().as_second();
            waits.push(until - now);
            now = until;
        }
        assert_eq!(waits, [20, 40, 80, 160, 320, 600, 600]);
        back_off.came(&pool);
        assert_eq!(back_off.until(&pool, at(0)), None);
    }
}
