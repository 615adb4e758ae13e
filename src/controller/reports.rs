//! Writes that only report how it is: the NodeFleet's status, and when pods came to nodes or left them. They wait in queues
//! of their own, so that an API server that takes its time over them delays nothing that is due.
//!
//! Of reports about one object only the last is kept. Must never carry a write on which anything rests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::cluster::Writer;

/// How many objects' reports wait at most; what is reported beyond is reported again later by whoever does.
const WAITING_MAX: usize = 10_000;

/// The wait after the first failure, doubled after each further one.
const AGAIN_FIRST: Duration = Duration::from_secs(1);

/// The longest wait after a failure.
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// A queue of reports. Dropped, it writes no more.
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
    /// Patches of the status by the paths of their objects.
    patches: BTreeMap<String, Value>,
    /// The one that is being written.
    current: Option<(String, Value)>,
}

impl Waiting {
    /// Takes a report in. One that says what is being written anyhow is not needed; later ones replace earlier ones.
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
    /// Starts a queue of what is called so in the log.
    pub(super) fn begin(writer: Writer, what: &'static str) -> Self {
        let queue = Arc::<Queue>::default();
        let writing = tokio::spawn(write(Arc::clone(&queue), writer, what));
        Self { queue, writing }
    }

    /// Has the status of an object patched, soon.
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
