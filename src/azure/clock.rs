//! The clock by which requests wait: the real one, or a simulator's that runs faster.
//!
//! Must never be used for a recorded time.

use std::time::Duration;

use tokio::time::Instant;

/// A clock that runs `speed` times as fast as the real one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
    speed: u32,
}

impl Clock {
    /// Returns a clock that starts now.
    pub(super) fn new(speed: u32) -> Self {
        Self { start: Instant::now(), speed: speed.max(1) }
    }

    /// Returns the time since its start.
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed().saturating_mul(self.speed)
    }

    /// Converts a duration of this clock to real time.
    pub(super) fn real(&self, time: Duration) -> Duration {
        time / self.speed
    }

    /// Waits for a duration of this clock.
    pub(super) async fn sleep(&self, time: Duration) {
        tokio::time::sleep(self.real(time)).await;
    }
}
