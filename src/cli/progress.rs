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

/// Takes away what stands on the line.
const CLEAR: &str = "\r\u{1b}[K";

/// Work that somebody may be waiting for; ends when it is dropped.
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
    /// Begins with this work.
    pub(super) fn start(what: &str) -> Self {
        let told = Arc::new(Mutex::new(Told { what: what.to_owned(), is_shown: false }));
        let watch = std::io::stderr().is_terminal().then(|| {
            let (end, ended) = channel();
            let shown = Arc::clone(&told);
            (end, std::thread::spawn(move || show(&shown, &ended)))
        });
        Self { told, watch }
    }

    /// Goes on with other work.
    pub(super) fn say(&self, what: String) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).what = what;
    }

    /// Has something printed above the line, which says this from then on.
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
            // A line that could not be written is nobody's loss.
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
