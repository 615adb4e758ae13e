//! What a look waits for, and since when: a long wait is reported, and an endless one makes the probe fail.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Time after which a wait is reported.
const SLOW: Duration = Duration::from_secs(90);

/// Time after which a wait counts as stuck: all deadlines within it are shorter together.
const STUCK: Duration = Duration::from_secs(300);

/// The current wait. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase(Arc<Mutex<Option<(&'static str, Instant)>>>);

impl Phase {
    /// Starts a wait.
    pub(super) fn begins(&self, what: &'static str) {
        self.set(Some((what, Instant::now())));
    }

    /// Ends the wait.
    pub(super) fn ends(&self) {
        self.set(None);
    }

    /// Returns a message about the wait if it is long.
    pub(super) fn slow(&self) -> Option<String> {
        self.since(SLOW).map(|what| {
            let seconds = SLOW.as_secs();
            format!("waiting for more than {seconds} seconds, and nothing is proposed meanwhile: {what}")
        })
    }

    /// Returns whether the wait is stuck.
    pub(super) fn is_stuck(&self) -> bool {
        self.since(STUCK).is_some()
    }

    fn set(&self, now: Option<(&'static str, Instant)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    fn since(&self, long: Duration) -> Option<&'static str> {
        let phase = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        phase.filter(|(_, since)| since.elapsed() >= long).map(|(what, _)| what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_told_after_a_minute_and_a_half_and_stuck_after_five_until_the_next_begins() {
        let phase = Phase::default();
        phase.begins("reading the repository");
        tokio::time::advance(Duration::from_secs(89)).await;
        assert_eq!((phase.slow(), phase.is_stuck()), (None, false));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(phase.slow().is_some_and(|said| said.ends_with(": reading the repository")));
        tokio::time::advance(Duration::from_secs(210)).await;
        assert!(phase.is_stuck());
        phase.begins("planning");
        assert_eq!((phase.slow(), phase.is_stuck()), (None, false));
        tokio::time::advance(STUCK).await;
        phase.ends();
        assert_eq!((phase.slow(), phase.is_stuck()), (None, false));
    }
}
