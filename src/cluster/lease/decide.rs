//! Leader election with client-go's algorithm, as pure decisions: maps observations and times to the next step.
//!
//! Others may take a Lease once they have seen no change of it for its duration, by their own monotonic clock: clocks
//! of two machines are never compared. Must never send or wait.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::record::{Record, micro_time};

/// Maximum of the API's field, a signed 32-bit number.
const TRANSITIONS_MAX: u64 = i32::MAX as u64;

/// Durations of leader election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long an unchanged Lease still belongs to its holder.
    pub lease: Duration,
    /// Time after the start of the last renewal at which the holder gives up.
    pub renew_deadline: Duration,
    /// Interval between two attempts.
    pub retry: Duration,
}

impl Default for Terms {
    /// Returns the durations of Kubernetes' own components and of Karpenter.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

/// Annotation by which the holder states that it alone reports the state of the fleet.
pub(super) const REPORTS: &str = "nodeform.dev/reports";

/// The current time, by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Time since a fixed moment, by a monotonic clock.
    pub monotonic: Duration,
    /// Wall-clock time, which is written into the Lease.
    pub wall: Timestamp,
}

/// A candidate for leadership, and what it saw.
#[derive(Clone, Debug)]
pub struct Candidate {
    name: &'static str,
    identity: String,
    namespace: String,
    terms: Terms,
    /// Whether it states on the Lease that it reports the state of the fleet.
    reports: bool,
    seen: Seen,
    /// Start of the last successful renewal.
    renewed: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    /// Nothing was read yet, or the last read is stale.
    Nothing,
    /// There is no Lease.
    Absent,
    There(Sighting),
}

#[derive(Clone, Debug, PartialEq)]
struct Sighting {
    lease: Value,
    record: Record,
    /// When this state was first seen.
    since: Duration,
    /// Whether it changed while it was watched: its holder is alive.
    is_alive: bool,
    /// Whether `lease` is known to be the newest version: unknown after a failed write of ours.
    is_current: bool,
}

/// Another holder of the Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its identity.
    pub holder: String,
    /// Time since which it holds the Lease, as it wrote it; may be empty.
    pub since: String,
    /// Whether it was seen to renew.
    pub is_alive: bool,
    /// When the Lease expires, if it does not change until then.
    pub expires: Duration,
}

/// Next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Read the Lease, and decide again.
    Read,
    /// Create this Lease.
    Create(Value),
    /// Replace the Lease by this one, which holds the version that was read.
    Replace(Value),
    /// Another process holds it: read again after the retry interval.
    Wait(Other),
    /// We lost it: nothing may be written from now on.
    Lost(Lost),
}

/// Reason why leadership was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Another process took the Lease.
    #[error("`{0}` took the Lease")]
    Taken(String),
    /// It could not be renewed in time.
    #[error("the Lease could not be renewed for {} s", .0.as_secs())]
    Late(Duration),
    /// The renewal task has ended, which is a bug.
    #[error("renewing the Lease ended with a bug in nodeform")]
    NotRenewed,
}

impl Candidate {
    /// Returns a candidate. `identity` must be unique to this process: it identifies the holder of the Lease.
    #[must_use]
    pub const fn new(identity: String, namespace: String, terms: Terms) -> Self {
        Self {
            name: super::NAME,
            identity,
            namespace,
            terms,
            reports: false,
            seen: Seen::Nothing,
            renewed: None,
        }
    }

    /// Uses the Lease of this name instead of Karpenter's.
    #[must_use]
    pub fn of_lease(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Sets whether it states on the Lease that it reports the state of the fleet.
    #[must_use]
    pub fn reporting(self, reports: bool) -> Self {
        Self { reports, ..self }
    }

    /// Sets the annotation for the reporter on a Lease.
    fn told(&self, mut lease: Value) -> Value {
        if self.reports {
            lease["metadata"]["annotations"][REPORTS] = json!(self.identity);
        }
        lease
    }

    /// Returns the name of the Lease.
    #[must_use]
    pub const fn lease(&self) -> &'static str {
        self.name
    }

    /// Returns whether we hold the Lease, as far as is known.
    #[must_use]
    pub const fn is_holder(&self) -> bool {
        self.renewed.is_some()
    }

    /// Returns how long a renewal that starts now may take.
    #[must_use]
    pub fn time_left(&self, now: Duration) -> Duration {
        let since = self.renewed.map_or(Duration::ZERO, |renewed| now.saturating_sub(renewed));
        self.terms.renew_deadline.saturating_sub(since)
    }

