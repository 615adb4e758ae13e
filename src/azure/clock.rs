//! The clock by which requests wait: the real one, or a simulator's that runs faster.
//! Must never be used for a time that is written down.

use std::time::Duration;

use tokio::time::Instant;

/// A clock that runs `speed` times as fast as the real one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
    speed: u32,
}

impl Clock {
    /// A clock that starts now.
    pub(super) fn new(speed: u32) -> Self {
        Self { start: Instant::now(), speed: speed.max(1) }
    }

    /// Time since its start.
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed().saturating_mul(self.speed)
    }

    /// A time of this clock as it is for everybody else.
    pub(super) fn real(&self, time: Duration) -> Duration {
        time / self.speed
    }

    /// Waits for a time of this clock.
    pub(super) async fn sleep(&self, time: Duration) {
        tokio::time::sleep(self.real(time)).await;
    }
}
