//! Progress line on standard error during long operations.
//!
//! Shown only if standard error is a terminal. The line is cleared when the work ends, also after a failure.
#![expect(clippy::print_stderr, reason = "this module is where the program says what it is doing")]

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Delay before the line is shown: shorter work ends before anyone could read it.
const PATIENCE: Duration = Duration::from_millis(500);

/// Interval at which the line and its elapsed seconds are updated.
const TICK: Duration = Duration::from_millis(250);

/// Clears the line.
const CLEAR: &str = "\r\u{1b}[K";

/// A long-running operation; ends when it is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    told: Arc<Mutex<Told>>,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Debug)]
struct Told {
    what: String,
    is_shown: bool,
}

impl Progress {
    /// Starts an operation.
    pub(super) fn start(what: &str) -> Self {
        let told = Arc::new(Mutex::new(Told { what: what.to_owned(), is_shown: false }));
        let watch = std::io::stderr().is_terminal().then(|| {
            let (end, ended) = channel();
            let shown = Arc::clone(&told);
            (end, std::thread::spawn(move || show(&shown, &ended)))
        });
        Self { told, watch }
    }

    /// Changes the description to the next step.
    pub(super) fn say(&self, what: String) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).what = what;
    }

    /// Prints something above the line, and then shows this description.
    pub(super) fn above<T>(&self, what: String, print: impl FnOnce() -> T) -> T {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.what = what;
        if self.watch.is_none() {
            return print();
        }
        eprint!("{CLEAR}");
        let printed = print();
        eprint!("{}", told.what);
        told.is_shown = true;
        printed
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.watch.take() {
            drop(end);
            // A failure to write the line does not matter.
            let _ = thread.join();
        }
    }
}

fn show(told: &Mutex<Told>, ended: &Receiver<()>) {
    let lock = || told.lock().unwrap_or_else(PoisonError::into_inner);
    let mut waited = Duration::ZERO;
    let mut wait = PATIENCE;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        waited += wait;
        wait = TICK;
        let mut told = lock();
        eprint!("\r{} ({} s)\u{1b}[K", told.what, waited.as_secs());
        told.is_shown = true;
    }
    if lock().is_shown {
        eprint!("{CLEAR}");
    }
}
