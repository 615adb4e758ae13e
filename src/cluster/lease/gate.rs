//! The gate for every write, to Kubernetes and to Azure: open while we certainly hold the Lease.
//!
//! Names, UIDs and `If-None-Match` are the second protection: a write that has started may end after the Lease is lost.
//! Must never wait or write: it only checks the time since the last renewal.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::clock::Clock;

/// Determines whether a write may start. Clones share the state.
#[derive(Clone, Debug)]
pub struct WriteGate(Option<Arc<Renewals>>);

/// Reason why a write may not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateClosed {
    /// The Lease is not held: not yet, no longer, or taken by another process.
    #[error("the Lease is not held")]
    NotHeld,
    /// Its renewal is late.
    #[error("the Lease was last renewed {seconds} s ago")]
    Late {
        /// Time since the start of the last renewal, in seconds.
        seconds: u64,
    },
}

#[derive(Debug)]
struct Renewals {
    clock: Clock,
    start: Instant,
    open_for: Duration,
    /// Start of the last renewal: milliseconds since `start`, plus one; 0 while the Lease is not held.
    began: AtomicU64,
    /// The same by the wall clock, in milliseconds. It is checked as well because the monotonic clock stops while a
    /// laptop sleeps.
    began_wall: AtomicI64,
}

impl WriteGate {
    /// Returns a gate for commands without a Lease, and for tests.
    #[must_use]
    pub const fn always_open() -> Self {
        Self(None)
    }

    /// Returns a gate that never opens, for read-only processes.
    #[must_use]
    pub fn never_open(clock: Clock) -> Self {
        Self::closed(Duration::ZERO, clock)
    }

    /// Returns a closed gate that opens for this long with each renewal.
    pub(super) fn closed(open_for: Duration, clock: Clock) -> Self {
        Self(Some(Arc::new(Renewals {
            clock,
            start: Instant::now(),
            open_for,
            began: AtomicU64::new(0),
            began_wall: AtomicI64::new(0),
        })))
    }

    /// Checks whether a write may start.
    ///
    /// # Errors
    /// The last renewal of the Lease started too long ago, or the Lease is not held.
    pub fn check(&self) -> Result<(), GateClosed> {
        let Some(renewals) = &self.0 else { return Ok(()) };
        let began = renewals.began.load(Ordering::SeqCst).checked_sub(1).ok_or(GateClosed::NotHeld)?;
        let monotonic = renewals.start.elapsed().saturating_sub(Duration::from_millis(began));
        let wall = renewals.clock.now().as_millisecond() - renewals.began_wall.load(Ordering::SeqCst);
        let age = monotonic.max(Duration::from_millis(u64::try_from(wall).unwrap_or(0)));
        if age < renewals.open_for { Ok(()) } else { Err(GateClosed::Late { seconds: age.as_secs() }) }
    }

    /// Returns whether a write may start.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.check().is_ok()
    }

    /// Records a successful renewal, and when it started.
    pub(super) fn renewed(&self, began: Instant, began_wall: Timestamp) {
        if let Some(renewals) = &self.0 {
            let since = began.saturating_duration_since(renewals.start).as_millis();
            renewals.began_wall.store(began_wall.as_millisecond(), Ordering::SeqCst);
            renewals.began.store(u64::try_from(since).unwrap_or(u64::MAX - 1) + 1, Ordering::SeqCst);
        }
    }

    /// Closes the gate until the next renewal.
    pub(super) fn close(&self) {
        if let Some(renewals) = &self.0 {
            renewals.began.store(0, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN_FOR: Duration = Duration::from_secs(10);

    #[test]
    fn it_is_open_from_a_renewal_until_its_time_is_over() {
        let clock = Clock::beginning_at(Timestamp::UNIX_EPOCH);
        let gate = WriteGate::closed(OPEN_FOR, clock);
        assert_eq!(gate.check(), Err(GateClosed::NotHeld));
        gate.renewed(Instant::now(), clock.now());
        assert!(gate.clone().is_open());
        gate.close();
        assert_eq!(gate.check(), Err(GateClosed::NotHeld));
    }

    #[test]
    fn either_clock_closes_it() {
        let hour = Duration::from_secs(3_600);
        let clock = Clock::beginning_at("2026-01-05T09:00:00Z".parse().unwrap());
        let now = clock.now();
        let slept = WriteGate::closed(OPEN_FOR, clock);
        slept.renewed(Instant::now(), now.checked_sub(jiff::SignedDuration::from_secs(3_600)).unwrap());
        assert_eq!(slept.check(), Err(GateClosed::Late { seconds: 3_600 }));

        let Some(earlier) = Instant::now().checked_sub(hour) else { return };
        let late = WriteGate(Some(Arc::new(Renewals {
            clock,
            start: earlier,
            open_for: OPEN_FOR,
            began: AtomicU64::new(1),
            began_wall: AtomicI64::new(now.as_millisecond()),
        })));
        assert_eq!(late.check(), Err(GateClosed::Late { seconds: 3_600 }));
    }

    #[test]
    fn who_only_reads_never_writes_whatever_is_renewed() {
        let clock = Clock::beginning_at(Timestamp::UNIX_EPOCH);
        let gate = WriteGate::never_open(clock);
        assert_eq!(gate.check(), Err(GateClosed::NotHeld));
        gate.renewed(Instant::now(), clock.now());
        assert!(!gate.is_open());
    }

    #[test]
    fn a_command_without_a_lease_may_write() {
        assert!(WriteGate::always_open().is_open());
    }
}
