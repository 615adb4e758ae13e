//! The clock of the live side: the only place that reads the current time.
//!
//! Durations are measured and awaited with tokio's clock (`tokio::time::Instant`, `sleep`, `timeout`), which tests can
//! pause and advance. The wall-clock time comes from a [`Clock`], which the command creates once and passes on with the
//! cluster.
//!
//! Must never be used by the pure modules, where time is a value, nor decide anything.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Wall clock. Copies return the same time.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The machine's clock, which may be set while the program runs.
    Machine,
    /// Starts with `time` at `moment` and advances with tokio's clock.
    Since { time: Timestamp, moment: Instant },
}

impl Clock {
    /// Returns the clock of this machine.
    #[must_use]
    pub const fn of_this_machine() -> Self {
        Self(Kind::Machine)
    }

    /// Returns a clock that starts at this time and advances with tokio's clock: if that is paused, so is this one.
    #[must_use]
    pub fn beginning_at(time: Timestamp) -> Self {
        Self(Kind::Since { time, moment: Instant::now() })
    }

    /// Returns the current time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    pub fn now(&self) -> Timestamp {
        match self.0 {
            Kind::Machine => Timestamp::now(),
            Kind::Since { time, moment } => {
                let since = SignedDuration::try_from(moment.elapsed()).unwrap_or(SignedDuration::MAX);
                time.saturating_add(since).unwrap_or(Timestamp::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[tokio::test(start_paused = true)]
    async fn hours_that_nobody_needs_go_by_at_once() {
        let start = Timestamp::UNIX_EPOCH;
        let clock = Clock::beginning_at(start);
        tokio::time::sleep(HOUR).await;
        assert_eq!(clock.now(), start + SignedDuration::from_hours(1));
    }

    /// Plans are made on a separate thread: if time jumped meanwhile, every deadline would pass.
    #[tokio::test(start_paused = true)]
    async fn time_stands_while_a_thread_of_its_own_works() {
        let clock = Clock::beginning_at(Timestamp::UNIX_EPOCH);
        let (done, works) = std::sync::mpsc::channel::<()>();
        let planning = tokio::task::spawn_blocking(move || works.recv_timeout(Duration::from_millis(50)));
        tokio::select! {
            ended = planning => assert!(ended.expect("it ends").is_err(), "it worked all the time"),
            () = tokio::time::sleep(HOUR) => panic!("an hour went by while it worked"),
        }
        assert_eq!(clock.now(), Timestamp::UNIX_EPOCH);
        drop(done);
    }
}
