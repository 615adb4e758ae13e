//! Leader election after client-go's algorithm, as decisions: what was seen and when, to what to do next.
//!
//! A holder has lost its Lease to others once they saw no change of it for as long as it says, by their own monotonic
//! clock: no clocks of two machines are compared. Must never send or wait.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::record::{Record, micro_time};

/// The API's field is a signed number of 32 bits.
const TRANSITIONS_MAX: u64 = i32::MAX as u64;

/// The times of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long a Lease that does not change still belongs to its holder.
    pub lease: Duration,
    /// How long after the last renewal began the holder gives up.
    pub renew_deadline: Duration,
    /// How long between two attempts.
    pub retry: Duration,
}

impl Default for Terms {
    /// The times of Kubernetes' own components and of Karpenter.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

/// The annotation by which a holder says that it reports the state of the fleet: nobody beside it does.
pub(super) const REPORTS: &str = "nodeform.dev/reports";

/// Now, by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Time since any fixed moment, by a clock that only goes forward.
    pub monotonic: Duration,
    /// The time that is written into the Lease.
    pub wall: Timestamp,
}

/// Who stands for election, and what it saw.
#[derive(Clone, Debug)]
pub struct Candidate {
    name: &'static str,
    identity: String,
    namespace: String,
    terms: Terms,
    /// Whether it says on the Lease that it reports the state of the fleet.
    reports: bool,
    seen: Seen,
    /// When the last renewal that succeeded began.
    renewed: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    /// Nothing was read yet, or what was read is out of date.
    Nothing,
    /// There is no Lease.
    Absent,
    There(Sighting),
}

#[derive(Clone, Debug, PartialEq)]
struct Sighting {
    lease: Value,
    record: Record,
    /// When it was first seen as it is.
    since: Duration,
    /// Whether it changed while it was watched: somebody lives.
    is_alive: bool,
    /// Whether `lease` is the newest that is known: a write of ours that failed leaves that open.
    is_current: bool,
}

/// Who else holds the Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its identity.
    pub holder: String,
    /// Since when, as it wrote it; may be empty.
    pub since: String,
    /// Whether it was seen to renew: it lives.
    pub is_alive: bool,
    /// When the Lease is anyone's, if it does not change until then.
    pub expires: Duration,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Read the Lease, and decide again.
    Read,
    /// Create this Lease.
    Create(Value),
    /// Replace the Lease by this: it holds the version that was read.
    Replace(Value),
    /// Somebody else holds it: read again after the retry time.
    Wait(Other),
    /// It was ours and is no more: nothing may be written from now on.
    Lost(Lost),
}

/// Why a Lease is no longer ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Another took it.
    #[error("`{0}` took the Lease")]
    Taken(String),
    /// It could not be renewed in time.
    #[error("the Lease could not be renewed for {} s", .0.as_secs())]
    Late(Duration),
    /// Nobody renews it any more, which is a bug.
    #[error("renewing the Lease ended with a bug in nodeform")]
    NotRenewed,
}

impl Candidate {
    /// Stands for election. `identity` must be of this process alone: whoever has it holds the Lease.
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

    /// Stands for the Lease of this name instead of Karpenter's.
    #[must_use]
    pub fn of_lease(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Says on the Lease that it reports the state of the fleet, where that is so.
    #[must_use]
    pub fn reporting(self, reports: bool) -> Self {
        Self { reports, ..self }
    }

    /// Says on a Lease who reports the state of the fleet.
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

    /// Returns whether the Lease is ours, as far as is known.
    #[must_use]
    pub const fn is_holder(&self) -> bool {
        self.renewed.is_some()
    }

    /// Returns how long a renewal that begins now may take.
    #[must_use]
    pub fn time_left(&self, now: Duration) -> Duration {
        let since = self.renewed.map_or(Duration::ZERO, |renewed| now.saturating_sub(renewed));
        self.terms.renew_deadline.saturating_sub(since)
    }

    /// Decides what to do.
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

    /// A Lease that does not say for how long it is counts as one of ours would.
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

    /// Notes what was read; `None` where there is no Lease. A Lease that says what it said before is the same, whatever
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

    /// Notes that our write succeeded, when it began, and the Lease as it is stored.
    pub fn wrote(&mut self, stored: Value, began: Duration) {
        let record = Record::of(&stored);
        self.renewed = Some(began);
        self.seen =
            Seen::There(Sighting { lease: stored, record, since: began, is_alive: false, is_current: true });
    }

    /// Begins an attempt: who does not hold the Lease reads it each time, who holds it writes what it wrote last.
    pub fn begin(&mut self) {
        if !self.is_holder() {
            self.failed();
        }
    }

    /// Notes that a write failed, or that its answer is lost: the Lease has to be read.
    pub fn failed(&mut self) {
        match &mut self.seen {
            Seen::There(sighting) => sighting.is_current = false,
            Seen::Nothing | Seen::Absent => self.seen = Seen::Nothing,
        }
    }

    /// Returns the Lease to write so that others need not wait; `None` where it is not ours.
    #[must_use]
    pub fn released(&self, wall: Timestamp) -> Option<Value> {
        let Seen::There(Sighting { lease, record, .. }) = &self.seen else { return None };
        (self.is_holder() && record.holder == self.identity).then(|| {
            let time = micro_time(wall);
            let free = Record {
                holder: String::new(),
                // The least that the API allows.
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
