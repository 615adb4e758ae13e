//! What is being done, on standard error, while it takes long and somebody watches.
//!
//! Nothing where standard error is no terminal. The line is cleared when the work ends, however it ends.
#![expect(clippy::print_stderr, reason = "this module is where the program says what it is doing")]

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What takes less than this is over before anybody has read of it.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often the line is written again, with the seconds that went by.
const TICK: Duration = Duration::from_millis(250);

/// Work that somebody may be waiting for; ends when it is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    what: Arc<Mutex<String>>,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins with this work.
    pub(super) fn start(what: &str) -> Self {
        let what = Arc::new(Mutex::new(what.to_owned()));
        let watch = std::io::stderr().is_terminal().then(|| {
            let (end, ended) = channel();
            let shown = Arc::clone(&what);
            (end, std::thread::spawn(move || show(&shown, &ended)))
        });
        Self { what, watch }
    }

    /// Goes on with other work.
    pub(super) fn say(&self, what: String) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.watch.take() {
            drop(end);
            // A line that could not be written is nobody's loss.
            let _ = thread.join();
        }
    }
}

fn show(what: &Mutex<String>, ended: &Receiver<()>) {
    let mut waited = Duration::ZERO;
    let mut wait = PATIENCE;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        waited += wait;
        wait = TICK;
        let what = what.lock().unwrap_or_else(PoisonError::into_inner).clone();
        eprint!("\r{what} ({} s)\u{1b}[K", waited.as_secs());
    }
    if wait == TICK {
        eprint!("\r\u{1b}[K");
    }
}
