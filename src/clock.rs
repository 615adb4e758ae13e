//! The clock of the live side: the one place that asks what time it is.
//!
//! What lasts is measured and waited for by tokio's clock (`tokio::time::Instant`, `sleep`, `timeout`), which tests let
//! stand and jump. What time it is says a [`Clock`]: made once by the command, handed on with the cluster.
//!
//! Must never be asked above the line, where time is a value, nor decide anything.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Says what time it is. Copies say the same.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The machine's, which somebody may set while it runs.
    Machine,
    /// It was this time at that moment, and goes on with tokio's clock.
    Since { time: Timestamp, moment: Instant },
}

impl Clock {
    /// The clock of this machine.
    #[must_use]
    pub const fn of_this_machine() -> Self {
        Self(Kind::Machine)
    }

    /// A clock that says this time now, and goes on with tokio's: where that stands, so does this one.
    #[must_use]
    pub fn beginning_at(time: Timestamp) -> Self {
        Self(Kind::Since { time, moment: Instant::now() })
    }

    /// What time it is.
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

    /// Plans are made on a thread of their own: were time to jump meanwhile, every deadline would pass.
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
