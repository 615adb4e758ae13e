//! The simulator's only world, shared by its connections.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::sim::{Request, Response, Watch, WatchEvents, World, exchange};

/// A world, and the notifications of its changes.
#[derive(Debug)]
pub(crate) struct Host {
    world: Mutex<World>,
    /// The clock of the world.
    pub(crate) clock: Clock,
    recorder: Option<Mutex<Recorder>>,
    /// Wakes watches: objects have changed.
    pub(crate) changed: Notify,
    /// Wakes the clock: something may be due earlier than it was.
    pub(crate) planned: Notify,
}

impl Host {
    pub(crate) fn new(world: World, clock: Clock, recorder: Option<Recorder>) -> Self {
        Self {
            world: Mutex::new(world),
            clock,
            recorder: recorder.map(Mutex::new),
            changed: Notify::new(),
            planned: Notify::new(),
        }
    }

    /// Answers a request and records it.
    pub(crate) fn request(&self, request: &Request) -> Response {
        let response = self.moved(|world| world.request(self.clock.now(), request));
        if let Some(recorder) = &self.recorder {
            locked(recorder).append(request, &response);
        }
        self.planned.notify_one();
        response
    }

    /// Processes the events that are due, and returns the time of the next one.
    pub(crate) fn advance(&self) -> Option<Timestamp> {
        self.moved(|world| {
            world.advance(self.clock.now());
            world.next_event()
        })
    }

    pub(crate) fn watch(&self, watch: &mut Watch) -> WatchEvents {
        locked(&self.world).watch(watch)
    }

    /// Reads the world as of the last request or event.
    pub(crate) fn seen<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&locked(&self.world))
    }

    fn moved<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        let mut world = locked(&self.world);
        let before = world.revision();
        let result = act(&mut world);
        if world.revision() != before {
            self.changed.notify_waiters();
        }
        result
    }
}

/// Ignores poisoning: a panic in one connection does not invalidate the world.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file to which exchanges are appended.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: File,
}

impl Recorder {
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .with_context(|| format!("failed to open `{}` for recording", path.display()))?;
        Ok(Self { file })
    }

    /// Appends an exchange. A full disk stops the recording, not the simulation.
    fn append(&mut self, request: &Request, response: &Response) {
        if let Some(exchange) = exchange(request, response) {
            let _ = writeln!(self.file, "{exchange}");
        }
    }
}
