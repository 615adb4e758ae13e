//! What will happen, in order of time; at one time, in the order in which it was planned.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// Something that is due later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// An operation of Azure ends: its id.
    OperationEnds(String),
    /// A VM appears although its operation failed: the lower-case name.
    LateVm(String),
    /// A VM's kubelet starts: the VM's `vmId`.
    Boots(String),
    /// The kubelet of a node says Ready: the VM's `vmId`.
    NodeReady(String),
    /// The cloud provider has initialised a node: the VM's `vmId`.
    NodeInitialized(String),
    /// The kubelet of a node has been silent for so long that the node is NotReady: the VM's `vmId`.
    NodeSilent(String),
    /// The cloud node lifecycle looks after a node whose VM is gone: the VM's `vmId`.
    NodeRemoved(String),
    /// The containers of a pod run: its UID.
    PodRuns(String),
    /// The containers of a Job's pod end: its UID.
    PodSucceeds(String),
    /// The containers of a terminating pod have ended: its UID.
    PodGone(String),
    /// Workload controllers and scheduler look at what has changed.
    Reconcile,
    /// A spot VM is taken back: its `vmId`.
    SpotEviction(String),
    /// A rule of faults that acts by itself looks for its victim: its index.
    Fault(usize),
}

/// The events to come.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    due: BTreeMap<(Timestamp, u64), Event>,
    planned: u64,
    /// By what every wait is divided.
    speed: u32,
}

impl Agenda {
    /// An empty agenda of a world in which everything is so many times faster.
    pub(crate) fn new(speed: u32) -> Self {
        Self { due: BTreeMap::new(), planned: 0, speed: speed.max(1) }
    }

    /// By what every wait is divided.
    pub(crate) const fn speed(&self) -> u32 {
        self.speed
    }

    /// The time after a wait.
    pub(crate) fn time_after(&self, now: Timestamp, wait: SignedDuration) -> Timestamp {
        later(now, wait / i32::try_from(self.speed).unwrap_or(i32::MAX))
    }

    /// Plans an event at a time.
    pub(crate) fn at(&mut self, time: Timestamp, event: Event) {
        self.planned += 1;
        self.due.insert((time, self.planned), event);
    }

    /// Plans an event after a while.
    pub(crate) fn after(&mut self, now: Timestamp, wait: SignedDuration, event: Event) {
        self.at(self.time_after(now, wait), event);
    }

    /// Takes the next event that is due at `now`, with its time.
    pub(crate) fn take(&mut self, now: Timestamp) -> Option<(Timestamp, Event)> {
        let (&(time, _), _) = self.due.first_key_value()?;
        if time > now {
            return None;
        }
        self.due.pop_first().map(|((time, _), event)| (time, event))
    }

    /// Returns the time of the next event.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.due.first_key_value().map(|((time, _), _)| *time)
    }
}

/// Returns a later time; the end of time where there is none.
pub(crate) fn later(now: Timestamp, wait: SignedDuration) -> Timestamp {
    now.checked_add(wait).unwrap_or(Timestamp::MAX)
}

/// Prints a time as Kubernetes does: whole seconds, UTC.
pub(crate) fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Prints a time as Azure does: seven decimals and an offset.
pub(crate) fn azure_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%7f+00:00").to_string()
}