    /// Determines the next step.
    #[must_use]
    pub fn next(&self, now: Now) -> Step {
        if let Some(renewed) = self.renewed {
            let since = now.monotonic.saturating_sub(renewed);
            if since >= self.terms.renew_deadline {
                return Step::Lost(Lost::Late(since));
            }
        }
        match &self.seen {
            Seen::Nothing => Step::Read,
            Seen::Absent => Step::Create(self.created(now.wall)),
            Seen::There(sighting) if !sighting.is_current => Step::Read,
            Seen::There(sighting) => self.of_sighting(sighting, now),
        }
    }

    fn of_sighting(&self, sighting: &Sighting, now: Now) -> Step {
        let Sighting { lease, record, since, is_alive, .. } = sighting;
        let is_ours = record.holder == self.identity;
        if self.is_holder() && !is_ours {
            return Step::Lost(Lost::Taken(record.holder.clone()));
        }
        let expires = since.saturating_add(self.lease_of(record));
        if !is_ours && !record.holder.is_empty() && now.monotonic < expires {
            return Step::Wait(Other {
                holder: record.holder.clone(),
                since: record.acquire_time.clone(),
                is_alive: *is_alive,
                expires,
            });
        }
        let time = micro_time(now.wall);
        let next = Record {
            holder: self.identity.clone(),
            lease_seconds: self.terms.lease.as_secs(),
            transitions: record.transitions.saturating_add(u64::from(!is_ours)).min(TRANSITIONS_MAX),
            acquire_time: if is_ours { record.acquire_time.clone() } else { time.clone() },
            renew_time: time,
        };
        Step::Replace(self.told(next.written_into(lease.clone())))
    }

    /// Returns the duration of a Lease; one that states none counts as one of ours.
    fn lease_of(&self, record: &Record) -> Duration {
        match record.lease_seconds {
            0 => self.terms.lease,
            seconds => Duration::from_secs(seconds),
        }
    }

    fn created(&self, wall: Timestamp) -> Value {
        let time = micro_time(wall);
        let record = Record {
            holder: self.identity.clone(),
            lease_seconds: self.terms.lease.as_secs(),
            transitions: 0,
            acquire_time: time.clone(),
            renew_time: time,
        };
        self.told(record.written_into(json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": self.name, "namespace": self.namespace},
        })))
    }

    /// Records what was read; `None` if there is no Lease. A Lease with the same record counts as unchanged, whatever
    /// else was written to it.
    pub fn read(&mut self, found: Option<Value>, now: Duration) {
        let Some(lease) = found else {
            self.seen = Seen::Absent;
            return;
        };
        let record = Record::of(&lease);
        let (since, is_alive) = match &self.seen {
            Seen::There(before) if before.record == record => (before.since, before.is_alive),
            Seen::There(_) => (now, true),
            Seen::Nothing | Seen::Absent => (now, false),
        };
        self.seen = Seen::There(Sighting { lease, record, since, is_alive, is_current: true });
    }

    /// Records that our write succeeded, when it started, and the Lease as stored.
    pub fn wrote(&mut self, stored: Value, began: Duration) {
        let record = Record::of(&stored);
        self.renewed = Some(began);
        self.seen =
            Seen::There(Sighting { lease: stored, record, since: began, is_alive: false, is_current: true });
    }

    /// Starts an attempt: a candidate reads the Lease each time, a holder writes on top of its last write.
    pub fn begin(&mut self) {
        if !self.is_holder() {
            self.failed();
        }
    }

    /// Records that a write failed, or that its answer was lost: the Lease must be read.
    pub fn failed(&mut self) {
        match &mut self.seen {
            Seen::There(sighting) => sighting.is_current = false,
            Seen::Nothing | Seen::Absent => self.seen = Seen::Nothing,
        }
    }

    /// Returns the Lease to write in order to release it; `None` if we do not hold it.
    #[must_use]
    pub fn released(&self, wall: Timestamp) -> Option<Value> {
        let Seen::There(Sighting { lease, record, .. }) = &self.seen else { return None };
        (self.is_holder() && record.holder == self.identity).then(|| {
            let time = micro_time(wall);
            let free = Record {
                holder: String::new(),
                // The minimum that the API allows.
                lease_seconds: 1,
                transitions: record.transitions,
                acquire_time: time.clone(),
                renew_time: time,
            };
            free.written_into(lease.clone())
        })
    }
}

#[cfg(test)]
mod tests;
