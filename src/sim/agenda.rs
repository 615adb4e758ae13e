//! Event queue, ordered by time; events due at the same time keep the order in which they were scheduled.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// An event that is due later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// An Azure operation ends: its id.
    OperationEnds(String),
    /// A VM appears although its creation was reported as failed: the lower-case name.
    LateVm(String),
    /// A VM's kubelet starts: the VM's `vmId`.
    Boots(String),
    /// The kubelet of a node reports Ready: the VM's `vmId`.
    NodeReady(String),
    /// The cloud provider has initialised a node: the VM's `vmId`.
    NodeInitialized(String),
    /// The kubelet of a node has been silent long enough for the node to become NotReady: the VM's `vmId`.
    NodeSilent(String),
    /// The cloud node lifecycle controller handles a node whose VM is gone: the VM's `vmId`.
    NodeRemoved(String),
    /// The containers of a pod start running: its UID.
    PodRuns(String),
    /// The containers of a Job's pod end: its UID.
    PodSucceeds(String),
    /// The containers of a terminating pod have ended: its UID.
    PodGone(String),
    /// Workload controllers and the scheduler process recent changes.
    Reconcile,
    /// Azure evicts a spot VM: its `vmId`.
    SpotEviction(String),
    /// A fault rule that triggers by itself selects its VMs: the rule's index.
    Fault(usize),
}

/// The pending events.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    due: BTreeMap<(Timestamp, u64), Event>,
    planned: u64,
    /// The factor by which every wait is divided.
    speed: u32,
}

impl Agenda {
    /// Creates an empty agenda with this speed-up factor.
    pub(crate) fn new(speed: u32) -> Self {
        Self { due: BTreeMap::new(), planned: 0, speed: speed.max(1) }
    }

    /// Returns the factor by which every wait is divided.
    pub(crate) const fn speed(&self) -> u32 {
        self.speed
    }

    /// Returns the time after a wait.
    pub(crate) fn time_after(&self, now: Timestamp, wait: SignedDuration) -> Timestamp {
        later(now, wait / i32::try_from(self.speed).unwrap_or(i32::MAX))
    }

    /// Schedules an event at a time.
    pub(crate) fn at(&mut self, time: Timestamp, event: Event) {
        self.planned += 1;
        self.due.insert((time, self.planned), event);
    }

    /// Schedules an event after a wait.
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

/// Returns a later time, or the maximum timestamp on overflow.
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
