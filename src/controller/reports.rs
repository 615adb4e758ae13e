//! Writes that only report state: the NodeFleet's status, and the times of pod events on nodes. They have their own
//! queues, so a slow API server does not delay other writes.
//!
//! Only the latest report about an object is kept. Must never carry a write that anything depends on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::cluster::Writer;

/// Maximum number of objects with queued reports; callers repeat reports that exceed it.
const WAITING_MAX: usize = 10_000;

/// Delay after the first failure, doubled after each further one.
const AGAIN_FIRST: Duration = Duration::from_secs(1);

/// Maximum delay after a failure.
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// A queue of reports. It stops writing when dropped.
pub(super) struct Reports {
    queue: Arc<Queue>,
    writing: JoinHandle<()>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    more: Notify,
}

#[derive(Default)]
struct Waiting {
    /// Status patches by the paths of their objects.
    patches: BTreeMap<String, Value>,
    /// The patch that is being written.
    current: Option<(String, Value)>,
}

impl Waiting {
    /// Adds a report. One that equals the patch being written is skipped; later ones replace earlier ones.
    fn push(&mut self, path: String, patch: Value) {
        if self.current.as_ref().is_some_and(|(current, being)| *current == path && *being == patch) {
            self.patches.remove(&path);
        } else if self.patches.len() < WAITING_MAX || self.patches.contains_key(&path) {
            self.patches.insert(path, patch);
        }
    }

    fn next(&mut self) -> Option<(String, Value)> {
        self.current = self.patches.pop_first();
        self.current.clone()
    }
}

impl Reports {
    /// Starts a queue; `what` is its name in the log.
    pub(super) fn begin(writer: Writer, what: &'static str) -> Self {
        let queue = Arc::<Queue>::default();
        let writing = tokio::spawn(write(Arc::clone(&queue), writer, what));
        Self { queue, writing }
    }

    /// Queues a patch of an object's status.
    pub(super) fn patch_status(&self, path: String, patch: Value) {
        self.queue.with(|waiting| waiting.push(path, patch));
        self.queue.more.notify_one();
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        self.writing.abort();
    }
}

impl Queue {
    fn with<T>(&self, change: impl FnOnce(&mut Waiting) -> T) -> T {
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn write(queue: Arc<Queue>, writer: Writer, what: &'static str) {
    let mut failed: Option<String> = None;
    let mut wait = AGAIN_FIRST;
    loop {
        let Some((path, patch)) = queue.with(Waiting::next) else {
            queue.more.notified().await;
            continue;
        };
        match writer.patch_status(&path, &patch).await {
            Ok(_) => {
                failed = None;
                wait = AGAIN_FIRST;
            }
            Err(failure) => {
                if failed.as_ref() != Some(&failure.what) {
                    tracing::warn!(hint = failure.hint, "{what} cannot be written: {}", failure.what);
                }
                failed = Some(failure.what);
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(AGAIN_MAX);
            }
        }
        queue.with(|waiting| waiting.current = None);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_reports_about_one_object_the_last_is_written_and_what_is_being_written_is_not_written_again() {
        let mut waiting = Waiting::default();
        waiting.push("/a".to_owned(), json!(1));
        waiting.push("/a".to_owned(), json!(2));
        assert_eq!(waiting.next(), Some(("/a".to_owned(), json!(2))));
        waiting.push("/a".to_owned(), json!(2));
        waiting.push("/b".to_owned(), json!(3));
        assert_eq!(waiting.next(), Some(("/b".to_owned(), json!(3))));
        assert_eq!(waiting.next(), None);
    }

    #[test]
    fn more_objects_than_can_wait_are_not_kept_and_those_that_wait_stay_up_to_date() {
        let mut waiting = Waiting::default();
        (0..=WAITING_MAX).for_each(|number| waiting.push(format!("/{number:05}"), json!(0)));
        waiting.push("/00000".to_owned(), json!(1));
        assert_eq!((waiting.patches.len(), &waiting.patches["/00000"]), (WAITING_MAX, &json!(1)));
    }
}
